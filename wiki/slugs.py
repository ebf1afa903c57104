"""Names of pages: checked, folded so that two spellings never make two pages, and in addresses."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from urllib.parse import quote, unquote

from goclaw_site.errors import InvalidInput

MAX_SLUG = 200
#: Paths of copies keep the spelling of their origin.
MAX_COPY = 1_000
COPIES = "wikijs"

_PUNCTUATION = frozenset("-_.")
_TITLE_GAPS = re.compile(r"-{2,}")
#: Marks and letters that nobody sees: with them two slugs would look the same.
_INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
#: Alphabets whose letters are taken for each other's; a word holds letters of one of them.
_ALIKE = ("LATIN", "GREEK", "CYRILLIC")


def parse(text: str) -> str:
    """Return the slug in its one spelling. Raise InvalidInput that says what is wrong."""
    slug = fold(_checked_text(text))
    if slug == COPIES or slug.startswith(f"{COPIES}/"):
        raise _wrong(f"'{COPIES}/' holds copies of other wikis. Choose another name.")
    if len(slug) > MAX_SLUG:
        raise _wrong(f"slug has {len(slug):,} characters; the limit is {MAX_SLUG}.")
    for segment in slug.split("/"):
        _check_segment(segment)
    return slug


def parse_copy(path: str) -> str:
    """Return the path of a copy below `wikijs/` in NFC, its spelling and case untouched."""
    slug = unicodedata.normalize("NFC", _checked_text(path))
    if not slug.startswith(f"{COPIES}/"):
        raise _wrong(f"Copies stand below '{COPIES}/'.")
    if len(slug) > MAX_COPY:
        raise _wrong(f"slug has {len(slug):,} characters; the limit is {MAX_COPY:,}.")
    if any(segment in ("", ".", "..") for segment in slug.split("/")):
        raise _wrong("slug has an empty part, or one that is '.' or '..'.")
    return slug


def read(text: str) -> str:
    """Return the slug that an address or a link names, of pages and copies alike."""
    return parse_copy(text) if text.startswith(f"{COPIES}/") else parse(text)


def fold(text: str) -> str:
    """Return the text in NFC and lower case; full-width letters become plain ones.

    Lower case, not case folding: 'größe' is a word as it stands, 'grösse' is not.
    """
    plain = "".join(
        unicodedata.normalize("NFKC", ch) if "\uff01" <= ch <= "\uffef" else ch for ch in text
    )
    folded = unicodedata.normalize("NFC", plain)
    # Lower case can undo the normal form, and the normal form can bring up a capital again.
    while (again := unicodedata.normalize("NFC", folded.lower())) != folded:
        folded = again
    return folded


def from_title(title: str) -> str:
    """Return a slug of one segment for a title; never empty, whatever the title holds."""
    slug = _segment_of(title)
    if slug in ("", COPIES):
        digest = hashlib.sha256(title.encode("utf-8", "surrogatepass")).hexdigest()
        slug = f"page-{digest[:8]}"
    return slug


def from_link(target: str) -> str:
    """Return the slug that `[[target]]` means: 'Team/On call' is `team/on-call`.

    Raises InvalidInput where nothing is left of it.
    """
    if target.startswith(f"{COPIES}/"):
        return parse_copy(target)
    segments = [_segment_of(part) for part in target.strip().strip("/").split("/")]
    return parse("/".join(segments))


def encode(slug: str) -> str:
    """Return the slug as it stands in an address."""
    return quote(slug, safe="/")


def decode(path: str) -> str:
    """Return the slug of a part of an address; the inverse of `encode`. Raise InvalidInput."""
    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise _wrong("slug is not text in UTF-8.") from None


def key(slug: str) -> str:
    """Return the hash that stands for a slug in unique indexes: short, and blind to no case."""
    return hashlib.sha256(slug.encode()).hexdigest()


def ancestors(slug: str) -> list[str]:
    """Return the slugs above: 'a/b/c' lies below 'a' and 'a/b'."""
    parts = slug.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def _checked_text(text: str) -> str:
    if not isinstance(text, str):
        raise _wrong("slug must be text.")
    if any("\ud800" <= ch <= "\udfff" for ch in text):
        raise _wrong("slug holds a lone surrogate, which is not text.")
    return text


def _check_segment(segment: str) -> None:
    if segment in ("", ".", ".."):
        raise _wrong(
            "slug has an empty part, or one that is '.' or '..'. Parts are joined by one '/'."
        )
    for ch in segment:
        if not _allowed(ch):
            raise _wrong(
                f"slug holds {_shown(ch)}; letters and digits of any script, '-', '_', '.' and "
                "'/' are allowed."
            )
    for word in re.split(r"[-_.]", segment):
        _check_alphabet(word)


def _check_alphabet(word: str) -> None:
    used = {alphabet for ch in word if (alphabet := _alphabet(ch))}
    if len(used) > 1:
        names = " and ".join(name.capitalize() for name in sorted(used))
        raise _wrong(
            f"slug has {names} letters in one word, '{word[:40]}': they look alike. "
            "Put a '-' between them, or use one alphabet."
        )


def _alphabet(ch: str) -> str:
    if ch.isascii():
        return "LATIN" if ch.isalpha() else ""
    first = unicodedata.name(ch, "").partition(" ")[0]
    return first if first in _ALIKE else ""


def _allowed(ch: str) -> bool:
    if ch in _PUNCTUATION:
        return True
    return unicodedata.category(ch)[0] in "LMN" and ch not in _INVISIBLE


def _segment_of(text: str) -> str:
    words = "".join(ch if _allowed(ch) else "-" for ch in fold(text))
    slug = _TITLE_GAPS.sub("-", words).strip("-.")[:MAX_SLUG].rstrip("-.")
    return "-".join(_of_one_alphabet(slug))


def _of_one_alphabet(slug: str) -> list[str]:
    """Part words where the alphabet changes, so that a title always gives a slug."""
    parts: list[str] = []
    current = last = ""
    for ch in slug:
        alphabet = _alphabet(ch)
        if alphabet and last and alphabet != last and current:
            parts.append(current)
            current = ""
        last = "" if ch in _PUNCTUATION else alphabet or last
        current += ch
    return [*parts, current]


def _shown(ch: str) -> str:
    if ch == " ":
        return "a space"
    name = unicodedata.name(ch, "") or f"U+{ord(ch):04X}"
    return f"'{ch}' ({name.lower()})" if ch.isprintable() else f"U+{ord(ch):04X}"


def _wrong(message: str) -> InvalidInput:
    return InvalidInput(message, field="slug")
