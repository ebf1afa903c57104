"""What an unconfirmed session said takes part once the person is confirmed."""

from dataclasses import replace

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import checking, ownership
from memory.access import Principal
from memory.models import Memory, MemoryBelief, MemoryRevision
from tests.memory.beliefs.making import live, mine, retired, undo
from tests.memory.making import ADMIN, put

pytestmark = pytest.mark.django_db
BERLIN, ROME, OSLO = (f"My home city is {city}" for city in ("Berlin", "Rome", "Oslo"))


@pytest.fixture(autouse=True)
def _clean(db, keyword_only):
    yield
    assert checking.check() == []


@pytest.fixture
def doubted(ann: Principal) -> Principal:
    return replace(ann, confirmed=False)


def verify(person: Principal) -> int:
    with transaction.atomic():
        return ownership.verify(ADMIN, person.person)


def test_a_verified_record_retires_what_it_contradicts(ann, doubted):
    old, new = mine(BERLIN, ann), mine(ROME, doubted)
    assert live() == {BERLIN, ROME}
    assert verify(ann) == 1
    assert (live(), retired()) == ({ROME}, {BERLIN})
    row = MemoryRevision.objects.get()
    assert (row.via, row.actor, row.old_id, row.new_id) == ("rule", ADMIN.actor, old.pk, new.pk)
    undo(old, ann)
    assert live() == {BERLIN, ROME}


def test_an_older_one_is_retired_by_what_was_said_after_it(ann, doubted):
    mine(BERLIN, doubted)
    mine(ROME, ann)
    verify(ann)
    assert (live(), retired()) == ({ROME}, {BERLIN})


def test_what_nobody_doubts_any_more_collapses_onto_the_newest(ann, doubted):
    for text in (BERLIN, ROME, OSLO):
        mine(text, doubted)
    verify(ann)
    assert (live(), retired()) == ({OSLO}, {BERLIN, ROME})


def test_notes_and_other_peoples_records_are_left_alone(ann, bob, doubted):
    put(doubted, BERLIN, kind="note", scope="personal")
    mine(ROME, doubted)
    mine(OSLO, bob)
    assert verify(ann) == 2
    assert live() == {BERLIN, ROME, OSLO}


def test_the_judge_sees_them_where_there_is_one(ann, doubted, scripted_model):
    scripted_model([])
    record = mine(BERLIN, doubted)
    put(doubted, ROME, kind="note", scope="personal")
    assert not MemoryBelief.objects.filter(waiting=True).exists()
    verify(ann)
    assert [row.memory_id for row in MemoryBelief.objects.filter(waiting=True)] == [record.pk]


def test_records_on_one_subject_alone_cost_no_query_each(ann, doubted):
    def asked(count: int) -> int:
        for number in range(count):
            mine(f"the port of service{number} is {8000 + number + count}", doubted)
        with CaptureQueriesContext(connection) as context:
            assert verify(ann) == count
        ownership.clear(ADMIN, ann.person)
        return len(context)

    assert asked(3) == asked(30)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(said=st.lists(st.tuples(st.sampled_from((BERLIN, ROME, OSLO)), st.booleans()), max_size=6))
def test_verified_late_or_from_the_start_the_same_is_live(said, ann, doubted):
    """Texts are distinct: said again, a record is the same one and is not stated anew."""
    texts = dict(said)

    def left(speakers: dict[bool, Principal]) -> set[str]:
        for text, sure in texts.items():
            mine(text, speakers[sure])
        verify(ann)
        found = live()
        ownership.clear(ADMIN, ann.person)
        return found

    late = left({True: ann, False: doubted})
    assert late == left({True: ann, False: ann})
    assert not Memory.objects.exists()
