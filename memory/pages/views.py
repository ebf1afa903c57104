"""The pages that show: the browser, a record, my memory, the components."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from memory.access import Principal, principal_of
from memory.pages import browsing, details, own
from memory.pages.base import admin_page, page, show, wants_fragment
from memory.pages.specimens import specimens
from memory.vocabulary import PERSONAL


@page
@require_safe
def browse(request: HttpRequest) -> HttpResponse:
    """Search and the newest records."""
    asked = browsing.read(request.GET, reverse("memory"))
    return _list(request, asked, "memory/browse.html")


@page
@require_safe
def mine(request: HttpRequest) -> HttpResponse:
    """Everything about oneself."""
    asked = browsing.read(request.GET, reverse("memory-own"), PERSONAL)
    return _list(request, asked, "memory/mine.html", PERSONAL)


def _list(
    request: HttpRequest, asked: browsing.Asked, whole: str, scope: str | None = None
) -> HttpResponse:
    """Render a list: whole, its changing part, or its next rows."""
    principal = principal_of(request)
    if asked.cursor and wants_fragment(request):
        rows = {"list": browsing.listing(principal, asked), "asked": asked}
        return show(request, whole, "memory/parts/rows.html", rows)
    context = browsing.context(principal, asked, scope)
    context |= {"own": scope == PERSONAL, "detail": _beside(principal, asked, context["list"])}
    return show(request, whole, "memory/parts/browser.html", context)


def _beside(
    principal: Principal, asked: browsing.Asked, shown: browsing.Listing
) -> details.Detail | None:
    """Return the record beside the list: the one asked for, else the first."""
    if asked.record is not None:
        return details.detail(principal, asked.record, asked.query)
    first = shown.rows[0].id if shown.rows else None
    return details.detail(principal, first, asked.query) if first else None


@page
@require_safe
def record(request: HttpRequest, memory_id: uuid.UUID) -> HttpResponse:
    """One record with everything that belongs to it."""
    query = request.GET.get("q", "")
    context: dict[str, Any] = {
        "detail": details.detail(principal_of(request), memory_id, query),
        "query": query,
    }
    return show(request, "memory/record.html", "memory/parts/pane.html", context)


@page
@require_safe
def export_own(request: HttpRequest) -> HttpResponseBase:
    """Everything about oneself as a file."""
    day = timezone.localdate().isoformat()
    return StreamingHttpResponse(
        own.export(principal_of(request)),
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="my-memory-{day}.json"'},
    )


@admin_page
@require_safe
def components(request: HttpRequest) -> HttpResponse:
    """Every component of the design, in its states."""
    return show(request, "memory/components.html", "memory/components.html", specimens())
