"""The job `belief_revision`: learned records wait, are claimed, judged, and tried again."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from goclaw_site.errors import ProviderError
from memory.beliefs import resembling
from memory.beliefs.judge import judge
from memory.beliefs.settling import learned
from memory.models import Job, Memory, MemoryBelief
from memory.providers import chat
from memory.providers.chat import ChatProvider
from memory.vocabulary import UNVERIFIED

KIND = "belief_revision"
#: How long a worker may take over one record; a call lasts at most twice a provider's timeout.
CLAIM = timedelta(minutes=10)
#: The first delay after a failure; each further one doubles it, up to the longest.
DELAY, LONGEST = timedelta(minutes=1), timedelta(hours=6)
#: After so many failures the record is left to `memory revise`.
TRIES = 10


def due() -> QuerySet[MemoryBelief]:
    """Return what a worker may judge now, in the order of stating."""
    free = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=timezone.now())
    return MemoryBelief.objects.filter(free, waiting=True).order_by("pk")


def step(job: Job, deadline: float) -> bool:
    """Judge what waits until the deadline; return whether nothing is left that is due.

    A failure of the provider ends the work: what waits is found again when its time has come.
    """
    provider = chat.background()
    while provider is not None and time.monotonic() < deadline:
        belief = _claim()
        if belief is None:
            return True
        if not _judge_one(provider, belief, job):
            return True
        Job.objects.filter(pk=job.pk).update(done=job.done, lease_until=timezone.now() + CLAIM)
    return provider is None


def _claim() -> MemoryBelief | None:
    """Take the next record for this worker alone."""
    for belief in due()[:10]:
        same = due().filter(pk=belief.pk)
        if same.update(next_attempt_at=timezone.now() + CLAIM):
            return belief
    return None


def _judge_one(provider: ChatProvider, belief: MemoryBelief, job: Job) -> bool:
    """Judge one record; False where the provider failed."""
    memory = Memory.objects.select_related("belief").filter(pk=belief.memory_id).first()
    if memory is not None and _judgeable(memory):
        older = resembling.older(memory)
        try:
            if older:
                judge(provider, memory, older, via="judge", run_id=uuid.uuid4(), job=job)
        except ProviderError as error:
            _postpone(belief, error)
            return False
    _done(belief)
    job.done += 1
    return True


def _judgeable(memory: Memory) -> bool:
    return learned(memory) and memory.live_key is not None and UNVERIFIED not in memory.tag_names


def _done(belief: MemoryBelief) -> None:
    """A text that was stated anew meanwhile has a row of its own, which goes on waiting."""
    MemoryBelief.objects.filter(pk=belief.pk).update(
        waiting=False, next_attempt_at=None, attempts=0, last_error=""
    )


def _postpone(belief: MemoryBelief, error: ProviderError) -> None:
    attempts = belief.attempts + 1
    asked = timedelta(seconds=getattr(error, "retry_after", None) or 0)
    delay = min(max(DELAY * 2**belief.attempts, asked), LONGEST)
    MemoryBelief.objects.filter(pk=belief.pk).update(
        waiting=attempts < TRIES,
        attempts=attempts,
        next_attempt_at=timezone.now() + delay,
        last_error=error.message[:500],
    )
