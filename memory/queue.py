"""The one door to the job queue: names of functions and plain values, nothing else."""

from __future__ import annotations

import logging
from functools import partial

from django.db import transaction
from django_q.brokers import get_broker
from django_q.models import OrmQ
from django_q.tasks import async_task

from goclaw_site.config import get_config
from memory.models.engine import EngineState

log = logging.getLogger(__name__)

INDEX_WAITING = "memory.jobs.index_waiting"
JUDGE_WAITING = "memory.jobs.judge_waiting"
RUN_JOB = "memory.jobs.run"

_NUDGED = "index_nudged"
_JUDGE_NUDGED = "judge_nudged"


def enqueue(function: str, *args: str | int) -> None:
    """Queue a call. Inside a transaction it is part of it where the database is the broker.

    Another broker knows nothing of transactions: it is told after the commit, or never.
    """
    if get_config().queue.redis is None:
        _send(function, *args)
    else:
        transaction.on_commit(partial(_send_or_leave, function, *args))


def waiting() -> int:
    """Return how many messages wait, with those that are being worked on where that is known."""
    if get_config().queue.redis is None:
        return int(OrmQ.objects.count())
    return int(get_broker().queue_size())


def _send(function: str, *args: str | int) -> None:
    async_task(function, *args, q_options={"save": False})


def _send_or_leave(function: str, *args: str | int) -> None:
    """What is to be done stands in the rows, so a message that is lost is found by the sweep."""
    try:
        _send(function, *args)
    except Exception as error:  # whatever the broker's client raises
        log.warning("the broker took no message; the sweep will find the work: %s", error)


def wake_indexer() -> None:
    """Tell a worker that records wait, unless one has been told already.

    A message only wakes: what is unfinished stands in the rows, and the sweep repairs a lost one.
    One unread message is enough for any number of writes, so that writers do not flood the queue.
    """
    if _raise_flag(_NUDGED):
        enqueue(INDEX_WAITING)


def indexer_awake() -> None:
    """Lower the flag before looking for work, so that later writes wake again."""
    EngineState.objects.filter(key=_NUDGED).update(value=False)


def wake_judge() -> None:
    """Tell a worker that learned records wait to be judged; one unread message is enough."""
    if _raise_flag(_JUDGE_NUDGED):
        enqueue(JUDGE_WAITING)


def judge_awake() -> None:
    """Lower the flag before looking for work, so that later writes wake again."""
    EngineState.objects.filter(key=_JUDGE_NUDGED).update(value=False)


def _raise_flag(key: str) -> bool:
    raised = EngineState.objects.filter(key=key, value=False).update(value=True)
    if raised:
        return True
    _, created = EngineState.objects.get_or_create(key=key, defaults={"value": True})
    return created
