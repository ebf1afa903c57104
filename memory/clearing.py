"""Deleting many records at once: of a scope, of a person, or all."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction
from django.db.models import Count, QuerySet

from goclaw_site.errors import InvalidInput
from memory import audit, write
from memory.access import Principal, require_administrator
from memory.models import Memory
from memory.vocabulary import DB_CACHE, WRITABLE_SCOPES

#: Scopes that can be cleared. Copies of pages are not: they go with their pages.
CLEARABLE = (*WRITABLE_SCOPES, DB_CACHE)
_BATCH = 200

Progress = Callable[[int, int], None]


def records_of(scope: str | None) -> QuerySet[Memory]:
    """Return the records of a scope, or of all that can be cleared. Raise InvalidInput."""
    if scope is None:
        return Memory.objects.filter(scope__in=CLEARABLE)
    if scope not in CLEARABLE:
        raise InvalidInput(
            f"scope '{scope[:40]}' cannot be cleared; use one of {', '.join(CLEARABLE)}. "
            "Copies of wiki pages go with their pages.",
            field="scope",
        )
    return Memory.objects.filter(scope=scope)


def counts(scope: str | None) -> dict[str, int]:
    """Return how many records there are in each scope that would be cleared."""
    rows = records_of(scope).order_by("scope").values_list("scope")
    return dict(rows.annotate(n=Count("pk")))


def people(scope: str | None) -> int:
    """Return how many people have personal records that would be cleared."""
    owners = records_of(scope).exclude(owner=None).order_by()
    return owners.values("owner").distinct().count()


def clear_scope(
    principal: Principal, scope: str | None, progress: Progress = lambda done, total: None
) -> int:
    """Delete every record of a scope, or of all; return how many went. Back up before."""
    return clear(principal, records_of(scope), f"scope:{scope or 'all'}", progress)


def clear(
    principal: Principal,
    records: QuerySet[Memory],
    subject: str,
    progress: Progress = lambda done, total: None,
) -> int:
    """Delete the records batch by batch; what has gone stays gone if it is interrupted."""
    require_administrator(principal)
    total, gone = records.count(), 0
    while batch := list(records.order_by("pk")[:_BATCH]):
        with transaction.atomic():
            write.erase(batch, principal.actor)
        gone += len(batch)
        progress(gone, max(total, gone))
    audit.record(principal, "records.clear", subject, count=gone)
    return gone
