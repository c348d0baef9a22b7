import pytest

from skillopt.domain.errors import UsageError
from skillopt.domain.skill import Candidate, EditOp, Patch, Skill


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("append", EditOp.APPEND),
        ("add", EditOp.APPEND),
        ("insert_after", EditOp.INSERT_AFTER),
        (" Replace ", EditOp.REPLACE),
        ("delete", EditOp.DELETE),
    ],
)
def test_operations_by_name(name: str, op: EditOp) -> None:
    assert EditOp.parse(name) is op


@pytest.mark.parametrize(("name", "nearest"), [("replcae", "replace"), ("insert", "insert_after"), ("upsert", "")])
def test_an_unknown_operation_lists_the_valid_ones(name: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=rf"Unknown edit operation.*{nearest}.*append, delete, insert_after, replace"):
        EditOp.parse(name)


def test_nothing_to_do_is_a_value() -> None:
    skill = Skill.from_text("# T\n")
    assert Patch.empty().edits == ()
    assert not Candidate.unchanged(skill).changed
    other = Candidate(skill=Skill.from_text("# U\n"), parent_digest=skill.rendered_digest)
    assert other.changed
