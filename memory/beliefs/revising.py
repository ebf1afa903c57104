"""The job `revise`: rules and judge over what is stored.

Oldest first, so that a topic collapses onto its newest version. Parameters: `dry_run` asks no
model and changes nothing: it lists the pairs. The cursor is the place of the last record; a job
that is started anew asks nothing again that was judged.
"""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from goclaw_site.errors import GoclawError, ProviderError
from memory.beliefs import resembling, settling
from memory.beliefs.judge import judge
from memory.beliefs.retiring import retire
from memory.models import Job, Memory
from memory.providers import chat
from memory.vocabulary import LEARNED_KINDS, PERSONAL, UNVERIFIED

KIND = "revise"
BATCH = 500
#: After so many records without a decision the place is written down all the same.
OFTEN = 50
#: Pairs whose texts a dry run keeps; the rest is counted.
SHOWN = 200
#: Failures in a row after which the work is given up: the model is not there.
FAILURES = 3
LEASE = timedelta(minutes=10)
_COUNTED = dict.fromkeys(("retired", "kept", "failed", "in_a_row", "more", "personal"), 0)


def records() -> QuerySet[Memory]:
    """Return the learned live records in the order of their stating."""
    return (
        Memory.objects.filter(
            scope__in=settling.SCOPES, kind__in=LEARNED_KINDS, live_key__isnull=False
        )
        .annotate(stated=Coalesce(F("belief__id"), Value(0)))
        .select_related("belief")
        .order_by("stated", "created_at", "pk")
    )


def step(job: Job, deadline: float) -> bool:
    """Go over records until the deadline; return whether the job is finished."""
    if job.result is None:
        job.total = records().count()
        model = chat.background() is not None
        job.result = {"model": "" if model else chat.why_none(), "pairs": [], **_COUNTED}
    while time.monotonic() < deadline:
        batch = list(_after(job.cursor)[:BATCH])
        if not batch:
            return True
        for memory in batch:
            before = dict(_found(job), pairs=len(_found(job)["pairs"]))
            _revise(job, memory)
            ended = time.monotonic() >= deadline
            decided = before != dict(_found(job), pairs=len(_found(job)["pairs"]))
            if _stops(job, memory, save=ended or decided) or ended:
                return False
        _save(job)
    return False


def _stops(job: Job, memory: Memory, *, save: bool) -> bool:
    """Note that a record is done; now and then in the row too, and whether it is cancelled."""
    job.done += 1
    job.cursor = {
        "stated": resembling.place(memory)[0],
        "written": memory.created_at.isoformat(),
        "id": str(memory.pk),
    }
    if not save and job.done % OFTEN:
        return False
    _save(job)
    return Job.objects.filter(pk=job.pk, cancel_requested=True).exists()


def _after(cursor: dict[str, Any]) -> QuerySet[Memory]:
    if not cursor:
        return records()
    stated, pk = cursor["stated"], uuid.UUID(cursor["id"])
    written = datetime.fromisoformat(cursor["written"])
    later = Q(stated__gt=stated) | Q(stated=stated, created_at__gt=written)
    return records().filter(later | Q(stated=stated, created_at=written, pk__gt=pk))


def _revise(job: Job, memory: Memory) -> None:
    if UNVERIFIED in memory.tag_names:
        return
    if job.params.get("dry_run"):
        _list(job, memory)
        return
    _by_rules(job, memory)
    provider = chat.background()
    older = resembling.older(memory) if provider is not None else []
    if provider is None or not older:
        return
    try:
        outcome = judge(provider, memory, older, via=KIND, run_id=job.pk, job=job)
    except ProviderError as error:
        _count(job, failed=1, in_a_row=1)
        if _found(job)["in_a_row"] >= FAILURES:
            raise ProviderError(
                f"{error.message} What was decided stands; started again, it goes on from there.",
                transient=False,
            ) from error
        return
    _found(job)["in_a_row"] = 0
    _count(job, retired=outcome.retired, kept=outcome.kept)


def _by_rules(job: Job, memory: Memory) -> None:
    """Retire what a rule finds among records that were written before there was one."""
    with transaction.atomic():
        held = Memory.objects.select_for_update(of=("self",)).filter(
            pk=memory.pk, version=memory.version
        )
        if not held.exists():
            return
        for old, rule in settling.ruled(memory):
            reason = f"rule '{rule}': {settling.REASONS[rule]}"
            try:
                retire(old, memory, via=KIND, reason=reason, actor="rule", run_id=job.pk)
            except GoclawError:
                continue
            _count(job, retired=1)


def _list(job: Job, memory: Memory) -> None:
    """Note the pairs; of people's own only how many, for others read the job."""
    ruled = {old.pk: (old, f"rule '{rule}'") for old, rule in settling.ruled(memory)}
    alike = {old.pk: (old, "judge") for old in resembling.older(memory)}
    for old, how in {**alike, **ruled}.values():
        if memory.scope == PERSONAL:
            _count(job, personal=1)
        elif len(_found(job)["pairs"]) >= SHOWN:
            _count(job, more=1)
        else:
            _found(job)["pairs"].append(
                {"old": str(old.pk), "new": str(memory.pk), "by": how,
                 "old_text": old.content, "new_text": memory.content}
            )  # fmt: skip


def _found(job: Job) -> dict[str, Any]:
    """Return what has been found so far, which is the job's result."""
    found: dict[str, Any] = job.result or {}
    return found


def _count(job: Job, **more: int) -> None:
    for name, number in more.items():
        _found(job)[name] += number


def _save(job: Job) -> None:
    """Write down where the work stands: a killed worker goes on here."""
    Job.objects.filter(pk=job.pk).update(
        done=job.done, total=max(job.total, job.done), cursor=job.cursor, result=job.result,
        lease_until=timezone.now() + LEASE,
    )  # fmt: skip
