"""The pages about decisions: the list, a run, taking back, and what changed."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from goclaw_site.errors import GoclawError, NotFound
from memory.access import principal_of
from memory.beliefs import revisions as beliefs
from memory.pages import changes, decisions, details
from memory.pages.base import UNPROCESSABLE, back_to, go, page, show
from memory.pages.sentences import VIAS, plural

_METHODS = ("GET", "HEAD", "POST")
DECISIONS = {
    "retired": "Replaced",
    "amended": "Amended",
    "kept": "Compared and kept",
    "deleted": "Deleted",
}


@page
@require_safe
def revisions(request: HttpRequest) -> HttpResponse:
    """Show decisions, the newest first: by subject, record, run, route or state."""
    context: dict[str, Any] = {
        "vias": VIAS.items(),
        "decisions": DECISIONS.items(),
        "given": request.GET,
    }
    try:
        asked = decisions.read(request.GET)
        context |= {"asked": asked, "found": decisions.page(principal_of(request), asked)}
    except GoclawError as error:
        context["problem"] = error
        return render(request, "memory/revisions.html", context, status=UNPROCESSABLE)
    return render(request, "memory/revisions.html", context)


@page
@require_safe
def run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show what one run decided."""
    found = _run(request, run_id)
    before = decisions.read(request.GET).before
    asked = decisions.Asked(run=run_id, before=before)
    principal = principal_of(request)
    context = {
        "run": found,
        "found": decisions.page(principal, asked),
        "how": VIAS.get(found.first.via, found.first.via),
        "undoes": decisions.may_undo(principal, found.first),
    }
    return render(request, "memory/run.html", context)


def _run(request: HttpRequest, run_id: uuid.UUID) -> decisions.Run:
    found = decisions.run(principal_of(request), run_id)
    if found is None:
        raise NotFound("No such run.")
    return found


@page
@require_http_methods(_METHODS)
def undo(request: HttpRequest, memory_id: uuid.UUID) -> HttpResponse:
    """Ask for a reason, saying what will happen, then bring the record back for good."""
    principal = principal_of(request)
    if request.method != "POST":
        return _ask(request, memory_id)
    try:
        done = beliefs.undo_record(principal, memory_id, request.POST.get("reason", ""))
    except NotFound:
        raise
    except GoclawError as error:
        return _ask(request, memory_id, error)
    messages.success(request, said(done))
    return go(request, back_to(request, reverse("memory-record", args=[memory_id])))


def _ask(
    request: HttpRequest, memory_id: uuid.UUID, problem: GoclawError | None = None
) -> HttpResponse:
    found = details.detail(principal_of(request), memory_id)
    context = {
        "detail": found,
        "shown": _standing(request, found),
        "problem": problem,
        "reason": request.POST.get("reason", ""),
        "next": back_to(request, ""),
    }
    status = UNPROCESSABLE if problem else 200
    return show(request, "memory/undo.html", "memory/parts/undo.html", context, status)


def _standing(request: HttpRequest, found: details.Detail) -> decisions.Shown | None:
    """Return the decision that an undo would take back."""
    asked = decisions.Asked(record=found.record.pk, decision="retired")
    rows = decisions.page(principal_of(request), asked).rows
    return next((row for row in rows if row.row.old_id == found.record.pk), None)


@page
@require_http_methods(_METHODS)
def undo_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Ask, then take back everything that a run decided."""
    if request.method != "POST":
        return _ask_run(request, run_id)
    try:
        done = beliefs.undo_run(principal_of(request), run_id, request.POST.get("reason", ""))
    except NotFound:
        raise
    except GoclawError as error:
        return _ask_run(request, run_id, error)
    messages.success(request, said(done))
    return go(request, reverse("revisions-run", args=[run_id]))


def _ask_run(
    request: HttpRequest, run_id: uuid.UUID, problem: GoclawError | None = None
) -> HttpResponse:
    context = {
        "run": _run(request, run_id),
        "problem": problem,
        "reason": request.POST.get("reason", ""),
    }
    status = UNPROCESSABLE if problem else 200
    return show(request, "memory/undo_run.html", "memory/parts/undo_run.html", context, status)


@page
@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    """Show what agents wrote and what was replaced."""
    principal = principal_of(request)
    try:
        found = changes.feed(principal, request.GET.get("days", "1"), request.GET.get("cursor", ""))
    except GoclawError as error:
        context = {"spans": changes.SPANS.items(), "problem": error}
        return render(request, "memory/changes.html", context, status=UNPROCESSABLE)
    return render(request, "memory/changes.html", {"spans": changes.SPANS.items(), "feed": found})


@page
@require_POST
def wrong(request: HttpRequest, memory_id: uuid.UUID) -> HttpResponse:
    """Take a record out of search, and bring back what it had replaced."""
    done = beliefs.disown(principal_of(request), memory_id)
    back = f" {plural(len(done.restored), 'record')} it had replaced is live again."
    if len(done.restored) > 1:
        back = f" {plural(len(done.restored), 'record')} it had replaced are live again."
    messages.success(
        request,
        "Marked as wrong: agents are not told it any more."
        + (back if done.restored else "")
        + " The record's page can undo this.",
    )
    return go(request, back_to(request, reverse("memory-record", args=[memory_id])))


def said(done: beliefs.Undone) -> str:
    """Return in one or two sentences what an undo did."""
    if not done.changed:
        return "It was undone already. Nothing has changed."
    parts = (
        (len(done.restored), "is live again", "are live again"),
        (len(done.amended), "has its earlier text again", "have their earlier text again"),
        (
            len(done.doubles),
            "stays retired: the same text is live in another record",
            "stay retired: the same texts are live in other records",
        ),
        (len(done.retired), "that was merged is retired", "that were merged are retired"),
        (
            len(done.flagged),
            "was changed since its merge and stays",
            "were changed since their merge and stay",
        ),
        (len(done.gone), "has been deleted or has expired", "have been deleted or have expired"),
    )
    told = [
        f"{plural(number, 'record')} {one if number == 1 else many}"
        for number, one, many in parts
        if number
    ]
    return f"Undone. {'; '.join(told)}."
