"""What is said of a host by its IP address: `10.0.0.5 gateway runs Debian 12`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.beliefs.values import Value, address, bare, folded
from memory.beliefs.words import DETERMINERS, QUALIFIERS, SEVERAL, words_of
from memory.text import stem

#: Nouns that stand for any host: "host 10.0.0.5" is 10.0.0.5.
_ANY_HOST = words_of(
    "host server machine node box ip address system rechner maschine máy chủ at on with the under "
    "主机 服务器"
)
_RUNS = "runs|läuft unter|läuft mit|läuft auf|chạy|运行|運行"
_HAS = "has|have|hat|có|uses|nutzt|verwendet|有"
_FORM = re.compile(
    rf"(?P<subject>.+?)\s*\b(?P<verb>{_RUNS}|{_HAS})\b\s*(?P<rest>.+)|"
    rf"(?P<subject2>[^\u3400-\u9fff]+?)\s*(?P<verb2>运行|運行|有)着?\s*(?P<rest2>.+)",
    re.IGNORECASE,
)
#: Of these a host runs one; of other programs it may run many.
_SYSTEMS = words_of(
    """debian ubuntu fedora centos rhel rocky almalinux alma alpine arch nixos opensuse suse gentoo
    freebsd openbsd netbsd windows macos proxmox esxi openwrt opnsense pfsense vyos routeros junos
    truenas talos coreos flatcar raspbian slackware mint solaris illumos aix"""
)
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_UNITS = words_of("kb mb gb tb pb kib mib gib tib hz khz mhz ghz")
_ATTRIBUTES = words_of("hostname mac serial vlan gateway netmask fqdn")


@dataclass(frozen=True)
class Attribute:
    """A predicate of a host and its value. `beside` is what else the host is called."""

    host: str
    predicate: str
    value: Value
    beside: str = ""


def read(sentence: str) -> Attribute | None:
    """Return what a plain sentence says of one host, or None."""
    match = _FORM.fullmatch(sentence.strip().rstrip(".!。！ "))
    if match is None:
        return None
    subject, verb, rest = (match[name] or match[f"{name}2"] for name in ("subject", "verb", "rest"))
    host = _host(subject)
    said = _runs(bare(rest)) if verb.casefold() in _RUNS.split("|") else _has(bare(rest))
    if host is None or said is None:
        return None
    return Attribute(host[0], said[0], said[1], host[1])


def _host(text: str) -> tuple[str, str] | None:
    """Return the address and the other words of a subject that names exactly one address."""
    if SEVERAL.search(text.casefold()):
        return None
    found, beside = [], []
    for word in text.split():
        value = address(word.strip("(),"))
        if value is not None:
            found.append(value.text)
        elif word.casefold() not in _ANY_HOST | DETERMINERS:
            beside.append(word.casefold())
    return (found[0], " ".join(beside)) if len(found) == 1 and len(beside) <= 3 else None


def _runs(rest: str) -> tuple[str, Value] | None:
    """An operating system, or one program in another version."""
    words = folded(rest).split()
    if not words or len(words) > 5 or _qualified(rest):
        return None
    if words[0] in _SYSTEMS:
        return "runs system", Value("name", " ".join(words))
    if len(words) == 2 and re.fullmatch(r"v?\d+(?:\.\d+)*[a-z]?\d*", words[1]):
        return f"runs {words[0]}", Value("name", words[1])
    return None


def _has(rest: str) -> tuple[str, Value] | None:
    """A number of something, or one of the attributes of which a host has one."""
    words = folded(rest).split()
    if not words or len(words) > 5 or _qualified(rest):
        return None
    attribute = [word for word in words if word not in DETERMINERS]
    if attribute and attribute[0] in _ATTRIBUTES:
        value = [word for word in attribute[1:] if word != "address"]
        return (f"has {attribute[0]}", Value("name", value[0])) if len(value) == 1 else None
    return _counted(words)


def _counted(words: list[str]) -> tuple[str, Value] | None:
    glued = re.fullmatch(r"(\d+(?:[.,]\d+)?)([^\d.,].*)", words[0])
    if glued:
        words = [glued[1], glued[2], *words[1:]]
    number = str(_NUMBERS.get(words[0], words[0]))
    if not re.fullmatch(r"\d+(?:[.,]\d+)?", number) or len(words) < 2:
        return None
    unit = words[1] if words[1] in _UNITS else ""
    thing = [stem(word) for word in words[1 + bool(unit) :] if word != "of"]
    noun = " ".join(thing) or unit
    return f"has {noun}", Value("count", f"{number} {unit}".strip())


def _qualified(rest: str) -> bool:
    words = set(folded(rest).split()) - {"of"}
    return bool(words & QUALIFIERS) or bool(SEVERAL.search(rest.casefold())) or "(" in rest
