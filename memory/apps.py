"""The memory app."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """Records, their index and the search over it."""

    name = "memory"
    label = "memory"
    verbose_name = "Memory"
    default_auto_field = "django.db.models.BigAutoField"
