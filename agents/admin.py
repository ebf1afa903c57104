"""Keys for administrators: seen and revoked here, made where they can be shown once."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from agents import keys
from agents.models import Agent, ApiKey, Attempt, Identity, KeyUse
from goclaw_site.admin import ReadOnlyAdmin
from memory.access import principal_of


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    """Keys; the secret is nowhere, its hash is not shown."""

    list_display = (
        "prefix", "label", "user", "gateway", "read_only", "state", "expires_at", "last_used_at",
    )  # fmt: skip
    fields = (
        "prefix", "label", "user", "gateway", "read_only", "state", "expires_at", "last_used_at",
        "revoked_at", "created_at",
    )  # fmt: skip
    list_select_related = ("user",)
    ordering = ("-created_at", "-id")
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Who may change keys by Django's permissions may revoke them."""
        return request.user.has_perm("agents.change_apikey")

    @admin.action(description="Revoke the selected keys", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke each; a revoked key stays in the list."""
        for prefix in queryset.values_list("prefix", flat=True):
            keys.revoke(prefix, principal_of(request))
        messages.success(request, "The keys are revoked.")


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    """Whom channels know people as."""

    list_display = ("channel", "external_id", "display_name", "person", "confirmed_at", "seen_at")
    fields = (
        "channel",
        "external_id",
        "display_name",
        "person",
        "confirmed_at",
        "created_at",
        "seen_at",
    )
    list_select_related = ("person",)
    ordering = ("-pk",)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    """Wrong keys and passwords, by a hash of where they came from."""

    list_display = ("at", "subject")
    ordering = ("-at",)


@admin.register(KeyUse)
class KeyUseAdmin(ReadOnlyAdmin):
    """How many requests a key made in a minute."""

    list_display = ("key", "minute", "requests")
    list_select_related = ("key",)
    ordering = ("-pk",)


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    """Agents."""

    list_display = ("slug", "name", "created_at")
    ordering = ("slug",)
