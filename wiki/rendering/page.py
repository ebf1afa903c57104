"""One page: limits first, then Markdown, then the sanitizer; a bomb is shown as plain text."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from dataclasses import dataclass
from html import escape, unescape
from threading import Lock
from typing import Any

from markdown import Markdown

from wiki.rendering import dialect, fuel, highlighting, limits, links, sanitizing
from wiki.rendering.links import Resolve

#: Raise it when the same text is to give other HTML: stored pages are then rendered again.
VERSION = 2
#: Texts up to this size are kept for a while: a preview and the save after it are the same text.
_KEPT_SIZE = 100_000
_KEPT = 64
PLAIN = "This page is shown as plain text: {reason}"


@dataclass(frozen=True)
class Heading:
    """A line of the table of contents; `text` is plain."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Rendered:
    """Safe HTML and what it says: headings, slugs it links to, ids of files it uses.

    `note` says why a text is shown plainly, and is empty otherwise.
    """

    html: str
    headings: tuple[Heading, ...] = ()
    links: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    note: str = ""


_cache: OrderedDict[bytes, Rendered] = OrderedDict()
_lock = Lock()


def render(body: str, resolve: Resolve) -> Rendered:
    """Return a text as HTML. Never raises; work is bounded for any text.

    `resolve` turns what stands in `[[…]]` into a slug, or into nothing where it names no page. It
    must be a function of its argument alone.
    """
    if len(body) > _KEPT_SIZE:
        return _rendered(body, resolve)
    key = hashlib.sha256(body.encode("utf-8", "surrogatepass")).digest()
    with _lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    made = _rendered(body, resolve)
    with _lock:
        _cache[key] = made
        while len(_cache) > _KEPT:
            _cache.popitem(last=False)
    return made


def _rendered(body: str, resolve: Resolve) -> Rendered:
    text = limits.readable(body)
    reason = limits.too_much(text)
    if reason:
        return plain(text, reason)
    md = converter(resolve)
    try:
        html = md.convert(text)
    except (fuel.Exhausted, RecursionError):
        return plain(text, "its Markdown is nested or repeated too much to be rendered.")
    reason = limits.html_too_much(html)
    if reason:
        return plain(text, reason)
    safe, pages, files = sanitizing.clean(html)
    return Rendered(safe, headings(md), pages, files)


def plain(text: str, reason: str) -> Rendered:
    """Return the text as it was typed; nothing in it is read as markup."""
    note = PLAIN.format(reason=reason)
    return Rendered(f"<p><em>{note}</em></p>\n<pre>{escape(text)}</pre>", note=note)


def converter(resolve: Resolve) -> Markdown:
    """Return a Markdown converter for one text."""
    code = highlighting.Highlighter()
    fence = {"name": "*", "class": "highlight", "format": code.fence}
    md = Markdown(
        extensions=[
            "tables", "footnotes", "def_list", "toc", "sane_lists",
            "pymdownx.superfences", "pymdownx.highlight", "pymdownx.tasklist", "pymdownx.tilde",
        ],
        extension_configs={
            "tables": {"use_align_attribute": True},
            "toc": {
                "slugify": links.anchor, "permalink": "#", "permalink_class": "anchor",
                "permalink_title": "Link to this heading",
            },
            "pymdownx.superfences": {"custom_fences": [fence]},
            "pymdownx.highlight": {"use_pygments": False},
            "pymdownx.tilde": {"subscript": False},
        },
    )  # fmt: skip
    links.register(md, resolve)
    dialect.register(md)
    fuel.meter(md, fuel.Fuel())
    return md


def headings(md: Markdown) -> tuple[Heading, ...]:
    """Return the headings in the order of the text."""
    found: list[Heading] = []

    def walk(tokens: list[dict[str, Any]]) -> None:
        for token in tokens:
            text = unescape(re.sub(r"<[^>]*>", "", token["name"]))
            found.append(Heading(token["level"], text, token["id"]))
            walk(token["children"])

    walk(getattr(md, "toc_tokens", []))
    return tuple(found)
