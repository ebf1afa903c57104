"""Writing a checked snapshot into the database, inside one transaction of the caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.core.management.color import no_style
from django.db import connection
from django.db.models import ManyToManyField, Model

from goclaw_site.errors import InvalidInput
from memory import checking, chunks
from memory.models import AuditEvent
from memory.search import backends
from memory.snapshots.columns import Row, Table
from memory.snapshots.tables import AUDIT, CARRIED, STATE, every, meta, model_of, through

#: Rows of one statement: enough to be quick, few enough for the longest texts.
_AT_ONCE = 200
#: Made at a first start, and so no reason to keep an import out.
_MADE_AT_START = ("auth.Group", STATE, AUDIT)
#: Never there without the records that are counted already.
_OF_RECORDS = ("memory.MemoryTag", "memory.MemorySource", "memory.MemoryChunk")
#: Disagreements that would show somebody what is not theirs, or leave rows without a record.
_RULES = ("orphan_chunks", "orphan_tags", "wrong_access", "foreign_sources", "foreign_neighbours")


def held() -> dict[str, int]:
    """Return how much stands here that an import would take the place of, by table.

    One administrator and one agent, with the roles of a first start, are nothing.
    """
    ordinary = User.objects.filter(is_superuser=False).exists()
    allowed = {"agents.Agent": 1, "auth.User": 0 if ordinary else 1}
    found: dict[str, int] = {}
    for label in CARRIED:
        if label in _MADE_AT_START or label in _OF_RECORDS:
            continue
        count = every(model_of(label)).count()
        if count > allowed.get(label, 0):
            found[label] = count
    return found


def clear() -> None:
    """Empty every carried table and whatever refers to one. The audit trail stays."""
    Session.objects.all().delete()
    for model in _referring():
        _empty(model)
    for label in reversed(CARRIED):
        if label == AUDIT:
            continue
        if label == STATE:
            Table(label).held().delete()
        else:
            _empty(model_of(label))


def _referring() -> list[type[Model]]:
    """Return the tables that are not carried and refer to one that is: pairs, uses of keys."""
    carried = {model_of(label) for label in CARRIED}
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model not in carried
        and any(field.related_model in carried for field in meta(model).concrete_fields)
    ]


def _empty(model: type[Model]) -> None:
    """Delete all rows by one statement: a million rows never meet in memory."""
    rows = every(model).all()
    rows._raw_delete(rows.db)  # noqa: SLF001  what Django's own deletion ends in


def batches_of(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Cut the rows of a table into batches."""
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def put(table: Table, batch: Sequence[Row]) -> None:
    """Write rows as they are, with their links."""
    if table.label == AUDIT:
        _append_trail([row.values for row in batch])
        return
    manager: Any = table.model._default_manager  # noqa: SLF001  as in `tables.every`
    manager.bulk_create([table.model(**row.values) for row in batch])
    for link in table.links:
        key = meta(table.model).pk.attname
        pairs = [
            (row.values[key], other) for row in batch for other in row.links.get(link.name, [])
        ]
        _link(link, pairs)


def _append_trail(rows: Sequence[dict[str, Any]]) -> None:
    """Add the events that are not there yet: a trail is never changed, and none is told twice."""
    told = {
        _event(vars(event)) for event in AuditEvent.objects.filter(at__in=[r["at"] for r in rows])
    }
    news = [{k: v for k, v in row.items() if k != "id"} for row in rows if _event(row) not in told]
    AuditEvent.objects.bulk_create([AuditEvent(**row) for row in news])


def _event(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        row[name] for name in ("at", "actor", "action", "subject", "outcome", "request_id")
    )


def _link(link: ManyToManyField[Any, Any], pairs: Sequence[tuple[Any, Any]]) -> None:
    pairs_of = through(link)
    if link.related_model is Permission:
        known = _permissions()
        pairs = [(key, known[tuple(words)]) for key, words in pairs if tuple(words) in known]
    near, far = f"{link.m2m_field_name()}_id", f"{link.m2m_reverse_field_name()}_id"
    rows = [pairs_of(**{near: key, far: other}) for key, other in pairs]
    pairs_of._default_manager.bulk_create(rows)  # noqa: SLF001  as in `tables.every`


def _permissions() -> dict[tuple[str, ...], int]:
    rows = Permission.objects.values_list(
        "codename", "content_type__app_label", "content_type__model", "pk"
    )
    return {(codename, app, model): pk for codename, app, model, pk in rows}


def settle() -> None:
    """What follows once all rows are in: sequences, the processes' matrices, a last look."""
    connection.check_constraints()
    models = [model_of(label) for label in CARRIED]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
    chunks.restart_log()
    backends.current().rows_came()
    for name in _RULES:
        if next(iter(checking.RULES[name].rows()), None) is not None:
            raise InvalidInput(
                f"it holds {checking.RULES[name].words}: `goclaw memory check --repair` on the "
                "machine it comes from, then export again"
            )
