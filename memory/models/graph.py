"""Entities and relations read from records."""

from __future__ import annotations

from django.db import models

from memory.models.record import Memory


class MemoryEntity(models.Model):
    """A named thing; one row for a normalised name and type."""

    name = models.CharField(max_length=300)
    normalised = models.CharField(max_length=300)
    type = models.CharField(max_length=40)
    aliases = models.JSONField(default=list, blank=True)

    class Meta:
        db_table = "memory_entities"
        verbose_name_plural = "memory entities"
        constraints = [
            models.UniqueConstraint(fields=["normalised", "type"], name="memory_entities_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.type})"


class MemoryRelation(models.Model):
    """A statement between two entities, read from one record, which carries its visibility."""

    source = models.ForeignKey(MemoryEntity, on_delete=models.CASCADE, related_name="outgoing")
    target = models.ForeignKey(MemoryEntity, on_delete=models.CASCADE, related_name="incoming")
    type = models.CharField(max_length=80)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="relations")
    confidence = models.FloatField(default=1.0)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "memory_relations"
        constraints = [
            models.UniqueConstraint(
                fields=["source", "target", "type", "memory"], name="memory_relations_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} {self.type} {self.target_id}"
