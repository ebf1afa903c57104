"""What stands around every page: navigation, who is signed in, and how the server is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from memory import readiness
from memory.access import principal_of
from memory.pages.sentences import plural, waited

#: Seconds that a report on the server's parts is good for; every page shows it.
_REPORT_SECONDS = 5
_REPORT = "pages:readiness"


@dataclass(frozen=True)
class Place:
    """One entry of the navigation."""

    label: str
    name: str
    icon: str
    url: str = ""
    here: bool = False
    staff: bool = False


#: The apps' pages by group; an entry whose address does not exist is left out.
KNOWLEDGE = (
    Place("Memory", "memory", "memory"),
    Place("My memory", "memory-own", "person"),
    Place("Wiki", "wiki", "book"),
    Place("Review", "wiki-review", "check"),
    Place("What changed", "changes", "history"),
    Place("Keys", "keys", "key"),
    Place("Connect an agent", "start", "code"),
)
OPERATE = (
    Place("Decisions", "revisions", "undo"),
    Place("Models", "models", "parts"),
    Place("Backups", "backups", "database"),
    Place("People", "people", "person"),
    Place("Identities", "identities", "globe"),
    Place("Audit trail", "audit", "history"),
    Place("Administration", "admin:index", "shield", staff=True),
    Place("API", "api-docs", "code"),
    Place("Components", "components", "parts"),
)


@dataclass(frozen=True)
class State:
    """How far indexing is, in a chip; `banner` says what that means where something is wrong."""

    level: str
    label: str
    banner: str = ""
    advice: str = ""


def shell(request: HttpRequest) -> dict[str, Any]:
    """Django's context processor; everything is looked up only where a template asks."""
    return {
        "shell": {
            "knowledge": lambda: places(request, KNOWLEDGE),
            "operate": lambda: places(request, OPERATE) if _admin(request) else [],
            "state": state,
            "asker": lambda: principal_of(request),
        }
    }


def _admin(request: HttpRequest) -> bool:
    return principal_of(request).is_admin


def places(request: HttpRequest, entries: tuple[Place, ...]) -> list[Place]:
    """Return the entries that exist, the current one marked."""
    match = request.resolver_match
    current = match.view_name if match else ""
    # The longest name that fits: "memory-own" is not "memory", "wiki-review" is not "wiki".
    names = (entry.name for entry in entries)
    fitting = [name for name in names if current == name or current.startswith(f"{name}-")]
    here = max(fitting, key=len, default="")
    found = []
    for entry in entries:
        if entry.staff and not getattr(request.user, "is_staff", False):
            continue
        try:
            url = reverse(entry.name)
        except NoReverseMatch:
            continue
        found.append(Place(entry.label, entry.name, entry.icon, url, entry.name == here))
    return found


def state() -> State:
    """Return how the server is, at most five seconds ago."""
    report = cache.get(_REPORT)
    if report is None:
        report = readiness.report()
        cache.set(_REPORT, report, _REPORT_SECONDS)
    return describe(report)


def describe(report: dict[str, Any]) -> State:
    """Say in words what a readiness report means for people."""
    checks: tuple[Callable[[dict[str, Any]], State | None], ...] = (
        _database, _worker, _behind, _waiting, _keyword_only,
    )  # fmt: skip
    found = (check(report) for check in checks)
    return next((state for state in found if state), State("ok", "Indexed, 0 waiting"))


def _database(report: dict[str, Any]) -> State | None:
    if report.get("database") == "ok":
        return None
    return State("bad", "Database does not answer", "The database does not answer.")


def _worker(report: dict[str, Any]) -> State | None:
    if report["worker"] == "ok":
        return None
    waiting = report["index"]["waiting"]
    return State(
        "bad",
        "No worker",
        "No worker is running.",
        f"{_held(waiting)} What you write is kept and found by its words; finding it by meaning "
        "waits until a worker runs again (goclaw up).",
    )


def _held(waiting: int) -> str:
    if not waiting:
        return "Nothing waits yet."
    return f"{plural(waiting, 'record')} {'waits' if waiting == 1 else 'wait'} to be indexed."


def _behind(report: dict[str, Any]) -> State | None:
    index = report["index"]
    if not index["behind"]:
        return None
    return State(
        "warn",
        f"{index['waiting']:,} waiting",
        "Indexing is behind.",
        f"{_held(index['waiting'])} The oldest has waited for {waited(index['lag_seconds'])}; new "
        "records are found by their words meanwhile.",
    )


def _waiting(report: dict[str, Any]) -> State | None:
    waiting = report["index"]["waiting"]
    return State("warn", f"{waiting:,} waiting") if waiting else None


def _keyword_only(report: dict[str, Any]) -> State | None:
    if report.get("embeddings", "ok") == "ok":
        return None
    return State("warn", "Keyword only", "Search is by keyword alone.", str(report["embeddings"]))
