"""The wiki's tables for administrators to look at; pages are edited in the wiki."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from goclaw_site.admin import ReadOnlyAdmin
from wiki.models import WikiAttachment, WikiLink, WikiPage, WikiRevision, WikiTag


@admin.register(WikiPage)
class PageAdmin(ReadOnlyAdmin):
    """Heads of pages."""

    list_display = ("slug", "title", "revision", "author", "author_kind", "waits", "updated_at")
    list_filter = ("author_kind", "waits", "deleted")
    exclude = ("html", "contents", "slug_key")
    search_fields = ("slug", "title")
    ordering = ("-updated_at", "-id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WikiPage]:
        """Leave the HTML in the database."""
        return super().get_queryset(request).defer("html", "contents")  # type: ignore[no-any-return]


@admin.register(WikiRevision)
class RevisionAdmin(ReadOnlyAdmin):
    """Every save."""

    list_display = (
        "slug", "revision", "title", "author", "author_kind", "characters", "created_at",
    )  # fmt: skip
    list_filter = ("author_kind", "deleted")
    search_fields = ("slug",)
    ordering = ("-created_at", "-id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WikiRevision]:
        """Texts are read when a page of one revision asks for it."""
        return super().get_queryset(request).defer("body")  # type: ignore[no-any-return]


class ByPageAdmin(ReadOnlyAdmin):
    """Rows that belong to a page."""

    list_select_related = ("page",)
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the HTML in the database."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related("page").defer("page__html", "page__contents")


@admin.register(WikiTag)
class TagAdmin(ByPageAdmin):
    """Tags of pages."""

    list_display = ("tag", "page")
    search_fields = ("tag",)


@admin.register(WikiLink)
class LinkAdmin(ByPageAdmin):
    """Links between pages."""

    list_display = ("page", "target")
    search_fields = ("target",)
    exclude = ("target_key",)


@admin.register(WikiAttachment)
class AttachmentAdmin(ReadOnlyAdmin):
    """Files on pages."""

    list_display = ("name", "slug", "content_type", "size", "uploader", "created_at")
    list_filter = ("content_type",)
    search_fields = ("name", "slug")
    ordering = ("-created_at", "-id")
    exclude = ("slug_key", "content_key")
