"""Deleting many: all copies go, what is beside stays, and a few statements do it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from goclaw_site.errors import InvalidInput, Refused
from memory import checking, clearing
from memory.models import (
    AuditEvent,
    Memory,
    MemoryChange,
    MemoryChunk,
    MemoryEntity,
    MemoryRelation,
    MemoryRevision,
    MemorySource,
    MemoryTag,
)
from memory.write import erase, forget, retire
from tests.memory.making import ADMIN, index_all, note, person, put, texts, turn

pytestmark = pytest.mark.django_db


def related(memory: Memory, *names: str) -> None:
    ends = [MemoryEntity.objects.get_or_create(name=n, normalised=n, type="host")[0] for n in names]
    MemoryRelation.objects.create(source=ends[0], target=ends[1], type="has", memory=memory)


@pytest.fixture
def filled(bag):
    """Two scopes in one source, a retired record, a personal one, and a graph over them."""
    for number in range(6):
        turn(f"turn number{number}", number, scope="agent_notes" if number % 2 else "global")
    old, new = note("the kettle is red"), note("the kettle is green")
    retire(old, new, via="rule", reason="the kettle is green now", actor="rule")
    put(person("ann"), "a secret of ann", scope="personal")
    kept = note("for all", scope="global", tags=("t",))
    related(new, "kettle", "kitchen")
    related(kept, "kitchen", "house")
    index_all()
    return kept


def test_a_scope_goes_with_everything_made_from_it(filled):
    changes = MemoryChange.objects.count()
    embedded = MemoryChunk.objects.filter(memory__scope="agent_notes").exclude(embedding_model="")
    vectors = embedded.count()
    assert clearing.counts("agent_notes") == {"agent_notes": 5}
    assert clearing.clear_scope(ADMIN, "agent_notes") == 5
    assert not Memory.objects.filter(scope="agent_notes").exists()
    assert Memory.objects.count() == 5
    for model in (MemoryChunk, MemoryTag, MemorySource, MemoryRelation):
        assert not model.objects.exclude(memory__in=Memory.objects.all()).exists()
    assert MemoryChange.objects.count() >= changes + vectors
    assert sorted(MemoryEntity.objects.values_list("name", flat=True)) == ["house", "kitchen"]
    assert not MemoryRevision.objects.exclude(reason="").exists(), "reasons quote texts"
    tombs = MemoryRevision.objects.filter(decision="deleted")
    assert tombs.count() == 5
    assert tombs.values("run_id").distinct().count() == 1
    assert checking.check() == []
    assert not any("kettle" in text for text in texts(ADMIN, "kettle green"))
    event = AuditEvent.objects.get(action="records.clear")
    assert (event.subject, event.facts) == ("scope:agent_notes", {"count": 5})


def test_all_goes_but_copies_of_pages(filled):
    Memory.objects.filter(pk=filled.pk).update(scope="wiki")
    assert clearing.people(None) == 1
    assert clearing.clear_scope(ADMIN, None) == 9
    assert list(Memory.objects.values_list("scope", flat=True)) == ["wiki"]
    assert clearing.clear_scope(ADMIN, None) == 0
    for scope in ("wiki", "wikijs", "nonsense", ""):
        with pytest.raises(InvalidInput, match="cannot be cleared"):
            clearing.clear_scope(ADMIN, scope)


def test_personal_records_leave_no_trace(filled):
    assert clearing.clear_scope(ADMIN, "personal") == 1
    assert not MemoryRevision.objects.filter(access__startswith="p").exists()


def test_only_administrators(filled):
    with pytest.raises(Refused):
        clearing.clear_scope(person("bob"), "agent_notes")
    assert Memory.objects.count() == 10


def test_the_statements_do_not_grow_with_the_records(bag):
    def statements(count: int) -> int:
        records = [note(f"number{n} of {count}") for n in range(count)]
        index_all()
        with CaptureQueriesContext(
            connection,
        ) as met:
            erase(records, "test")
        return len(met)

    assert statements(60) <= statements(6) + 3


def test_forgetting_one_takes_entities_that_nothing_else_names(filled):
    forget(ADMIN, filled.pk)
    assert sorted(MemoryEntity.objects.values_list("name", flat=True)) == ["kettle", "kitchen"]


def test_it_tells_of_its_progress_and_goes_on_after_a_stop(filled, monkeypatch):
    monkeypatch.setattr(clearing, "_BATCH", 2)
    told = []

    def stop(done, total):
        told.append((done, total))
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clearing.clear_scope(ADMIN, None, stop)
    assert told == [(2, 10), (4, 10)]
    assert Memory.objects.count() == 6
    assert clearing.clear_scope(ADMIN, None) == 6
    assert checking.check() == []
