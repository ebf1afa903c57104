"""Sentences for people in place of fields. Pure: plain values in, plain text out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ScopeWords:
    """How a scope is called, drawn and explained."""

    label: str
    icon: str
    meaning: str


SCOPES = {
    "personal": ScopeWords(
        "Mine",
        "lock",
        "Only you and agents that act for you read it. Administrators see that it exists, "
        "not what it says.",
    ),
    "agent_notes": ScopeWords("Agent notes", "note", "Everybody here and every agent reads it."),
    "global": ScopeWords(
        "Global", "globe", "Everybody here reads it; agents get it as recent memory."
    ),
    "agent_config": ScopeWords("Agent configuration", "gear", "Agents are given it word for word."),
    "wiki": ScopeWords("Wiki", "book", "A copy of a wiki page; change the page to change it."),
    "wikijs": ScopeWords("Wiki.js", "book", "A read-only copy of a Wiki.js page."),
    "db_cache": ScopeWords(
        "Database notes", "database", "Notes on a data source, kept by the server."
    ),
}
_DOORS = {
    "browser": "in the browser",
    "api": "through the API",
    "mcp": "through MCP",
    "command": "from the command line",
}
KINDS = {
    "fact": "Something that is so",
    "preference": "How somebody wants things",
    "note": "Anything else worth keeping",
    "guideline": "How things are to be done",
    "config": "A setting for agents",
}
VIAS = {
    "rule": "by a rule",
    "judge": "by the judge",
    "consolidation": "while merging duplicates",
    "revise": "in a revision run",
    "dedupe": "as a near-duplicate",
    "manual": "by hand",
    "undo": "by an undo",
}


def scope_words(scope: str) -> ScopeWords:
    """Return the words for a scope."""
    return SCOPES.get(scope, ScopeWords(scope, "memory", ""))


def origin(provenance: Mapping[str, Any], agent: str | None, kind: str) -> str:
    """Return who said it and through which door, as far as it is known."""
    author = str(provenance.get("author") or "")
    run = str(provenance.get("run_kind") or "chat")
    verb = "learned" if kind in ("fact", "preference") and agent else "written"
    who = f"{verb} by {agent}" if agent else verb
    if author:
        who += f" for {author}" if agent else f" by {author}"
    if run != "chat":
        return f"{who} in a {run} run"
    door = _DOORS.get(str(provenance.get("door") or ""), "")
    return f"{who} {door}".strip() if (author or agent or door) else "origin unknown"


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def index_words(state: str, chunks: int, embedded: int, error: str = "") -> str:
    """Return how far a record can be found, and by what."""
    if state == "failed":
        return f"Indexing failed and will be tried again: {error or 'no reason given'}"
    if state == "pending":
        return "Waiting to be indexed; it is found by its words meanwhile"
    parts = plural(chunks, "chunk")
    if embedded == chunks and chunks:
        return f"{parts}, found by keyword and by meaning"
    if embedded:
        return f"{parts}, found by keyword; {embedded:,} of them by meaning too"
    waiting = "; its vectors are being made" if state == "text" else ""
    return f"{parts}, found by keyword{waiting}"


def decision_words(decision: str, via: str, *, about_self: bool) -> tuple[str, str]:
    """Return what happened to the record, and by what."""
    how = VIAS.get(via, via)
    if decision == "amended":
        return "Amended", ""
    if decision == "retired":
        return ("Replaced by a newer record" if about_self else "Replaced an older record"), how
    if decision == "kept":
        return "Compared with another record and kept", how
    return decision.capitalize(), how


def similarity_words(similarity: float | None) -> str:
    """Return how close two texts are, in words."""
    if similarity is None:
        return "not compared by meaning"
    if similarity >= 0.86:
        return "very similar"
    return "similar" if similarity >= 0.8 else "loosely related"


def initials(name: str) -> str:
    """Return up to two letters for a round picture."""
    words = name.replace(".", " ").replace("_", " ").replace("-", " ").split()
    letters = [word[0] for word in words[:2]] if len(words) > 1 else list(name.strip()[:2])
    return "".join(letters).upper() or "?"


def waited(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return plural(int(seconds // size), name)
    return plural(int(seconds), "second")
