"""Decisions about records: the history that people see and undo."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from memory.models.record import Memory, choices
from memory.vocabulary import DECISIONS, VIAS


class MemoryRevision(models.Model):
    """One decision: `old` was retired, kept, amended or deleted, perhaps because of `new`.

    The references hold no constraint: a decision outlives its records. `access` is the token of the
    old record, so that a reader's policy applies even after it is gone; the two hashes are what a
    veto is held by. `merged`: `new` was made from `old` and others of the same run. `final` is
    false where the judge could not answer and will be asked again.
    """

    run_id = models.UUIDField(db_index=True)
    old = models.ForeignKey(
        Memory, on_delete=models.DO_NOTHING, db_constraint=False, related_name="decisions"
    )
    new = models.ForeignKey(
        Memory, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="causes"
    )
    access = models.CharField(max_length=40, db_index=True)
    via = models.CharField(max_length=16, choices=choices(VIAS))
    decision = models.CharField(max_length=8, choices=choices(DECISIONS))
    reason = models.TextField(blank=True, default="")
    actor = models.CharField(max_length=150, blank=True, default="")
    old_hash = models.CharField(max_length=64)
    new_hash = models.CharField(max_length=64, blank=True, default="")
    merged = models.BooleanField(default=False)
    final = models.BooleanField(default=True)
    text_before = models.TextField(blank=True, default="")
    text_after = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=150, blank=True, default="")
    undone_reason = models.TextField(blank=True, default="")

    class Meta:
        db_table = "memory_revisions"
        verbose_name = "decision"
        ordering = ("-created_at", "-id")
        indexes = [models.Index(fields=["old_hash", "new_hash"], name="memory_revisions_veto")]

    def __str__(self) -> str:
        return f"{self.decision} {self.old_id} via {self.via}"
