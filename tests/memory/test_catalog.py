"""The catalog: out, in, twice the same; rows that are bad, double or of other scopes."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goclaw_site.errors import GoclawError, InvalidInput, Refused, TooLarge
from memory import catalog
from memory.drafts import Changes, Source
from memory.models import AuditEvent, Memory
from memory.write import amend, retire
from tests import canonical
from tests.memory.making import ADMIN, expire, note, person, put

pytestmark = pytest.mark.django_db


def exported() -> dict:
    return json.loads("".join(catalog.export(ADMIN)))


def rows(*given: dict) -> dict:
    return {"format": "goclaw-catalog", "version": 1, "records": list(given)}


def row(content: str, **fields) -> dict:
    return {"scope": "agent_notes", "content": content, **fields}


@pytest.fixture
def filled():
    """What belongs into a catalog, and what does not."""
    note("the kettle is green", kind="fact", tags=("b", "a"), domain="kitchen", metadata={"n": 1})
    note("from a file", source=Source("file", "a.md", 3), index_prefix="ann, 2020")
    put(ADMIN, "speak German", scope="agent_config", kind="config", applies_to="crow")
    put(person("ann"), "zqsecret", scope="personal")
    note("for all", scope="global")
    retire(note("old"), None, via="rule", reason="", actor="rule")
    expire(note("ended"))
    put(person("bob", confirmed=False, is_admin=True), "zqsecret unverified", scope="personal")


def test_out_and_in_again_on_another_machine(filled):
    out = exported()
    assert [r["content"] for r in out["records"]] == [
        "speak German", "the kettle is green", "from a file"
    ]  # fmt: skip
    assert "zqsecret" not in json.dumps(out)
    Memory.objects.filter(scope__in=catalog.SCOPES).delete()
    beside = canonical.rows_of("memory.Memory")
    report = catalog.load(ADMIN, out)
    assert report.counts == {"created": 3, "unchanged": 0, "conflicting": 0, "bad": 0}
    again = exported()
    for made, first in zip(again["records"], out["records"], strict=True):
        assert made.pop("id") != first.pop("id")
        first["occurred_at"] = first["occurred_at"] or first["created_at"]
        made.pop("created_at"), first.pop("created_at")
    key = json.dumps
    assert sorted(map(key, again["records"])) == sorted(map(key, out["records"]))
    now = canonical.rows_of("memory.Memory")
    assert [r for r in now if r["scope"] not in catalog.SCOPES] == beside


def test_twice_is_once(filled):
    out = exported()
    before = canonical.dump()
    for _ in range(2):
        report = catalog.load(ADMIN, out)
        assert report.counts == {"created": 0, "unchanged": 3, "conflicting": 0, "bad": 0}
    assert canonical.dump() == before
    assert "".join(catalog.export(ADMIN)) == "".join(catalog.export(ADMIN)), "byte for byte"


def test_the_record_here_wins(filled):
    out = exported()
    kettle = Memory.objects.get(content="the kettle is green")
    amend(ADMIN, kettle.pk, Changes(content="the kettle is red"))
    config = Memory.objects.get(scope="agent_config")
    amend(ADMIN, config.pk, Changes(domain="words", tags=("x",)))
    report = catalog.load(ADMIN, out)
    assert report.counts["conflicting"] == 2
    reasons = {result.reason for result in report.results if result.reason}
    assert reasons == {
        "the record here has another domain, tags",
        "the record of this id has another text here",
    }
    kettle.refresh_from_db()
    assert kettle.content == "the kettle is red"


def test_another_text_from_the_same_source_is_no_amendment():
    note("a line", source=Source("file", "a.md", 3))
    given = row("another line", source={"kind": "file", "id": "a.md", "position": 3})
    report = catalog.load(ADMIN, rows(given))
    assert report.results[0].outcome == "conflicting"
    assert Memory.objects.get().content == "a line"


def test_what_was_replaced_here_is_not_brought_back():
    retire(note("old"), None, via="rule", reason="", actor="rule")
    report = catalog.load(ADMIN, rows(row("old")))
    assert report.results[0].reason == "this text was replaced or has ended here"
    assert Memory.objects.count() == 1


BAD_ROWS = [
    (7, "object"),
    ({}, "scope"),
    (row(""), "empty"),
    (row("x" * 200_001), "200,001"),
    (row("a\x00b"), "NUL"),
    (row("x", scope="personal"), "scope must be one of"),
    (row("x", scope="wiki"), "scope must be one of"),
    (row("x", kind="summary"), "server alone"),
    (row("x", kind="nonsense"), "unknown"),
    (row("x", tags=["superseded"]), "server alone"),
    (row("x", tags="a"), "list"),
    (row("x", tags=[1]), "text"),
    (row("x", metadata=[]), "object"),
    (row("x", metadata={"superseded_by": "y"}), "server alone"),
    (row("x", expires_at="2001-01-01T00:00:00Z"), "passed"),
    (row("x", created_at="soon"), "not a time"),
    (row("x", source={"kind": "a"}), "source"),
    (row("x", source={"kind": "a", "id": "b", "position": -1}), "position"),
    (row("x", id="y"), "id"),
    (row("x", owner=3), "'owner' is not a field"),
    (row("x", agent=3), "agent"),
    (row("the same"), "the same text as row 1"),
    (row("y", source={"kind": "a", "id": "b"}), "the same source as row 2"),
]


def test_one_bad_row_keeps_all_out_unless_it_is_to_be_skipped():
    good = [row("the same"), row("placed", source={"kind": "a", "id": "b"})]
    document = rows(*good, *(given for given, _ in BAD_ROWS))
    report = catalog.load(ADMIN, document)
    assert not report.written
    assert Memory.objects.count() == 0
    told = {result.row: result for result in report.results}
    for number, (bad, says) in enumerate(BAD_ROWS, 3):
        assert told[number].outcome == "bad", bad
        assert says in told[number].reason, (bad, told[number].reason)
    rehearsal = catalog.load(ADMIN, document, dry_run=True, skip_bad=True)
    assert (rehearsal.written, Memory.objects.count()) == (False, 0)
    report = catalog.load(ADMIN, document, skip_bad=True)
    assert report.counts == {
        "created": 2, "unchanged": 0, "conflicting": 0, "bad": len(BAD_ROWS)
    }  # fmt: skip
    assert Memory.objects.count() == 2


@pytest.mark.parametrize(
    "document",
    [None, [], {}, rows() | {"format": "x"}, rows() | {"version": 2}, rows() | {"version": True},
     rows() | {"version": "1"}, rows() | {"records": {}}],
)  # fmt: skip
def test_what_is_no_catalog(document):
    with pytest.raises(InvalidInput):
        catalog.load(ADMIN, document)


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"[" * 200_000, b"nul"])
def test_files_that_are_no_json(raw):
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        catalog.parse(raw)


def test_too_many_rows():
    with pytest.raises(TooLarge, match=r"3 records.*limit is 2"):
        catalog.load(ADMIN, rows(*[row(str(n)) for n in range(3)]), most=2)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["scope", "content", "tags", "source", "id", "metadata", "kind"])
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ANYTHING, max_size=4), ANYTHING)
def test_no_document_raises_anything_else(records, document):
    catalog.load(ADMIN, rows(*records), dry_run=True)
    with pytest.raises(GoclawError):
        catalog.load(ADMIN, document, dry_run=True)


def test_for_administrators_and_in_the_trail(filled):
    ann = person("ann")
    with pytest.raises(Refused):
        catalog.export(ann)
    with pytest.raises(Refused):
        catalog.load(ann, rows())
    catalog.load(ADMIN, rows(row("new")))
    event = AuditEvent.objects.get(action="catalog.import")
    assert event.facts == {"created": 1, "unchanged": 0, "conflicting": 0, "bad": 0}


def test_many_rows_are_looked_at_in_few_queries(django_assert_max_num_queries):
    document = rows(*[row(f"number {n}") for n in range(200)])
    with django_assert_max_num_queries(12):
        catalog.load(ADMIN, document, dry_run=True)
