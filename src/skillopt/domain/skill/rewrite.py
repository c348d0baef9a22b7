"""How a whole new document becomes a candidate: the model's words, between what has another owner.

Owns: the content rules for a rewrite, which are those for edits, put to the lines it adds. Refuses to judge what the
document held before.
"""

from __future__ import annotations

from skillopt.domain.skill.content import objection
from skillopt.domain.skill.document import Skill
from skillopt.domain.skill.edits import Objection, Refusal
from skillopt.domain.skill.markdown.lines import lines
from skillopt.domain.skill.regions import restore_regions


def rewritten(before: Skill, text: str) -> Skill | Objection:
    """Return the skill with its body rewritten, front matter and regions as they were; or why that may not be."""
    if not text.strip():
        return Objection(reason=Refusal.EMPTY_CONTENT, detail="The new document is empty.")
    after = restore_regions(before, text)
    known = {line.text.strip() for line in lines(before.text)}
    added = "\n".join(line.text for line in lines(after.text) if line.text.strip() not in known)
    refusal = objection(added)
    if refusal is None and after.text.count("<!--") > before.text.count("<!--"):
        detail = "The new document holds a comment that the old one did not."
        return Objection(reason=Refusal.HTML_COMMENT, detail=detail)
    return after if refusal is None else refusal
