"""`GET /api/memory/`: filters, unknown ones refused, and pages that lose nothing."""

import base64

import pytest

from memory.models import Memory
from tests.api.callers import JOBS, RECORDS, reason


@pytest.fixture
def records(root):
    return {
        "a": root.wrote("a", scope="global", kind="fact", tags=["red", "big"], domain="sky"),
        "b": root.wrote("b", scope="agent_notes", kind="note", tags=["red"], agent="scout"),
        "c": root.wrote("c", scope="personal", kind="preference", tags=["big"]),
        "d": root.wrote("d", source={"id": "talk"}, occurred_at="2020-01-31T10:00:00Z"),
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", "dcba"),
        ("scope=global", "a"),
        ("scopes=global", "a"),
        ("scope=global&scope=personal", "ca"),
        ("scope=global&scopes=personal", "ca"),
        ("kind=fact&kind=preference", "ca"),
        ("kinds=fact", "a"),
        ("tag=red", "ba"),
        ("tag=red&tag=big", "a"),
        ("tags=red&tag=big", "a"),
        ("domain=sky", "a"),
        ("agent=scout", "b"),
        ("source=talk", "d"),
        ("since=2020-01-31&until=2020-02-01", "d"),
        ("until=2020-01-31", ""),
        ("until=2020-01-31T11:00:00%2B01:00", "d"),
        ("since=2021-01-01", "cba"),
        ("include_history=true&scope=global", "a"),
        ("scope=wiki", ""),
    ],
)
def test_filters(root, records, query, found):
    answer = root.get(f"{RECORDS}?{query}")
    assert answer.status_code == 200
    assert [row["content"] for row in answer.json()["results"]] == list(found)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("colour=red", "colour"),
        ("scpoe=global", "scpoe"),
        ("scope=everything", "scope"),
        ("scope=", "scope"),
        ("kind=rumour", "kind"),
        ("domain=a&domain=b", "domain"),
        ("since=yesterday", "since"),
        ("since=2026-02-30", "since"),
        ("since=", "since"),
        ("include_history=maybe", "include_history"),
        ("query=text", "query"),
        ("tag=" + "x" * 65, "tag"),
        ("agent=%00", "agent"),
        ("&".join("tag=t" for _ in range(51)), "tag"),
    ],
)
def test_wrong_filters_are_400_and_named(root, records, query, field):
    answer = root.get(f"{RECORDS}?{query}")
    assert answer.status_code == 400
    assert reason(answer)
    assert answer.json()["field"] == field


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("name", ["since", "until"])
def test_times_at_the_ends_of_the_calendar_are_no_failure(root, name, moment):
    assert root.get(f"{RECORDS}?{name}={moment}").status_code in (200, 400)


def pages(caller, path, between=lambda: None):
    """Every row of every page; `between` runs after each page."""
    rows = []
    while path:
        answer = caller.get(path)
        assert answer.status_code == 200
        body = answer.json()
        assert set(body) == {"next", "previous", "results"}
        rows += body["results"]
        path = body["next"]
        between()
    return rows


def test_pages_lose_nothing_while_writes_go_on(root):
    there = [root.wrote(f"record {n}") for n in range(120)]
    fresh = iter(range(1000))

    def write_on():
        root.wrote(f"later {next(fresh)}")

    seen = [row["id"] for row in pages(root, RECORDS + "?page_size=25", write_on)]
    assert len(seen) == len(set(seen))
    assert seen == there[::-1]


def test_pages_go_back_too(root):
    there = [root.wrote(f"record {n}") for n in range(7)][::-1]
    second = root.get(root.get(RECORDS + "?page_size=3").json()["next"]).json()
    first = root.get(second["previous"]).json()
    assert [row["id"] for row in first["results"]] == there[:3]


def test_filter_holds_on_every_page(root):
    for n in range(9):
        root.wrote(f"record {n}", tags=["odd" if n % 2 else "even"])
    rows = pages(root, RECORDS + "?tag=odd&page_size=2")
    assert [row["content"] for row in rows] == ["record 7", "record 5", "record 3", "record 1"]


def test_equal_times_are_no_reason_to_lose_one(root):
    there = {root.wrote(f"record {n}") for n in range(20)}
    moment = Memory.objects.order_by("pk")[0].updated_at
    Memory.objects.update(updated_at=moment)
    assert {row["id"] for row in pages(root, RECORDS + "?page_size=3")} == there


@pytest.mark.parametrize("size", ["0", "-1", "many", "9" * 30])
def test_odd_page_sizes_fall_back(root, size):
    root.wrote("one")
    assert len(root.listed(page_size=size)) == 1


@pytest.mark.parametrize("path", [RECORDS, JOBS])
@pytest.mark.parametrize(
    "cursor",
    [
        b"p=garbage",
        b"p=2026-13-45",
        b"p=%00",
        b"p=0001-01-01T00:00:00%2B14:00",
        b"\xff",
        b"p=9999-99",
    ],
)
def test_forged_cursor_is_400(root, path, cursor):
    answer = root.get(path, {"cursor": base64.b64encode(cursor).decode()})
    assert answer.status_code == 400
    assert "cursor" in reason(answer)


@pytest.mark.parametrize("cursor", ["garbage", "é", "a" * 9000])
def test_what_is_no_cursor_is_400(root, cursor):
    assert root.get(RECORDS, {"cursor": cursor}).status_code == 400


def test_others_do_not_see_what_is_personal(ann, bob, root, gate):
    mine = ann.wrote("ann's own", scope="personal")
    assert ann.listed() == [mine]
    for other in (bob, root, gate):
        assert other.listed(scope="personal", include_history="true") == []
