"""The circuit breaker: a provider that fails is left alone, by all processes alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from memory.models import ModelCircuit
from memory.providers.chat.base import ChatProvider
from memory.providers.chat.choices import Served
from memory.providers.failures import RESTING, CallFailed
from memory.providers.patience import LONGEST_PAUSE

#: Failed calls in a row, each already tried again, after which the circuit opens.
THRESHOLD = 3
FIRST = timedelta(seconds=30)
LONGEST = timedelta(minutes=15)
#: What a try may take beyond the provider's own time before another may try.
_SPARE = timedelta(seconds=30)


@dataclass(frozen=True)
class State:
    """How a circuit is: `until` is set where callers are kept away."""

    failures: int = 0
    until: datetime | None = None
    last_error: str = ""
    failed_at: datetime | None = None

    @property
    def open(self) -> bool:
        """Whether callers are kept away now."""
        return self.until is not None


def state(served: Served) -> State:
    """Return how the circuit of a model is."""
    row = _row(served)
    if row is None:
        return State()
    until = row.open_until if _holds(row.open_until) else None
    return State(row.failures, until, row.last_error, row.failed_at)


def enter(provider: ChatProvider) -> None:
    """Let a call through, or raise CallFailed of the kind RESTING.

    After a pause one caller at a time is let through; its outcome decides for everybody. Refuses to
    run in a transaction, because a model is about to be called.
    """
    with transaction.atomic(durable=True):
        row = _row(provider)
        if row is None or row.open_until is None:
            return
        if _holds(row.open_until) or not _claim(row, provider):
            raise CallFailed(provider.who, RESTING, _words(row))


def succeeded(provider: ChatProvider) -> None:
    """Close the circuit."""
    dirty = ModelCircuit.objects.filter(Q(failures__gt=0) | Q(pauses__gt=0), pk=provider.endpoint)
    if dirty.exists():
        close(provider)


def close(served: Served) -> None:
    """Forget all failures: the next call goes through."""
    ModelCircuit.objects.filter(pk=served.endpoint).update(
        failures=0, pauses=0, open_until=None, trying_until=None
    )


def failed(provider: ChatProvider, error: CallFailed) -> None:
    """Count a failure; open where it was one too many, or where the provider asks for a pause.

    A refusal of one request is none of the provider: it has answered.
    """
    if not error.of_the_provider:
        succeeded(provider)
        return
    now = timezone.now()
    with transaction.atomic():
        ModelCircuit.objects.get_or_create(pk=provider.endpoint)
        mine = ModelCircuit.objects.filter(pk=provider.endpoint)
        mine.update(
            failures=F("failures") + 1, last_error=error.kind, failed_at=now, trying_until=None
        )
        asked = error.retry_after or 0.0
        row = mine.get()
        if row.failures >= THRESHOLD or asked > LONGEST_PAUSE:
            # Two workers that fail together make one pause, not two.
            far = Q(open_until__gt=now + LONGEST)
            shut = mine.filter(far | Q(open_until=None) | Q(open_until__lte=now))
            shut.update(open_until=now + _pause(row.pauses, asked), pauses=F("pauses") + 1)


def _pause(pauses: int, asked: float) -> timedelta:
    longest = LONGEST.total_seconds()
    own = FIRST.total_seconds() * 2.0 ** min(pauses, 10)
    return timedelta(seconds=min(max(own, asked), longest))


def _holds(until: datetime | None) -> bool:
    """Whether a time lies ahead; further than any pause means that the clock went back."""
    now = timezone.now()
    return until is not None and now < until <= now + LONGEST


def _claim(row: ModelCircuit, provider: ChatProvider) -> bool:
    now = timezone.now()
    end = now + timedelta(seconds=provider.timeout_seconds) + _SPARE
    free = Q(trying_until=None) | Q(trying_until__lte=now) | Q(trying_until__gt=end)
    mine = ModelCircuit.objects.filter(free, pk=row.pk, open_until=row.open_until)
    return bool(mine.update(trying_until=end))


def _row(served: Served) -> ModelCircuit | None:
    return ModelCircuit.objects.filter(pk=served.endpoint).first()


def _words(row: ModelCircuit) -> str:
    if not _holds(row.open_until):
        return "failed, and another call is trying now whether it works again"
    assert row.open_until is not None
    return f"failed {row.failures} times in a row and is left alone until {_clock(row.open_until)}"


def _clock(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%H:%M:%S}"
