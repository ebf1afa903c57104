"""The accounts of model calls: one row a call, sums by purpose, pruned by age. No texts."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from memory.models import Job, ModelCall
from memory.providers.chat.base import Answer, ChatProvider
from memory.providers.failures import UNUSABLE

KEPT = timedelta(days=90)
_AT_ONCE = 5_000

JobId = Job | uuid.UUID | str | None


@dataclass(frozen=True)
class Used:
    """What calls of one purpose used."""

    purpose: str
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        """Return what went in and came out."""
        return self.input_tokens + self.output_tokens


class Entry:
    """One call from its beginning; written down once, when its outcome is known."""

    def __init__(self, provider: ChatProvider, purpose: str, job: JobId) -> None:
        self._provider, self._purpose = provider, purpose
        self._job = job.pk if isinstance(job, Job) else job
        self._began = time.monotonic()

    def answered(self, answer: Answer) -> None:
        """It brought what was asked for."""
        self._write(ModelCall.OK, answer)

    def unusable(self, answer: Answer) -> None:
        """It brought an answer that could not be read."""
        self._write(ModelCall.UNUSABLE, answer, UNUSABLE)

    def failed(self, kind: str) -> None:
        """It brought nothing."""
        self._write(ModelCall.FAILED, Answer(""), kind)

    def _write(self, outcome: str, answer: Answer, error_class: str = "") -> None:
        ModelCall.objects.create(
            purpose=self._purpose[:40],
            job=self._job,
            provider=self._provider.kind,
            model=self._provider.model[:120],
            input_tokens=_sane(answer.input_tokens),
            output_tokens=_sane(answer.output_tokens),
            milliseconds=_sane((time.monotonic() - self._began) * 1000),
            outcome=outcome,
            error_class=error_class,
        )


def used(since: datetime, job: JobId = None) -> list[Used]:
    """Return the sums since a time by purpose, the greatest first; of one job where given."""
    rows = ModelCall.objects.filter(at__gte=since)
    if job is not None:
        rows = rows.filter(job=job.pk if isinstance(job, Job) else job)
    sums = rows.order_by().values("purpose").annotate(
        calls=Count("pk"),
        failed=Count("pk", filter=~Q(outcome=ModelCall.OK)),
        input_tokens=Sum("input_tokens"),
        output_tokens=Sum("output_tokens"),
    )  # fmt: skip
    found = [Used(**row) for row in sums]
    return sorted(found, key=lambda row: (-row.tokens, row.purpose))


def totals(since: datetime) -> dict[str, int]:
    """Return the sums since a time over all purposes."""
    rows = used(since)
    names = ("calls", "failed", "input_tokens", "output_tokens")
    return {name: sum(getattr(row, name) for row in rows) for name in names}


def failures(limit: int = 10) -> QuerySet[ModelCall]:
    """Return the newest calls that brought nothing usable."""
    return ModelCall.objects.exclude(outcome=ModelCall.OK)[:limit]


def today() -> datetime:
    """Return the beginning of this day where the people are."""
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)


def prune() -> None:
    """Remove old rows, some thousand at a time; the next sweep goes on."""
    old = ModelCall.objects.filter(at__lt=timezone.now() - KEPT).order_by("at")
    ids = list(old.values_list("pk", flat=True)[:_AT_ONCE])
    for start in range(0, len(ids), 500):
        ModelCall.objects.filter(pk__in=ids[start : start + 500]).delete()


def _sane(number: Any) -> int:
    """A provider may count anything: a column takes what is plausible."""
    return min(max(int(number), 0), 2_000_000_000)
