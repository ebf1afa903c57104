"""The one door to the job queue: names of functions and plain values, nothing else."""

from __future__ import annotations

from django_q.tasks import async_task

from memory.models.engine import EngineState

INDEX_WAITING = "memory.jobs.index_waiting"
RUN_JOB = "memory.jobs.run"

_NUDGED = "index_nudged"


def enqueue(function: str, *args: str | int) -> None:
    """Queue a call; inside a transaction it is part of it (the broker shares the database)."""
    async_task(function, *args, q_options={"save": False})


def wake_indexer() -> None:
    """Tell a worker that records wait, unless one has been told already.

    A message only wakes: what is unfinished stands in the rows, and the sweep repairs a lost one.
    One unread message is enough for any number of writes, so that writers do not flood the queue.
    """
    if _raise_flag():
        enqueue(INDEX_WAITING)


def indexer_awake() -> None:
    """Lower the flag before looking for work, so that later writes wake again."""
    EngineState.objects.filter(key=_NUDGED).update(value=False)


def _raise_flag() -> bool:
    raised = EngineState.objects.filter(key=_NUDGED, value=False).update(value=True)
    if raised:
        return True
    _, created = EngineState.objects.get_or_create(key=_NUDGED, defaults={"value": True})
    return created
