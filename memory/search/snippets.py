"""The part of a text that shows why it was found, with the matching words marked."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from html import escape

from memory.text import terms

LENGTH = 260
_WORD = re.compile(r"[^\W_]+(?:[._:/-]+[^\W_]+)*")


def snippet(text: str, wanted: Collection[str]) -> str:
    """Return about 260 characters of the text as HTML: everything escaped, matches in <mark>."""
    spans = _spans(text, frozenset(wanted))
    start, end = _densest(text, spans)
    marked = _marked(text, start, end, [s for s in spans if s[0] >= start and s[1] <= end])
    return ("… " if start > 0 else "") + marked + (" …" if end < len(text) else "")


def _spans(text: str, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """Return the places of matching words, in order."""
    found = []
    for match in _WORD.finditer(text):
        for start, end in _word_spans(match.group(), wanted):
            found.append((match.start() + start, match.start() + end))
    return found


def _word_spans(word: str, wanted: frozenset[str]) -> tuple[tuple[int, int], ...]:
    if len(word) > 400 or (not word.isascii() and max(word) >= "\u0e00"):
        return _pair_spans(word, wanted)
    return ((0, len(word)),) if not wanted.isdisjoint(_terms_of(word)) else ()


@lru_cache(maxsize=20_000)
def _terms_of(word: str) -> tuple[str, ...]:
    """Words come again in every text, whatever is asked."""
    return tuple(terms(word))


def _pair_spans(word: str, wanted: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Words without spaces are matched pair by pair; touching pairs become one span."""
    spans: list[tuple[int, int]] = []
    for start in range(max(len(word) - 1, 1)):
        if wanted.isdisjoint(terms(word[start : start + 2])):
            continue
        if spans and spans[-1][1] >= start:
            spans[-1] = (spans[-1][0], start + 2)
        else:
            spans.append((start, min(start + 2, len(word))))
    return tuple(spans)


def _densest(text: str, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the borders of the window that holds most matches, at spaces where there are any."""
    if len(text) <= LENGTH:
        return 0, len(text)
    best, most = 0, -1
    for index, (start, _) in enumerate(spans):
        held = sum(1 for s in spans[index : index + 60] if s[1] <= start + LENGTH - 40)
        if held > most:
            best, most = start, held
    start = _border(text, max(best - 40, 0))
    return start, _border(text, min(start + LENGTH, len(text)))


def _border(text: str, place: int) -> int:
    """Move a place to the next space within 20 characters."""
    if place in (0, len(text)):
        return place
    space = text.find(" ", place, place + 20)
    return space + 1 if space >= 0 else place


def _marked(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> str:
    parts, last = [], start
    for left, right in spans:
        if left < last:
            continue
        parts += [escape(text[last:left]), "<mark>", escape(text[left:right]), "</mark>"]
        last = right
    parts.append(escape(text[last:end]))
    return "".join(parts)
