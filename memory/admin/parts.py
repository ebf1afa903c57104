"""What hangs on records: tags, places, chunks, relations."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from goclaw_site.admin import ReadOnlyAdmin
from memory.models import (
    MemoryChunk,
    MemoryEntity,
    MemoryOutline,
    MemoryRelation,
    MemorySource,
    MemoryTag,
)
from memory.vocabulary import PERSONAL

HIDDEN = "(personal)"


class PartAdmin(ReadOnlyAdmin):
    """A table whose rows hang on records: those of personal ones show no words."""

    ordering = ("-pk",)
    #: The columns a list reads; texts are read on the page of a shared row alone.
    columns: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Read a few columns and the record's scope."""
        rows = super().get_queryset(request).select_related("memory")
        return rows.only(*self.columns, "memory__scope")  # type: ignore[no-any-return]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A personal row has no page."""
        allowed = bool(super().has_view_permission(request, obj))
        return allowed and (obj is None or obj.memory.scope != PERSONAL)

    @admin.display(description="Record")
    def record(self, obj: Any) -> str:
        """The record's id."""
        return str(obj.memory_id)


@admin.register(MemoryTag)
class MemoryTagAdmin(PartAdmin):
    """Tags."""

    list_display = ("record", "shown")
    fields = ("record", "tag")
    columns = ("id", "tag", "memory_id")

    @admin.display(description="Tag")
    def shown(self, obj: MemoryTag) -> str:
        """The tag of a shared record."""
        return HIDDEN if obj.memory.scope == PERSONAL else obj.tag


@admin.register(MemorySource)
class MemorySourceAdmin(PartAdmin):
    """Places that records were read from."""

    list_display = ("record", "kind", "shown", "position")
    fields = ("record", "kind", "source_id", "position")
    columns = ("id", "kind", "source_id", "position", "memory_id")

    @admin.display(description="Source")
    def shown(self, obj: MemorySource) -> str:
        """The place of a shared record."""
        return HIDDEN if obj.memory.scope == PERSONAL else obj.source_id


@admin.register(MemoryChunk)
class MemoryChunkAdmin(PartAdmin):
    """Chunks."""

    list_display = ("id", "record", "position", "start", "end", "embedding_model")
    fields = (
        "record", "position", "start", "end", "heading", "text", "embedding_model", "embedding_dim",
    )  # fmt: skip
    columns = (
        "id", "position", "start", "end", "embedding_model", "embedding_dim", "memory_id",
    )  # fmt: skip


@admin.register(MemoryOutline)
class MemoryOutlineAdmin(ReadOnlyAdmin):
    """What records share that may say the same: hashes of shared records' texts."""

    list_display = ("memory_id", "outline")
    fields = ("memory_id", "content_hash", "outline")
    ordering = ("pk",)


@admin.register(MemoryRelation)
class MemoryRelationAdmin(ReadOnlyAdmin):
    """Relations read from shared records."""

    list_display = ("source", "type", "target", "memory_id", "confidence")
    fields = ("source", "type", "target", "memory_id", "confidence", "valid_from", "valid_until")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryRelation]:
        """Leave out what was read from personal records."""
        rows: QuerySet[MemoryRelation] = super().get_queryset(request)
        return rows.exclude(memory__scope=PERSONAL).select_related("source", "target")


@admin.register(MemoryEntity)
class MemoryEntityAdmin(ReadOnlyAdmin):
    """Entities that a shared record names; aliases may come from others."""

    list_display = ("name", "type")
    fields = ("name", "type")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryEntity]:
        """Leave out what personal records alone name."""
        named = MemoryRelation.objects.filter(
            Q(source=OuterRef("pk")) | Q(target=OuterRef("pk"))
        ).exclude(memory__scope=PERSONAL)
        rows: QuerySet[MemoryEntity] = super().get_queryset(request)
        return rows.filter(Exists(named))
