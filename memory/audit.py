"""The one writer of the audit trail. Nothing that people wrote gets in: words of ours and ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from goclaw_site import untold
from goclaw_site.config import state_dir
from goclaw_site.errors import Refused
from goclaw_site.logs import request_id
from memory.access import Principal, administers
from memory.models import AuditEvent

DONE, REFUSED, FAILED = "done", "refused", "failed"
OUTCOMES = (DONE, REFUSED, FAILED)

Fact = str | int | bool | None

_TERMINAL = Principal(name="command", is_admin=True, door="command")

#: Facts are words from closed lists, counts and ids: a sentence does not fit this.
_WORD = re.compile(r"[A-Za-z0-9_.:@+/-]{0,64}")


def record(
    principal: Principal, action: str, subject: str = "", *, outcome: str = DONE, **facts: Fact
) -> None:
    """Add one event, in the transaction of what it tells of.

    `subject` reads `record:<id>`, `key:<prefix>`, `person:<id>`. Raises ValueError for a fact that
    could hold text of people.
    """
    AuditEvent.objects.create(
        actor=principal.actor[:150],
        person=principal.person,
        key=principal.key,
        agent=(principal.agent or "")[:64],
        run_kind=principal.run_kind,
        door=principal.door,
        action=action,
        subject=_checked("subject", subject),
        outcome=outcome,
        facts={name: _checked(name, fact) for name, fact in facts.items() if fact is not None},
        request_id=_current_request(),
    )


@contextmanager
def refusals(principal: Principal, action: str, subject: str = "", **facts: Fact) -> Iterator[None]:
    """Note a refusal of the policy that passes through. Stands outside the transaction it ends."""
    try:
        yield
    except Refused as error:
        record(principal, action, subject, outcome=REFUSED, field=error.field, **facts)
        raise


def tell() -> None:
    """Record what commands did while the database was not there for them."""
    for deed in untold.taken(state_dir()):
        record(_TERMINAL, deed.action, deed.subject, **deed.facts)


def events(
    principal: Principal,
    *,
    since: datetime | None = None,
    actor: str | None = None,
    action: str | None = None,
) -> QuerySet[AuditEvent]:
    """Return the trail, newest first. Raise Refused unless an administrator asks."""
    if not administers(principal):
        raise Refused("The audit trail is for administrators.")
    found = AuditEvent.objects.order_by("-at", "-id")
    if since is not None:
        found = found.filter(at__gte=since)
    if actor:
        found = found.filter(actor=actor)
    if action:
        found = found.filter(action=action)
    return found


def of_record(memory_id: Any) -> str:
    """Return the subject that stands for a record."""
    return f"record:{memory_id}"


def _checked(name: str, fact: Any) -> Any:
    if isinstance(fact, str) and not _WORD.fullmatch(fact):
        raise ValueError(f"the audit trail takes no text: {name}")
    return fact


def _current_request() -> str:
    current = request_id.get()
    return "" if current == "-" else current
