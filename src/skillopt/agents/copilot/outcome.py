"""What a run of Copilot came to: an answer, or why there is none.
Owns the order in which its errors, its exit code and its words count; refuses to know how events look."""

from __future__ import annotations

from skillopt.agents.copilot.account import Ran
from skillopt.agents.copilot.events import Failure, SessionError
from skillopt.agents.program import Problem
from skillopt.agents.telling.complaints import complaint
from skillopt.kernel.process import Finished

_FILTERED = "The provider's content filter withheld the answer."
_EMPTY = "No response was returned"


def problem(run: Ran, finished: Finished) -> Problem | None:
    """Return why there is no answer: an error it told, a request that failed last, how it ended, or no words."""
    error, failure = run.error, run.failure
    if error is not None or failure is not None:
        return _told(error, failure)
    if finished.timed_out:
        return Problem(cause="unavailable", message="Copilot was still running when its time was up.")
    if finished.exit_code != 0 or run.exit_code not in {0, None}:
        stderr = finished.stderr.decode(errors="replace").strip()
        return complaint(stderr or f"Copilot ended with exit code {finished.exit_code} and said nothing.")
    if run.exit_code is None:
        return Problem(cause="crashed", message="Copilot's output stopped before its last event.")
    if run.filtered:
        return Problem(cause="filtered", message=_FILTERED)
    return None if run.text.strip() else Problem(cause="empty", message="Copilot ended without an answer.")


def _told(error: SessionError | None, failure: Failure | None) -> Problem:
    message = "" if error is None else error.message
    status = None if error is None else error.status_code
    details = [] if error is None else [error.error_type, error.error_code or ""]
    if failure is None:
        if message.startswith(_EMPTY):
            return Problem(cause="empty", message=message)
        return complaint(message, status=status, details=" ".join(details))
    details += [failure.error_message, failure.error_code or "", failure.error_type or ""]
    status = failure.status_code if status is None else status
    return complaint(
        message or failure.error_message, status=status, details=" ".join(details), otherwise="unavailable"
    )
