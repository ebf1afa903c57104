"""How far a job in phases has come: what the next slice goes on from, and what people read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from memory.models import Job

_LEASE = timedelta(seconds=120)


class Progress:
    """The cursor and the result of a job, written after each batch.

    `phase` is the name of the phase at work, `after` where it goes on, `counts` what was done.
    """

    def __init__(self, job: Job, phases: Iterable[str]) -> None:
        self.job = job
        self.phases = list(phases)
        self.phase: str = job.cursor.get("phase", self.phases[0])
        self.after: Any = job.cursor.get("after")
        self.begun: str = job.cursor.get("begun", "")
        self.counts: dict[str, int] = dict(job.cursor.get("counts", {}))
        self.notes: dict[str, Any] = dict(job.cursor.get("notes", {}))

    def count(self, name: str, by: int = 1) -> None:
        """Add to one of the counts."""
        self.counts[name] = self.counts.get(name, 0) + by

    def begin(self, count: Callable[[], int]) -> None:
        """At the beginning of a phase: say how many items are to be looked at."""
        if self.begun != self.phase:
            self.job.total = self.job.done + count()
            self.begun = self.phase

    def advance(self, done: int, after: Any) -> None:
        """A batch is done; the next one begins after `after`."""
        self.job.done += done
        self.after = after

    @property
    def last(self) -> bool:
        """Whether no phase follows."""
        return self.phase == self.phases[-1]

    def move_on(self) -> None:
        """Begin the next phase."""
        self.phase, self.after = self.phases[self.phases.index(self.phase) + 1], None

    def save(self) -> bool:
        """Write the row, with a fresh lease; False where somebody asked the job to stop."""
        self.job.cursor = {
            "phase": self.phase, "begun": self.begun, "after": self.after,
            "counts": self.counts, "notes": self.notes,
        }  # fmt: skip
        self.job.total = max(self.job.total, self.job.done)
        open_rows = Job.objects.filter(pk=self.job.pk).exclude(state__in=Job.ENDED)
        open_rows.update(
            cursor=self.job.cursor, done=self.job.done, total=self.job.total,
            result=self.job.result, lease_until=timezone.now() + _LEASE,
        )  # fmt: skip
        return open_rows.filter(cancel_requested=False).exists()


#: Does one batch before the deadline and returns whether the phase has more.
Phase = Callable[[Progress, float], bool]


def run_phases(progress: Progress, phases: Mapping[str, Phase], deadline: float) -> bool:
    """Do batches of one phase after another until the deadline; return whether all are done."""
    while time.monotonic() < deadline:
        if not phases[progress.phase](progress, deadline):
            if progress.last:
                progress.job.total = progress.job.done
                return progress.save() or True
            progress.move_on()
        if not progress.save():
            return False
    return False
