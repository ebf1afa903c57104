"""People for administrators: the list, one person, and everything that can be done to one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents import identities, people
from agents.pages import keys
from goclaw_site.config import get_config
from goclaw_site.errors import GoclawError, InvalidInput
from memory import ownership
from memory.access import principal_of
from memory.pages.base import UNPROCESSABLE, admin_page, go

_A_PAGE = 50


@admin_page
@require_safe
def everybody(request: HttpRequest) -> HttpResponse:
    """Show who there is."""
    return _list(request)


@admin_page
@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    """Make a person and show the link for them."""
    given = request.POST
    try:
        invited = people.invite(
            principal_of(request), given.get("username", ""), given.getlist("roles")
        )
    except GoclawError as error:
        return _list(request, error, UNPROCESSABLE)
    return _link(request, invited, "invited")


@admin_page
@require_safe
def one(request: HttpRequest, person_id: int) -> HttpResponse:
    """Show one person: roles, identities, keys, and that records exist, not what they say."""
    return _one(request, people.person(person_id))


@admin_page
@require_POST
def act(request: HttpRequest, person_id: int, action: str) -> HttpResponse:
    """Do one thing to a person, and say so."""
    somebody = people.person(person_id)
    try:
        return _ACTIONS[action](request, somebody)
    except GoclawError as error:
        return _one(request, somebody, error, UNPROCESSABLE)


@admin_page
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, person_id: int) -> HttpResponse:
    """Ask what becomes of the records, then delete the person."""
    somebody = people.person(person_id)
    if request.method != "POST":
        return _delete_form(request, somebody)
    given = request.POST
    try:
        heir = _named(given.get("heir", "")) if given.get("records") == people.HAND_OVER else None
        people.delete(principal_of(request), somebody, given.get("records", ""), heir)
    except GoclawError as error:
        return _delete_form(request, somebody, error, UNPROCESSABLE)
    messages.success(request, "The person is deleted; sessions and keys have ended.")
    return go(request, reverse("people"))


def _list(
    request: HttpRequest, problem: GoclawError | None = None, status: int = 200
) -> HttpResponse:
    found = User.objects.annotate(channels=Count("identities")).order_by("username")
    if query := request.GET.get("q", "").strip()[:150]:
        found = found.filter(username__icontains=query) | found.filter(first_name__icontains=query)
    shown = Paginator(found.prefetch_related("groups"), _A_PAGE)
    context: dict[str, Any] = {
        "people": shown.get_page(request.GET.get("page")),
        "find": query,
        "roles": people.roles(),
        "problem": problem,
        "given": request.POST if problem else {},
    }
    return render(request, "agents/people.html", context, status=status)


def _one(
    request: HttpRequest, somebody: User, problem: GoclawError | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "person": somebody,
        "held": set(somebody.groups.values_list("name", flat=True)),
        "roles": people.roles(),
        "identities": somebody.identities.all(),
        "keys": keys.of_person(somebody),
        "records": ownership.count(somebody.pk),
        "login": people.has_login(somebody),
        "self": somebody.pk == principal_of(request).person,
        "problem": problem,
    }
    return render(request, "agents/person.html", context, status=status)


def _delete_form(
    request: HttpRequest, somebody: User, problem: GoclawError | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "person": somebody,
        "records": ownership.count(somebody.pk),
        "problem": problem,
        "given": request.POST,
    }
    return render(request, "agents/person_delete.html", context, status=status)


def _link(request: HttpRequest, invited: people.Invited, why: str) -> HttpResponse:
    """Show the one-time link; the administrator passes it on."""
    public = get_config().server.public_url.rstrip("/")
    address = f"{public}{invited.path}" if public else request.build_absolute_uri(invited.path)
    context = {"person": invited.person, "address": address, "why": why}
    return render(request, "agents/person_link.html", context)


def _named(username: str) -> User:
    found = User.objects.filter(username=username.strip()).first()
    if found is None:
        raise InvalidInput("There is no person of that name.", field="heir")
    return found


def _done(request: HttpRequest, somebody: User, words: str) -> HttpResponse:
    messages.success(request, words)
    return go(request, reverse("people-one", args=[somebody.pk]))


def _roles(request: HttpRequest, somebody: User) -> HttpResponse:
    people.set_roles(principal_of(request), somebody, request.POST.getlist("roles"))
    return _done(request, somebody, "The roles count from the next request on.")


def _reset(request: HttpRequest, somebody: User) -> HttpResponse:
    return _link(request, people.reset(principal_of(request), somebody), "reset")


def _give_login(request: HttpRequest, somebody: User) -> HttpResponse:
    name = request.POST.get("username", "")
    return _link(request, people.invite_known(principal_of(request), somebody, name), "invited")


def _sign_out(request: HttpRequest, somebody: User) -> HttpResponse:
    ended = people.sign_out(principal_of(request), somebody)
    return _done(request, somebody, f"Sessions ended: {ended}.")


def _deactivate(request: HttpRequest, somebody: User) -> HttpResponse:
    people.set_active(principal_of(request), somebody, False)
    return _done(request, somebody, "Deactivated; sessions and keys have ended.")


def _activate(request: HttpRequest, somebody: User) -> HttpResponse:
    people.set_active(principal_of(request), somebody, True)
    return _done(request, somebody, "Active again. Keys stay revoked: make new ones.")


def _merge(request: HttpRequest, somebody: User) -> HttpResponse:
    target = _named(request.POST.get("heir", ""))
    moved = identities.merge(principal_of(request), somebody, target)
    words = f"Merged: {moved.records:,} records moved, {moved.united:,} were there already."
    return _done(request, target, words)


_ACTIONS = {
    "roles": _roles,
    "reset": _reset,
    "login": _give_login,
    "sign-out": _sign_out,
    "deactivate": _deactivate,
    "activate": _activate,
    "merge": _merge,
}
ACTIONS = tuple(_ACTIONS)
