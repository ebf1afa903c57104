"""Pairs of texts that say the same thing among very many, without a look at every pair.

Texts that agree have one outline, whatever plural or slip is between them, so that only those of
one outline are compared: nothing is left to chance, and look-alikes mostly part here already.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from memory.duplicates.likeness import SLIP_LENGTH, Known, agree, nobody_knows, ratio
from memory.duplicates.reading import EXACT, Word, outline, read

K = TypeVar("K", bound=Hashable)

#: Texts of one outline that none of the others repeats; past this a text is compared no further.
MOST_KEPT = 200


@dataclass(frozen=True)
class Text(Generic[K]):
    """One text. Only texts of one realm (scope, owner, kind) are ever compared."""

    key: K
    realm: str
    content: str


@dataclass(frozen=True)
class Pair(Generic[K]):
    """`repeat` says what `kept` says."""

    kept: K
    repeat: K
    ratio: float


Allowed = Callable[[Text[K], Text[K]], bool]


def any_pair(kept: Text[K], repeat: Text[K]) -> bool:
    """Allow every pair."""
    return True


def pairs(
    texts: Iterable[Text[K]],
    least: float,
    known: Known = nobody_knows,
    allowed: Allowed[K] = any_pair,
) -> Iterator[Pair[K]]:
    """Give each text that repeats another one, once; of two the earlier in order is kept.

    `least` is the ratio from 0 to 1. A kept text is never a repeat itself, so there are no chains.
    """
    blocks: dict[tuple[str, str], list[tuple[Text[K], tuple[Word, ...]]]] = {}
    for text in texts:
        words = read(text.content)
        blocks.setdefault((text.realm, outline(words)), []).append((text, words))
    for block in blocks.values():
        for family in _families(block):
            yield from _repeats(family, least, known, allowed)


def _repeats(
    block: Sequence[tuple[Text[K], tuple[Word, ...]]],
    least: float,
    known: Known,
    allowed: Allowed[K],
) -> Iterator[Pair[K]]:
    kept: list[tuple[Text[K], tuple[Word, ...]]] = []
    for text, words in block:
        for other, others in kept[:MOST_KEPT]:
            close = agree(others, words, known) and ratio(other.content, text.content, least)
            if close and allowed(other, text):
                yield Pair(other.key, text.key, float(close))
                break
        else:
            kept.append((text, words))


def _families(
    block: Sequence[tuple[Text[K], tuple[Word, ...]]],
) -> Iterator[list[tuple[Text[K], tuple[Word, ...]]]]:
    """Part a block by the words themselves, those a plural or a slip apart counted as one."""
    if len(block) < 2:
        return
    head = _kinship({word.text for _, words in block for word in words if word.kind != EXACT})
    found: dict[tuple[str, ...], list[tuple[Text[K], tuple[Word, ...]]]] = {}
    for text, words in block:
        key = tuple(head.get(word.text, word.text) for word in words)
        found.setdefault(key, []).append((text, words))
    yield from (family for family in found.values() if len(family) > 1)


def _kinship(words: set[str]) -> dict[str, str]:
    """Give words that share a form one head: every plural and every slip apart are among them."""
    heads = {word: word for word in words}
    first: dict[str, str] = {}
    for word in sorted(words):
        for form in _forms(word):
            one, other = _head(heads, word), _head(heads, first.setdefault(form, word))
            heads[max(one, other)] = min(one, other)
    return {word: _head(heads, word) for word in words}


def _head(heads: dict[str, str], word: str) -> str:
    while heads[word] != word:
        heads[word] = heads[heads[word]]
        word = heads[word]
    return word


def _forms(word: str) -> set[str]:
    """The word, its singular as far as letters tell, and it without one letter."""
    forms = {word, word.removesuffix("s"), word.removesuffix("es")}
    if word.endswith("ies"):
        forms.add(word[:-3] + "y")
    if len(word) >= SLIP_LENGTH:
        forms |= {word[:at] + word[at + 1 :] for at in range(len(word))}
    return forms
