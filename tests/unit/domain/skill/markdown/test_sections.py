from skillopt.domain.skill.markdown.sections import sections


def test_sections_nest_by_level_and_count_lines_from_one() -> None:
    text = "# A\n\ntext\n## B ##\nb\n## C\n# D"
    assert sections(text) == ((1, "A", 1, 6), (2, "B", 4, 5), (2, "C", 6, 6), (1, "D", 7, 7))


def test_code_fences_hide_their_headings() -> None:
    text = "# A\n```sh\n# no\n~~~\n```` \n# yes\n~~~~\n~~~\n# no\n~~~~\n   ## B\n    # code\n#no\n"
    assert [(title, start) for _, title, start, _ in sections(text)] == [("A", 1), ("yes", 6), ("B", 11)]


def test_inline_backticks_open_no_fence() -> None:
    assert [found.title for found in sections("```x``` y\n# A\n")] == ["A"]


def test_odd_headings() -> None:
    assert [found.title for found in sections("\ufeff# A\r\n#\r\n# C#\r\n# #\r\n####### no\r\n")] == ["A", "", "C#", ""]


def test_nothing_before_skip_and_nothing_in_an_empty_text() -> None:
    matter = "---\n# comment\n---\n"
    assert sections(matter + "# A\n", skip=len(matter)) == ((1, "A", 4, 4),)
    assert sections("") == ()
