"""The wiki's tools, as functions: every caller's policy, and parts of long pages."""

from __future__ import annotations

import pytest

from agents import tools
from agents.tools.wikipages import PART
from goclaw_site.errors import InvalidInput, NotFound, Refused
from memory.access import Principal
from tests.memory.making import person
from tests.wiki.making import CHIEF, write
from wiki.edits import StaleBase
from wiki.models import WikiPage

pytestmark = pytest.mark.django_db

WEBHOOK = Principal(gateway=True, run_kind="webhook", key="k")


def test_an_agent_reads_writes_and_finds(agent):
    saved = tools.call(agent, "wiki_write", {"slug": "Net/GW", "body": "# Gateways\n\nzqword"})
    assert saved == {
        "slug": "net/gw", "revision": 1, "outcome": "created", "waits_for_review": True
    }  # fmt: skip
    read = tools.call(WEBHOOK, "wiki_read", {"slug": "net/gw"})
    assert (read["title"], read["revision"], "next_offset" in read) == ("Gateways", 1, False)
    changed = {"slug": "net/gw", "body": "# Gateways\n\nmore", "base_revision": read["revision"]}
    assert tools.call(agent, "wiki_write", changed)["revision"] == 2
    with pytest.raises(StaleBase) as late:
        tools.call(agent, "wiki_write", changed | {"body": "# Gateways\n\nelse"})
    assert {"mine", "theirs", "base", "merged"} <= set(late.value.as_dict())
    assert tools.call(agent, "wiki_read", {"slug": "net/gw", "revision": 1})["body"].endswith(
        "zqword"
    )
    hits = tools.call(WEBHOOK, "wiki_search", {"query": "gateways"})["results"]
    assert [hit["slug"] for hit in hits] == ["net/gw"]


@pytest.mark.parametrize("who", ["person", "webhook"])
def test_others_are_refused_with_the_reason(who):
    principal = WEBHOOK if who == "webhook" else person("ann", door="browser")
    with pytest.raises(Refused) as refused:
        tools.call(principal, "wiki_write", {"slug": "p", "body": "x"})
    assert "administrator's chat" in refused.value.message
    assert not WikiPage.objects.exists()


def test_a_tool_is_an_agents_hand_whoever_is_signed_in():
    tools.call(CHIEF, "wiki_write", {"title": "On call", "body": "x"})
    page = WikiPage.objects.get(slug="on-call")
    assert (page.author_kind, page.waits) == ("agent", True)


def test_long_pages_come_in_parts(ann):
    body = "".join(f"line {number}\n" for number in range(12_000))
    write(ann, "long", body)
    part = tools.call(ann, "wiki_read", {"slug": "long"})
    got = part["body"]
    while "next_offset" in part:
        assert len(part["body"]) == PART
        part = tools.call(ann, "wiki_read", {"slug": "long", "offset": part["next_offset"]})
        got += part["body"]
    assert got == body


def test_what_is_not_there_and_what_is_wrong(ann):
    with pytest.raises(NotFound):
        tools.call(ann, "wiki_read", {"slug": "nothing"})
    for arguments in ({}, {"slug": ""}, {"slug": "p", "revision": 0}, {"slug": 7}, {"x": 1}):
        with pytest.raises(InvalidInput):
            tools.call(ann, "wiki_read", arguments)
