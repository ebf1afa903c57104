"""What the engine writes down about itself."""

from __future__ import annotations

from typing import Any

from django.db import models


class EngineState(models.Model):
    """One fact the engine keeps: the chosen embedding model, the worker's last sign of life."""

    LOCAL_MODEL = "local_model"
    WORKER_SEEN = "worker_seen"

    key = models.CharField(primary_key=True, max_length=40)
    value = models.JSONField()

    class Meta:
        db_table = "memory_state"

    def __str__(self) -> str:
        return self.key

    @classmethod
    def read(cls, key: str) -> Any:
        """Return the value, or None where nothing is written."""
        return cls.objects.filter(key=key).values_list("value", flat=True).first()

    @classmethod
    def record(cls, key: str, value: Any) -> None:
        """Write the value, whatever stood there."""
        cls.objects.update_or_create(key=key, defaults={"value": value})
