"""What a statement says of its subject: the value, its kind, and when two of a kind differ."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass

from memory.beliefs.words import (
    ADVERBS,
    DETERMINERS,
    INDEFINITE,
    PLACES,
    QUALIFIERS,
    SEVERAL,
    STATES,
    describes,
)

MAX_WORDS = 6
MAX_CHARS = 80

_NUMBER = re.compile(r"v?-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|v?-?\d+(?:[.,]\d+)*")
_QUANTITY = re.compile(rf"(?P<number>{_NUMBER.pattern})\s*(?P<unit>[^\d\W]+|%|€|\$|°c)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}/\d{1,2}/\d{4}")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?|\d{1,2}\s?[ap]m")
_HAN = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_DIMENSIONS = {
    "size": "b kb mb gb tb pb kib mib gib tib byte bytes",
    "time": "ms s sec second seconds min minute minutes h hour hours day days week weeks month "
    "months year years sekunden minuten stunden tage wochen monate jahre giây phút giờ ngày",
    "share": "% percent prozent",
    "rate": "hz khz mhz ghz rpm bps kbps mbps gbps",
    "length": "mm cm m km inch inches ft",
    "money": "€ $ eur usd euro euros dollar dollars",
    "heat": "°c c f",
}
_UNITS = {unit: name for name, units in _DIMENSIONS.items() for unit in units.split()}


@dataclass(frozen=True)
class Value:
    """A value in the form in which it is compared, and what kind of thing it is."""

    kind: str
    text: str


def folded(text: str) -> str:
    """Return the text as it is compared: width, case and white space do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def bare(text: str) -> str:
    """Return the text without quotes around it and marks after it."""
    return text.strip().rstrip(".!。！").strip().strip("\"'`“”„‚‘’«»「」『』*").strip()


def read(text: str, *, named: bool = False) -> Value | None:
    """Return the value that a statement gives, or None where it is none that replaces another.

    `named`: the language writes names large, so a small word describes (German "ist langsam").
    """
    plain = bare(text)
    if not plain or len(plain) > MAX_CHARS or any(sign in plain for sign in "()[]<>?？（）"):
        return address(plain)
    return address(plain) or _measure(folded(plain)) or _phrase(plain, named)


def differ(old: Value, new: Value) -> bool:
    """Whether the new value takes the place of the old: of the same kind, and no mere detail."""
    if old.kind != new.kind or old.text == new.text:
        return False
    if old.kind in ("ip4", "ip6"):
        return _apart(old.text, new.text)
    before, after = set(old.text.split()), set(new.text.split())
    return not (before <= after or after <= before)


def exact(value: Value) -> bool:
    """Whether a value is no mere name or description: a number, an address, an identifier."""
    if value.kind != "name":
        return "name" not in value.kind
    one = " " not in value.text
    return one and any(ch.isdigit() or ch in "-_./@" for ch in value.text)


def address(text: str) -> Value | None:
    """Return an IP address in its one spelling, with its port or mask, if the text is one."""
    host, port = _split_port(text.strip())
    host, _, mask = host.partition("/")
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    if (mask and not (mask.isdigit() and int(mask) <= found.max_prefixlen)) or len(port) > 5:
        return None
    whole = mask == str(found.max_prefixlen)
    tail = (f"/{mask}" if mask and not whole else "") + (f" :{port}" if port else "")
    return Value(f"ip{found.version}", f"{found.compressed}{tail}")


def _split_port(text: str) -> tuple[str, str]:
    bracketed = re.fullmatch(r"\[([0-9a-fA-F:.]+)\](?::(\d+))?", text)
    if bracketed:
        return bracketed[1], bracketed[2] or ""
    plain = re.fullmatch(r"([\d.]+(?:/\d+)?):(\d+)", text)
    return (plain[1], plain[2]) if plain else (text, "")


def _apart(old: str, new: str) -> bool:
    """Whether two addresses differ in more than a port or mask that one of them does not tell."""
    bare_old, bare_new = (re.split(r"[/ ]", text)[0] for text in (old, new))
    return bare_old != bare_new or (bare_old != old and bare_new != new)


def _measure(text: str) -> Value | None:
    """Return a number, quantity, date, time, address on the web or by mail."""
    if _DATE.fullmatch(text):
        return Value("date", text)
    if _CLOCK.fullmatch(text):
        return Value("clock", text.replace(" ", ""))
    if _NUMBER.fullmatch(text):
        return Value("number", text)
    if quantity := _QUANTITY.fullmatch(text):
        unit = quantity["unit"]
        number = quantity["number"]
        return Value(f"of {_UNITS.get(unit, unit)}", f"{number}{unit}")
    if re.fullmatch(r"[a-z][a-z0-9+.-]*://\S+", text):
        return Value("url", text)
    if re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", text):
        return Value("mail", text)
    return None


def _phrase(text: str, named: bool) -> Value | None:
    """Return a name or a place; descriptions, lists and qualified words are nothing."""
    words = text.split()
    first = words[0].casefold()
    if SEVERAL.search(text.casefold()) or len(words) > MAX_WORDS:
        return None
    if len(words) == 1 and first in STATES:
        return Value(f"state {STATES[first]}", first)
    if first in PLACES and len(words) > 1:
        rest = " ".join(words[1:])
        inner = address(rest) or _measure(folded(rest)) or _phrase(rest, named)
        return inner and Value(f"{PLACES[first]} {inner.kind}", inner.text)
    if first in INDEFINITE or first in ADVERBS:
        return None
    if first in DETERMINERS:
        words = words[1:]
    return _name(words, named) if words else None


def _name(words: list[str], named: bool) -> Value | None:
    lower = [word.casefold() for word in words]
    if set(lower) & QUALIFIERS:
        return None
    text = folded(" ".join(words))
    if len(words) > 1 and _NUMBER.fullmatch(lower[0]):
        return Value(f"of {' '.join(lower[1:])}", text)
    marked = any(_marked(word) for word in words)
    if _HAN.search(text):
        return Value("name", text) if len(text) <= 24 else None
    if any(describes(word) for word in lower) and not marked:
        return None
    if not marked and (named or len(words) > 3):
        return None
    return Value("name", text)


def _marked(word: str) -> bool:
    """Whether a word shows that it is a name: a capital, a digit, the joints of an identifier."""
    if describes(word.casefold()) and "-" in word:
        return False
    return word[0].isupper() or any(ch.isdigit() or ch in "-_./@#+" for ch in word)
