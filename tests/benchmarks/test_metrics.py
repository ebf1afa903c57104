"""The measures of the retrieval benchmark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics import hit_at, mean, recall_at, reciprocal_rank

RANKINGS = st.lists(st.integers(0, 30), unique=True, max_size=20)
GOLD = st.frozensets(st.integers(0, 30), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("k", "gold", "recall", "hit"),
    [
        (1, "a", 1.0, 1.0),
        (1, "b", 0.0, 0.0),
        (2, "ab", 1.0, 1.0),
        (2, "ac", 0.5, 1.0),
        (3, "axyz", 0.25, 1.0),
        (10, "x", 0.0, 0.0),
        (0, "a", 0.0, 0.0),
    ],
)
def test_recall_and_hit(k: int, gold: str, recall: float, hit: float) -> None:
    assert recall_at(k, list("abc"), gold) == recall
    assert hit_at(k, list("abc"), gold) == hit


@pytest.mark.parametrize(
    ("gold", "k", "expected"),
    [("a", None, 1.0), ("cb", None, 0.5), ("c", 3, 1 / 3), ("c", 2, 0.0), ("x", None, 0.0)],
)
def test_reciprocal_rank(gold: str, k: int | None, expected: float) -> None:
    assert reciprocal_rank(list("abc"), gold, k) == expected


def test_a_document_that_comes_twice_counts_once() -> None:
    assert recall_at(3, ["a", "a", "b"], {"a", "c"}) == 0.5


def test_recall_without_right_answers_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        recall_at(1, ["a"], [])


def test_mean() -> None:
    assert mean([]) == 0.0
    assert mean(iter([0.0, 1.0])) == 0.5


@given(RANKINGS, GOLD)
def test_measures_grow_with_k_and_agree(ranking: list[int], gold: frozenset[int]) -> None:
    recalls = [recall_at(k, ranking, gold) for k in range(22)]
    assert recalls == sorted(recalls)
    assert all(0.0 <= recall <= 1.0 for recall in recalls)
    for k in range(22):
        hit = hit_at(k, ranking, gold)
        assert hit == (recalls[k] > 0) == (reciprocal_rank(ranking, gold, k) > 0)
