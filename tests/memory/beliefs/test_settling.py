"""The rule step of a write: what it retires, whose, and what it leaves alone."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory import checking
from memory.access import Principal
from memory.drafts import Changes, Draft, Source
from memory.models import Memory, MemoryRevision, MemorySubject, MemoryTag
from memory.write import amend, forget, remember, remember_many
from tests.memory.beliefs.making import fact, fresh, live, merge, mine, retired, undo
from tests.memory.making import ADMIN, ids, index_all, put, run_of

pytestmark = pytest.mark.django_db
OLD, NEW = "the gateway is 10.0.0.5", "the gateway is 10.0.0.7"


@pytest.fixture(autouse=True)
def _clean(db, keyword_only):
    yield
    assert checking.check() == []


def test_a_newer_value_retires_the_older_in_the_same_write_and_says_so():
    old = fact(OLD)
    index_all()
    written = put(ADMIN, NEW, kind="fact")
    assert written.superseded == (old.pk,)
    assert (live(), retired()) == ({NEW}, {OLD})
    row = MemoryRevision.objects.get()
    assert (row.via, row.decision, row.old_id, row.new_id) == (
        "rule", "retired", old.pk, written.memory.pk,
    )  # fmt: skip
    assert row.reason == "rule 'statement': the same subject and field, another value"
    assert fresh(old).metadata["superseded_reason"] == row.reason
    assert ids(ADMIN, "gateway") == [written.memory.pk]


@pytest.mark.parametrize("kind", ["note", "guideline"])
@pytest.mark.parametrize("side", ["old", "new"])
def test_only_learned_records_take_part(kind, side):
    put(ADMIN, OLD, kind=kind if side == "old" else "fact")
    put(ADMIN, NEW, kind=kind if side == "new" else "fact")
    assert live() == {OLD, NEW}
    assert MemorySubject.objects.count() == 1


def test_facts_and_preferences_contradict_each_other():
    put(ADMIN, "Answer in German", kind="preference")
    put(ADMIN, "Answer in English", kind="fact")
    assert live() == {"Answer in English"}


def test_other_scopes_take_no_part():
    put(ADMIN, OLD, kind="fact", scope="global")
    put(ADMIN, NEW, kind="fact", scope="global")
    put(ADMIN, OLD, kind="fact")
    assert not retired()


def test_a_persons_records_are_revised_by_that_person_alone(ann, bob):
    mine("My home city is Berlin", ann)
    mine("My home city is Rome", bob)
    fact("My home city is Oslo")
    assert not retired()
    mine("My home city is Paris", ann)
    assert retired() == {"My home city is Berlin"}


def test_in_shared_notes_my_editor_is_each_writers_own():
    one, other = (Principal(name=name, is_admin=True) for name in ("one", "other"))
    fact("My editor is vim", one)
    fact("My editor is emacs", other)
    assert not retired()
    fact("My editor is helix", one)
    assert retired() == {"My editor is vim"}


def test_critical_records_stay():
    fact(OLD, tags=("critical",))
    fact(NEW)
    assert live() == {OLD, NEW}


def test_unverified_records_take_no_part_until_somebody_confirms_them():
    unsure = run_of("webhook", confirmed=False)
    fact(OLD, unsure)
    fact(NEW)
    fact("the gateway is 10.0.0.9", unsure)
    assert not retired()
    fact("the gateway is 10.0.0.9")
    assert retired() == {NEW}
    assert Memory.objects.get(content=OLD).tag_names == ["unverified"]


def test_a_pair_that_was_taken_back_is_left_alone_even_when_written_anew():
    old, new = fact(OLD), fact(NEW)
    undo(old)
    forget(ADMIN, new.pk)
    assert put(ADMIN, NEW, kind="fact").superseded == ()
    assert live() == {OLD, NEW}
    fact("the gateway is 10.0.0.9")
    assert live() == {"the gateway is 10.0.0.9"}


def test_values_may_go_back_and_forth():
    first = fact(OLD)
    fact(NEW)
    again = put(ADMIN, OLD, kind="fact")
    assert again.created
    assert again.memory.pk != first.pk
    assert live() == {OLD}


def test_an_amendment_states_anew():
    old = fact(OLD)
    other = fact("the printer is 10.0.0.9")
    amend(ADMIN, other.pk, Changes(content=NEW))
    assert retired() == {OLD}
    undo(old)
    amend(ADMIN, other.pk, Changes(content="the printer is 10.0.0.8"))
    amend(ADMIN, other.pk, Changes(content=NEW))
    assert not retired()


def test_a_note_that_becomes_a_fact_takes_part_and_one_that_was_no_longer_does():
    fact(OLD)
    note = put(ADMIN, NEW).memory
    assert not retired()
    amend(ADMIN, note.pk, Changes(kind="fact"))
    assert retired() == {OLD}
    amend(ADMIN, note.pk, Changes(kind="note"))
    assert not note.subjects.exists()
    fact("the gateway is 10.0.0.9")
    assert live() == {NEW, "the gateway is 10.0.0.9"}


def test_another_text_from_the_same_source_states_anew():
    fact(OLD)
    place = Source("file", "hosts")
    fact("the printer is 10.0.0.9", source=place)
    assert put(ADMIN, NEW, kind="fact", source=place).superseded
    assert live() == {NEW}


def test_an_imported_history_does_not_retire_what_is_newer():
    fact(NEW)
    long_ago = timezone.now() - timedelta(days=400)
    fact(OLD, occurred_at=long_ago)
    assert live() == {OLD, NEW}
    fact("the gateway is 10.0.0.9")
    assert live() == {"the gateway is 10.0.0.9"}


def test_an_imported_history_revises_itself_in_order():
    days = [timezone.now() - timedelta(days=days) for days in (400, 300)]
    fact(OLD, occurred_at=days[0])
    fact(NEW, occurred_at=days[1])
    assert live() == {NEW}


def test_a_clock_that_goes_back_changes_nothing():
    old = fact(OLD)
    Memory.objects.filter(pk=old.pk).update(
        created_at=timezone.now() + timedelta(days=9), updated_at=timezone.now() + timedelta(days=9)
    )
    fact(NEW)
    assert live() == {NEW}


def test_two_domains_are_two_subjects():
    fact("the port is 8080", domain="billing")
    fact("the port is 9090", domain="network")
    assert not retired()
    fact("the port is 7070")
    assert live() == {"the port is 7070"}


def test_a_bulk_write_says_for_each_what_it_retired():
    drafts = [Draft(text, scope="agent_notes", kind="fact") for text in (OLD, NEW)]
    results = remember_many(ADMIN, drafts)
    assert [len(result.superseded) for result in results] == [0, 1]


def test_several_older_records_go_at_once():
    fact("the gateway: 10.0.0.5")
    MemoryTag.objects.create(memory=Memory.objects.get(), tag="unverified")
    fact("gateway = 10.0.0.6")
    MemoryTag.objects.filter(tag="unverified").delete()
    assert len(put(ADMIN, NEW, kind="fact").superseded) == 2
    assert MemoryRevision.objects.values("run_id").distinct().count() == 1


def test_the_number_of_queries_does_not_grow_with_the_notes():
    def queries_of(text: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            remember(ADMIN, Draft(text, scope="agent_notes", kind="fact"))
        return len(seen)

    fact("the first host is alpha-0")
    few = queries_of("the router is alpha-1")
    for number in range(40):
        fact(f"the gateway of site {number} is 10.0.0.{number}")
    assert queries_of("the switch is alpha-2") == few


def test_a_failure_after_it_leaves_nothing_behind(monkeypatch):
    fact(OLD)

    def fail(*args, **kwargs):
        raise RuntimeError("power cut")

    monkeypatch.setattr("memory.write.queue.wake_indexer", fail)
    with pytest.raises(RuntimeError):
        fact(NEW)
    assert (live(), retired()) == ({OLD}, set())
    assert not MemoryRevision.objects.exists()


def test_a_merged_text_contradicts_none_of_its_sources():
    one, two = fact("the gateway is 10.0.0.5"), fact("The printer is alpha-1")
    merge(one, two, text="the gateway is 10.0.0.7")
    assert MemoryRevision.objects.filter(via="rule").count() == 0
