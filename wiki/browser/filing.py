"""Files of a page: uploaded from the editor or by a plain form, and deleted."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from goclaw_site.errors import GoclawError, InvalidInput, TooLarge
from memory.access import principal_of
from memory.pages.base import go, page
from wiki import attachments, filetypes, queries
from wiki.browser.changing import slug_of
from wiki.browser.framing import page_url


@page
@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    """Keep a file; the editor's script gets JSON, a form goes back to the page's files."""
    slug = slug_of(request)
    wants_json = request.headers.get("Accept") == "application/json"
    try:
        stored = _stored(request, slug)
    except GoclawError as error:
        if not wants_json:
            raise
        return JsonResponse(error.as_dict(), status=error.status)
    row = stored.attachment
    if wants_json:
        url = reverse("media", args=[row.pk])
        shown = filetypes.shown(row.content_type)
        return JsonResponse({"id": str(row.pk), "name": row.name, "url": f"/media/{row.pk}",
                             "address": url, "image": shown}, status=201)  # fmt: skip
    messages.success(request, f"Uploaded “{row.name}”.")
    return go(request, page_url(slug, "view=files"))


def _stored(request: HttpRequest, slug: str) -> attachments.Stored:
    file = request.FILES.get("file")
    if file is None:
        raise InvalidInput("Choose a file first.", field="file")
    limit = attachments.limit_bytes()
    if (file.size or 0) > limit:
        raise TooLarge(
            f"“{file.name}” has {(file.size or 0) / 1024**2:,.1f} MiB; the limit is "
            f"{limit // 1024**2} MiB.",
            field="file",
        )
    return attachments.upload(principal_of(request), slug, file.name or "", file.chunks())


@page
@require_POST
def remove(request: HttpRequest, attachment_id: uuid.UUID) -> HttpResponse:
    """Delete a file for good."""
    principal = principal_of(request)
    row = queries.attachment(principal, attachment_id)
    attachments.remove(principal, attachment_id)
    messages.success(request, f"Deleted “{row.name}”.")
    return go(request, page_url(row.slug, "view=files"))
