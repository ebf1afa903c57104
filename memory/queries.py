"""Reads. Every one starts from what the principal may see; what is not theirs does not exist."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from goclaw_site.errors import NotFound
from memory.access import Principal, visible, visible_tokens
from memory.filters import Filters, condition
from memory.models import Job, Memory, MemoryRevision
from memory.vocabulary import INDEXED, PENDING, PERSONAL, TEXT


def records(principal: Principal, filters: Filters | None = None) -> QuerySet[Memory]:
    """Return the records that this caller may see, newest first."""
    wanted = condition(filters or Filters())
    return Memory.objects.filter(visible(principal) & wanted).order_by("-updated_at", "-id")


def branches(principal: Principal, filters: Filters) -> list[QuerySet[Memory]]:
    """Return the caller's records as a shared and an own part.

    Each part is read in order from one index; over both at once a database sorts everything.
    """
    rows = records(principal, filters)
    parts = []
    if filters.scopes is None or any(scope != PERSONAL for scope in filters.scopes):
        parts.append(rows.filter(owner__isnull=True))
    if principal.reads_of is not None and (filters.scopes is None or PERSONAL in filters.scopes):
        parts.append(rows.filter(owner_id=principal.reads_of))
    return parts


def record(principal: Principal, memory_id: uuid.UUID) -> Memory:
    """Return one record, superseded ones too. Raise NotFound also for what is not theirs."""
    found = Memory.objects.filter(visible(principal), pk=memory_id)
    memory = found.filter(condition(Filters(include_history=True))).first()
    if memory is None:
        raise NotFound("No such record.")
    return memory


def visible_by_id(
    principal: Principal, ids: Iterable[uuid.UUID], wanted: Q
) -> dict[uuid.UUID, Memory]:
    """Return those of `ids` that this caller may see, with tags: the last check of a search."""
    rows = Memory.objects.filter(visible(principal) & wanted, pk__in=list(ids))
    return {row.pk: row for row in rows.prefetch_related("tags")}


def texts(principal: Principal, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Return the texts of those records that this caller may see."""
    found = Memory.objects.filter(visible(principal), pk__in=ids)
    return dict(found.values_list("pk", "content"))


def unindexed(principal: Principal) -> int:
    """Return how many records that this caller may see are not wholly indexed yet."""
    waiting = ~Q(index_state=INDEXED) & Q(index_state__in=(PENDING, TEXT))
    return Memory.objects.filter(visible(principal) & waiting).count()


def decisions(principal: Principal) -> QuerySet[MemoryRevision]:
    """Return the history of what this caller may see, newest first."""
    return MemoryRevision.objects.filter(access__in=visible_tokens(principal))


def job(job_id: uuid.UUID) -> Job:
    """Return a job. Raise NotFound."""
    found = Job.objects.filter(pk=job_id).first()
    if found is None:
        raise NotFound("No such job.")
    return found
