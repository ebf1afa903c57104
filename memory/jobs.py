"""What workers run: indexer, sweep, slices of long jobs. Everything is safe to run twice."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from goclaw_site.errors import Conflict, GoclawError, NotFound
from memory import (
    audit,
    consolidation,
    deduping,
    expiry,
    indexing,
    queue,
    reindexing,
    vectorindex,
)
from memory.access import Principal, require_administrator
from memory.backups import scheduled
from memory.beliefs import judging, revising
from memory.models import EngineState, Job, Memory, MemoryChange
from memory.providers import chat
from memory.providers.chat import accounts

#: A slice of bulk work; the queue gives up on a call much later.
SLICE_SECONDS = 20.0
LEASE = timedelta(seconds=120)
#: A process that has not read the log of changes for so long rebuilds its matrix instead.
CHANGES_KEPT = timedelta(days=1)
#: Records that have waited so long were forgotten by a lost message or a killed worker.
FORGOTTEN = timedelta(seconds=10)

#: A step does some work before the deadline and tells whether the job is finished.
Step = Callable[[Job, float], bool]
STEPS: dict[str, Step] = {
    consolidation.KIND: consolidation.step,
    "dedupe": deduping.step,
    "reindex": reindexing.step,
    scheduled.KIND: scheduled.step,
    vectorindex.KIND: vectorindex.step,
    judging.KIND: judging.step,
    revising.KIND: revising.step,
}


def index_waiting() -> None:
    """Index what waits, for one slice; go on in another if something is left."""
    queue.indexer_awake()
    seen()
    if indexing.index_waiting(time.monotonic() + SLICE_SECONDS):
        queue.wake_indexer()


def judge_waiting() -> None:
    """Have a job judge what waits; one that is under way already does it."""
    queue.judge_awake()
    seen()
    _judge_if_due()


def _judge_if_due() -> None:
    if judging.due().exists() and chat.background() is not None:
        start(judging.KIND, {}, "judge")


def sweep() -> None:
    """Find unfinished work whose message was lost, take expired records out, prune the log."""
    seen()
    audit.tell()
    expiry.sweep()
    old = timezone.now() - FORGOTTEN
    if Memory.objects.filter(indexing.due(), created_at__lt=old).exists():
        queue.indexer_awake()
        queue.wake_indexer()
    _judge_if_due()
    for job_id in _abandoned().values_list("pk", flat=True):
        queue.enqueue(queue.RUN_JOB, str(job_id))
    if model := vectorindex.wanted():
        start(vectorindex.KIND, {"model": model}, "sweep")
    MemoryChange.objects.filter(created_at__lt=timezone.now() - CHANGES_KEPT).delete()
    accounts.prune()


def seen() -> None:
    """Leave a sign of life that readiness and stats read."""
    EngineState.record(EngineState.WORKER_SEEN, timezone.now().isoformat())


def back_up() -> None:
    """Start the scheduled backup, unless one runs already."""
    seen()
    if backup_running() is None:
        start(scheduled.KIND, {"by": scheduled.SCHEDULE}, "server")


def consolidate() -> None:
    """Start the nightly consolidation, unless one runs already."""
    seen()
    start(consolidation.KIND, consolidation.params(), "server")


def backup_running() -> Job | None:
    """Return the backup in the making."""
    unfinished = Job.objects.filter(kind=scheduled.KIND).exclude(state__in=Job.ENDED)
    return unfinished.order_by("created_at").first()


def start(kind: str, params: dict[str, Any], actor: str) -> Job:
    """Make a job and queue its first slice; an equal one that is unfinished is given back."""
    with transaction.atomic():
        same = Job.objects.filter(kind=kind, params=params).exclude(state__in=Job.ENDED).first()
        if same is not None:
            return same
        job = Job.objects.create(kind=kind, params=params, actor=actor)
        queue.enqueue(queue.RUN_JOB, str(job.pk))
    return job


def start_for(principal: Principal, kind: str, params: dict[str, Any]) -> Job:
    """Start a job for an administrator. Raise Refused."""
    require_administrator(principal)
    job = start(kind, params, principal.actor)
    audit.record(principal, "job.start", f"job:{job.pk}", kind=kind)
    return job


def cancel_for(principal: Principal, job_id: uuid.UUID) -> Job:
    """Cancel a job for an administrator. Raise Refused, NotFound, Conflict."""
    require_administrator(principal)
    job = cancel(job_id)
    audit.record(principal, "job.cancel", f"job:{job.pk}", kind=job.kind)
    return job


def run(job_id: str) -> None:
    """Do a slice of a job in a worker."""
    seen()
    run_slice(job_id)


def run_slice(job_id: str) -> None:
    """Work on a job for one slice and queue the next; a job that is gone or ended is nothing."""
    job = _claim(uuid.UUID(job_id))
    if job is None:
        return
    try:
        finished = STEPS[job.kind](job, time.monotonic() + SLICE_SECONDS)
    except GoclawError as error:
        _end(job, Job.FAILED, error.message)
    except Exception as error:
        _end(job, Job.FAILED, f"{type(error).__name__}: {error}")
        raise
    else:
        _end(job, Job.DONE) if finished else _go_on(job)


def cancel(job_id: uuid.UUID) -> Job:
    """Ask a job to stop: it ends before its next batch."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None:
        raise NotFound("No such job.")
    if job.ended:
        raise Conflict(f"The job is {job.state} already.")
    Job.objects.filter(pk=job_id, state=Job.QUEUED, lease_until=None).update(
        state=Job.CANCELLED, finished_at=timezone.now()
    )
    Job.objects.filter(pk=job_id).exclude(state__in=Job.ENDED).update(cancel_requested=True)
    job.refresh_from_db()
    return job


def _claim(job_id: uuid.UUID) -> Job | None:
    now = timezone.now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    open_jobs = Job.objects.filter(free, pk=job_id, state__in=(Job.QUEUED, Job.RUNNING))
    if not open_jobs.update(state=Job.RUNNING, lease_until=now + LEASE):
        return None
    job = Job.objects.get(pk=job_id)
    if job.cancel_requested:
        _end(job, Job.CANCELLED)
        return None
    return job


def _go_on(job: Job) -> None:
    with transaction.atomic():
        Job.objects.filter(pk=job.pk).update(lease_until=None)
        queue.enqueue(queue.RUN_JOB, str(job.pk))


def _end(job: Job, state: str, error: str = "") -> None:
    Job.objects.filter(pk=job.pk).exclude(state__in=Job.ENDED).update(
        state=state,
        error=error[:500],
        result=job.result,
        done=job.done,
        total=F("total"),
        lease_until=None,
        finished_at=timezone.now(),
    )


def _abandoned() -> Any:
    """Jobs whose worker died, and queued ones whose message was lost."""
    now = timezone.now()
    dead = Q(lease_until__lt=now) | Q(lease_until__isnull=True, created_at__lt=now - FORGOTTEN)
    return Job.objects.filter(dead, state__in=(Job.QUEUED, Job.RUNNING))
