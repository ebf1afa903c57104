"""The audit trail: who did what, through which door, and whether it was allowed."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models
from django.utils import timezone


class AppendOnly(models.QuerySet["AuditEvent"]):
    """Rows are added and read, nothing else."""

    def update(self, **kwargs: Any) -> NoReturn:
        """Refuse."""
        raise TypeError("The audit trail is never changed.")

    def delete(self) -> NoReturn:
        """Refuse."""
        raise TypeError("The audit trail is never shortened.")


class AuditEvent(models.Model):
    """One act. Everything is kept by value: the row outlives people, keys and records.

    Written by `memory.audit` alone, which lets no text of records in.
    """

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.CharField(max_length=150, blank=True, default="", db_index=True)
    person = models.BigIntegerField(null=True)
    key = models.CharField(max_length=12, blank=True, default="")
    agent = models.CharField(max_length=64, blank=True, default="")
    run_kind = models.CharField(max_length=8, blank=True, default="")
    door = models.CharField(max_length=16, blank=True, default="")
    action = models.CharField(max_length=40, db_index=True)
    subject = models.CharField(max_length=120, blank=True, default="")
    outcome = models.CharField(max_length=8)
    facts = models.JSONField(default=dict, blank=True)
    request_id = models.CharField(max_length=64, blank=True, default="")

    objects = AppendOnly.as_manager()

    class Meta:
        db_table = "audit_trail"
        ordering = ("-at", "-id")
        indexes = [models.Index(fields=["-at", "-id"], name="audit_trail_newest")]
        verbose_name = "audit event"

    def __str__(self) -> str:
        return f"{self.action} {self.outcome} by {self.actor or 'nobody'}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the row; a second time is refused."""
        if not self._state.adding:
            raise TypeError("The audit trail is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        raise TypeError("The audit trail is never shortened.")
