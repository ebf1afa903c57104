"""`[[slug]]`, `[[slug|text]]` and `[[slug#heading]]`, also in cells of tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from urllib.parse import quote
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

#: From what stands between the brackets to the slug; an empty answer means it names no page.
Resolve = Callable[[str], str]
#: Where pages stand; `dress` puts the path of the server before it.
PAGES = "/wiki/p/"
#: Before every anchor, so that no heading takes the id of a part of the console.
ANCHOR = "h-"
#: A bar inside a link would end the cell of a table, so it is put aside; Markdown takes these
#: two signs out of every text before.
_BAR = "\u0002bar\u0003"
_LINK = re.compile(r"\[\[([^\[\]\n|\\]{1,300})\\?\|([^\[\]\n|]{1,300})\]\]")
_PATTERN = (
    r"\[\[([^\[\]\n#\u0002]{0,250})(?:#([^\[\]\n\u0002]{1,250}))?"
    rf"(?:{_BAR}([^\[\]\n\u0002]{{1,300}}))?\]\]"
)


def anchor(heading: str, separator: str = "-") -> str:
    """Return the anchor of a heading: its letters and digits of any script, folded."""
    text = unicodedata.normalize("NFC", heading).casefold()
    return ANCHOR + (re.sub(r"[^\w.]+", separator, text).strip(f"{separator}.") or "part")


def address(slug: str, heading: str = "") -> str:
    """Return the address of a page, encoded once."""
    fragment = f"#{quote(anchor(heading))}" if heading else ""
    return f"{PAGES}{quote(slug, safe='/')}{fragment}"


def register(md: Markdown, resolve: Resolve) -> None:
    """Teach a converter the links of the wiki."""
    md.preprocessors.register(_PutBarsAside(md), "wiki_bars", 15)
    # Before escapes, after code: links in code stay what they are.
    md.inlinePatterns.register(_WikiLink(resolve, md), "wiki_link", 185)
    md.postprocessors.register(_BringBarsBack(md), "wiki_bars", 1)


class _PutBarsAside(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return [_LINK.sub(rf"[[\1{_BAR}\2]]", line) if "[[" in line else line for line in lines]


class _BringBarsBack(Postprocessor):
    def run(self, text: str) -> str:
        return text.replace(_BAR, "|")


class _WikiLink(InlineProcessor):
    ANCESTOR_EXCLUDES = ("a",)

    def __init__(self, resolve: Resolve, md: Markdown) -> None:
        super().__init__(_PATTERN, md)
        self.resolve = resolve

    def handleMatch(  # type: ignore[override]  # noqa: N802  the library's name
        self, m: re.Match[str], data: str
    ) -> tuple[Element | None, int | None, int | None]:
        """Make the link; what names no page stays as it was typed."""
        target, heading, text = (part.strip() if part else "" for part in m.groups())
        slug = self.resolve(target) if target else ""
        if (target and not slug) or not (target or heading):
            return None, None, None
        link = Element("a")
        link.set("class", "wiki-link")
        link.set("href", address(slug, heading) if slug else f"#{quote(anchor(heading))}")
        link.text = text or m.group(0)[2:-2].replace(_BAR, "|").strip()
        return link, m.start(0), m.end(0)
