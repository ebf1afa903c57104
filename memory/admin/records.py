"""Records: their lists and pages, which show no word of a personal one."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.widgets import UnfoldAdminTextInputWidget

from goclaw_site.admin import GoclawAdmin
from goclaw_site.errors import GoclawError
from memory import write
from memory.access import principal_of
from memory.admin.parts import HIDDEN
from memory.drafts import Changes, Draft, check_changes
from memory.models import Memory
from memory.vocabulary import (
    ENGINE_TAGS,
    PERSONAL,
    REVIEW_TAGS,
    SUPERSEDED,
    SYSTEM_SCOPES,
    WRITABLE_SCOPES,
)

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
