"""Nothing that anybody sends makes the server fail, and nothing is half done."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.models import Memory
from tests.api.callers import BULK, RECORDS, REINDEX, SEARCH, index_all, record_path

WRITE_FIELDS = (
    *("content", "scope", "kind", "domain", "tags", "metadata", "source"),
    *("index_prefix", "agent", "applies_to", "expires_at", "occurred_at"),
)
WRONG: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**400,
    "",
    "x" * 1000,
    "two\nlines",
    [],
    [None],
    [[]],
    [7],
    {},
    {"a": 1},
    {"id": None},
    {"kind": [], "id": {}},
    {"kind": "k", "id": "i", "position": 10**30},
]
#: What must be refused wherever it stands; every other wrong value may also be a right one.
UNSTORABLE = ["\x00", "a\x00b", "\ud800", "\udfff", "a\udc00b", "\ud83d", "\udc00\ud800"]


@pytest.mark.parametrize("field", WRITE_FIELDS)
def test_wrong_types_are_never_a_failure(root, field):
    for value in WRONG:
        answer = root.post(RECORDS, {"content": "text", "scope": "agent_notes", field: value})
        assert answer.status_code in (200, 201, 400, 403), (field, value, answer.content)


@pytest.mark.parametrize("field", WRITE_FIELDS)
@pytest.mark.parametrize("bad", UNSTORABLE, ids=ascii)
def test_unstorable_text_is_400_in_every_field(root, field, bad):
    for value in (bad, [bad], {bad: 1}, {"id": bad}, {"kind": bad, "id": "x"}):
        answer = root.post(RECORDS, {"content": "text", "scope": "agent_notes", field: value})
        assert answer.status_code == 400, (field, value, answer.content)
        answer.json()
    assert not Memory.objects.exists()


@pytest.mark.parametrize("bad", UNSTORABLE, ids=ascii)
@pytest.mark.parametrize(
    "nested",
    [
        lambda bad: {bad: 1},
        lambda bad: {"a": {bad: 1}},
        lambda bad: {"a": [{"b": {bad: []}}]},
        lambda bad: {"a": [[bad]]},
        lambda bad: {"a": {"b": bad}},
    ],
)
def test_unstorable_text_is_400_deep_in_the_metadata(root, nested, bad):
    memory_id = root.wrote("text")
    answer = root.write("other", metadata=nested(bad))
    assert (answer.status_code, answer.json()["field"]) == (400, "metadata")
    changed = root.patch(record_path(memory_id), {"metadata": nested(bad)})
    assert (changed.status_code, changed.json()["field"]) == (400, "metadata")
    assert Memory.objects.count() == 1


@pytest.mark.parametrize("bad", UNSTORABLE, ids=ascii)
def test_unstorable_text_is_400_in_filters_and_names(root, bad):
    for field in ("scope", "kind", "tag", "domain", "agent", "source", "since", "until"):
        assert root.post(SEARCH, {"query": "a", field: bad}).status_code == 400
    for field in ("scopes", "kinds", "tags"):
        assert root.post(SEARCH, {"query": "a", field: [bad]}).status_code == 400
    for path in (RECORDS, SEARCH, BULK, REINDEX):
        assert root.post(path, {bad: 1}).status_code == 400


NOT_JSON = [
    b"",
    b" ",
    b"{",
    b"{]",
    b'{"content": "x"',
    b'{"content": "x",}',
    b"{'content': 'x'}",
    b'{"content": NaN}',
    b'{"content": "x", "metadata": {"a": Infinity}}',
    b'{"content": "x", "metadata": {"a": -Infinity}}',
    b'{"content": "x", "metadata": {"a": 1e400}}',
    b'{"content": "x", "metadata": {"a": ' + b"9" * 5000 + b"}}",
    b'{"content": "\xff\xfe"}',
    b"\xff\xfe\x00\x00",
    b'\xef\xbb\xbf{"content": "x"}',
    b'{"content": "x\ny"}',
    b'{"content": "\\ud800"}',
    b'{"content": "\\u12"}',
    b"content=x",
    b"null",
    b"true",
    b"7",
    b'"x"',
    b"[]",
    b"\x00",
]


@pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
@pytest.mark.parametrize("path", [RECORDS, BULK, SEARCH])
def test_what_is_no_object_is_400(root, path, body):
    answer = root.post(path, body)
    assert answer.status_code == 400
    assert answer.json()
    assert not Memory.objects.exists()


@pytest.mark.parametrize("depth", [17, 100, 500, 900, 950, 990, 10_000, 200_000])
@pytest.mark.parametrize("bracket", ["[]", "{}"])
def test_deep_nesting_is_400(root, depth, bracket):
    opening = "[" if bracket == "[]" else '{"a":'
    tower = (opening * depth + "1" + bracket[1] * depth).encode()
    for body in (
        b'{"content": "x", "scope": "agent_notes", "metadata": {"a": ' + tower + b"}}",
        b'{"content": ' + tower + b"}",
        b'{"content": "x", "tags": ' + tower + b"}",
        tower,
    ):
        assert root.post(RECORDS, body).status_code == 400
    bulk = root.post(BULK, b'{"items": [' + tower + b"]}")
    assert bulk.status_code == 400 or "error" in bulk.json()["results"][0]
    assert root.post(SEARCH, b'{"query": ' + tower + b"}").status_code == 400
    assert not Memory.objects.exists()


def test_repeated_names_are_no_failure(root):
    body = b'{"content": "a", "content": "b", "scope": "agent_notes"}'
    assert root.post(RECORDS, body).status_code == 201


def test_escaped_pairs_are_ordinary_text(root):
    answer = root.post(RECORDS, b'{"content": "\\ud83d\\ude00", "scope": "agent_notes"}')
    assert root.get(record_path(answer.json()["id"])).json()["content"] == "\U0001f600"


@pytest.mark.parametrize(
    "moment",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "2026-01-31",
        "1700000000",
        "2026-01-31T09:00:00+99:99",
    ],
)
def test_odd_times_are_no_failure(root, moment):
    for field in ("occurred_at", "expires_at"):
        answer = root.write(f"zebra {field} {moment}", **{field: moment})
        assert answer.status_code in (201, 400), answer.content
    index_all()
    assert root.post(SEARCH, {"query": "zebra"}).status_code == 200
    for field in ("since", "until"):
        answer = root.post(SEARCH, {"query": "zebra", field: moment})
        assert answer.status_code in (200, 400)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["personal", "global", "note", "fact", "x", "2026-01-31T09:00:00Z"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4)
    ),
    max_leaves=8,
)
SEARCH_FIELDS = ("query", "scope", "scopes", "kind", "tags", "since", "max_results", "min_score")
BODIES = st.dictionaries(st.sampled_from(WRITE_FIELDS), JSON, max_size=5).map(
    lambda body: {"content": "text", **body}
)
SEARCHES = st.dictionaries(st.sampled_from(SEARCH_FIELDS), JSON, max_size=5).map(
    lambda body: {"query": "text", **body}
)
BOUNDED = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@BOUNDED
@given(BODIES)
def test_any_write_is_taken_or_refused(root, body):
    answer = root.post(RECORDS, body)
    assert answer.status_code in (200, 201, 400, 403, 413), answer.content
    again = root.get(RECORDS + "?page_size=1")
    assert again.status_code == 200


@BOUNDED
@given(st.lists(BODIES | JSON, min_size=1, max_size=4))
def test_any_bulk_has_a_result_for_each_item(root, items):
    answer = root.post(BULK, {"items": items})
    assert answer.status_code == 200
    assert len(answer.json()["results"]) == len(items)


@BOUNDED
@given(SEARCHES)
def test_any_search_is_answered_or_refused(root, body):
    assert root.post(SEARCH, body).status_code in (200, 400)


@BOUNDED
@given(st.dictionaries(st.sampled_from(["content", "kind", "tags", "metadata"]), JSON))
def test_any_change_is_made_or_refused(root, body):
    memory_id = root.wrote("as it was")
    answer = root.patch(record_path(memory_id), body)
    assert answer.status_code in (200, 400, 409, 413)
    assert root.get(record_path(memory_id)).status_code == 200
    root.delete(record_path(memory_id))


def test_the_matrix_of_wrong_values_is_sent_as_it_is():
    """Surrogates must reach the server as escapes, not be lost by the test itself."""
    assert json.dumps("\ud800") == '"\\ud800"'
