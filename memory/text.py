"""One normaliser for index, query and evidence: text in, search terms out; pure, never raises."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from threading import local

import Stemmer

from memory.stopwords import stop_words_for

MAX_TERM = (
    128  # longer identifiers are found by their parts, longer words by their first 128 characters
)
MAX_QUERY_TERMS = 64
MAX_QUERY_TOKENS = (
    2000  # a pasted page is searched by its beginning, so that a query's cost is bounded
)

# Scripts written without spaces, and Hangul, whose particles are glued to the words. No digits.
_RUN = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af"  # Han
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3105-\u312f"  # kana
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao; then Khmer, Myanmar
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\uaa60-\uaa76\uaa7a-\uaa7f"
)
_LATIN = "a-z\u00df-\u024f\u0250-\u02af\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff"
_UNDECOMPOSED = str.maketrans(
    {
        "đ": "d",
        "ø": "o",
        "ł": "l",
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "þ": "th",
        "ð": "d",
        "ħ": "h",
    }
    | {
        "ŋ": "n",
        "ŧ": "t",
        "ĸ": "k",
        "ƀ": "b",
        "ɨ": "i",
        "ʉ": "u",
        "ƶ": "z",
        "ǥ": "g",
        "ȷ": "j",
        "ɖ": "d",
    }
    | {"ё": "е"}  # Russian prints one for the other
)
# Characters that are drawn as nothing: a word is the same with and without them.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)


def _marks() -> str:
    """Combining marks as a character class; Indic words need them, the engine lacks them."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x1E950):
        if unicodedata.category(chr(code))[0] != "M":
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_MARK = f"[{_marks()}]"
_LETTER = rf"[^\W_{_RUN}]"
_WORD = rf"{_LETTER}(?:{_LETTER}|(?![{_RUN}]){_MARK})*"
_ACCENTED = re.compile(f"([{_LATIN}]){_MARK}+")
_TOKEN = re.compile(rf"(?P<run>[{_RUN}]+)|(?P<word>{_WORD}(?:(?:_+|://|[.:/-]){_WORD})*)")
# From the loosest joint of an identifier to the tightest: `a.b/c-d` holds `a.b`, `c-d`, parts.
_JOINTS = (re.compile(r"[:/]+"), re.compile(r"\."), re.compile(r"[_-]+"))
_stemmers = local()  # a Snowball object has state: one for each thread


def fold(text: str) -> str:
    """The text without differences of case, width, accent and composition."""
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    if text.isascii():
        return text
    text = _ACCENTED.sub(r"\1", unicodedata.normalize("NFKD", text)).translate(_UNDECOMPOSED)
    return unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a folded word of plain Latin letters; any other word as it is."""
    if not (word.isascii() and word.isalpha()):
        return word
    if not hasattr(_stemmers, "english"):
        _stemmers.english = Stemmer.Stemmer("english")
    shorter: str = _stemmers.english.stemWord(word)
    # Stemmed until nothing changes, so that a term is its own term.
    return word if shorter == word else stem(shorter)


def terms(text: str) -> list[str]:
    """The index terms of a text, in order, with repeats."""
    return [term for _, term in _tokens(text)]


def query_terms(query: str) -> list[str]:
    """The distinct terms of a query in order; no stop words unless it has nothing else; bounded."""
    found = list(islice(_tokens(query), MAX_QUERY_TOKENS))
    stops = stop_words_for({surface for surface, _ in found})
    kept = dict.fromkeys(term for surface, term in found if surface not in stops)
    return list(kept or dict.fromkeys(term for _, term in found))[:MAX_QUERY_TERMS]


def normalise(text: str) -> str:
    """What a keyword index stores: the terms, a space between them."""
    return " ".join(terms(text))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of (word as written, term): the former is judged as stop word, "does" but not "Doe"."""
    for match in _TOKEN.finditer(fold(text)):
        found = match.group()
        pieces = _bigrams(found) if match.lastgroup == "run" else _identifier(found)
        for piece in pieces:
            yield piece, stem(piece)


def _bigrams(run: str) -> Iterable[str]:
    return (run[at : at + 2] for at in range(max(1, len(run) - 1)))


def _identifier(token: str) -> Iterator[str]:
    """The identifier, what it falls into at each kind of joint, and its smallest parts."""
    level = [token]
    for joint in _JOINTS:
        smaller = []
        for piece in level:
            parts = [part for part in joint.split(piece) if part]
            smaller += parts
            if len(parts) > 1 and len(piece) <= MAX_TERM:
                yield piece
        level = smaller
    yield from (part[:MAX_TERM] for part in level)
