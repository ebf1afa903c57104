"""Backups for administrators: what there is, what each lacks, and one more at a press."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_q.models import Schedule

from goclaw_site.config import get_config
from memory import jobs, schedules
from memory.access import principal_of
from memory.backups import listing, scheduled
from memory.models import Job
from memory.pages.base import admin_page, go, show


@admin_page
@require_safe
def everything(request: HttpRequest) -> HttpResponse:
    """The list, the state of a backup in the making, and how to bring one back."""
    return show(request, "memory/backups.html", "memory/parts/backups.html", _context())


@admin_page
@require_POST
def now(request: HttpRequest) -> HttpResponse:
    """Start one, unless one runs already."""
    if jobs.backup_running() is None:
        jobs.start_for(principal_of(request), scheduled.KIND, {"by": scheduled.PAGE})
        messages.success(request, "The backup has begun; this page shows how far it is.")
    else:
        messages.info(request, "A backup is running already.")
    return go(request, reverse("backups"))


@admin_page
@require_POST
def cancel(request: HttpRequest) -> HttpResponse:
    """Stop the one that runs; nothing of it is left."""
    running = jobs.backup_running()
    if running is not None:
        jobs.cancel_for(principal_of(request), running.pk)
        messages.success(request, "The backup is stopped; nothing of it is left.")
    return go(request, reverse("backups"))


def _context() -> dict[str, Any]:
    running = jobs.backup_running()
    rows = listing.everything()
    return {
        "rows": rows,
        "copies": listing.copies(),
        "worry": listing.worry(),
        "running": running,
        "share": _share(running),
        "copied": _copied(running),
        "newest": next((row for row in rows if not row.problem), None),
        "wanted": get_config().backup,
        "folder": scheduled.folder(),
        "due": Schedule.objects.filter(name=schedules.BACKUP).values_list("next_run", flat=True),
    }


def _copied(running: Job | None) -> str:
    """How far it is, in words."""
    if running is None or not running.total:
        return ""
    done, whole = (filesizeformat(count * 1024) for count in (running.done, running.total))
    return f"{done} of {whole}"


def _share(running: Job | None) -> str:
    """A number for `<progress>`, which takes no comma of any language."""
    return f"{running.done / running.total:.3f}" if running and running.total else "0"
