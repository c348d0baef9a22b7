from __future__ import annotations

import msgspec
import pytest

from skillopt.environments.command.settings import CommandSettings


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"run": []}, "must name a program"),
        ({"run": ["python", ""]}, "must name a program"),
        ({"run": ["sh"], "seconds": 0}, "more than 0"),
        ({"run": ["sh"], "memory_mb": 0}, "more than 0"),
        ({"run": ["sh"], "verdict": "exti"}, "exti"),
        ({"run": ["sh"], "fiels": []}, "fiels"),
        ({"run": ["python", "grade.py"], "verdict": "exit"}, "crashes ends with 1 too"),
        ({"run": ["/usr/bin/python3", "grade.py"], "verdict": "exit"}, "crashes ends with 1 too"),
    ],
)
def test_what_cannot_be_meant_is_refused(section: object, said: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=said):
        msgspec.convert(section, CommandSettings)
