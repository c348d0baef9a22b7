import pytest
import yaml

from skillopt.domain.skill.markdown.front_matter import field, fields, front_matter, head, without_field


@pytest.mark.parametrize(
    ("text", "matter"),
    [
        ("---\nname: a\n---\nbody", "---\nname: a\n---\n"),
        ("---\r\nname: a\r\n---\r\n\r\nbody", "---\r\nname: a\r\n---\r\n"),
        ("\ufeff---\nx-odd:  [1,\t2]\n---  \nbody", "\ufeff---\nx-odd:  [1,\t2]\n---  \n"),
        ("---\n---", "---\n---"),
        ("---\nname: a\n", ""),
        ("\n---\nname: a\n---\n", ""),
        ("----\nname: a\n----\n", ""),
        ("# T\n---\nname: a\n---\n", ""),
        ("---\nrule\n<!-- APPENDIX_START -->\n---\n", ""),
        ("", ""),
    ],
)
def test_front_matter_is_exact(text: str, matter: str) -> None:
    assert front_matter(text) == matter


def test_a_lone_bom_is_head_but_no_front_matter() -> None:
    assert (head("\ufeff# T"), front_matter("\ufeff# T")) == ("\ufeff", "")


@pytest.mark.parametrize(
    "value",
    [
        " plain words",
        " plain # and a comment",
        " 'it''s quoted: yes'",
        ' "tab\\tquote\\" \\u00e9 \\x41"',
        ' "over\n  two lines"',
        " plain over\n  two lines",
        " >\n  folded\n  text\n\n  second",
        " >-\n  folded\n  text",
        " |\n  literal\n  text",
        " a#b and http://x.example/y",
    ],
)
def test_values_read_as_yaml_reads_them(value: str) -> None:
    matter = f"---\nname: before\ndescription:{value}\nlicense: after\n---\n"
    expected = yaml.safe_load(matter.strip("-\n"))
    assert {found.key: found.value for found in fields(matter)} == {
        key: text.rstrip("\n") for key, text in expected.items()
    }


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("description: Use for: this", True),
        ("description: [a, b]", True),
        ("description: 'Use for: this'", False),
        ("description: plain", False),
    ],
)
def test_a_plain_value_that_yaml_reads_differently_needs_quotes(line: str, needs: bool) -> None:
    found = field(f"---\n{line}\n---\n", "description")
    assert found is not None
    assert found.needs_quotes is needs


def test_nested_keys_are_not_fields() -> None:
    matter = "---\nmetadata:\n  name: inner\n# a comment\nname: outer\n---\n"
    assert [(found.key, found.value) for found in fields(matter)] == [("metadata", "name: inner"), ("name", "outer")]


def test_without_field_cuts_its_lines_only() -> None:
    matter = "---\nname: a\ndescription: >\n  one\n  two\n\nlicense: MIT\n---\n"
    assert without_field(matter, "description") == "---\nname: a\n\nlicense: MIT\n---\n"
    assert without_field(matter, "absent") == matter
    assert field(matter, "absent") is None
