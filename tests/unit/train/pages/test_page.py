"""The report: safe with hostile text, the same for every course of a run, small for a long one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import msgspec
import pytest

from skillopt.kernel.events import CandidateMade, Event, StepBegan
from skillopt.kernel.view import RunView, view_of, whole
from skillopt.train.pages.page import page
from tests.unit.train.written_runs import Course, edit, summary_of, warned

MEGABYTE = 1_000_000
HOSTILE = (
    "<script>alert(1)</script></style></pre><img src=x onerror=alert(1)>"
    "<iframe src='https://evil.example/'></iframe>\" onload=\"alert(1)"
    "\u202e\u200b\u2066\x1b[31m\x00&amp;]]>--></details>"
)
ALLOWED = {
    "a", "article", "b", "blockquote", "body", "caption", "circle", "del", "desc", "details", "div", "figcaption",
    "figure", "footer", "g", "h1", "h2", "head", "header", "html", "i", "ins", "li", "line", "main", "meta", "nav",
    "p", "path", "pre", "section", "small", "span", "style", "summary", "svg", "symbol", "table", "tbody", "td",
    "text", "th", "thead", "title", "tr", "ul", "use",
}  # fmt: skip


class Reader(HTMLParser):
    """Reads a page as a browser would: its elements, their attributes, and whether all that opens closes."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(course: Course) -> str:
    return page(course.view, summary_of(course.view))


def usual() -> Course:
    return Course().step("accept_new_best").step("reject", score=0.4).step("inconclusive", score=0.5).end()


def hostile() -> Course:
    """A run in which whatever a model, a provider or a task file may say is hostile."""
    course = Course().step("accept_new_best", HOSTILE).step("reject", HOSTILE, 0.1).step("inconclusive", HOSTILE)
    text = msgspec.json.encode(course.tell(*warned(2)).end().events)
    for harmless in (b"Warning", b"scripted:rules", b"rate_limited", b"Not that.", b"task-", b"plain", b"all steps"):
        assert harmless in text
        text = text.replace(harmless, msgspec.json.encode(HOSTILE)[1:-1])
    course.events = msgspec.json.decode(text, type=list[Event])
    return course


def test_hostile_text_is_shown_as_text() -> None:
    markup = rendered(hostile())
    seen = Reader(markup)
    assert set(seen.tags) <= ALLOWED
    assert seen.open == []
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert "<script>alert(1)</script></style></pre><img src=x" in seen.text
    assert markup.count("</style>") == 1
    assert markup.count("evil.example") > 10


def test_what_cannot_be_seen_is_left_out() -> None:
    markup = rendered(hostile())
    assert not re.findall("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]", markup)
    assert not re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f]", markup)


def test_nothing_is_fetched_and_nothing_runs() -> None:
    seen = Reader(rendered(usual()))
    policy = [value for name, value in seen.attributes if name == "content" and "default-src" in value]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(seen.tags)
    assert all(value.startswith("#") for name, value in seen.attributes if name in {"href", "src"})
    assert not re.search(r"url\(|@import|//[a-z]", rendered(usual()))


def test_every_link_on_the_page_leads_somewhere() -> None:
    seen = Reader(rendered(usual()))
    wanted = {value[1:] for name, value in seen.attributes if name == "href"}
    wanted |= {part for name, value in seen.attributes if name == "aria-labelledby" for part in value.split()}
    assert wanted <= set(seen.ids)
    assert len(seen.ids) == len(set(seen.ids))


def test_tables_can_be_read_without_eyes() -> None:
    markup = rendered(usual())
    tables = re.findall(r"<table.*?</table>", markup)
    assert len(tables) >= 7
    for each in tables:
        assert re.search(r"<caption>[^<]+</caption>", each)
        assert '<th scope="col">' in each
        assert '<th scope="row">' in each
        assert not re.search(r'<th scope="col"></th>', each)


def test_the_three_verdicts_have_three_words_and_three_shapes() -> None:
    markup = rendered(usual())
    steps = next(table for table in re.findall(r"<table.*?</table>", markup) if 'class="steps"' in table)
    for word, kind in (("accepted", "accept"), ("rejected", "reject"), ("inconclusive", "inconclusive")):
        assert re.search(rf'#mark-{kind}"/></svg> {word}<', steps)
        assert f'<symbol id="mark-{kind}"' in markup
    assert "--accept:" in markup
    assert "--reject:" in markup
    assert "--inconclusive:" in markup


def test_val_is_never_shown_without_saying_that_it_chose() -> None:
    text = Reader(rendered(usual())).text
    assert "Test: these tasks decided nothing" in text
    assert "Val: these tasks chose the winner" in text
    assert "0.250" in text
    assert "0.15 – 0.35" in text


def courses() -> Iterator[tuple[str, RunView]]:
    yield "nothing at all", RunView()
    yield "only begun", view_of(Course().events[:1])
    yield "only the seed", Course().view
    yield (
        "half a step",
        Course().tell(StepBegan(step=1, epoch=1, step_in_epoch=1, edit_budget=None, skill_digest="seed")).view,
    )
    yield "cut in a step", view_of(Course().step("accept_new_best").step("reject").events[:-3])
    yield "nothing to test", Course().step("skip_no_patches").end().view
    yield "a candidate that was not measured", Course().step("inconclusive", score=None).end().view
    yield "no test tasks", Course(test=0).step("accept_new_best").view
    yield "a mixed metric", Course(metric="mixed").step("accept").step("reject").end().view
    yield "no gate", Course(rule="force").step("accept").end().view


@pytest.mark.parametrize(("name", "view"), [pytest.param(name, view, id=name) for name, view in courses()])
def test_every_course_of_a_run_has_a_page(name: str, view: RunView) -> None:
    seen = Reader(page(view, summary_of(view, "stopped", "calls")))
    assert seen.open == []
    assert "None" not in seen.text
    assert "nan" not in seen.text.lower().split()


def test_a_stopped_run_shows_whole_steps_only() -> None:
    events = Course().step("accept_new_best", "First.").step("accept_new_best", "Second.").events[:-1]
    view = view_of(whole(events))
    text = Reader(page(view, summary_of(view, "stopped", "calls"))).text
    assert "First." in text
    assert "Second." not in text
    assert "stopped after step 1 of 12 (calls)" in text


def test_edits_that_were_refused_are_named_with_their_reason() -> None:
    course = Course().step("accept_new_best")
    course.events = [
        msgspec.structs.replace(event, edits=(*event.edits, edit("Hidden.", "hidden_unicode", "U+202E is invisible.")))
        if isinstance(event, CandidateMade)
        else event
        for event in course.events
    ]
    assert "refused, hidden unicode: U+202E is invisible." in Reader(rendered(course.end())).text


def test_a_thousand_steps_of_long_texts_stay_below_two_megabytes() -> None:
    course = Course().tell(*warned(3_000))
    actions = ("accept_new_best", "reject", "inconclusive", "skip_no_patches")
    for number in range(1_000):
        course.step(actions[number % 4], f"Rule {number}: <be brief> & {'say it & mean it. ' * 40}", number / 1_000)
    markup = rendered(course.end())
    assert len(markup.encode()) < 2 * MEGABYTE
    seen = Reader(markup)
    assert seen.open == []
    steps = next(table for table in re.findall(r"<table.*?</table>", markup) if 'class="steps"' in table)
    assert steps.count("<tr>") == 1_001
    assert "190 more accepted steps are left out here" in seen.text
    assert "2,900 more warnings are left out here" in seen.text


def test_the_same_run_gives_the_same_page() -> None:
    assert rendered(usual()) == rendered(usual())
