"""Calls of chat models, and the circuits that keep callers from a failing one."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class ModelCall(models.Model):
    """One call: what it was for, what it used, how it ended. It holds no text.

    `job` is kept by value: the row outlives the job.
    """

    OK = "ok"
    UNUSABLE = "unusable"
    FAILED = "failed"
    OUTCOMES = (OK, UNUSABLE, FAILED)

    at = models.DateTimeField(default=timezone.now, db_index=True)
    purpose = models.CharField(max_length=40)
    job = models.UUIDField(null=True, blank=True, db_index=True)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=120)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    outcome = models.CharField(max_length=10)
    error_class = models.CharField(max_length=20, blank=True, default="")

    class Meta:
        db_table = "model_calls"
        ordering = ("-at", "-id")
        verbose_name = "model call"

    def __str__(self) -> str:
        return f"{self.purpose} {self.outcome}"


class ModelCircuit(models.Model):
    """Consecutive failures of one model at one endpoint, shared by all processes."""

    endpoint = models.CharField(primary_key=True, max_length=200)
    failures = models.PositiveIntegerField(default=0)
    #: How often it opened since the last success; each time it stays open for longer.
    pauses = models.PositiveIntegerField(default=0)
    open_until = models.DateTimeField(null=True, blank=True)
    #: Until then one caller tries whether it works again.
    trying_until = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=20, blank=True, default="")
    failed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "model_circuits"
        verbose_name = "model circuit"

    def __str__(self) -> str:
        return self.endpoint
