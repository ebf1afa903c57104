"""What the page about models says, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from goclaw_site.config import get_config
from memory import jobs, providers
from memory.models import ModelCall
from memory.providers import failures, trials
from memory.providers.chat import accounts, choosing, circuit, features, saved
from memory.providers.chat.choices import KINDS
from memory.providers.trials import Trial

_FAILURES_SHOWN = 10

_FAILURE_WORDS = {
    failures.UNREACHABLE: "could not be reached",
    failures.SLOW: "did not answer in time",
    failures.BUSY: "said that it is asked too often",
    failures.BROKEN: "failed",
    failures.KEY: "did not accept the key",
    failures.CREDIT: "said that no credit is left",
    failures.MISSING: "did not know the model",
    failures.ADDRESS: "had nothing at this address",
    failures.REJECTED: "refused the request",
    failures.REDIRECTED: "sent elsewhere",
    failures.NONSENSE: "answered what is no answer",
    failures.OVERSIZED: "answered far too much",
    failures.DECLINED: "declined to answer",
    failures.UNUSABLE: "gave an answer that could not be used",
}
_ORIGINS = {
    choosing.CONFIGURED: "Set in the configuration, which comes first: change it there",
    choosing.BY_GEMINI: "Gemini, because ai.gemini.api_key is set in the configuration",
    choosing.AS_AGENT: "The same as the agent's, because no other is set",
}


@dataclass(frozen=True)
class Role:
    """A role in words."""

    name: str
    title: str
    about: str


ROLES = {
    choosing.AGENT: Role(choosing.AGENT, "Agent", "Talks with people."),
    choosing.BACKGROUND: Role(
        choosing.BACKGROUND,
        "Background",
        "Judges, merges and extracts while nobody waits; a cheaper model does.",
    ),
}


@dataclass(frozen=True)
class Part:
    """One of the cards: what serves, in which state, and what can be done about it."""

    name: str
    title: str
    about: str
    level: str
    state: str
    served: str
    host: str
    origin: str
    at: datetime | None = None
    note: str = ""
    editable: bool = False
    on: bool = False


def role(name: str) -> Role:
    """Return the words for a role."""
    return ROLES[name]


def overview() -> dict[str, Any]:
    """Return everything that the page shows."""
    serving = {name: choosing.served(name) is not None for name in choosing.ROLES}
    return {
        "parts": [*(_model(name) for name in choosing.ROLES), _embeddings()],
        "features": [(one, _state_of(one, serving[one.role])) for one in features.FEATURES],
        "off": not any(serving.values()),
        "used": list(_used()),
        "failures": [_failure(call) for call in accounts.failures(_FAILURES_SHOWN)],
        "kept_days": accounts.KEPT.days,
    }


def _state_of(feature: features.Feature, serves: bool) -> str:
    """Say whether a feature is on, off for want of a model, or not in this version."""
    if not any(kind in jobs.STEPS for kind in feature.jobs):
        return "later"
    return "on" if serves else "off"


def outcome(trial: Trial) -> tuple[str, bool]:
    """Return what a trial brought as a sentence, and whether that is good."""
    if not trial.configured:
        return trial.words, False
    if not trial.ok:
        return trial.words, False
    said = f" and said: {trial.said}" if trial.said else ""
    return f"{trial.model} answered in {trial.milliseconds:,} ms{said}", True


def _model(name: str) -> Part:
    words, found = ROLES[name], choosing.chosen(name)
    served = choosing.served(name)
    kept = saved.read(name)
    on_page = kept is not None and found.origin == choosing.ON_PAGE
    part: dict[str, Any] = {
        "name": name, "title": words.title, "about": words.about,
        "origin": _origin(name, found, kept), "editable": not choosing.is_configured(name),
        "at": parse_datetime(kept.at) if kept and on_page and kept.at else None,
    }  # fmt: skip
    if served is None:
        level, state = ("bad", "Cannot be used") if found.problem else ("warn", "Not set")
        return Part(**part, level=level, state=state, served="", host="", note=found.problem)
    held = circuit.state(served)
    speaks = KINDS[served.kind].speaks if served.kind in KINDS else served.kind
    part |= {"served": served.model, "host": f"{speaks} at {served.host}", "on": True}
    if held.until is None:
        return Part(**part, level="ok", state="Set")
    clock = f"{timezone.localtime(held.until):%H:%M:%S}"
    why = _FAILURE_WORDS.get(held.last_error, "failed")
    return Part(
        **part, level="bad", state="Left alone",
        note=f"It {why}, {held.failures} times in a row. The next call tries it after {clock}; "
        "what needs it waits, and nothing is lost.",
    )  # fmt: skip


def _origin(name: str, found: choosing.Chosen, kept: saved.Saved | None) -> str:
    if found.origin == choosing.ON_PAGE and kept is not None:
        return f"Chosen here by {kept.by}"
    if found.origin == choosing.CONFIGURED and found.choice is None:
        return f"Turned off by ai.{name}.provider in the configuration"
    return _ORIGINS.get(found.origin, "")


def _embeddings() -> Part:
    search = get_config().memory.search
    provider = providers.current()
    part: dict[str, Any] = {
        "name": trials.EMBEDDINGS, "title": "Embeddings",
        "about": "Turns texts into vectors, so that search finds by meaning.",
        "origin": "Set in the configuration, under memory.search",
    }  # fmt: skip
    if provider is None:
        off = search.provider == "none"
        level, state = ("warn", "Off") if off else ("bad", "Cannot be used")
        return Part(**part, level=level, state=state, served="", host="", note=providers.why_none())
    host = {"local": "in this server, without a network"}.get(search.provider, search.provider)
    resting = provider.resting
    level, state = ("bad", "Resting after a failure") if resting else ("ok", "Set")
    return Part(**part, level=level, state=state, served=provider.model, host=host, on=True)


@dataclass(frozen=True)
class Row:
    """What one purpose used, today and in 30 days."""

    title: str
    today: int
    month: int
    calls: int
    failed: int


def _used() -> Iterator[Row]:
    month = accounts.used(timezone.now() - timedelta(days=30))
    today = {used.purpose: used.tokens for used in accounts.used(accounts.today())}
    for used in month:
        yield Row(
            features.title(used.purpose), today.get(used.purpose, 0), used.tokens, used.calls,
            used.failed,
        )  # fmt: skip


def _failure(call: ModelCall) -> dict[str, Any]:
    words = _FAILURE_WORDS.get(call.error_class, "failed")
    return {"at": call.at, "title": features.title(call.purpose), "words": f"{call.model} {words}"}
