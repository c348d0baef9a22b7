"""HTML by construction: text is escaped where it enters, and only what is made here counts as markup.
Owns escaping and which characters a reader may be shown; refuses to know what a page says."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import msgspec

_UNUSUAL = re.compile(r"[^\n\t\x20-\x7e]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CHILDLESS = frozenset({"circle", "line", "meta", "path", "rect", "use"})


class Html(msgspec.Struct, frozen=True):
    """Markup that is safe to show."""

    markup: str


Content = str | Html


def visible(text: str) -> str:
    """Return text without what a reader cannot see or what turns the order of others: controls, bidi, zero width."""
    return _UNUSUAL.sub(lambda found: "" if unicodedata.category(found[0]) in _UNSEEN else found[0], text)


def element(name: str, /, *children: Content, **attributes: str | float) -> Html:
    """Return an element; in names of attributes `class_` is class and `aria_label` is aria-label."""
    given = "".join(f' {key.strip("_").replace("_", "-")}="{_attribute(value)}"' for key, value in attributes.items())
    if name in _CHILDLESS:
        return Html(f"<{name}{given}/>")
    return Html(f"<{name}{given}>{together(children).markup}</{name}>")


def together(children: Iterable[Content]) -> Html:
    """Return the children one after the other."""
    return Html("".join(child.markup if isinstance(child, Html) else _escaped(child) for child in children))


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Content]], *, kind: str = "") -> Html:
    """Return a table whose first column names the row; `kind` is its class."""
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = (element("tr", *_cells(row)) for row in rows)
    inner = (element("caption", caption), element("thead", head), element("tbody", *body))
    return element("div", element("table", *inner, class_=kind) if kind else element("table", *inner), class_="wide")


def folded(summary: str, *children: Content, is_open: bool = False) -> Html:
    """Return what is shown when a reader asks for it; on paper it is always shown."""
    head = element("summary", summary)
    return element("details", head, *children, open="") if is_open else element("details", head, *children)


def shortened(text: str, limit: int) -> str:
    """Return the text, or its beginning with a word on how much was left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text) - limit:,} more characters)"


def _cells(row: Sequence[Content]) -> Iterator[Html]:
    for place, cell in enumerate(row):
        yield element("td", cell) if place else element("th", cell, scope="row")


def _escaped(text: str) -> str:
    return html.escape(visible(text), quote=False)


def _attribute(value: str | float) -> str:
    return html.escape(visible(value) if isinstance(value, str) else f"{value:g}")
