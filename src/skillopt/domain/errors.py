"""Every error a person can meet, grouped by who must act; owns the exit codes, knows nothing of where errors arise.

SkilloptError
├── UsageError                      you                    exit 2
├── ProviderError                   the model's provider   exit 3
│   ├── AuthError                   the key or the login
│   ├── RateLimitedError            wait, then again
│   ├── ContextTooLongError         the request is too big
│   ├── RefusedError                the provider declined this request
│   ├── TruncatedError              the reply stopped for length
│   ├── UnavailableError            down, cut, timed out, malformed
│   │   └── EmptyReplyError         a reply without words
│   ├── QuotaExhaustedError         credit or daily quota  exit 7, stopped
│   └── UnansweredError             files wait for answers exit 10, stopped
├── OptimizerError                  no usable reply        exit 3
├── AgentError                      the agent CLI          exit 3
│   ├── NotInstalledError
│   ├── NotLoggedInError
│   ├── CrashedError
│   └── AgentTimeoutError
├── TaskError                       one task: recorded as Failed, the run goes on
├── BudgetReachedError              a cap                  exit 4, stopped
├── AdoptionRefusedError            the user's files       exit 5
├── StoreError                      the journal            exit 6
├── InterruptedRunError             Ctrl-C                 exit 130
├── StoppedRunError                 a file called stop     exit 0
└── InternalError                   us                     exit 70
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, TypeVar

from skillopt.domain.usage import Usage

Choice = TypeVar("Choice")


class SkilloptError(Exception):
    """What happened, to what, and what to do next; `exit_code` is what the process ends with."""

    exit_code: ClassVar[int] = 70
    who: ClassVar[str] = "us"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} {self.hint}"

    def scrub(self, scrub: Callable[[str], str]) -> None:
        """Take secrets out of what this error says: a provider's words may repeat the key they were sent."""
        self.message = scrub(self.message)
        self.hint = None if self.hint is None else scrub(self.hint)
        self.args = (self.message,)


class UsageError(SkilloptError):
    """The person running skillopt must change a file, a flag or an input."""

    exit_code = 2
    who = "you"


class ProviderError(SkilloptError):
    """A model's provider did not answer a request; `usage` is what it cost all the same, where that is known."""

    exit_code = 3
    who = "provider"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after
        self.usage = usage


class AuthError(ProviderError):
    """The key, token or login was refused."""


class RateLimitedError(ProviderError):
    """Too many requests; `retry_after` is the provider's own word, in seconds."""

    retryable = True


class ContextTooLongError(ProviderError):
    """The request does not fit the model's context window."""


class RefusedError(ProviderError):
    """The provider declined this request: malformed, filtered, or an unknown model."""


class TruncatedError(ProviderError):
    """The reply stopped at the limit of tokens; the same request would stop there again."""


class UnavailableError(ProviderError):
    """The provider could not be reached, broke off, timed out or answered with something unreadable."""

    retryable = True


class EmptyReplyError(UnavailableError):
    """The provider answered without a word of text."""


class QuotaExhaustedError(ProviderError):
    """Credit or a daily quota is used up; trying again today is pointless."""

    exit_code = 7


class UnansweredError(ProviderError):
    """Questions were left as files, and whoever answers them has not done so yet; nothing was sent or spent."""

    exit_code = 10
    who = "you"


class OptimizerError(SkilloptError):
    """The optimizer model never gave a reply that could be used."""

    exit_code = 3
    who = "provider"


class AgentError(SkilloptError):
    """An agent command-line program did not do its work; `usage` is what it cost all the same, where that is known."""

    exit_code = 3
    who = "agent"

    def __init__(self, message: str, *, hint: str | None = None, usage: Usage | None = None) -> None:
        super().__init__(message, hint=hint)
        self.usage = usage


class NotInstalledError(AgentError):
    """The agent's program is not on this machine."""


class NotLoggedInError(AgentError):
    """The agent's program has no usable login."""


class CrashedError(AgentError):
    """The agent's program ended without an answer."""


class AgentTimeoutError(AgentError):
    """The agent's program was still running at its deadline and was killed."""


class TaskError(SkilloptError):
    """One task could not be run or graded; it is recorded as Failed and the run goes on."""

    exit_code = 2
    who = "task"


class BudgetReachedError(SkilloptError):
    """The next unit of work does not fit under a cap; the run stops with its results written."""

    exit_code = 4
    who = "you"

    def __init__(self, message: str, *, cap: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.cap = cap


class AdoptionRefusedError(SkilloptError):
    """A change was not written to the user's own files."""

    exit_code = 5
    who = "you"


class StoreError(SkilloptError):
    """The journal cannot be read or written."""

    exit_code = 6
    who = "storage"


class InterruptedRunError(SkilloptError):
    """The person asked the run to stop."""

    exit_code = 130
    who = "you"


class StoppedRunError(SkilloptError):
    """A file called `stop` in the folder of the run ended it; a wish that was granted, so the process ends well."""

    exit_code = 0
    who = "you"


class InternalError(SkilloptError):
    """A promise inside skillopt was broken; please report it."""


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> UsageError:
    """Return the refusal of a name nobody knows: it lists the valid ones and the nearest match."""
    names = sorted(valid)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"Did you mean {nearest[0]!r}? " if nearest else ""
    return UsageError(f"Unknown {kind} {name!r}.", hint=f"{hint}Valid: {', '.join(names)}.")


def named(kind: str, name: str, choices: Mapping[str, Choice]) -> Choice:
    """Return what a name stands for, or refuse it."""
    if name not in choices:
        raise unknown_name(kind, name, choices)
    return choices[name]
