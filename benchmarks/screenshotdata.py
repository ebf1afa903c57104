"""Invented records for the pictures: one of every state that a page can show."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from agents.principals import for_browser
from memory import jobs, write
from memory.access import Principal
from memory.beliefs.revisions import retire, undo_record
from memory.drafts import Changes, Draft, Source
from memory.models import Memory


def fill(name: str) -> None:
    """Write the records as this administrator and as an agent, and index them."""
    person = for_browser(User.objects.get(username=name))
    agent = replace(person, agent="claude", door="api")
    _shared(person, agent)
    _own(person)
    jobs.index_waiting()
    while Memory.objects.filter(index_state__in=("pending", "text")).exists():
        jobs.index_waiting()


def _say(principal: Principal, text: str, **more: object) -> Memory:
    return write.remember(principal, Draft(text, **more)).memory  # type: ignore[arg-type]


def _shared(person: Principal, agent: Principal) -> None:
    notes = {"scope": "agent_notes", "kind": "fact"}
    old = _say(agent, "The payments gateway address is 10.0.0.5.", domain="network", **notes)
    new = _say(
        agent, "The payments gateway address is 10.0.0.7 since the move to rack C.",
        domain="network", tags=("payments", "rack-c"), **notes,
    )  # fmt: skip
    old.refresh_from_db()
    if old.live_key:
        retire(old, new, via="rule", reason="same subject, another value", actor="rule")
    _run(agent)
    _say(
        person, "Restart pay-gw-01 only after draining the queue; ask the on-call engineer first.",
        scope="agent_notes", kind="guideline", domain="operations", tags=("critical",),
    )  # fmt: skip
    _say(
        agent, "Otter team owns billing and the payments gateway; escalation via #otter.",
        domain="people", occurred_at=timezone.now() - timedelta(days=41), **notes,
    )  # fmt: skip
    _say(person, "支払いゲートウェイの証明書は毎年三月に更新する。", domain="security", **notes)
    _say(person, "يُجدَّد عقد الاستضافة كل سنة في شهر مارس 🗓️", scope="global", domain="legal")
    _say(person, "Office closes at 18:00 on Fridays 🎉", scope="global")
    _say(
        person, "Runbook, step by step.\n\n" + "Check, then go on. " * 5_400,
        scope="agent_notes", domain="operations", tags=("runbook",),
    )  # fmt: skip
    for place, turn in enumerate(("The failover test is on Thursday.", "I watch it.", "Call me.")):
        _say(agent, turn, scope="agent_notes", source=Source("session", "s-41", place))
    for number in range(60):
        rack = "abcde"[number % 5]
        text = f"Host node-{number:02d} stands in rack {rack.upper()} and runs Debian 12."
        _say(agent, text, domain="network", tags=(f"rack-{rack}",), **notes)
    window = _say(person, "The deploy window is Tuesday 9:00.", domain="operations", **notes)
    write.amend(person, window.pk, Changes(content="The deploy window is Wednesday 9:00 to 11:00."))


def _run(agent: Principal) -> None:
    """What a judge decided in one run; one of it was undone."""
    run_id = uuid.uuid4()
    pairs = (
        (
            "Backups of the shop run at 2:00 on host bk-01.",
            "The shop is backed up by bk-02 at 4:30.",
        ),
        ("Ask Mira for access to staging.", "Access to staging comes from the otter team’s form."),
        ("Invoices are sent as PDF.", "Invoices are sent as PDF and as XML to firms in Italy."),
    )
    for before, after in pairs:
        old = _say(agent, before, scope="agent_notes", kind="fact")
        new = _say(agent, after, scope="agent_notes", kind="fact")
        reason = "It says the same of the same thing, and is newer."
        retire(old, new, via="judge", reason=reason, actor="judge", run_id=run_id)
    undo_record(agent, old.pk, "Both hold: the XML is for Italy alone.")


def _own(person: Principal) -> None:
    wish = _say(person, "Reports in the morning, short, with numbers first.", kind="preference")
    write.amend(person, wish.pk, Changes(content="Reports in the afternoon, short, numbers first."))
    _say(person, "I moved to Paris in October.", kind="fact")
    _say(person, "Allergic to peanuts.", kind="fact", tags=("health",))
