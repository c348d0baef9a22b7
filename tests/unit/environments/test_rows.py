from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt.domain.chat import Message
from skillopt.domain.errors import UsageError
from skillopt.domain.tasks import Check, Task
from skillopt.environments.rows import TaskRows, read_rows


def anything(_: Task) -> None:
    return None


def read(path: Path, content: str | bytes) -> TaskRows:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_rows(path, anything)


GOOD = '{"id": "a", "input": "q", "reference": "x"}\n'


def test_jsonl(tmp_path: Path) -> None:
    rows = read(
        tmp_path / "t.jsonl",
        GOOD
        + '\n{"id": "b", "input": [{"role": "user", "content": "hi"}], "checks": [{"op": "max_chars", "arg": 5}]}\r\n',
    )
    assert rows.tasks == (
        Task(id="a", input="q", reference="x"),
        Task(id="b", input=(Message("user", "hi"),), checks=(Check("max_chars", 5),)),
    )
    assert rows.warnings == ()


def test_every_field_of_a_row(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "input": "q",
        "context": "c",
        "files": ["f"],
        "images": ["i"],
        "reference": ["x", "y"],
        "checks": [{"op": "no_refusal"}],
        "rubric": "r",
        "type": "t",
        "group": "g",
    }
    (task,) = read(tmp_path / "t.jsonl", json.dumps(row)).tasks
    assert set(row) == set(Task.__struct_fields__)
    assert task.references == ("x", "y")
    assert (task.context, task.files, task.images, task.rubric, task.type, task.group) == (
        "c",
        ("f",),
        ("i",),
        "r",
        "t",
        "g",
    )


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv"])
def test_a_byte_order_mark_is_no_content(tmp_path: Path, ending: str) -> None:
    content = {".jsonl": GOOD, ".json": f"[{GOOD}]", ".csv": "id,input,reference\na,q,x\n"}[ending]
    assert read(tmp_path / f"t{ending}", b"\xef\xbb\xbf" + content.encode()).tasks[0].id == "a"


@pytest.mark.parametrize(
    "torn",
    [
        '{"id": "b", "inp',
        '{"id": 7, "inp',
        '{"id": "b", "refrence": "x", "inp',
        '{"id": "b"',
        "{",
        '{"id": "b", "input": "q\\',
    ],
)
def test_a_torn_last_line_is_left_out_with_a_warning(tmp_path: Path, torn: str) -> None:
    rows = read(tmp_path / "t.jsonl", GOOD + torn)
    assert [task.id for task in rows.tasks] == ["a"]
    (warning,) = rows.warnings
    assert "t.jsonl line 2 is cut off" in warning


def test_a_whole_last_line_needs_no_newline(tmp_path: Path) -> None:
    rows = read(tmp_path / "t.jsonl", GOOD.strip())
    assert (len(rows.tasks), rows.warnings) == (1, ())


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{"id": "b", "inp\n', "not valid JSON"),
        ('{"id": 7, "inp\n', "not valid JSON"),
        ('{"id": "b", "input": "q", "refrence": "x"}\n', "Unknown key 'refrence'. Did you mean 'reference'"),
        ('{"id": "b", "input": "q", "refrence": "x"}', "Unknown key 'refrence'"),
        ('{"input": "q"}\n', "missing required field `id`"),
        ('{"id": "b"}\n', "missing required field `input`"),
        ('{"id": 7, "input": "q"}\n', "Expected `str`, got `int` - at `$.id`"),
        ('{"id": "b", "input": "q", "reference": 7}\n', "$.reference"),
        ('{"id": "b", "input": "q", "checks": [{"op": "x", "argument": 1}]}\n', "unknown field `argument`"),
        ('{"id": "b", "input": "q", "checks": [{"op": "max_chars", "arg": true}]}\n', "got `bool`"),
        ('{"id": "b", "input": [{"role": "robot", "content": "x"}]}\n', "robot"),
        ('{"id": "b", "input": [{"role": "user", "content": "x", "nam": 1}]}\n', "Unknown message key 'nam'"),
        ('{"id": "b", "input": [{"role": "user", "content": "x", "images": []}]}\n', "Unknown message key 'images'"),
        ('{"id": "b", "input": [{"role": "tool", "content": "x", "call_id": "c"}]}\n', "Unknown message key 'call_id'"),
        ('{"id": "b", "input": [{"role": "tool", "content": "x"}]}\n', "a tool message, and no other"),
        ("[1]\n", "a row is a JSON object"),
        ('"text"\n', "a row is a JSON object"),
        ("[" * 100_000 + "\n", "not valid JSON"),
        ('{"id": "b", "input": "q"} {}\n', "not valid JSON"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path / "t.jsonl", GOOD + row)
    assert "t.jsonl line 2: " in str(refused.value)
    assert says in str(refused.value)


@pytest.mark.parametrize("row", [b'{"id": "\xff", "input": "q"}\n', b'{"id": "\xff", "input": "q"}', b'{"\xff": 1}\n'])
def test_bytes_that_are_not_utf8_are_named(tmp_path: Path, row: bytes) -> None:
    with pytest.raises(UsageError, match=r"t\.jsonl line 2: not UTF-8"):
        read(tmp_path / "t.jsonl", GOOD.encode() + row)


def test_a_line_torn_inside_a_letter_is_torn(tmp_path: Path) -> None:
    assert len(read(tmp_path / "t.jsonl", GOOD.encode() + '{"id": "é'.encode()[:-1]).warnings) == 1


def test_all_bad_rows_are_named_together_and_many_are_counted(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path / "t.jsonl", GOOD + "{}\n" * 13)
    assert "line 2:" in str(refused.value)
    assert "line 11:" in str(refused.value)
    assert "line 12:" not in str(refused.value)
    assert "3 more bad rows" in str(refused.value)


def test_what_the_reader_is_told_to_refuse_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(GOOD)
    with pytest.raises(UsageError, match="line 1: no good"):
        read_rows(path, lambda task: "no good" if task.id == "a" else None)


def test_json_array(tmp_path: Path) -> None:
    assert [task.id for task in read(tmp_path / "t.json", f"[{GOOD}, {GOOD}]").tasks] == ["a", "a"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (f"[{GOOD}, {{}}]", "row 2: Object missing required field `id`"),
        (GOOD, "holds one array"),
        (f"[{GOOD}", "not valid JSON"),
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_bad_json_file_is_refused(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(UsageError, match=r"t\.json ") as refused:
        read(tmp_path / "t.json", content)
    assert says in str(refused.value)


def test_csv(tmp_path: Path) -> None:
    table = (
        'id,input,context,reference,checks\na,"two\nlines","c, d","say ""x""",\nb,q,,,"[{""op"": ""no_refusal""}]"\n\n'
    )
    assert read(tmp_path / "t.csv", table).tasks == (
        Task(id="a", input="two\nlines", context="c, d", reference='say "x"'),
        Task(id="b", input="q", checks=(Check("no_refusal"),)),
    )


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("id,input,refrence\na,q,x\n", "line 1: Unknown column 'refrence'. Did you mean 'reference'"),
        ("id,id,input\na,a,q\n", "line 1: column 'id' stands there twice"),
        ('id,input\na,"x\ny"\nb\n', "line 4: 1 cells where the first line names 2 columns"),
        ("id,input\na,q,x\n", "line 2: 3 cells"),
        ("id,input,checks\na,q,max\n", "line 2: column 'checks' is not valid JSON"),
        ('id,input,checks\na,q,"{""op"": 1}"\n', "line 2: Expected `array`"),
        ("id,input\n,q\n", "line 2: Object missing required field `id`"),
        ('id,input\na,"q\n', "not a CSV row"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, table: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path / "t.csv", table)
    assert says in str(refused.value)


def test_a_table_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        read(tmp_path / "t.csv", b"id,input\na,\xff\n")


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_an_empty_file_has_no_tasks(tmp_path: Path, ending: str) -> None:
    assert read(tmp_path / f"t{ending}", "").tasks == ()


def test_an_unknown_ending_names_the_valid_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Valid: \.csv, \.json, \.jsonl"):
        read(tmp_path / "t.jsnl", GOOD)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_rows(tmp_path / "none.jsonl", anything)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([".jsonl", ".json", ".csv"]), st.integers(0, 80), st.binary(max_size=4), st.integers(0, 80))
def test_a_damaged_file_is_read_or_refused_and_never_crashes(
    tmp_path: Path, ending: str, at: int, junk: bytes, cut: int
) -> None:
    content = {".jsonl": GOOD * 2, ".json": f"[{GOOD}]", ".csv": 'id,input,checks\na,"q\nr","[]"\nb,q,\n'}[
        ending
    ].encode()
    damaged = content[:at] + junk + content[at:]
    try:
        assert isinstance(read(tmp_path / f"t{ending}", damaged[: max(cut, at)]), TaskRows)
    except UsageError as refused:
        assert f"t{ending}" in str(refused)
