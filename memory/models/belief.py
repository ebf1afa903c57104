"""What belief revision keeps: vetoes, subjects of records, and the order of their stating."""

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


class MemoryBelief(models.Model):
    """A learned record in the order in which texts were stated, whatever the clock said.

    A text that is changed is stated anew: its row is replaced by one with a higher id. `waiting`:
    the judge has not looked at it yet.
    """

    memory = models.OneToOneField(Memory, on_delete=models.CASCADE, related_name="belief")
    waiting = models.BooleanField(default=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        db_table = "memory_beliefs"
        verbose_name = "belief"
        indexes = [
            models.Index(
                fields=["next_attempt_at", "id"],
                name="memory_beliefs_waiting",
                condition=models.Q(waiting=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.memory_id}"
