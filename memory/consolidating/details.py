"""Whether a merged text keeps what its sources say: checked by machine, whatever a model claims."""

from __future__ import annotations

from collections.abc import Sequence

from memory.duplicates.reading import read
from memory.duplicates.words import MEANING


def details(text: str) -> frozenset[str]:
    """Return what may not be lost: numbers, addresses, hosts, identifiers, dates, negations."""
    words = {word.text for word in read(text)}
    return frozenset(word for word in words if not word.isalpha() or word in MEANING) - {"?"}


def names(text: str) -> frozenset[str]:
    """Return the capitalised words inside sentences, folded as they are compared."""
    found = set()
    opening = True
    for piece in text.split():
        bare = piece.strip("\"'“”„«»()[]{}.,;:!?")
        if not opening and bare.isalpha() and bare != bare.lower():
            found.add(bare.casefold())
        opening = piece[-1] in ".!?:"
    return frozenset(found)


def fault(merged: str, sources: Sequence[str]) -> str:
    """Return why the merged text may not stand for its sources; empty where it may."""
    if not merged.strip():
        return "the merged text is empty"
    held = frozenset[str]().union(*(details(source) for source in sources))
    kept = details(merged)
    if lost := held - kept:
        return f"the merged text loses {_shown(lost)}"
    if new := kept - held - MEANING:
        return f"the merged text invents {_shown(new)}"
    folded = merged.casefold()
    named = frozenset[str]().union(*(names(source) for source in sources))
    if lost := frozenset(name for name in named if name not in folded):
        return f"the merged text loses {_shown(lost)}"
    if len(merged) > 2 * sum(len(source) for source in sources):
        return "the merged text is much longer than its sources"
    return ""


def _shown(words: frozenset[str]) -> str:
    first, *others = sorted(words)
    return f"{len(others) + 1} details" if others else f"one detail ({len(first)} characters)"
