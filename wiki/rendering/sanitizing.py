"""What may stand in a page. Everything that was rendered goes through here, and nothing after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import bleach
from pygments.token import STANDARD_TYPES

from wiki.rendering import limits
from wiki.rendering.links import PAGES

TAGS = frozenset((
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "del",
    "details", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6",
    "hr", "i", "img", "input", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp",
    "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "u", "ul", "var", "wbr",
))  # fmt: skip
PROTOCOLS = frozenset(("http", "https", "mailto", "tel"))
#: Files of this wiki; a picture from anywhere else becomes a link.
MEDIA = "/media/"
_MEDIA_PATH = re.compile(r"/media/[A-Za-z0-9._-]+(?:/[^\s\"'<>]*)?\Z")
#: Classes that the renderer itself gives; any other would let a page dress up as the console.
_CLASSES = frozenset(name for name in STANDARD_TYPES.values() if name) | frozenset((
    "highlight", "wiki-link", "anchor", "toc", "toctitle", "task-list", "task-list-item",
    "footnote", "footnote-ref", "footnote-backref",
    "is-info", "is-success", "is-warning", "is-danger",
))  # fmt: skip
_IDS = re.compile(r"(?:h-|fn:|fnref\d*:)\S{1,400}\Z")
_ATTRIBUTES = {
    "a": ("href", "title"), "abbr": ("title",), "col": ("span",), "colgroup": ("span",),
    "details": ("open",), "div": ("title",), "img": ("src", "alt", "title", "width", "height"),
    "input": ("type", "checked", "disabled"), "li": ("value",), "ol": ("start", "reversed"),
    "td": ("colspan", "rowspan", "align"), "th": ("colspan", "rowspan", "align", "scope"),
}  # fmt: skip
_NUMBERS = frozenset(("colspan", "rowspan", "span", "start", "value", "width", "height"))
Token = dict[str, Any]


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "id":
        return bool(_IDS.match(value))
    if name in ("class", "dir"):
        return name == "class" or value in ("auto", "ltr", "rtl")
    if name not in _ATTRIBUTES.get(tag, ()):
        return False
    return name not in _NUMBERS or (value.isascii() and value.isdigit() and len(value) <= 4)


def clean(html: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return safe HTML, the pages it links to and the files it shows or links to, in order."""
    pages: dict[str, None] = {}
    files: dict[str, None] = {}

    def finish(source: Iterator[Token]) -> _Finish:
        return _Finish(source, pages, files)

    # A cleaner keeps state while it works, so threads do not share one.
    cleaner = bleach.Cleaner(
        tags=TAGS,
        attributes=_allowed,
        protocols=PROTOCOLS,
        filters=[finish],  # type: ignore[list-item]  # anything that takes a source will do
    )
    safe = "".join(cleaner.clean(piece) for piece in limits.pieces(html))
    return safe, tuple(pages), tuple(files)


class _Finish:
    """Narrows what the allow-list let through, and notes where links lead."""

    def __init__(
        self, source: Iterator[Token], pages: dict[str, None], files: dict[str, None]
    ) -> None:
        self.source = source
        self.pages = pages
        self.files = files

    def __iter__(self) -> Iterator[Token]:
        for token in self.source:
            if token["type"] in ("StartTag", "EmptyTag"):
                yield from self._tag(token)
            else:
                yield token

    def _tag(self, token: Token) -> list[Token]:
        data = token["data"]
        _narrow_classes(data)
        if token["name"] == "a":
            self._note(data.get((None, "href"), ""))
        if token["name"] == "input":
            token["data"] = _checkbox(data)
        if token["name"] == "img":
            return self._picture(token)
        return [token]

    def _note(self, href: str) -> None:
        path = href.split("#", maxsplit=1)[0].split("?", maxsplit=1)[0]
        if path.startswith(PAGES):
            self.pages[unquote(path.removeprefix(PAGES))] = None
        elif _MEDIA_PATH.match(path):
            self.files[path.split("/")[2]] = None

    def _picture(self, token: Token) -> list[Token]:
        data = token["data"]
        source = data.get((None, "src"), "")
        data.setdefault((None, "alt"), "")
        if _MEDIA_PATH.match(source):
            self.files[source.split("/")[2]] = None
            data[(None, "loading")] = "lazy"
            return [token]
        return _as_link(source, data[(None, "alt")])


def _narrow_classes(data: dict[Any, str]) -> None:
    given = data.pop((None, "class"), "").split()
    kept = [name for name in given if name in _CLASSES]
    if kept:
        data[(None, "class")] = " ".join(kept)


def _checkbox(data: dict[Any, str]) -> dict[Any, str]:
    """Return what makes an input a mark of a task list, and nothing that could be filled in."""
    done = (None, "checked") in data
    box = {(None, "type"): "checkbox", (None, "disabled"): ""}
    if done:
        box[(None, "checked")] = ""
    box[(None, "aria-label")] = "done" if done else "to do"
    return box


def _as_link(source: str, alt: str) -> list[Token]:
    """The policy loads no pictures of other hosts: say where it is instead."""
    words = [{"type": "Characters", "data": alt or source or "picture"}]
    if not source.startswith(("http://", "https://")):
        return words
    href = {(None, "href"): source}
    return [
        {"type": "StartTag", "name": "a", "data": href},
        *words,
        {"type": "EndTag", "name": "a"},
    ]
