"""A text as the words that its meaning rests on; pure, never raises.

Dropped: white space, plain punctuation, and the few words of `words.HARMLESS`. Kept in order: all
else. Two texts may say the same thing only where their words agree one by one.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memory.duplicates.words import COURTESY, HARMLESS, MEANING, NAMING
from memory.stopwords import STOP_WORDS

#: Of what stands in this module and the lists it reads: outlines of other rules are made anew.
VERSION = 2
#: How far a word may be read otherwise: not at all; by a plural or a slip; by these only where the
#: corpus knows one of the two, since a capital at the head of a sentence may be that of a name.
EXACT, ORDINARY, OPENING = 0, 1, 2

# Scripts without spaces, each character by itself: Thai, kana, Han.
_SINGLE = (
    "\u0e01-\u0e5b\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
_PIECE = re.compile(f"[{_SINGLE}]|[^\\s{_SINGLE}]+")
_SPACES = re.compile("[\u2014\u2015\u2026\u3000\u00b7\u2022]|\\.\\.\\.")
_OPENERS = "\"'“”‘‚„«»‹›([{「『（【《¡¿"
_CLOSERS = "\"'“”’«»‹›)]}」』）】》.,;:!。，、；：！"
_ENDS = ".!?:。！？：\n"
_QUESTION = "?？؟"
_DASHES = frozenset("-–*#>|") | {"--", "=>", "->", "##", "###"}
_FUNCTION = frozenset[str]().union(*STOP_WORDS.values())
_NOT = {"can": "can", "ca": "can", "wo": "will", "sha": "shall"}
_SHORT_FORMS = {"ll": "will", "ve": "have"}
_SILENT_FORMS = ("s", "re", "m")
#: Case says something in shorter words: MB and Mb, US and us.
_CASELESS = 4


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is compared, how far it may differ, and what is left of it in an outline."""

    text: str
    kind: int
    outline: str


def read(text: str) -> tuple[Word, ...]:
    """Return the words of a text."""
    found: list[tuple[str, bool]] = []
    opening = True
    for piece in _pieces(unicodedata.normalize("NFC", text)):
        for core in _cores(piece):
            found.append((core, opening))
            opening = opening and core.casefold() in COURTESY
        opening = opening or piece[-1] in _ENDS
    naming = [core.casefold() in NAMING for core, _ in found]
    near = [False, *naming, False]
    read_words = (
        _word(core, first, (near[at] or near[at + 2]) and not naming[at])
        for at, (core, first) in enumerate(found)
    )
    return tuple(word for word in read_words if word is not None)


def _pieces(text: str) -> Iterator[str]:
    """The runs between white space; the end of a line is told by a piece of its own."""
    for line in _SPACES.sub(" ", text.replace("’", "'")).splitlines():
        yield from _PIECE.findall(line)
        yield "\n"


@lru_cache(maxsize=65536)
def _cores(piece: str) -> tuple[str, ...]:
    """What is left of a piece without punctuation; a question mark is a word."""
    bare = piece.strip("\n")
    core = bare.rstrip(_CLOSERS + _QUESTION)
    asks = any(mark in _QUESTION for mark in bare[len(core) :])
    core = core.lstrip(_OPENERS)
    words = [] if not core or core in _DASHES else _unfolded(core)
    return (*words, "?") if asks else tuple(words)


def _unfolded(core: str) -> list[str]:
    """The words that a short form stands for: isn't, it's, cannot."""
    lower = core.casefold()
    if lower == "&":
        return ["and"]
    if lower == "cannot":
        return ["can", "not"]
    if lower.endswith("n't"):
        return [_NOT.get(lower[:-3], core[:-3]), "not"]
    stem, mark, end = core.rpartition("'")
    if not mark or not stem.isalpha():
        return [core]
    if end.casefold() in _SILENT_FORMS:
        return [stem]
    return [stem, _SHORT_FORMS[end.casefold()]] if end.casefold() in _SHORT_FORMS else [core]


@lru_cache(maxsize=65536)
def _word(core: str, first: bool, named: bool) -> Word | None:
    """The word as it is compared; None where it may be left out.

    `first` in its sentence; `named` beside a word that introduces names.
    """
    folded = core.casefold()
    plain = core in {folded, core[:1].upper() + folded[1:]}
    if folded in HARMLESS and plain and not (core == "A" and not first):
        return None
    text, kind = _compared(core, folded, first, plain)
    varies = len(text) >= _CASELESS and text.isalpha() and text not in MEANING
    left = text[0].casefold() if varies else text.casefold()
    return Word(text, EXACT if named else kind, left)


def _compared(core: str, folded: str, first: bool, plain: bool) -> tuple[str, int]:
    if folded in MEANING:
        return folded, EXACT
    if not core.isalpha() or (not plain and not core.isupper()):
        opens = first and len(core) >= _CASELESS
        return (core[0].casefold() + core[1:] if opens else core), EXACT
    if len(core) < _CASELESS and not (plain and (first or folded in _FUNCTION)):
        return core, EXACT
    if core == folded:
        return folded, ORDINARY
    return folded, OPENING if first and plain else EXACT


def stored_outline(text: str) -> str:
    """Return the outline of a text in the short form that tables hold, with the rules' version."""
    whole = outline(read(text)).encode("utf-8", "surrogatepass")
    return f"{VERSION}:{hashlib.blake2b(whole, digest_size=16).hexdigest()}"


def outline(words: tuple[Word, ...]) -> str:
    """What texts that say the same thing have in common; others rarely do."""
    return " ".join(word.outline for word in words)
