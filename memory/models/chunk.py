"""Chunks: the pieces of records that search runs on, and the log of their changes."""

from __future__ import annotations

from django.db import models

from memory.fields import VectorField
from memory.models.record import Memory


class MemoryChunk(models.Model):
    """One piece of one record, with its keyword text and its vector.

    `key` is the hash of record, position and text; `text_hash` the hash of what was embedded, so
    that a text is never embedded twice by one model, wherever it moves. `window_text`, `near`
    (ids two before to two after) and `source` are the neighbourhood, kept by `memory.windows`.
    `duplicate_of` is the key of the chunk that speaks for this one; `outline` is what texts that
    say the same share (`memory.duplicates`).
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    heading = models.CharField(max_length=300, blank=True, default="")
    text = models.TextField()
    search_text = models.TextField()
    window_text = models.TextField(blank=True, default="")
    near = models.JSONField(default=list, blank=True)
    source = models.CharField(max_length=32, blank=True, default="")
    access = models.CharField(max_length=40)
    key = models.CharField(max_length=64, unique=True)
    text_hash = models.CharField(max_length=64, db_index=True)
    duplicate_of = models.CharField(max_length=64, blank=True, default="")
    outline = models.CharField(max_length=40, null=True, blank=True)  # noqa: DJ001  null: unread
    embedding = VectorField(null=True)
    embedding_model = models.CharField(max_length=120, blank=True, default="")
    embedding_dim = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "memory_chunks"
        verbose_name = "chunk"
        constraints = [
            models.UniqueConstraint(fields=["memory", "position"], name="memory_chunks_order"),
        ]
        indexes = [
            models.Index(fields=["embedding_model", "id"], name="memory_chunks_by_model"),
            models.Index(fields=["access"], name="memory_chunks_by_access"),
            models.Index(fields=["duplicate_of"], name="memory_chunks_repeats"),
            models.Index(fields=["outline"], name="memory_chunks_outlines"),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id}#{self.position}"


class MemoryChange(models.Model):
    """One change that a process's matrix of vectors has to follow.

    `chunk` is a plain number: it may be gone by the time the change is read.
    """

    PUT = "put"
    DROP = "drop"

    sequence = models.BigAutoField(primary_key=True)
    chunk = models.BigIntegerField()
    operation = models.CharField(max_length=4, choices=[(PUT, PUT), (DROP, DROP)])
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        db_table = "memory_changes"
        ordering = ("sequence",)

    def __str__(self) -> str:
        return f"{self.operation} {self.chunk}"
