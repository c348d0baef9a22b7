from __future__ import annotations

from dataclasses import dataclass

import msgspec
import pytest

from skillopt.domain.agency.errands import Attachment, Errand
from skillopt.domain.skill import Skill

FILE = Attachment(name="a.csv", digest="d1", source="/somewhere/a.csv")
ERRAND = Errand(instruction="Add up.", skill=Skill.from_text("Be brief."), files=(FILE,))


@dataclass(frozen=True)
class Changed:
    errand: Errand
    same: bool


@pytest.mark.parametrize(
    "changed",
    [
        Changed(
            msgspec.structs.replace(ERRAND, files=(Attachment(name="a.csv", digest="d1", source="/else"),)), same=True
        ),
        Changed(
            msgspec.structs.replace(ERRAND, files=(Attachment(name="a.csv", digest="d2", source="/x"),)), same=False
        ),
        Changed(msgspec.structs.replace(ERRAND, images=(FILE,)), same=False),
        Changed(msgspec.structs.replace(ERRAND, shims=("search",)), same=False),
        Changed(msgspec.structs.replace(ERRAND, instruction="Add."), same=False),
        Changed(msgspec.structs.replace(ERRAND, skill=Skill.from_text("Be long.")), same=False),
        Changed(
            msgspec.structs.replace(ERRAND, skill=Skill.from_text("---\ndescription: Sums\n---\nBe brief.")), same=False
        ),
    ],
)
def test_all_that_an_agent_sees_names_the_errand_and_where_a_file_lay_does_not(changed: Changed) -> None:
    assert (changed.errand.digest == ERRAND.digest) is changed.same
