"""The agents that work here: the one writer of their table, and its reads."""

from __future__ import annotations

import re
from dataclasses import replace

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from agents.models import Agent
from goclaw_site.errors import Conflict, InvalidInput, NotFound, Refused
from memory.access import Principal, require_change
from memory.drafts import MAX_AGENT, check_line

#: There from the first start; the migration makes it.
DEFAULT = "default"
MAX_NAME = 100
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?")


def agents() -> QuerySet[Agent]:
    """Return every agent; who may come in may know them."""
    return Agent.objects.order_by("slug")


def agent(slug: str) -> Agent:
    """Return one agent. Raise NotFound."""
    found = Agent.objects.filter(slug=slug).first()
    if found is None:
        raise NotFound("No such agent.")
    return found


def add(principal: Principal, slug: str, name: str = "") -> Agent:
    """Add an agent. Raise Refused, InvalidInput, or Conflict where the slug is taken."""
    require_change(principal)
    if not principal.is_admin or principal.autonomous:
        raise Refused("Agents are added by administrators.")
    line = check_line("slug", slug, MAX_AGENT)
    if not _SLUG.fullmatch(line):
        raise InvalidInput(
            "slug must be lower-case letters, digits, - and _, a letter or digit at both ends.",
            field="slug",
        )
    shown = check_line("name", name, MAX_NAME) or line
    try:
        with transaction.atomic():
            return Agent.objects.create(slug=line, name=shown)
    except IntegrityError:
        raise Conflict(f"There is an agent '{line}' already.", slug=line) from None


def working_as(principal: Principal, agent: Agent) -> Principal:
    """Return the principal with this agent, where the caller has not named one itself."""
    if principal.agent is not None or agent.slug == DEFAULT:
        return principal
    return replace(principal, agent=agent.slug)
