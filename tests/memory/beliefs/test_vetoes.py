"""Vetoes: by text, by scope and owner, whatever becomes of the records."""

import pytest

from memory import ownership
from memory.beliefs import vetoes
from memory.models import MemoryVeto
from memory.write import forget
from tests.memory.beliefs.making import fact, mine, retire, undo
from tests.memory.making import ADMIN

pytestmark = pytest.mark.django_db


def test_a_pair_is_the_same_both_ways_and_counts_within_its_scope_alone():
    vetoes.add("sagentnotes0", [("b", "a"), ("a", "b"), ("a", "a"), ("a", "")])
    assert MemoryVeto.objects.count() == 1
    assert vetoes.vetoed("sagentnotes0", "a", "b")
    assert vetoes.vetoed("sagentnotes0", "b", "a")
    assert not vetoes.vetoed("p7x0", "a", "b")
    assert not vetoes.vetoed("sagentnotes0", "a", "c")


def test_many_hashes_are_looked_up_at_once(django_assert_max_num_queries):
    vetoes.add("s0", vetoes.all_pairs(["a", "b", "c"]))
    hashes = [f"h{number}" for number in range(1000)]
    with django_assert_max_num_queries(3):
        assert vetoes.vetoed_pairs("s0", ["a", "c", *hashes]) == {("a", "c")}


def test_it_outlives_both_records():
    old, new = fact("a red sky"), fact("a blue sky")
    retire(old, new)
    undo(old)
    forget(ADMIN, old.pk)
    forget(ADMIN, new.pk)
    assert vetoes.vetoed("sagentnotes0", old.content_hash, new.content_hash)


def test_it_moves_with_a_person_and_goes_when_they_are_cleared(ann, bob):
    old, new = mine("I like tea", ann), mine("I like coffee", ann)
    retire(old, new)
    undo(old, ann)
    ownership.move(ADMIN, ann.person, bob.person)
    pair = (old.content_hash, new.content_hash)
    assert not vetoes.vetoed(f"p{ann.person:x}x0", *pair)
    assert vetoes.vetoed(f"p{bob.person:x}x0", *pair)
    ownership.clear(ADMIN, bob.person)
    assert not MemoryVeto.objects.exists()
