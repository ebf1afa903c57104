"""Shapes that cost too much, counted before they cost anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Tags and quotes that stand in each other; parsers look through all of them for every tag.
DEPTH = 120
#: Characters of HTML: a million characters of text give about twice as many.
HTML = 8_000_000
#: Tags in what was rendered; the sanitizer looks at 100,000 in some seconds.
RENDERED_TAGS = 250_000
#: Characters that the parser may copy for one stretch of text.
COPIED = 4_000_000_000
#: Characters of HTML that are cleaned at once.
PIECE = 20_000
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
#: The parser compares each attribute with all before it.
_WIDE_TAG = re.compile(r"""<[a-zA-Z](?>[^<>"']|"[^"]{0,2000}"|'[^']{0,2000}'|["']){8000}""")
_QUOTES = re.compile(rf"^(?:[ \t]*>){{{DEPTH // 4}}}", re.MULTILINE)
_VOID = frozenset(
    [
        "br",
        "hr",
        "img",
        "input",
        "col",
        "wbr",
        "area",
        "base",
        "embed",
        "link",
        "meta",
        "source",
        "track",
    ]
)
#: Signs that no text needs and HTML refuses; a lone surrogate cannot even be encoded.
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def readable(text: str) -> str:
    """Return the text with one kind of line break and without signs that HTML has no place for."""
    return _UNREADABLE.sub(
        "\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n")
    )


def too_much(text: str) -> str:
    """Return why this text is not rendered, or nothing."""
    if _QUOTES.search(text):
        return f"quotes stand in each other more than {DEPTH // 4} deep."
    return ""


def html_too_much(html: str) -> str:
    """Return why this HTML is not cleaned, or nothing. Looks at each tag once."""
    if len(html) > HTML:
        return f"it would become more than {HTML:,} characters of HTML."
    if _WIDE_TAG.search(html):
        return "one tag of it has too many attributes."
    deepest = count = before = 0
    for at, depth in _depths(html):
        count += 1
        deepest = max(deepest, depth)
        if _heavy(html, before, at):
            return "one stretch of it holds too many '&' and '<'."
        before = at
    if _heavy(html, before, len(html)):
        return "one stretch of it holds too many '&' and '<'."
    if deepest > DEPTH:
        return f"more than {DEPTH} tags stand open in each other."
    if count > RENDERED_TAGS:
        return f"it would become more than {RENDERED_TAGS:,} tags."
    return ""


def _heavy(html: str, start: int, end: int) -> bool:
    """The parser copies the text before it at every sign that is written as an entity."""
    length = end - start
    return length > 20_000 and html.count("&", start, end) * length > COPIED


def pieces(html: str) -> Iterator[str]:
    """Cut HTML where nothing stands open: the sanitizer takes long over what is wide.

    Where the cut is wrong (a tag inside a comment, say) the layout suffers, not the safety: each
    piece is cleaned and closed by itself.
    """
    start = 0
    for at, depth in _depths(html):
        if depth == 1 and at - start > PIECE and html[at + 1] != "/":
            yield html[start:at]
            start = at
    yield html[start:]


def _depths(html: str) -> Iterator[tuple[int, int]]:
    """Yield where each tag stands, and how many are open after it."""
    depth = 0
    for match in _TAG.finditer(html):
        if match.group(1):
            depth = max(depth - 1, 0)
        elif match.group(2).lower() not in _VOID:
            depth += 1
        yield match.start(), depth
