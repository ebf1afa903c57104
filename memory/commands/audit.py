"""`goclaw audit`: the audit trail in a terminal."""

from __future__ import annotations

from argparse import ArgumentParser

from memory import audit
from memory.api.serializers import AuditSerializer
from memory.commands.base import Call
from memory.filters import parse_time
from memory.models import AuditEvent


def arguments(parser: ArgumentParser) -> None:
    """Declare what `audit` takes."""
    parser.add_argument("--since", help="from this time or date on, ISO 8601")
    parser.add_argument("--actor", help="only what this person or key did")
    parser.add_argument("--action", help="only this, such as write or login")
    parser.add_argument("--limit", type=int, default=200, help="the newest so many (200)")


def run(call: Call) -> int:
    """Print the events, the newest last, as in a log."""
    given = call.options
    found = audit.events(
        call.principal,
        since=parse_time("since", given.since) if given.since else None,
        actor=given.actor,
        action=given.action,
    )
    rows = list(found[: max(given.limit, 0)])[::-1]
    if call.as_json:
        call.answer(AuditSerializer(rows, many=True).data)
    for row in rows:
        call.say(line(row))
    if not rows:
        call.say("Nothing has been noted.")
    return 0


def line(event: AuditEvent) -> str:
    """Return one event as one line."""
    facts = " ".join(f"{name}={value}" for name, value in event.facts.items())
    parts = (f"{event.at:%Y-%m-%dT%H:%M:%SZ}", event.actor or "nobody", event.door, event.action)
    return "  ".join(part for part in (*parts, event.subject, event.outcome, facts) if part)
