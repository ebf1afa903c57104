"""Which tables a snapshot carries, and which it leaves out and why."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db.models import ManyToManyField, Model, QuerySet
from django.db.models.options import Options

#: In the order in which they are written: what a row refers to stands before it.
CARRIED: tuple[str, ...] = (
    "auth.Group",
    "auth.User",
    "agents.Agent",
    "agents.ApiKey",
    "agents.Identity",
    "memory.EngineState",
    "memory.Memory",
    "memory.MemoryTag",
    "memory.MemorySource",
    "memory.MemoryChunk",
    "memory.MemoryRevision",
    "memory.MemoryVeto",
    "memory.MemorySubject",
    "memory.MemoryBelief",
    "memory.MemoryEntity",
    "memory.MemoryRelation",
    "memory.ModelCall",
    "wiki.WikiPage",
    "wiki.WikiRevision",
    "wiki.WikiTag",
    "wiki.WikiLink",
    "wiki.WikiAttachment",
    "memory.AuditEvent",
)

#: With the reason; those that refer to a carried table are emptied when it is replaced.
LEFT_OUT: dict[str, str] = {
    "memory.Job": "work of this server, which the next one starts anew",
    "memory.MemoryOutline": "made from the texts, by the next look for duplicates",
    "memory.ModelCircuit": "how a model answered this server in the last minutes",
    "memory.MemoryChange": "tells the processes of this server what changed; an import tells them",
    "agents.Attempt": "wrong passwords and keys of the last minutes",
    "agents.KeyUse": "requests of keys in the last minutes",
    "auth.Permission": "made by migrations; people and groups name theirs by word",
}

#: Columns that are made from others: a page's HTML from outside would be somebody's script.
MADE_ANEW: dict[str, tuple[str, ...]] = {"wiki.WikiPage": ("html", "html_version", "contents")}

#: How people call one and several rows of the tables they know of.
WORDS: dict[str, tuple[str, str]] = {
    "memory.Memory": ("record", "records"),
    "auth.User": ("person", "people"),
    "agents.ApiKey": ("key", "keys"),
    "wiki.WikiPage": ("wiki page", "wiki pages"),
    "memory.MemoryChunk": ("chunk", "chunks"),
}

#: Apps whose every table must stand in one of the two lists.
OURS = ("memory", "wiki", "agents", "auth")

#: Facts of the engine that belong to one server, not to what it knows.
STATE_LEFT_OUT = ("worker_seen", "import_files", "rule_lock", "backup_last", "backup_last_good")

AUDIT = "memory.AuditEvent"
STATE = "memory.EngineState"


def model_of(label: str) -> type[Model]:
    """Return the model of a table's name."""
    return apps.get_model(label)


def meta(model: type[Model]) -> Options[Model]:
    """Return what Django publishes about a model under a name that looks private."""
    return model._meta  # noqa: SLF001


def counted(label: str, count: int) -> str:
    """Return a number of rows in words."""
    about = meta(model_of(label))
    plain = (str(about.verbose_name), str(about.verbose_name_plural))
    return f"{count:,} {WORDS.get(label, plain)[count != 1]}"


def every(model: type[Model]) -> QuerySet[Any]:
    """Return all rows of a table."""
    return model._default_manager.all()  # noqa: SLF001  as above


def through(link: ManyToManyField[Any, Any]) -> type[Model]:
    """Return the table of pairs behind a link."""
    pairs = link.remote_field.through
    assert pairs is not None
    return pairs


def unlisted() -> list[str]:
    """Return the tables that are in neither list; a test keeps this empty."""
    models = (model for app in OURS for model in apps.get_app_config(app).get_models())
    return sorted({meta(model).label for model in models} - {*CARRIED, *LEFT_OUT})
