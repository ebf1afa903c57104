"""Restoring, moving, deleting and bringing back: a question first where it cannot be missed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from goclaw_site.errors import GoclawError, InvalidInput
from memory.access import principal_of
from memory.pages.base import UNPROCESSABLE, go, page, show
from wiki import distill, pages, queries
from wiki.access import require_editor
from wiki.browser.framing import page_url

_METHODS = ("GET", "HEAD", "POST")


def slug_of(request: HttpRequest) -> str:
    """Return the page that a question or an answer is about. Raise InvalidInput."""
    values = request.POST if request.method == "POST" else request.GET
    if not values.get("slug"):
        raise InvalidInput("slug is missing: open this from a page.", field="slug")
    return str(values["slug"])


@page
@require_POST
def restore(request: HttpRequest) -> HttpResponse:
    """Make an old text the newest."""
    given = request.POST.get("revision", "")
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise InvalidInput("revision is not a number.", field="revision")
    saved = pages.restore(principal_of(request), slug_of(request), int(given))
    if saved.outcome == "unchanged":
        messages.info(request, "The page says that already.")
    else:
        messages.success(request, f"Restored revision {int(given)}. What stood here is kept.")
    return go(request, page_url(saved.page.slug))


@page
@require_POST
def distill_facts(request: HttpRequest) -> HttpResponse:
    """Have a model write pages of what was learned; they come as agents' edits, to be reviewed."""
    try:
        distill.start(principal_of(request))
    except GoclawError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Started. The pages appear in the review queue as they are done.")
    return go(request, reverse("wiki"))


@page
@require_POST
def undelete(request: HttpRequest) -> HttpResponse:
    """Bring a deleted page back."""
    saved = pages.undelete(principal_of(request), slug_of(request))
    messages.success(request, "The page is back, with its history.")
    return go(request, page_url(saved.page.slug))


@page
@require_http_methods(_METHODS)
def move(request: HttpRequest) -> HttpResponse:
    """Ask for the new name, then move."""
    principal = principal_of(request)
    slug = slug_of(request)
    head = queries.page(principal, slug)
    context = {"page": head, "to": head.slug, "links": queries.backlink_count(principal, slug)}
    if request.method != "POST":
        require_editor(principal)
        return show(request, "wiki/move.html", "wiki/parts/move.html", context)
    to = request.POST.get("to", "")
    try:
        moved = pages.move(principal, slug, to, request.POST.get("comment", ""))
    except GoclawError as error:
        context |= {"to": to, "problem": error.message}
        return show(request, "wiki/move.html", "wiki/parts/move.html", context, UNPROCESSABLE)
    messages.success(request, f"Moved. “{head.slug}” leads here from now on.")
    return go(request, page_url(moved.slug))


@page
@require_http_methods(_METHODS)
def delete(request: HttpRequest) -> HttpResponse:
    """Ask, saying what will happen, then delete."""
    principal = principal_of(request)
    slug = slug_of(request)
    if request.method != "POST":
        require_editor(principal)
        context = {
            "page": queries.live_page(principal, slug),
            "links": queries.backlink_count(principal, slug),
            "files": queries.attachments(principal, slug).count(),
        }
        return show(request, "wiki/delete.html", "wiki/parts/delete.html", context)
    pages.delete(principal, slug, request.POST.get("comment", ""))
    messages.success(request, "Deleted. Its history is kept, and it can be brought back.")
    return go(request, page_url(slug))
