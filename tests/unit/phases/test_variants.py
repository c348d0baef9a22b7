from __future__ import annotations

from skillopt.phases.variants import variant

TEXT = "# Rules\n\nBe brief.\nName the unit.\n"


def test_the_first_trial_is_sent_the_text_itself() -> None:
    assert variant(TEXT, 0) == TEXT


def test_every_number_gives_another_text_that_still_has_every_sentence() -> None:
    for text in (TEXT, "", "---\nname: x\n---\n# Rules\n"):
        made = [variant(text, number) for number in range(200)]
        assert len(set(made)) == 200
        assert all(text in each for each in made)
        assert not text.startswith("---") or all(each.startswith("---") for each in made)


def test_what_is_added_is_one_sentence_that_instructs_nothing() -> None:
    for number in range(1, 20):
        assert variant(TEXT, number).replace(TEXT, "").split() == f"This is copy {number} of this page.".split()
