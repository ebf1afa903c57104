"""One's own keys, and the gateway's for administrators: made, rotated, revoked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents import keys
from agents.models import ApiKey
from goclaw_site.errors import GoclawError, NotFound
from memory.access import Principal, administers, principal_of
from memory.filters import parse_time
from memory.pages.base import UNPROCESSABLE, go, page

_SHOWN = 200


@page
@require_safe
def own(request: HttpRequest) -> HttpResponse:
    """Show the keys, never their text."""
    return _list(request)


@page
@require_POST
def make(request: HttpRequest) -> HttpResponse:
    """Make a key and show it this once."""
    principal, given = principal_of(request), request.POST
    gateway = given.get("kind") == "gateway"
    try:
        made = keys.create(
            None if gateway else _person(request),
            gateway=gateway,
            read_only=given.get("read_only") == "yes",
            expires_at=parse_time("expires", given["expires"]) if given.get("expires") else None,
            label=given.get("label", ""),
            by=principal,
        )
    except GoclawError as error:
        return _list(request, error, UNPROCESSABLE)
    return _shown_once(request, made)


@page
@require_POST
def rotate(request: HttpRequest, prefix: str) -> HttpResponse:
    """Make the same key anew: the old one ends at once."""
    return _shown_once(request, keys.rotate(prefix, principal_of(request)))


@page
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, prefix: str) -> HttpResponse:
    """Ask, then end the key."""
    principal = principal_of(request)
    if request.method == "POST":
        keys.revoke(prefix, principal)
        messages.success(request, "The key is revoked: whoever uses it is refused from now on.")
        return go(request, reverse("keys"))
    key = _seen(principal).filter(prefix=prefix).first()
    if key is None:
        raise NotFound("There is no such key.")
    return render(request, "agents/key_revoke.html", {"key": key})


def _list(
    request: HttpRequest, problem: GoclawError | None = None, status: int = 200
) -> HttpResponse:
    principal = principal_of(request)
    context: dict[str, Any] = {
        "keys": _seen(principal)[:_SHOWN],
        "administers": administers(principal),
        "problem": problem,
        "given": request.POST if problem else {},
    }
    return render(request, "agents/keys.html", context, status=status)


def _seen(principal: Principal) -> Any:
    """One's own and the gateways'; other people's keys stand on their pages."""
    rows = keys.manageable(principal).select_related("user")
    mine = rows.filter(user=principal.person) if principal.person else rows.none()
    return (mine | rows.filter(gateway=True)).order_by("revoked_at", "-created_at", "-id")


def _shown_once(request: HttpRequest, made: keys.NewKey) -> HttpResponse:
    return render(request, "agents/key_made.html", {"text": made.text, "key": made.key})


def _person(request: HttpRequest) -> User:
    """The page decorator has let in people alone."""
    assert isinstance(request.user, User)
    return request.user


def of_person(person: User) -> list[ApiKey]:
    """Return the keys that stand on a person's page."""
    return list(ApiKey.objects.filter(user=person)[:_SHOWN])
