"""`check --repair`: every planted fault that can be put right is, and nothing else changes."""

import pytest

from goclaw_site.errors import Refused
from memory import checking, repairing
from memory.models import AuditEvent, Memory, MemoryChunk
from tests.memory.making import ADMIN, ids, index_all, note, person
from tests.memory.test_checking import FAULTS, swept, world  # noqa: F401  fixtures

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("rule", "plant"),
    [(r, p) for r, _, p in FAULTS if r in repairing.REPAIRS],
    ids=[f"{r}: {what}" for r, what, _ in FAULTS if r in repairing.REPAIRS],
)
def test_the_planted_fault_is_put_right(world, swept, rule, plant):  # noqa: F811
    texts = sorted(Memory.objects.values_list("pk", "content", "scope", "owner_id"))
    plant(world)
    done = {one.name: one for one in repairing.repair(ADMIN)}
    assert done[rule].repaired == done[rule].found >= 1
    assert done[rule].why_left == ""
    assert checking.check() == []
    index_all()
    assert checking.check() == []
    assert sorted(Memory.objects.values_list("pk", "content", "scope", "owner_id")) == texts
    assert world.plain.pk in ids(ADMIN, "plain words")
    assert repairing.repair(ADMIN) == [], "there is nothing to do a second time"


def test_a_leak_is_closed_before_the_indexer_comes(world):  # noqa: F811
    MemoryChunk.objects.filter(memory=world.personal).update(access="sglobal0")
    repairing.repair(ADMIN)
    assert not MemoryChunk.objects.filter(memory=world.personal).exclude(access="").exists()


def test_what_cannot_be_repaired_is_said(world, monkeypatch):  # noqa: F811
    rule = checking.Rule("a fault", lambda: ["x"])
    monkeypatch.setitem(checking.RULES, "database", rule)
    monkeypatch.setitem(checking.RULES, "unheard of", rule)
    damaged, unknown = repairing.repair(ADMIN)
    assert (damaged.repaired, unknown.repaired) == (0, 0)
    assert "restore a backup" in damaged.why_left
    assert unknown.why_left


def test_equal_live_records_are_left_to_people(bag):
    one, other = note("the same words"), note("other words")
    index_all()
    Memory.objects.filter(pk=other.pk).update(content=one.content)
    done = {found.name: found for found in repairing.repair(ADMIN)}
    assert done["wrong_keys"].repaired == 0
    assert "equal records" in done["wrong_keys"].why_left
    assert Memory.objects.count() == 2


def test_a_wrong_vector_is_not_used_again(world):  # noqa: F811
    """It would be found by the hash of its text."""
    rows = MemoryChunk.objects.filter(memory=world.plain)
    rows.update(embedding=[1.0, 0.0])
    repairing.repair(ADMIN)
    index_all()
    assert len(rows.get().embedding) == 48


def test_it_is_for_administrators_and_in_the_trail(world):  # noqa: F811
    MemoryChunk.objects.filter(memory=world.plain).delete()
    with pytest.raises(Refused):
        repairing.repair(person("ann"))
    repairing.repair(ADMIN)
    event = AuditEvent.objects.get(action="check.repair")
    assert event.facts == {"found": 1, "repaired": 1}


def test_no_repair_is_for_a_rule_that_is_gone():
    assert set(repairing.REPAIRS) <= set(checking.RULES)
