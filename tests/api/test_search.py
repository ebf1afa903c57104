"""Search over HTTP: the contract of the answer, both methods alike, and any string for a query."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import providers
from memory.search import backends
from tests.api.callers import SEARCH, index_all, reason
from tests.memory.making import BagProvider, serve

KEYS = {"id", "scope", "kind", "domain", "tags", "heading", "text", "snippet", "score"} | {
    "superseded",
    "created_at",
    "updated_at",
    "occurred_at",
    "explain",
}


def answered(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_answer_has_the_keys_of_the_contract(root):
    memory_id = root.wrote("The backup runs at night", tags=["ops"], domain="storage")
    index_all()
    body = answered(root.post(SEARCH, {"query": "backup"}))
    assert set(body) == {"results", "mode", "pending", "took_ms", "degraded"}
    assert (body["mode"], body["pending"]) == ("keyword", 0)
    assert body["took_ms"] >= 0
    hit = body["results"][0]
    assert set(hit) >= KEYS
    assert hit["id"] == memory_id
    assert (hit["scope"], hit["tags"], hit["domain"]) == ("agent_notes", ["ops"], "storage")
    assert hit["text"] == "The backup runs at night"
    assert "<mark>backup</mark>" in hit["snippet"]
    assert 0 < hit["score"] <= 1
    assert hit["explain"]["matched_terms"] == 1
    assert hit["explain"]["words"]
    assert hit["created_at"].endswith("Z")


def test_mode_says_which_lists_there_were(root):
    serve(BagProvider())
    root.wrote("The backup runs at night")
    index_all()
    assert answered(root.post(SEARCH, {"query": "backup"}))["mode"] == "hybrid"
    assert answered(root.post(SEARCH, {"query": "!?"}))["mode"] == "vector"
    providers.reset()
    body = answered(root.post(SEARCH, {"query": "backup"}))
    assert body["mode"] == "keyword"
    assert body["degraded"]


def test_write_is_found_before_it_is_indexed_and_counted_as_pending(ann):
    memory_id = ann.wrote("my zebra", scope="personal")
    body = answered(ann.post(SEARCH, {"query": "zebra"}))
    assert [hit["id"] for hit in body["results"]] == [memory_id]
    assert body["pending"] == 1
    index_all()
    assert ann.found("zebra") == [memory_id]


def test_write_is_found_at_once_among_many_that_have_vectors(root):
    """What has no vector yet must not stand behind everything that has one."""
    serve(BagProvider())
    for n in range(12):
        root.wrote(f"The gateway of word{n}x is beside the violin.")
    index_all()
    memory_id = root.wrote("The gateway of freshword is beside the violin.")
    assert root.found("freshword") == [memory_id, *root.found("freshword")[1:]]
    index_all()
    assert root.found("freshword")[0] == memory_id


def test_write_is_found_while_a_worker_cuts_it(root, monkeypatch):
    """The text stage may end between two questions of one search; neither list may lose it."""
    memory_id = root.wrote("my zebra")
    backend = backends.current()
    asked = backend.by_text

    def by_text(*arguments):
        found = asked(*arguments)
        index_all()
        return found

    monkeypatch.setattr(backend, "by_text", by_text)
    monkeypatch.setattr(backends, "current", lambda: backend)
    assert root.found("zebra") == [memory_id]


def test_pending_counts_what_one_may_read(ann, bob):
    ann.wrote("mine", scope="personal")
    assert answered(bob.post(SEARCH, {"query": "x"}))["pending"] == 0


@pytest.fixture
def records(root):
    for n, (scope, kind, tags) in enumerate(
        [
            ("global", "fact", ["red", "big"]),
            ("agent_notes", "note", ["red"]),
            ("personal", "preference", ["big"]),
        ]
    ):
        root.wrote(f"zebra {n}", scope=scope, kind=kind, tags=tags, domain=f"d{n}")
    index_all()


@pytest.mark.parametrize(
    ("body", "query", "found"),
    [
        ({}, "", "012"),
        ({"scope": "global"}, "scope=global", "0"),
        ({"scopes": ["global", "personal"]}, "scope=global&scope=personal", "02"),
        ({"scope": "global", "scopes": ["personal"]}, "scope=global&scopes=personal", "02"),
        ({"kinds": ["fact"]}, "kind=fact", "0"),
        ({"tag": "red"}, "tag=red", "01"),
        ({"tags": ["red", "big"]}, "tags=red&tags=big", "0"),
        ({"domain": "d1"}, "domain=d1", "1"),
        ({"since": "2099-01-01"}, "since=2099-01-01", ""),
        ({"until": "2099-01-01T00:00:00Z"}, "until=2099-01-01T00:00:00Z", "012"),
        ({"max_results": 1, "min_score": 0}, "max_results=1&min_score=0", None),
        ({"include_history": True}, "include_history=true", "012"),
        ({"scopes": []}, None, ""),
    ],
)
def test_post_and_get_give_the_same(root, records, body, query, found):
    posted = answered(root.post(SEARCH, {"query": "zebra", **body}))
    if query is not None:
        got = answered(root.get(f"{SEARCH}?q=zebra&{query}"))
        assert _without_time(posted) == _without_time(got)
    if found is not None:
        assert sorted(hit["text"] for hit in posted["results"]) == [f"zebra {n}" for n in found]


def _without_time(body):
    """Ages move on between two requests."""
    for hit in body["results"]:
        hit["explain"].pop("age_days")
        hit["explain"].pop("decay")
    return {name: value for name, value in body.items() if name != "took_ms"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": None}, "query"),
        ({"query": 7}, "query"),
        ({"query": ["a"]}, "query"),
        ({"query": "a", "colour": "red"}, "colour"),
        ({"query": "a", "scopes": "global"}, "scopes"),
        ({"query": "a", "scopes": ["nowhere"]}, "scope"),
        ({"query": "a", "scopes": [1]}, "scopes"),
        ({"query": "a", "kind": "rumour"}, "kind"),
        ({"query": "a", "kind": ["fact"]}, "kind"),
        ({"query": "a", "tags": {"a": 1}}, "tags"),
        ({"query": "a", "since": 7}, "since"),
        ({"query": "a", "since": "soon"}, "since"),
        ({"query": "a", "max_results": 0}, "max_results"),
        ({"query": "a", "max_results": 101}, "max_results"),
        ({"query": "a", "max_results": 10**400}, "max_results"),
        ({"query": "a", "max_results": "many"}, "max_results"),
        ({"query": "a", "max_results": [6]}, "max_results"),
        ({"query": "a", "min_score": -0.1}, "min_score"),
        ({"query": "a", "min_score": 1.1}, "min_score"),
        ({"query": "a", "min_score": 10**400}, "min_score"),
        ({"query": "a", "min_score": {}}, "min_score"),
        ({"query": "a", "include_history": "perhaps"}, "include_history"),
        ({"query": "a", "include_history": []}, "include_history"),
    ],
)
def test_wrong_bodies_are_400_and_name_the_field(root, body, field):
    answer = root.post(SEARCH, body)
    assert answer.status_code == 400
    assert field in answer.json() or answer.json()["field"] == field


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "q"),
        ("query", "q"),
        ("q=a&q=b", "q"),
        ("q=a&max_results=inf", "max_results"),
        ("q=a&max_results=1e3", "max_results"),
        ("q=a&min_score=nan", "min_score"),
        ("q=a&min_score=inf", "min_score"),
        ("q=a&cursor=x", "cursor"),
        ("q=a&limit=3", "limit"),
        ("q=a&scope=nowhere", "scope"),
    ],
)
def test_wrong_links_are_400(root, query, field):
    answer = root.get(f"{SEARCH}?{query}")
    if query == "query":
        assert answer.status_code == 200
        return
    assert answer.status_code == 400
    assert reason(answer)
    assert answer.json()["field"] == field


ODD_QUERIES = [
    "",
    " ",
    "\x00",
    '"',
    "'",
    '"unfinished',
    "a* NEAR(b, c) AND NOT (d OR",
    "zebra-crossing/x|y*",
    "{content} : ^a",
    "'; DROP TABLE memories; --",
    "%_\\",
    "\ud800",
    "\udfff zebra",
    "\U0010ffff",
    "x" * 100_000,
    "zebra " * 20_000,
    "\u0301" * 5_000,
    "天気" * 3_000,
    "zebra \u202e arbez",
]


@pytest.mark.parametrize("query", ODD_QUERIES, ids=range(len(ODD_QUERIES)))
def test_any_string_searches_or_finds_nothing(root, query):
    serve(BagProvider())
    root.wrote("a zebra stands here")
    index_all()
    posted = answered(root.post(SEARCH, {"query": query}))
    assert posted["pending"] == 0
    if query.isprintable() and len(query) < 1000:
        got = answered(root.get(SEARCH, {"q": query}))
        assert [hit["id"] for hit in got["results"]] == [hit["id"] for hit in posted["results"]]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(st.characters(), max_size=60))
def test_no_query_fails(root, query):
    answered(root.post(SEARCH, {"query": query}))


def test_search_sees_what_the_principal_sees(ann, bob, root, gate):
    mine = ann.wrote("zebra of ann", scope="personal")
    noted = root.wrote("zebra of all")
    index_all()
    assert set(ann.found("zebra")) == {mine, noted}
    for other in (bob, root, gate):
        assert other.found("zebra", include_history=True) == [noted]
        assert other.found("zebra", scope="personal") == []
