"""Identities of channels for administrators: who is not confirmed yet, and whom they belong to."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents import identities
from agents.models import Identity
from goclaw_site.errors import GoclawError, InvalidInput
from memory.access import principal_of
from memory.pages.base import UNPROCESSABLE, admin_page, go

_A_PAGE = 50


@admin_page
@require_safe
def everywhere(request: HttpRequest) -> HttpResponse:
    """Show the identities, those that wait for a decision first."""
    return _list(request)


@admin_page
@require_POST
def confirm(request: HttpRequest, identity_id: int) -> HttpResponse:
    """Say that this is who it seems to be."""
    identities.confirm(principal_of(request), identity_id)
    messages.success(request, "Confirmed: what they wrote is no longer marked as unverified.")
    return go(request, reverse("identities"))


@admin_page
@require_POST
def link(request: HttpRequest, identity_id: int) -> HttpResponse:
    """Give the identity to a person."""
    try:
        person = _named(request.POST.get("person", ""))
        identities.link(principal_of(request), identity_id, person)
    except GoclawError as error:
        return _list(request, error, UNPROCESSABLE)
    messages.success(request, f"Linked to {person.get_username()}.")
    return go(request, reverse("identities"))


def _list(
    request: HttpRequest, problem: GoclawError | None = None, status: int = 200
) -> HttpResponse:
    found = Identity.objects.select_related("person").order_by("confirmed_at", "-seen_at", "-id")
    shown = Paginator(found, _A_PAGE).get_page(request.GET.get("page"))
    context = {"identities": shown, "problem": problem}
    return render(request, "agents/identities.html", context, status=status)


def _named(username: str) -> User:
    person = User.objects.filter(username=username.strip()).first()
    if person is None:
        raise InvalidInput("There is no person of that name.", field="person")
    return person
