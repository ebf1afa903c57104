"""The pages that change something: each shows a form or a question, and does it on POST."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from goclaw_site.errors import GoclawError, NotFound
from memory import write
from memory.access import principal_of
from memory.beliefs import revisions
from memory.pages import details, differences, editing, own, selecting
from memory.pages.base import UNPROCESSABLE, back_to, go, page, show
from memory.pages.editing import RecordForm, Stale
from memory.pages.sentences import KINDS, plural, scope_words

_METHODS = ("GET", "HEAD", "POST")
CONFLICT = 409


def _record_url(memory_id: uuid.UUID) -> str:
    return reverse("memory-record", args=[memory_id])


@page
@require_http_methods(_METHODS)
def add(request: HttpRequest) -> HttpResponse:
    """Remember something."""
    if request.method != "POST":
        return _add_form(request, editing.posted(request.GET))
    form = editing.posted(request.POST)
    try:
        written = editing.add(principal_of(request), form)
    except GoclawError as error:
        return _add_form(request, form.failed(error), UNPROCESSABLE)
    said = "Remembered." if written.created else "It was known already; nothing was written twice."
    messages.success(request, said)
    return go(request, _record_url(written.memory.pk))


def _add_form(request: HttpRequest, form: RecordForm, status: int = 200) -> HttpResponse:
    principal = principal_of(request)
    context = {
        "form": form,
        "scopes": [(name, scope_words(name)) for name in editing.writable_scopes(principal)],
        "kinds": [(kind, KINDS[kind]) for kind in editing.kinds_for()],
    }
    return show(request, "memory/add.html", "memory/parts/add_form.html", context, status)


@page
@require_http_methods(_METHODS)
def amend(request: HttpRequest, memory_id: uuid.UUID) -> HttpResponse:
    """Correct a record; the old text stays in its history."""
    principal = principal_of(request)
    found = details.detail(principal, memory_id)
    if request.method != "POST":
        return _amend_form(request, found, editing.filled(found.record))
    form = editing.posted(request.POST, found.record.scope)
    try:
        editing.amend(principal, memory_id, form)
    except Stale:
        return _stale(request, memory_id, form)
    except GoclawError as error:
        status = CONFLICT if error.status == CONFLICT else UNPROCESSABLE
        return _amend_form(request, found, form.failed(error), status)
    messages.success(request, "Saved. The text before is in the history.")
    return go(request, _record_url(memory_id))


def _amend_form(
    request: HttpRequest, found: details.Detail, form: RecordForm, status: int = 200
) -> HttpResponse:
    kinds = [(kind, KINDS.get(kind, "")) for kind in editing.kinds_for(found.record)]
    context = {"form": form, "detail": found, "kinds": kinds}
    return show(request, "memory/amend.html", "memory/parts/amend_form.html", context, status)


def _stale(request: HttpRequest, memory_id: uuid.UUID, form: RecordForm) -> HttpResponse:
    """Show both texts; saving once more, over what is there now, is the person's decision."""
    found = details.detail(principal_of(request), memory_id)
    theirs = found.record.content
    context = {
        "detail": found,
        "form": RecordForm(
            form.content, form.scope, form.kind, form.domain, form.tags, form.expires,
            editing.stamp(found.record),
        ),
        "parts": differences.compare(theirs, form.content),
        "kinds": [(kind, KINDS.get(kind, "")) for kind in editing.kinds_for(found.record)],
    }  # fmt: skip
    return show(request, "memory/stale.html", "memory/parts/stale_form.html", context, CONFLICT)


@page
@require_POST
def undo(request: HttpRequest, memory_id: uuid.UUID, revision: int) -> HttpResponse:
    """Bring back the text before an amendment."""
    revisions.undo_amendment(principal_of(request), memory_id, revision)
    messages.success(request, "Undone. The record says again what it said before.")
    return go(request, _record_url(memory_id))


@page
@require_http_methods(_METHODS)
def delete(request: HttpRequest, memory_id: uuid.UUID) -> HttpResponse:
    """Ask, saying what will happen, then delete."""
    principal = principal_of(request)
    if request.method != "POST":
        context = {"detail": details.detail(principal, memory_id)}
        return show(request, "memory/delete.html", "memory/parts/delete.html", context)
    try:
        write.forget(principal, memory_id)
        messages.success(request, "Deleted.")
    except NotFound:
        messages.info(request, "It was deleted already.")
    return go(request, back_to(request, reverse("memory")))


@page
@require_POST
def bulk(request: HttpRequest) -> HttpResponse:
    """Preview what would happen to the selected records, then do it."""
    principal = principal_of(request)
    selection = selecting.read(request.POST)
    if "confirmed" not in request.POST:
        return _preview(request, selection)
    outcome = selecting.apply(principal, selection)
    messages.success(request, _said(selection, outcome.done))
    for reason in outcome.refused[:3]:
        messages.warning(request, reason)
    return go(request, back_to(request, reverse("memory")))


def _preview(request: HttpRequest, selection: selecting.Selection) -> HttpResponse:
    effects = selecting.preview(principal_of(request), selection)
    touched = [effect for effect in effects if not effect.skipped]
    context: dict[str, Any] = {
        "selection": selection,
        "touched": touched,
        "skipped": [effect for effect in effects if effect.skipped],
        "personal": sum(effect.record.scope == "personal" for effect in touched),
        "next": back_to(request, reverse("memory")),
    }
    return show(request, "memory/bulk.html", "memory/bulk.html", context)


def _said(selection: selecting.Selection, done: int) -> str:
    records = plural(done, "record")
    tags = ", ".join(f"“{tag}”" for tag in selection.tags)
    if selection.action == "delete":
        return f"Deleted {records}."
    verb = "Tagged" if selection.action == "tag" else "Took the tag from"
    return f"{verb} {records}: {tags}."


@page
@require_http_methods(_METHODS)
def delete_own(request: HttpRequest) -> HttpResponse:
    """Delete everything about oneself."""
    principal = principal_of(request)
    if request.method != "POST":
        context = {"count": own.count(principal)}
        return show(request, "memory/delete_own.html", "memory/parts/delete_own.html", context)
    if request.POST.get("sure") != "yes":
        context = {"count": own.count(principal), "unsure": True}
        return show(
            request,
            "memory/delete_own.html",
            "memory/parts/delete_own.html",
            context,
            UNPROCESSABLE,
        )
    gone, left = own.delete_some(principal)
    rest = f" {plural(left, 'record')} are left: delete again." if left else ""
    messages.success(request, f"Deleted {plural(gone, 'record')} of yours.{rest}")
    return go(request, reverse("memory-own"))
