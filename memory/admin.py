"""The engine's tables for administrators, and what they may not see of them.

A personal record shows that it exists, whose it is, how large and how old. Its text, and what is
made from its text, is shown in no list, page, search, filter or confirmation.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.widgets import UnfoldAdminTextInputWidget

from goclaw_site.admin import GoclawAdmin, ReadOnlyAdmin
from goclaw_site.errors import GoclawError
from memory import write
from memory.access import principal_of
from memory.drafts import Changes, Draft, check_changes
from memory.models import (
    AuditEvent,
    EngineState,
    Job,
    Memory,
    MemoryBelief,
    MemoryChange,
    MemoryChunk,
    MemoryEntity,
    MemoryOutline,
    MemoryRelation,
    MemoryRevision,
    MemorySource,
    MemorySubject,
    MemoryTag,
    MemoryVeto,
    ModelCall,
    ModelCircuit,
)
from memory.vocabulary import (
    ENGINE_TAGS,
    PERSONAL,
    REVIEW_TAGS,
    SUPERSEDED,
    SYSTEM_SCOPES,
    WRITABLE_SCOPES,
)

HIDDEN = "(personal)"
#: Tags of the engine that nobody takes off by hand.
STAYING = tuple(tag for tag in ENGINE_TAGS if tag not in (SUPERSEDED, *REVIEW_TAGS))
SCOPES_FOR_NEW = tuple(scope for scope in WRITABLE_SCOPES if scope != PERSONAL)


class RecordForm(forms.ModelForm[Memory]):
    """What an administrator may set, checked as every other door checks it."""

    tags = forms.CharField(
        required=False, widget=UnfoldAdminTextInputWidget, help_text="With commas between."
    )

    class Meta:
        model = Memory
        fields: ClassVar = ["scope", "kind", "domain", "content", "expires_at"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.content_hash:
            held = [tag for tag in self.instance.tag_names if tag not in STAYING]
            self.fields["tags"].initial = ", ".join(held)
        if "scope" in self.fields:
            self.fields["scope"].choices = [(scope, scope) for scope in SCOPES_FOR_NEW]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Say what is wrong at the field it is about."""
        super().clean()
        if not self.errors:
            try:
                check_changes(self.changes())
            except GoclawError as error:
                self.add_error(error.field if error.field in self.fields else None, error.message)
        return self.cleaned_data

    def changes(self) -> Changes:
        """Return what the form says; browsers send CR LF for every line break."""
        given = self.cleaned_data
        tags = tuple(tag.strip() for tag in given.get("tags", "").split(",") if tag.strip())
        held = self.instance.tag_names if self.instance.content_hash else []
        removable = [tag for tag in held if tag in ENGINE_TAGS and tag not in STAYING]
        ends = given.get("expires_at")
        return Changes(
            content=given["content"].replace("\r\n", "\n"),
            kind=given["kind"],
            domain=given.get("domain", ""),
            tags=tuple(tag for tag in tags if tag not in removable),
            lift=tuple(tag for tag in removable if tag not in tags),
            expires_at=ends if "expires_at" in self.changed_data else None,
            clear_expiry=ends is None,
        )


@admin.register(Memory)
class MemoryAdmin(GoclawAdmin):
    """Records; every change goes through `memory.write`."""

    form = RecordForm
    list_display = (
        "short_id", "scope", "kind", "owner", "size", "domain_shown", "index_state", "updated_at",
    )  # fmt: skip
    list_filter = ("scope", "kind", "index_state")
    ordering = ("-updated_at", "-id")
    search_fields = ("id",)
    search_help_text = "The id of a record, or the name of an owner"
    _always = (
        "id", "owner", "size", "version", "index_state", "created_at", "updated_at",
    )  # fmt: skip
    _shared = ("agent", "applies_to", "index_prefix", "metadata", "last_error", "occurred_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """Leave texts in the database until a page of a shared record asks for one."""
        rows: QuerySet[Memory] = super().get_queryset(request)
        hidden = ("content", "metadata", "index_prefix", "last_error", "content_hash", "live_key")
        return rows.select_related("owner").defer(*hidden).annotate(length=Length("content"))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        """Search by id or owner: a search of texts would tell what is in hidden ones."""
        term = search_term.strip()
        if not term:
            return queryset, False
        try:
            return queryset.filter(pk=uuid.UUID(term)), False
        except ValueError:
            return queryset.filter(owner__username=term), False

    def get_fieldsets(self, request: HttpRequest, obj: Memory | None = None) -> Any:
        """Show what may be shown of this record."""
        if obj is None:
            return [
                (None, {"fields": ["scope", "kind", "domain", "content", "tags", "expires_at"]})
            ]
        if obj.scope == PERSONAL:
            return [("A personal record", {"fields": ["scope", "kind", *self._always]})]
        text = ["content", "kind", "domain", "expires_at"]
        if self.has_change_permission(request, obj):
            text.insert(3, "tags")
        known = ["scope", *self._always, *self._shared]
        return [(None, {"fields": text}), ("What the engine knows", {"fields": known})]

    def get_readonly_fields(self, request: HttpRequest, obj: Memory | None = None) -> Any:
        """Everything that the write functions do not set."""
        return ("scope", *self._always, *self._shared) if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Memory | None = None) -> bool:
        """Personal records are their owners', mirrors are the server's."""
        allowed = bool(super().has_change_permission(request, obj))
        return allowed and (obj is None or obj.scope not in (PERSONAL, *SYSTEM_SCOPES))

    def has_delete_permission(self, request: HttpRequest, obj: Memory | None = None) -> bool:
        """The same for deleting; another's personal record goes by `goclaw memory forget`."""
        allowed = bool(super().has_delete_permission(request, obj))
        return allowed and (obj is None or obj.scope not in (PERSONAL, *SYSTEM_SCOPES))

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show a refusal or a conflict as a message."""
        try:
            return super().changeform_view(request, *args, **kwargs)  # type: ignore[no-any-return]
        except GoclawError as error:
            messages.error(request, error.message)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Memory, form: Any, change: bool) -> None:
        """Write as every other door does."""
        principal, wanted = principal_of(request), form.changes()
        if change:
            write.amend(principal, obj.pk, wanted)
            return
        draft = Draft(
            content=wanted.content, scope=obj.scope, kind=wanted.kind, domain=wanted.domain,
            tags=wanted.tags, expires_at=wanted.expires_at,
        )  # fmt: skip
        obj.__dict__.update(write.remember(principal, draft).memory.__dict__)

    def delete_model(self, request: HttpRequest, obj: Memory) -> None:
        """Delete as every other door does."""
        write.forget(principal_of(request), obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        """Delete the selected ones, each with its tombstone."""
        for pk in queryset.values_list("pk", flat=True):
            write.forget(principal_of(request), pk)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List the records by id; what hangs on them would show tags and texts."""
        kept = {
            "personal and mirrored records"
            for row in objs
            if not self.has_delete_permission(request, row)
        }
        return [str(row) for row in objs], {"records": len(objs)}, kept, []

    @admin.display(description="Id")
    def short_id(self, obj: Memory) -> str:
        """The beginning of the id."""
        return str(obj.pk)[:8]

    @admin.display(description="Characters")
    def size(self, obj: Memory) -> str:
        """How long the text is."""
        return f"{getattr(obj, 'length', 0) or 0:,}"

    @admin.display(description="Domain")
    def domain_shown(self, obj: Memory) -> str:
        """The domain of a shared record."""
        return HIDDEN if obj.scope == PERSONAL else obj.domain


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
