"""Whether two texts say the same thing: close letter by letter, and no word of weight differs.

Closeness alone retires what merely looks alike: two hosts, two dates, a rule and its negation are
closer to each other than two wordings of one thing. So each word must agree with its counterpart,
in order; a plural, or a slip of the pen in a long ordinary word, is all that may differ.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from memory.duplicates.reading import EXACT, OPENING, Word
from memory.duplicates.words import CONFUSABLE, NO_PLURAL

#: A slip is seen in words from this length on: among shorter ones real words lie too close.
SLIP_LENGTH = 6
#: In words from this length on it is one unless both are in use; in shorter ones, only where one of
#: the two is in use and the other is not.
SURE_LENGTH = 8
_PLURAL_LENGTH = 4

#: A word in so many texts is in use, so that it is no slip …
IN_USE = 3
#: … but that one word in use is a slip, made several times, of another that is so much commoner.
SELDOM = 100

#: Tells in how many texts a word stands; a lower bound will do.
Known = Callable[[str], int]


def nobody_knows(word: str) -> int:
    """Stand in for a corpus where there is none."""
    return 0


def ratio(one: str, other: str, least: float = 0.0) -> float:
    """Closeness of the NFC texts from 0 to 1; 0 where it is below `least`."""
    texts = (unicodedata.normalize("NFC", text).strip() for text in (one, other))
    return float(fuzz.ratio(*texts, score_cutoff=least * 100)) / 100


def agree(one: Sequence[Word], other: Sequence[Word], known: Known = nobody_knows) -> bool:
    """Whether the words of two texts say the same; texts without a word never do."""
    if len(one) != len(other) or not one:
        return False
    return all(a.text == b.text or _alike(a, b, known) for a, b in zip(one, other, strict=True))


def _alike(one: Word, other: Word, known: Known) -> bool:
    if EXACT in (one.kind, other.kind) or one.outline != other.outline:
        return False
    if _plural(one.text, other.text):
        return True
    if not _slip(one.text, other.text):
        return False
    rare, common = sorted((known(one.text), known(other.text)))
    short = len(min(one.text, other.text, key=len)) < SURE_LENGTH
    if short or OPENING in (one.kind, other.kind):
        return rare < IN_USE <= common
    return rare < IN_USE or rare * SELDOM <= common


def _plural(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < _PLURAL_LENGTH or short in NO_PLURAL:
        return False
    if short[-1] not in "sy" and long == short + "s":
        return True
    return long == short + "es" or (short[-1] == "y" and long == short[:-1] + "ies")


def _slip(one: str, other: str) -> bool:
    """One letter too many, missing, wrong, or two in the wrong order; ends stay as they are.

    A changed first or last letter makes other words: typical and atypical, expires and expired. In
    scripts without capitals a letter is a syllable or more, and a change of it no slip.
    """
    if min(len(one), len(other)) < SLIP_LENGTH or one[0] != other[0] or one == one.upper():
        return False
    if one[-1] != other[-1] and one[-2:] != other[:-3:-1]:
        return False
    return OSA.distance(one, other, score_cutoff=1) == 1 and {one, other} not in CONFUSABLE
