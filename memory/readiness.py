"""Whether the parts of the server do their work: what `/readyz`, stats and pages say."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Min
from django.utils import timezone

from goclaw_site.config import get_config
from memory import indexing, providers, queue
from memory.models import EngineState, Memory
from memory.providers import chat

#: A worker sweeps every `queue.sweep_seconds`; silence over three sweeps means it is gone.
_SWEEPS_MISSED = 3
#: Fresh records are indexed within seconds; older waiting ones mean that indexing is behind.
BEHIND = timedelta(minutes=2)


def report() -> dict[str, Any]:
    """Return the state of database, queue, worker and index; not `ok` where work stands still."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return _parts()
    except DatabaseError:
        return {"ok": False, "database": "does not answer"}


def _parts() -> dict[str, Any]:
    alive, lag = worker_alive(), index_lag()
    behind = lag > BEHIND.total_seconds()
    return {
        "ok": alive and not behind,
        "database": "ok",
        "queue": _queue(),
        "worker": "ok" if alive else "no sign of life: records are kept, indexing waits",
        "index": {"behind": behind, "lag_seconds": round(lag, 1), "waiting": waiting_count()},
        "embeddings": "ok" if providers.current() else providers.why_none(),
        "models": {role: _model(role) for role in chat.ROLES},
    }


def _model(role: str) -> str:
    """Say how a chat model is: its work waits and is done later, so it makes nothing unready."""
    served = chat.served(role)
    if served is None:
        return "not set"
    until = chat.circuit.state(served).until
    return f"failed and is left alone until {until.isoformat()}" if until else "ok"


def _queue() -> dict[str, Any]:
    try:
        return {"waiting": queue.waiting()}
    except DatabaseError:
        raise
    except Exception as error:  # whatever the client of another broker raises
        return {"waiting": None, "broker": f"does not answer ({type(error).__name__})"}


def worker_alive() -> bool:
    """Whether a worker gave a sign of life lately."""
    seen = EngineState.read(EngineState.WORKER_SEEN)
    if not seen:
        return False
    silence = timezone.now() - datetime.fromisoformat(seen)
    return silence.total_seconds() < get_config().queue.sweep_seconds * _SWEEPS_MISSED


def index_lag() -> float:
    """Return how many seconds the oldest waiting record has waited; 0 where none waits."""
    oldest = Memory.objects.filter(indexing.waiting()).aggregate(at=Min("updated_at"))["at"]
    return max((timezone.now() - oldest).total_seconds(), 0.0) if oldest else 0.0


def waiting_count() -> int:
    """Return how many records are not wholly indexed, whoever they belong to."""
    return Memory.objects.filter(indexing.waiting()).count()
