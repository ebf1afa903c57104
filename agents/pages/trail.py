"""The audit trail for administrators."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from goclaw_site.errors import GoclawError
from memory import audit
from memory.access import principal_of
from memory.filters import parse_time
from memory.pages.base import UNPROCESSABLE, admin_page

_A_PAGE = 100
_FILTERS = ("since", "actor", "action")


@admin_page
@require_safe
def trail(request: HttpRequest) -> HttpResponse:
    """Show a page of events, the newest first."""
    given = {name: request.GET.get(name, "").strip()[:150] for name in _FILTERS}
    try:
        rows = _rows(request, given)
    except GoclawError as error:
        context = {"given": given, "problem": error, "events": []}
        return render(request, "agents/audit.html", context, status=UNPROCESSABLE)
    shown = rows[:_A_PAGE]
    older = urlencode({**given, "before": shown[-1].pk}) if len(rows) > _A_PAGE else ""
    return render(request, "agents/audit.html", {"given": given, "events": shown, "older": older})


def _rows(request: HttpRequest, given: dict[str, str]) -> list[Any]:
    """One more than a page, to know whether there is another."""
    found = audit.events(
        principal_of(request),
        since=parse_time("since", given["since"]) if given["since"] else None,
        actor=given["actor"] or None,
        action=given["action"] or None,
    ).order_by("-id")
    before = request.GET.get("before", "")
    if before.isdecimal() and len(before) < 19:
        found = found.filter(pk__lt=int(before))
    return list(found[: _A_PAGE + 1])
