"""What the engine keeps about itself: changes, jobs, the audit trail, models."""

from __future__ import annotations

from django.contrib import admin

from goclaw_site.admin import ReadOnlyAdmin
from memory.models import AuditEvent, EngineState, Job, MemoryChange, ModelCall, ModelCircuit


@admin.register(MemoryChange)
class MemoryChangeAdmin(ReadOnlyAdmin):
    """The log that the processes' vectors follow."""

    list_display = ("sequence", "chunk", "operation", "created_at")
    list_filter = ("operation",)
    ordering = ("-sequence",)


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    """Long work."""

    list_display = ("kind", "state", "done", "total", "actor", "created_at", "finished_at")
    list_filter = ("state",)
    fields = (
        "id", "kind", "state", "done", "total", "error", "actor", "created_at", "finished_at",
    )  # fmt: skip
    ordering = ("-created_at", "-id")


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """The audit trail; it holds no text of records."""

    list_display = ("at", "actor", "action", "subject", "outcome", "door", "run_kind", "agent")
    list_filter = ("outcome",)
    ordering = ("-at", "-id")


@admin.register(EngineState)
class EngineStateAdmin(ReadOnlyAdmin):
    """What the engine writes down about itself."""

    list_display = ("key", "value")
    ordering = ("key",)


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnlyAdmin):
    """Calls of chat models; they hold no text."""

    list_display = (
        "at", "purpose", "model", "outcome", "error_class", "input_tokens", "output_tokens",
        "milliseconds",
    )  # fmt: skip
    list_filter = ("outcome",)
    ordering = ("-at", "-id")


@admin.register(ModelCircuit)
class ModelCircuitAdmin(ReadOnlyAdmin):
    """Which models are left alone after failures, and until when."""

    list_display = ("endpoint", "failures", "last_error", "failed_at", "open_until")
    ordering = ("endpoint",)
