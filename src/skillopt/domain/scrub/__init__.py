"""Secrets out of text: typed, stable tokens in their place.

Applied on the way into the journal, into prompts made of transcripts, and on every view. Refuses to read the
environment: the values to look for are handed in.
"""

from skillopt.domain.scrub.engine import Scrubber, needles_from

__all__ = ["Scrubber", "needles_from"]
