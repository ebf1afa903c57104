"""Decisions and what they rest on."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from goclaw_site.admin import ReadOnlyAdmin
from memory.models import MemoryBelief, MemoryRevision, MemorySubject, MemoryVeto


@admin.register(MemoryRevision)
class MemoryRevisionAdmin(ReadOnlyAdmin):
    """Decisions."""

    list_display = ("created_at", "decision", "via", "old_id", "actor", "undone_at")
    list_filter = ("decision", "via")
    ordering = ("-created_at", "-id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryRevision]:
        """Leave the texts in the database until a page asks for them."""
        rows: QuerySet[MemoryRevision] = super().get_queryset(request)
        return rows.defer("text_before", "text_after", "reason", "undone_reason")

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        """Show no words about a personal record."""
        always = ["created_at", "decision", "via", "run_id", "old_id", "new_id", "actor"]
        undone = ["undone_at", "undone_by"]
        if isinstance(obj, MemoryRevision) and not obj.access.startswith("p"):
            return [*always, "reason", "text_before", "text_after", *undone, "undone_reason"]
        return [*always, *undone]


@admin.register(MemoryVeto)
class MemoryVetoAdmin(ReadOnlyAdmin):
    """Pairs that stay side by side."""

    list_display = ("low", "high", "created_at")
    fields = ("low", "high", "created_at")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryVeto]:
        """Leave out what people took back of their own: a hash of a short text can be guessed."""
        rows: QuerySet[MemoryVeto] = super().get_queryset(request)
        return rows.exclude(access__startswith="p")


@admin.register(MemorySubject)
class MemorySubjectAdmin(ReadOnlyAdmin):
    """What learned shared records are about, as hashes."""

    list_display = ("memory_id", "key")
    fields = ("memory_id", "key")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemorySubject]:
        """Leave out the personal ones."""
        rows: QuerySet[MemorySubject] = super().get_queryset(request)
        return rows.exclude(access__startswith="p")


@admin.register(MemoryBelief)
class MemoryBeliefAdmin(ReadOnlyAdmin):
    """Learned records in the order of their stating, and which of them wait for the judge."""

    list_display = ("id", "memory_id", "waiting", "attempts", "next_attempt_at")
    list_filter = ("waiting",)
    fields = ("id", "memory_id", "waiting", "attempts", "next_attempt_at", "last_error")
    ordering = ("-pk",)
