"""Long work: its state, progress and outcome."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone


class Job(models.Model):
    """One piece of long work, done in slices under 30 seconds that requeue themselves.

    `cursor` is where the next slice goes on; a job whose lease has passed is taken up again.
    """

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    STATES = (QUEUED, RUNNING, DONE, FAILED, CANCELLED)
    ENDED = (DONE, FAILED, CANCELLED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    state = models.CharField(
        max_length=10, choices=[(s, s) for s in STATES], default=QUEUED, db_index=True
    )
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    params = models.JSONField(default=dict, blank=True)
    cursor = models.JSONField(default=dict, blank=True)
    result = models.JSONField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    actor = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "jobs"
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"{self.kind} {self.state} {self.done}/{self.total}"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in self.ENDED
