"""Counts: over what the caller may see, and over everything for administrators alone."""

import pytest

from memory import stats
from memory.models import MemoryChunk
from memory.search import backends
from memory.write import retire
from tests.memory.making import ADMIN, GATEWAY, index_all, note, put

pytestmark = pytest.mark.django_db


def test_an_empty_memory_has_figures(keyword_only):
    figures = stats.stats(GATEWAY)
    assert (figures["records"], figures["chunks"], figures["embedded_share"]) == (0, 0, 0.0)
    assert figures["by_scope"] == figures["by_kind"] == figures["by_tag"] == {}
    assert "none" in figures["embeddings_off"]


def test_counts_by_scope_kind_tag_and_state(bag, ann, bob):
    note("a", kind="fact", tags=("x", "y"))
    note("b", tags=("x",))
    retire(note("c"), None, via="manual", reason="", actor="me")
    put(ann, "mine", scope="personal", tags=("diary",))
    index_all()
    put(ann, "waits", scope="personal")
    figures = stats.stats(ann)
    assert figures["records"] == 5
    assert figures["by_scope"] == {"agent_notes": 3, "personal": 2}
    assert figures["by_kind"] == {"fact": 1, "note": 4}
    assert figures["by_tag"] == {"x": 2, "diary": 1, "superseded": 1, "y": 1}
    assert figures["by_state"] == {"indexed": 4, "pending": 1}
    assert (figures["pending"], figures["superseded"], figures["failed"]) == (1, 1, 0)
    assert (figures["chunks"], figures["embedded"], figures["embedded_share"]) == (4, 4, 1.0)
    assert figures["model"] == "bag"
    theirs = stats.stats(bob)
    assert theirs["by_scope"] == {"agent_notes": 3}
    assert "diary" not in theirs["by_tag"]
    assert (theirs["pending"], theirs["chunks"]) == (0, 3)


def test_the_share_of_current_vectors(bag):
    note("a"), note("b")
    index_all()
    MemoryChunk.objects.filter(text="a").update(embedding_model="older")
    assert stats.stats(GATEWAY)["embedded_share"] == 0.5


def test_only_administrators_see_the_whole_index(bag, ann):
    put(ann, "mine", scope="personal")
    assert "engine" not in stats.stats(ann)
    assert "index_lag_seconds" not in stats.stats(ann)
    engine = stats.stats(ADMIN)["engine"]
    assert (engine["all_records"], engine["all_pending"]) == (1, 1)
    assert engine["worker_alive"] is False
    assert "mine" not in str(engine)
    assert "advice" not in engine


def test_a_large_index_is_told_to_move(bag, monkeypatch):
    note("a"), note("b")
    index_all()
    monkeypatch.setattr(backends.current(), "advised_chunks", 1)
    assert "PostgreSQL" in stats.stats(ADMIN)["engine"]["advice"]


def test_the_number_of_queries_is_constant(bag, django_assert_max_num_queries):
    for number in range(20):
        note(f"n{number}", tags=(f"t{number}",))
    index_all()
    with django_assert_max_num_queries(20):
        stats.stats(ADMIN)
