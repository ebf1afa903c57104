"""Twenty people, ten records each, one gateway, every door they have: nothing goes across."""

import json

import pytest
from django.test import Client

from agents import identities
from agents.contexts import Speaker
from agents.models import Identity
from agents.principals import for_browser
from tests.agents.speaking import Gateway
from tests.api.callers import Caller, caller, gateway, index_all, user
from tests.api.conftest import _keyword_only  # noqa: F401  no model here

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
PEOPLE = range(20)
EACH = 10
DOORS = (
    "/api/memory/?include_history=true&page_size=200",
    "/api/memory/search/?q=lantern&max_results=100&min_score=0&include_history=true",
    "/api/memory/stats/",
    "/api/jobs/",
    "/api/audit/",
)
PAGES = ("/", "/?q=lantern", "/me/", "/me/export/", "/keys/")


def canaries_in(text: str) -> set[int]:
    return {number for number in PEOPLE if f"zq{number:02}secret" in text}


def read(caller_: Caller) -> str:
    return "\n".join(caller_.get(door).content.decode() for door in DOORS)


def pages(person) -> str:
    client = Client()
    client.force_login(person)
    answers = [client.get(page) for page in PAGES]
    return "\n".join(
        (b"".join(a.streaming_content) if a.streaming else a.content).decode() for a in answers
    )


def test_nothing_goes_across(configure):
    boss = caller("boss", is_superuser=True)
    assert boss.user is not None
    gate = Gateway(gateway().key)
    speakers = [
        gate.saying(
            on_behalf_of={"channel": "teams", "external_id": f"u/{n}", "display_name": f"P{n}"}
        )
        for n in PEOPLE
    ]
    people = [caller(f"person{n}") for n in PEOPLE]
    ids: list[list[str]] = []
    for number in PEOPLE:
        # One half writes through the gateway, one half with a key; then both are one person.
        writer = speakers[number] if number % 2 else people[number]
        ids.append(
            [
                writer.wrote(f"lantern zq{number:02}secret number {n}", scope="personal")
                for n in range(EACH)
            ]
        )
        speakers[number].get("/api/memory/")
        identity = identities.resolve(Speaker("teams", f"u/{number}"))
        person = people[number].user
        assert identity is not None
        assert person is not None
        identities.link(for_browser(boss.user), identity.pk, person)
    index_all()
    assert Identity.objects.filter(confirmed_at__isnull=False).count() == len(PEOPLE)

    found: list[str] = []

    def look(who: str, text: str, allowed: set[int]) -> None:
        met = canaries_in(text)
        if met != allowed:
            found.append(f"{who}: met {met}, may meet {allowed}")

    for number in PEOPLE:
        mine = {number}
        look(f"key of {number}", read(people[number]), mine)
        look(f"gateway for {number}", read(speakers[number]), mine)
        look(f"shared, {number} speaks", read(speakers[number].saying(shared=True)), mine)
        look(f"browser of {number}", pages(people[number].user), mine)
        look(f"doubted {number}", read(speakers[number].saying(confirmed=False)), set())
        for kind in ("sop", "cron", "webhook"):
            look(f"{kind} naming {number}", read(speakers[number].saying(run_kind=kind)), set())
        foreign = ids[(number + 1) % len(PEOPLE)]
        for memory_id in (foreign[0], foreign[-1]):
            for who in (people[number], speakers[number], speakers[number].saying(run_kind="cron")):
                for method, body in (("GET", b""), ("PATCH", {"content": "x"}), ("DELETE", b"")):
                    answer = who.send(method, f"/api/memory/{memory_id}/", body)
                    if answer.status_code != 404:
                        found.append(f"{number} {method} {memory_id}: {answer.status_code}")
    look("gateway", read(gate), set())
    look("administrator's key", read(boss), set())
    look("administrator's browser", pages(boss.user), set())
    look("another administrator", pages(user("chief", groups=("admin",))), set())
    assert found == []
    figures = json.loads(boss.get("/api/memory/stats/").content)
    assert (figures["records"], figures["engine"]["all_records"]) == (0, len(PEOPLE) * EACH)
