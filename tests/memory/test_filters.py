"""Filters: each and together, spelt as callers spell them; an unknown one is an error."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from goclaw_site.errors import InvalidInput
from memory import filters, queries
from memory.drafts import Source
from memory.filters import Filters, parse
from memory.write import retire
from tests.memory.making import ADMIN, ago, ask, index_all, note, put, texts


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, Filters()),
        ({"scope": "global"}, Filters(scopes=("global",))),
        ({"scopes": ["global", "wiki"]}, Filters(scopes=("global", "wiki"))),
        ({"scope": "global", "scopes": ["wiki"]}, Filters(scopes=("global", "wiki"))),
        ({"scope": None, "tag": None, "since": None}, Filters()),
        ({"kinds": ("fact",)}, Filters(kinds=("fact",))),
        ({"tag": "a"}, Filters(tags=("a",))),
        ({"domain": " net "}, Filters(domain="net")),
        ({"include_history": "true"}, Filters(include_history=True)),
        ({"include_history": "0"}, Filters(include_history=False)),
        ({"since": "2026-01-31"}, Filters(since=datetime(2026, 1, 31, tzinfo=UTC))),
        ({"until": "2026-01-31T09:00:00Z"}, Filters(until=datetime(2026, 1, 31, 9, tzinfo=UTC))),
        ({"since": datetime(2026, 1, 31)}, Filters(since=datetime(2026, 1, 31, tzinfo=UTC))),  # noqa: DTZ001
    ],
)
def test_what_is_understood(values, expected):
    assert parse(values) == expected


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"scpoe": "global"}, "scpoe"),
        ({"query": "x"}, "query"),
        ({"owner": "1"}, "owner"),
        ({"": "x"}, ""),
        ({"scope": "everything"}, "scope"),
        ({"scope": 7}, "scope"),
        ({"scope": ["global", None]}, "scope"),
        ({"scope": {"global": 1}}, "scope"),
        ({"kind": "poem"}, "kind"),
        ({"tag": "t" * 65}, "tag"),
        ({"tags": [f"t{n}" for n in range(51)]}, "tags"),
        ({"domain": "d" * 101}, "domain"),
        ({"domain": ["a"]}, "domain"),
        ({"agent": "a\x00"}, "agent"),
        ({"source": "\ud800"}, "source"),
        ({"since": "yesterday"}, "since"),
        ({"since": ""}, "since"),
        ({"since": 5}, "since"),
        ({"since": "2026-02-31"}, "since"),
        ({"until": "2026-13-01T00:00:00Z"}, "until"),
        ({"until": "0001-01-01T00:00:00+14:00"}, "until"),
        ({"since": "9999-12-31T23:59:59-14:00"}, "since"),
        ({"include_history": "maybe"}, "include_history"),
        ({"include_history": []}, "include_history"),
    ],
)
def test_what_is_refused_names_the_filter(values, field):
    with pytest.raises(InvalidInput) as error:
        parse(values)
    assert error.value.field == field


def test_an_unknown_filter_is_told_the_known_ones():
    with pytest.raises(InvalidInput, match=r"'scpoe' is not a filter; there are .*scope.*"):
        parse({"scpoe": "global"})
    assert parse({"page": 2}, also=("page",)) == Filters()


@pytest.fixture
def records(db, bag):
    made = {
        "fact": note("word fact", kind="fact", domain="net"),
        "tagged": note("word tagged", tags=("a", "b"), scope="global"),
        "placed": note("word placed", agent="scout", source=Source("file", "log.md")),
        "past": note("word past", occurred_at=ago(days=100)),
        "gone": note("word gone"),
    }
    index_all()
    retire(made["gone"], None, via="manual", reason="", actor="me")
    return made


CASES = [
    ({}, {"fact", "tagged", "placed", "past"}),
    ({"include_history": True}, {"fact", "tagged", "placed", "past", "gone"}),
    ({"kind": "fact"}, {"fact"}),
    ({"kinds": ["fact", "guideline"]}, {"fact"}),
    ({"domain": "net"}, {"fact"}),
    ({"domain": ""}, {"tagged", "placed", "past"}),
    ({"tag": "a"}, {"tagged"}),
    ({"tags": ["a", "b"]}, {"tagged"}),
    ({"tags": ["a", "z"]}, set()),
    ({"tag": "superseded", "include_history": True}, {"gone"}),
    ({"scope": "global"}, {"tagged"}),
    ({"scopes": ["global", "agent_notes"]}, {"fact", "tagged", "placed", "past"}),
    ({"scope": "personal"}, set()),
    ({"scopes": []}, set()),
    ({"agent": "scout"}, {"placed"}),
    ({"source": "log.md"}, {"placed"}),
    ({"source": "log"}, set()),
    ({"since": timezone.now() - timedelta(days=50)}, {"fact", "tagged", "placed"}),
    ({"until": timezone.now() - timedelta(days=50)}, {"past"}),
    ({"since": ago(days=200), "until": ago(days=50)}, {"past"}),
    ({"since": ago(days=50), "kind": "fact", "domain": "net", "scope": "agent_notes"}, {"fact"}),
    ({"kind": "fact", "tag": "a"}, set()),
    ({"kind": "fact", "include_history": True}, {"fact"}),
]


@pytest.mark.parametrize(
    ("values", "expected"), CASES, ids=[f"{n} {' '.join(v)}" for n, (v, _) in enumerate(CASES)]
)
def test_lists_and_both_sides_of_search_are_narrowed_alike(records, values, expected):
    names = {record.pk: name for name, record in records.items()}
    listed = {names[row.pk] for row in queries.records(ADMIN, parse(values))}
    assert listed == expected
    assert {names[hit.id] for hit in ask(ADMIN, "word", **values).hits} == expected


def test_pending_records_are_narrowed_too(records):
    put(ADMIN, "word waiting", kind="fact", tags=("fresh",))
    assert texts(ADMIN, "word", tag="fresh") == ["word waiting"]
    assert "word waiting" not in texts(ADMIN, "word", kind="note")


def test_every_name_is_known_to_the_parser():
    assert set(filters.NAMES) >= {"scope", "kind", "tag", "domain", "agent", "source"}
    for name in filters.NAMES:
        parse({name: None})
