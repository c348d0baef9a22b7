from __future__ import annotations

import pytest

from skillopt.domain.skill import Edit, EditOp
from skillopt.kernel.dialogue import UnreadableError, parse_reply
from skillopt.phases.proposals.contracts import (
    DraftsReply,
    EditsReflection,
    EditsReply,
    RepairReply,
    RewriteReply,
    SuggestionsReply,
)

EDIT = '{"op": "append", "content": "Be brief."}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{{"reasoning": "r", "edits": [{EDIT}]}}', id="plain"),
        pytest.param(f'```json\n{{"edits": [{EDIT}]}}\n```', id="fenced"),
        pytest.param(f'```\n{{"edits": [{EDIT}]}}\n```', id="fenced without a name"),
        pytest.param(f'Here you are:\n{{"edits": [{EDIT}]}}\nI hope that helps.', id="chatty"),
        pytest.param(f'{{"edits": [{EDIT}', id="cut"),
        pytest.param(f'{{"edits": [{EDIT},]}}', id="a comma too many"),
        pytest.param(f'{{"edits": []}} No, rather: {{"edits": [{EDIT}]}}', id="several, the last counts"),
        pytest.param(f'{{"thought": "a }} brace"}} {{"edits": [{EDIT}]}}', id="braces in strings"),
        pytest.param(f'{{"edits": [{EDIT}], "confidence": 0.3, "batch_size": 8}}', id="extra keys"),
    ],
)
def test_a_reply_is_read_however_it_is_wrapped(text: str) -> None:
    assert parse_reply(text, EditsReply).changes() == (Edit(op=EditOp.APPEND, content="Be brief."),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing to change.",
        "[]",
        '{"reasoning": "r"}',
        '{"edits": null}',
        '{"edits": [{"op": "rewrite"}]}',
        '{"edits": [7]}',
    ],
)
def test_what_says_nothing_by_the_contract_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        parse_reply(text, EditsReply)


def test_nulls_stand_for_what_is_left_out() -> None:
    (edit,) = parse_reply(
        '{"edits": [{"op": "add", "content": null, "target": null, "file": null}]}', EditsReply
    ).changes()
    assert edit == Edit(op=EditOp.APPEND)


def test_blank_documents_and_instructions_are_no_proposals() -> None:
    assert parse_reply('{"skill_candidates": [{"new_skill": " \\n"}]}', DraftsReply).changes() == ()
    blank = '{"revise_suggestions": [{"type": "clarify", "instruction": ""}]}'
    assert parse_reply(blank, SuggestionsReply).changes() == ()


def test_a_reflection_needs_its_patch() -> None:
    with pytest.raises(UnreadableError):
        parse_reply(f'{{"edits": [{EDIT}]}}', EditsReflection)
    reflection = parse_reply(f'{{"failure_summary": ["late"], "patch": {{"edits": [{EDIT}]}}}}', EditsReflection)
    assert len(reflection.patch.changes()) == 1


def test_a_mended_edit_without_its_number_mends_nothing() -> None:
    (mended,) = parse_reply(f'{{"edits": [{EDIT}]}}', RepairReply).edits
    assert mended.index < 0


def test_a_rewrite_needs_its_document() -> None:
    with pytest.raises(UnreadableError):
        parse_reply('{"change_summary": ["x"]}', RewriteReply)
