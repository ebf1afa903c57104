"""BM25 and coverage over the candidates: what matches more, rarer and shorter comes first."""

from hypothesis import given
from hypothesis import strategies as st

from memory.search.lexical import inverse_frequencies, lexical

words = st.sampled_from(("oak", "elm", "ash", "fir"))
documents = st.lists(st.lists(words, max_size=8), max_size=6)
queries = st.lists(words, unique=True, max_size=4)


def scored(query, docs):
    counts = {term: sum(term in doc for doc in docs) for term in query}
    return lexical(inverse_frequencies(len(docs), counts), docs)


@given(queries, documents)
def test_a_score_is_above_zero_where_a_term_matches_and_nowhere_else(query, docs):
    for score, doc in zip(scored(query, docs).strength, docs, strict=True):
        assert (score > 0) == bool(set(query) & set(doc))
        assert 0 <= score <= 1


@given(queries, documents)
def test_coverage_is_a_share(query, docs):
    found = scored(query, docs)
    for share, matched, doc in zip(found.coverage, found.matched, docs, strict=True):
        assert 0 <= share <= 1 + 1e-6
        assert (share > 1 - 1e-6) == (bool(query) and set(query) <= set(doc))
        assert matched == len(set(query) & set(doc))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_weights_are_positive_whatever_the_counts(total, holding):
    assert inverse_frequencies(total, {"oak": holding})["oak"] > 0


def test_rarer_terms_weigh_more():
    weights = inverse_frequencies(100, {"rare": 1, "common": 90, "absent": 0})
    assert weights["absent"] > weights["rare"] > weights["common"]


def test_more_matches_and_shorter_texts_are_better():
    both, one, long = scored(
        ["oak", "elm"], [["oak", "elm"], ["oak"], ["oak"] + ["x"] * 30]
    ).strength
    assert both > one > long


def test_nothing_is_nothing():
    assert scored([], [["oak"]]).strength.tolist() == [0]
    assert scored(["oak"], []).strength.tolist() == []
    assert scored(["oak"], [[]]).coverage.tolist() == [0]
