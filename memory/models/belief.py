"""What belief revision keeps: vetoes, the subjects that records speak of, and who waits."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from memory.models.record import Memory


class MemoryVeto(models.Model):
    """Two texts of which neither retires the other any more, because somebody took it back.

    Held by the hashes of the texts, so that it outlives the records. `low` sorts before `high`.
    """

    access = models.CharField(max_length=40)
    low = models.CharField(max_length=64)
    high = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "memory_vetoes"
        verbose_name = "veto"
        verbose_name_plural = "vetoes"
        constraints = [
            models.UniqueConstraint(fields=["access", "low", "high"], name="memory_vetoes_once"),
        ]

    def __str__(self) -> str:
        return f"{self.low[:8]} and {self.high[:8]}"


class MemorySubject(models.Model):
    """What one statement of a learned record is about: the hash of its subject and field.

    Records that may contradict each other share a key, so a write looks up a few rows of an index
    and never reads the other notes.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="subjects")
    access = models.CharField(max_length=40)
    key = models.CharField(max_length=32)

    class Meta:
        db_table = "memory_subjects"
        verbose_name = "subject"
        constraints = [
            models.UniqueConstraint(fields=["memory", "key"], name="memory_subjects_once"),
        ]
        indexes = [models.Index(fields=["access", "key"], name="memory_subjects_by_key")]

    def __str__(self) -> str:
        return f"{self.memory_id} {self.key}"


class MemoryJudging(models.Model):
    """A learned record that waits for the judge; gone once it has been judged."""

    memory = models.OneToOneField(Memory, on_delete=models.CASCADE, primary_key=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True, db_index=True)
    last_error = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "memory_judging"
        verbose_name = "record to be judged"
        verbose_name_plural = "records to be judged"

    def __str__(self) -> str:
        return str(self.memory_id)
