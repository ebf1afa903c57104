"""The job `reindex`: every record is cut and embedded anew, oldest first, where it stopped."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memory import indexing, providers
from memory.models import Job, Memory, MemoryChunk
from memory.vocabulary import FAILED, INDEXED, PENDING, TEXT

BATCH = 8


def step(job: Job, deadline: float) -> bool:
    """Do batches until the deadline; return whether the job is finished.

    Job parameters: `missing` leaves out what has current vectors. The cursor is the last id done.
    """
    missing = bool(job.params.get("missing"))
    if not job.total:
        job.total = wanted(missing).count()
    while time.monotonic() < deadline:
        batch = list(_after(wanted(missing), job.cursor.get("after"))[:BATCH])
        if not batch:
            return _finished(job)
        if not _reindex(batch, fresh=not missing):
            return False
        _advance(job, batch)
        if _cancelled(job):
            return False
        indexing.index_waiting_singles(deadline)
    return False


def wanted(missing: bool) -> QuerySet[Memory]:
    """Return the records to do: all, or those without a complete current index."""
    if not missing:
        return Memory.objects.order_by("pk")
    model = _model()
    stale = MemoryChunk.objects.filter(memory=OuterRef("pk")).exclude(embedding_model=model)
    condition = Q(index_state__in=(PENDING, TEXT, FAILED)) | ~Q(
        Exists(MemoryChunk.objects.filter(memory=OuterRef("pk")))
    )
    if model:
        condition |= Q(Exists(stale))
    return Memory.objects.filter(condition).order_by("pk")


def _after(records: QuerySet[Memory], last: str | None) -> QuerySet[Memory]:
    return records if last is None else records.filter(pk__gt=uuid.UUID(last))


def _reindex(batch: Sequence[Memory], *, fresh: bool) -> bool:
    """Both stages for one batch; False when the provider failed and it is to be tried again."""
    indexing.store_texts(batch, fresh_vectors=fresh)
    provider = providers.current()
    if provider is None:
        return True
    if provider.resting:
        time.sleep(1.0)
        return False
    rows = Memory.objects.filter(pk__in=[record.pk for record in batch], index_state=TEXT)
    return indexing.embed_records(list(rows), provider, fresh=fresh)


def _advance(job: Job, batch: Sequence[Memory]) -> None:
    job.done += len(batch)
    job.cursor = {"after": str(batch[-1].pk)}
    Job.objects.filter(pk=job.pk).update(
        done=job.done,
        total=max(job.total, job.done),
        cursor=job.cursor,
        lease_until=timezone.now() + timedelta(seconds=120),
    )


def _cancelled(job: Job) -> bool:
    return Job.objects.filter(pk=job.pk, cancel_requested=True).exists()


def _finished(job: Job) -> bool:
    states = Memory.objects.filter(index_state=INDEXED).count()
    job.result = {"records": job.done, "indexed": states, "model": _model() or None}
    return True


def _model() -> str:
    provider = providers.current()
    return provider.model if provider else ""
