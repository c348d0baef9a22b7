"""The one retry policy: whether a failed attempt is made again, and after how long.
Owns the arithmetic; a provider only says whether an error is retryable and when."""

from __future__ import annotations

import msgspec

from skillopt.domain.errors import ProviderError, SkilloptError
from skillopt.domain.seeds import dice

_MOST_DOUBLINGS = 60


class RetrySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Config section `retry`: when a failed request is tried again.

    attempts: The most attempts at one question, the first included.
    seconds: The longest that attempts and waits for one question may take together before it is given up.
    first_wait: About how many seconds to wait after the first failure; each further wait is twice as long.
    longest_wait: The longest wait, unless the provider asks for more.
    """

    attempts: int = 10
    seconds: float = 600.0
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or min(self.seconds, self.first_wait, self.longest_wait) < 0:
            raise ValueError("retry.attempts must be at least 1, and seconds, first_wait and longest_wait 0 or more")


def wait_before_retry(
    settings: RetrySettings, *, error: SkilloptError, attempt: int, elapsed: float, key: bytes
) -> float | None:
    """Return the seconds to wait before the next attempt, or None when this was the last one.

    The jitter is drawn from the key, so that a repeated simulation waits the same and a crowd still spreads out.
    """
    if not isinstance(error, ProviderError) or not error.retryable or attempt >= settings.attempts:
        return None
    grown = min(settings.longest_wait, settings.first_wait * 2.0 ** min(attempt - 1, _MOST_DOUBLINGS))
    wait = grown * (0.5 + dice(key, attempt).random() / 2)
    if error.retry_after is not None:
        wait = max(wait, error.retry_after)
    return wait if elapsed + wait <= settings.seconds else None
