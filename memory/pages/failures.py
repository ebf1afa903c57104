"""Failures as pages: what happened, what is safe, what to do next, and the request's id."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render

from goclaw_site.errors import GoclawError, Throttled
from goclaw_site.logs import request_id

#: What people type into our forms; nothing else of a request is shown again.
TYPED = ("title", "content", "body", "tags", "domain", "comment")


@dataclass(frozen=True)
class Advice:
    """The heading of a failure, and what one can do about it."""

    title: str
    advice: str
    icon: str = "error"


_ADVICE = {
    400: Advice("That request makes no sense here", "Check the address or the filters in it."),
    401: Advice("You are signed out", "Sign in and send it again.", "lock"),
    403: Advice("You may not do that", "An administrator can tell you who may.", "lock"),
    404: Advice(
        "Not found",
        "It may have been deleted, or it belongs to somebody else. Search for it instead.",
        "search",
    ),
    409: Advice("Somebody was faster", "Look at what is there now, then decide.", "warn"),
    413: Advice("That is too large", "Send it in smaller parts."),
    429: Advice("Too many tries", "Wait a moment, then try again.", "clock"),
    500: Advice(
        "Something broke on the server",
        "What was saved before is safe. Try again; if it happens again, give the request's id "
        "to whoever runs this server.",
    ),
    503: Advice("A part of the server does not answer", "Try again in a minute.", "clock"),
}
_UNKNOWN = Advice("That did not work", "Go back and try again.")


def answer(request: HttpRequest, error: GoclawError) -> HttpResponse:
    """Render one of our own errors."""
    response = respond(request, error.status, error.message)
    if isinstance(error, Throttled):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def respond(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """Render a failure as a page, or as a fragment for a swap."""
    context = {
        "status": status,
        "message": message,
        "about": _ADVICE.get(status, _UNKNOWN),
        "request_id": request_id.get(),
        "typed": typed(request) if status in (401, 403) else [],
        "phrase": HTTPStatus(status).phrase,
    }
    is_swap = bool(getattr(request, "htmx", False))
    template = "components/failure.html" if is_swap else "error.html"
    return render(request, template, context, status=status)


def expired_form(request: HttpRequest, message: str) -> HttpResponse:
    """Answer a missing or old CSRF token; a page of ours gets a fresh one and sends again.

    The header can be read by this origin alone, so that it tells a foreign site nothing.
    """
    response = respond(request, 403, message)
    if getattr(request, "htmx", False) and request.user.is_authenticated:
        response.headers["X-CSRF-Token"] = get_token(request)
    return response


def typed(request: HttpRequest) -> list[tuple[str, str]]:
    """Return what the person typed into the form that failed."""
    if request.method != "POST":
        return []
    return [(name, request.POST[name]) for name in TYPED if request.POST.get(name)]
