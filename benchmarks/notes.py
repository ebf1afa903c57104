"""Short notes as agents leave them, and what can be done to one: said again, or made a look-alike.

Written without a look at how the product tells the two apart. Everything is seeded.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from rapidfuzz import fuzz

RATIO = 0.85

_HOSTS = [
    "web",
    "db",
    "cache",
    "mail",
    "proxy",
    "build",
    "queue",
    "files",
    "auth",
    "search",
    "edge",
    "backup",
    "print",
    "vpn",
    "dns",
    "log",
    "batch",
]
_PLACES = [
    "Berlin",
    "Hanoi",
    "Lyon",
    "Porto",
    "Turin",
    "Oslo",
    "Graz",
    "Gdansk",
    "Leeds",
    "Kyoto",
    "Da-Nang",
    "Tampere",
]
_PEOPLE = [
    "Alice",
    "Bernard",
    "Chloe",
    "Dmitri",
    "Elena",
    "Farid",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Katya",
    "Linh",
    "Marta",
    "Nadia",
    "Oskar",
    "Priya",
    "Quentin",
    "Rosa",
    "Stefan",
    "Thuy",
    "Ursula",
    "Viktor",
    "Wanda",
    "Xenia",
    "Yusuf",
    "Zora",
]
_SYSTEMS = ["Debian", "Ubuntu", "Alpine", "FreeBSD", "Rocky", "Fedora"]
_SERVICES = [
    "billing",
    "invoicing",
    "payroll",
    "catalogue",
    "checkout",
    "telemetry",
    "scheduler",
    "ledger",
    "inventory",
    "newsletter",
    "onboarding",
    "reporting",
    "analytics",
    "thumbnailer",
    "translator",
    "importer",
    "exporter",
    "archive",
]
_TOOLS = [
    "nginx",
    "PostgreSQL",
    "Redis",
    "Grafana",
    "Terraform",
    "Ansible",
    "Kafka",
    "RabbitMQ",
    "Vault",
    "Prometheus",
]
_COLOURS = ["blue", "green", "amber", "violet", "grey", "white"]
_TIMES = ["every night", "each Monday", "at noon", "on weekdays", "after lunch", "each quarter"]
_TOPICS = [
    "the retention of invoices",
    "the colour of the dashboard",
    "parental leave",
    "the travel budget",
    "the office plants",
    "password rotation",
    "customer interviews",
    "the coffee machine",
    "the parking permits",
    "translations of the manual",
    "the style of commit messages",
    "incident reviews",
]

_PATTERNS = """
{host} runs {system} {version} and is patched {time}.
The {service} service on {host} listens on port {port} behind {tool}.
Backups of {service} are written to {ip} and kept for {n} days.
{person} prefers summaries in {n} short sentences without tables.
{person} looks after the {service} pipeline since {date}.
The gateway of the {place} office is {ip} and its spare is kept in room {n}.
Deployments of {service} need an approval by {person} when more than {n} customers are affected.
The certificate for {host} expires on {date}; renewal is done by {person}.
Alerts about {service} go to the {colour} channel once latency exceeds {n} ms.
{tool} was upgraded to {version} on {date} and the old packages were removed.
Disk usage on {host} reached {n} percent during the migration to {tool}.
We agreed with {person} that {topic} is discussed {time}, starting {date}.
{person} asked for the {service} figures in a spreadsheet with {n} columns.
The {place} warehouse receives deliveries until {clock}, afterwards the porter opens gate {n}.
Tickets from {place} are answered within {n} hours, those of {person} immediately.
The nightly export of {service} takes {n} minutes and produces {port} rows.
{tool} on {host} stores its configuration under /srv/{service}/{tool}-{n}.conf.
Release {version} of {service} contains the fix for ticket {port}.
The meeting room in {place} seats {n} people and its projector speaks to {host}.
Whoever restarts {host} tells {person} beforehand and waits {n} minutes.
{person} is away from {date} and is replaced by {other} for questions about {topic}.
The contract with the carrier in {place} runs until {date} and costs {port} euros.
Reports about {topic} are collected by {person} and archived in folder {n}.
The {service} database on {host} was restored from the snapshot of {date} within {n} minutes.
Customers in {place} pay by invoice; reminders are sent {time} by {service}.
Traffic between {host} and {ip} is encrypted with a key that rotates after {n} days.
Load tests showed that {service} handles {port} requests a second on {n} cores.
{person} wants dates written like {date} and amounts without decimals, also in {service}.
In {place} the {colour} badge opens the laboratory, guests are accompanied by {person}.
Queries against {tool} longer than {n} seconds are cancelled by the {service} watchdog.
Die Sicherung von {host} läuft {n} Minuten und endet gegen {clock} Uhr.
{person} möchte Berichte über {service} als Tabelle mit {n} Spalten erhalten.
Das Büro in {place} erreicht man über {ip}, der Ersatzschlüssel liegt bei {person}.
{host} 上的 {service} 服务使用端口 {port}，由 {person} 负责维护。
""".strip().splitlines()
_MORE = """
 Documentation is in the handbook, chapter {n}.
 Questions go to {person}.
 Last checked on {date}.
 This replaced an older arrangement with {place}.
 The monitoring dashboard shows it under {service}.
 See ticket {port} for the background.
 Nobody else has access at present.
 It has worked reliably since the summer.
""".strip("\n").splitlines()


@dataclass(frozen=True)
class Changed:
    """What a note was made into, and how."""

    text: str
    how: str


class Notes:
    """An endless supply of distinct notes."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self._seen: set[str] = set()

    def new(self) -> str:
        """Return a note that was not there before."""
        while True:
            pattern = self.dice.choice(_PATTERNS)
            if self.dice.random() < 0.5 and "{host} 上" not in pattern:
                pattern += self.dice.choice(_MORE)
            text = self._filled(pattern)
            if text not in self._seen:
                self._seen.add(text)
                return text

    def again(self, text: str) -> Changed:
        """Return the note said again: other letters, the same words; one to three changes."""
        while True:
            said, how = text, list[str]()
            for name in self.dice.sample(sorted(_AGAIN), self.dice.randint(1, 3)):
                changed = _AGAIN[name](said, self.dice)
                if changed != said:
                    said, how = changed, [*how, name]
            if how and said.strip() not in self._seen and fuzz.ratio(text, said) >= RATIO * 100:
                self._seen.add(said.strip())
                return Changed(said, " + ".join(how))

    def look_alike(self, text: str, name: str) -> Changed | None:
        """Return one that differs in what is named, as close as a duplicate; None if it can't."""
        changed = _LOOK_ALIKE[name](text, self.dice)
        if (
            changed.strip() in self._seen
            or changed == text
            or fuzz.ratio(text, changed) < RATIO * 100
        ):
            return None
        self._seen.add(changed)
        return Changed(changed, name)

    def _filled(self, pattern: str) -> str:
        dice = self.dice
        values = {
            "host": f"{dice.choice(_HOSTS)}-{dice.randint(1, 60):02d}",
            "system": dice.choice(_SYSTEMS),
            "version": f"{dice.randint(1, 20)}.{dice.randint(0, 30)}.{dice.randint(0, 9)}",
            "port": str(dice.randint(1024, 49_000)),
            "service": dice.choice(_SERVICES),
            "tool": dice.choice(_TOOLS),
            "ip": f"10.{dice.randint(0, 99)}.{dice.randint(0, 255)}.{dice.randint(1, 254)}",
            "n": str(dice.randint(2, 95)),
            "person": dice.choice(_PEOPLE),
            "other": dice.choice(_PEOPLE),
            "date": _date(dice),
            "place": dice.choice(_PLACES),
            "colour": dice.choice(_COLOURS),
            "time": dice.choice(_TIMES),
            "clock": f"{dice.randint(6, 20)}:{dice.choice(('00', '15', '30', '45'))}",
            "topic": dice.choice(_TOPICS),
        }
        return pattern.format(**values)


def _date(dice: random.Random) -> str:
    return f"{dice.randint(2021, 2025)}-{dice.randint(1, 12):02d}-{dice.randint(1, 28):02d}"


def kinds_of_look_alikes() -> list[str]:
    """Return the names of what a look-alike may differ in."""
    return sorted(_LOOK_ALIKE)


def _replaced(pattern: str, new: Callable[[str, random.Random], str]) -> Callable[..., str]:
    """Replace one place that the pattern finds."""

    def change(text: str, dice: random.Random) -> str:
        places = list(re.finditer(pattern, text))
        if not places:
            return text
        place = dice.choice(places)
        return text[: place.start()] + new(place.group(), dice) + text[place.end() :]

    return change


def _other_digit(number: str, dice: random.Random) -> str:
    at = dice.choice([at for at, sign in enumerate(number) if sign.isdigit()])
    digit = dice.choice([d for d in "123456789" if d != number[at]])
    return number[:at] + digit + number[at + 1 :]


def _misspelt(word: str, dice: random.Random) -> str:
    at = dice.randint(1, len(word) - 3)
    kind = dice.choice(("swapped", "lost", "doubled", "wrong"))
    if kind == "swapped":
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == "lost":
        return word[:at] + word[at + 1 :]
    if kind == "doubled":
        return word[:at] + word[at] + word[at:]
    return word[:at] + dice.choice("aeinrst") + word[at + 1 :]


def _swapped_for(pairs: str) -> Callable[..., str]:
    table = dict(pair.split(">") for pair in pairs.split("|"))
    return _replaced(
        "|".join(rf"\b{re.escape(word)}\b" for word in table), lambda word, dice: table[word]
    )


_AGAIN: dict[str, Callable[[str, random.Random], str]] = {
    "no full stop": lambda text, dice: text.rstrip(".。"),
    "exclamation mark": lambda text, dice: text.rstrip(".。") + "!",
    "first letter small": lambda text, dice: text[:1].lower() + text[1:],
    "two spaces": _replaced(" ", lambda _, dice: "  "),
    "line break": _replaced(" ", lambda _, dice: "\n"),
    "article lost": _replaced(r"\b(?:the|The|a|an) ", lambda _, dice: ""),
    "note:": lambda text, dice: f"Note: {text}",
    "please note that": lambda text, dice: f"Please note that {text}",
    "comma": _replaced(r"(?<=[a-z]) (?=and |until |which |without )", lambda _, dice: ", "),
    "comma lost": _replaced(r"(?<=[a-z]), ", lambda _, dice: " "),
    "semicolon": _replaced(r"; ", lambda _, dice: ", "),
    "misspelt": _replaced(r"(?<![\w/.-])[a-z]{7,}(?![\w/-])", _misspelt),
    "quoted": _replaced(r"(?<![\w/.-])[a-z]{5,}(?![\w/-])", lambda word, dice: f'"{word}"'),
}
_LOOK_ALIKE: dict[str, Callable[[str, random.Random], str]] = {
    "number": _replaced(r"(?<![\w.:-])\d+(?![\w:-]|\.\d)", _other_digit),
    "host": _replaced(r"\b[a-z]+-\d\d\b", _other_digit),
    "host's kind": _replaced(
        r"\b[a-z]+(?=-\d\d\b)", lambda kind, dice: dice.choice([h for h in _HOSTS if h != kind])
    ),
    "address": _replaced(
        r"\b10\.\d+\.\d+\.\d+\b", lambda ip, dice: "10" + _other_digit(ip[2:], dice)
    ),
    "date": _replaced(r"\b\d{4}-\d\d-\d\d\b", lambda day, dice: _date(dice)),
    "version": _replaced(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.])", _other_digit),
    "person": _replaced(
        "|".join(_PEOPLE), lambda name, dice: dice.choice([p for p in _PEOPLE if p != name])
    ),
    "place": _replaced(
        "|".join(_PLACES), lambda name, dice: dice.choice([p for p in _PLACES if p != name])
    ),
    "unit": _swapped_for("minutes>seconds|seconds>minutes|days>weeks|hours>days|ms>s|percent>GB"),
    "negation": _swapped_for(
        "is>is not|are>are not|was>was not|were>were not|runs>never runs|needs>never needs"
        "|wants>never wants|läuft>läuft nicht|möchte>möchte nicht|使用>不使用"
    ),
    "opposite": _swapped_for(
        "encrypted>unencrypted|removed>restored|until>from|after>before|beforehand>afterwards"
        "|without>with|opens>closes|longer>shorter|more>less|exceeds>undercuts|old>new"
    ),
}
