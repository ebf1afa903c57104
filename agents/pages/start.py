"""The first-run page: a key, a set-up to copy, a light that waits for the first call."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from agents import keys
from agents.models import ApiKey
from agents.pages.setups import setups
from goclaw_site.config import get_config
from goclaw_site.errors import NotFound
from memory import queries
from memory.access import principal_of
from memory.models import Memory
from memory.pages.base import page, show


@page
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest) -> HttpResponse:
    """Show how to begin; a POST makes a key and shows it this once."""
    if request.method != "POST":
        return show(request, "agents/start.html", "agents/parts/begin.html", {})
    day = timezone.localdate().isoformat()
    made = keys.create(_person(request), label=f"First agent, {day}", by=principal_of(request))
    context = {"key": made.text, "setups": setups(_address(request), made.text)}
    context |= _light(request, made.key)
    return show(request, "agents/start.html", "agents/parts/setups.html", context)


@page
@require_safe
def light(request: HttpRequest, prefix: str) -> HttpResponse:
    """Show whether the key has been used, and the first memory that came with it."""
    found = ApiKey.objects.filter(prefix=prefix, user=_person(request)).first()
    if found is None:
        raise NotFound("No such key.")
    return show(request, "agents/light.html", "agents/parts/light.html", _light(request, found))


def _person(request: HttpRequest) -> User:
    """The page decorator has let in people alone."""
    assert isinstance(request.user, User)
    return request.user


def _light(request: HttpRequest, key: ApiKey) -> dict[str, Any]:
    memory = _first_memory(request, key) if key.last_used_at else None
    return {"watched": key, "first": memory, "done": memory is not None}


def _first_memory(request: HttpRequest, key: ApiKey) -> Memory | None:
    """Return the first record that this person has written, or said again, since the key."""
    asker = principal_of(request)
    since = queries.records(asker).filter(updated_at__gte=key.created_at)
    mine = since.filter(metadata__provenance__author=asker.actor)
    return mine.exclude(metadata__provenance__door="browser").order_by("updated_at").first()


def _address(request: HttpRequest) -> str:
    public = get_config().server.public_url
    return f"{public.rstrip('/')}/" if public else request.build_absolute_uri(reverse("memory"))
