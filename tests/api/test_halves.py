"""Pages that merge the shared and the own half are the pages of the list in one piece."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.request import Request

from memory import queries
from memory.access import Principal
from memory.api.base import RecordPages
from memory.api.halves import Halves
from memory.filters import Filters
from memory.models import Memory
from tests.api.callers import RECORDS
from tests.memory.making import person

pytestmark = pytest.mark.django_db
MOMENTS = [datetime(2026, 1, day, tzinfo=UTC) + timedelta(microseconds=day) for day in (1, 2, 3)]
OWNERS = ("", "ann", "bob")
records = st.lists(
    st.tuples(st.sampled_from(OWNERS), st.sampled_from(MOMENTS), st.uuids()),
    max_size=25,
    unique_by=lambda row: row[2],
)


def stored(owner: str, at: datetime, pk: uuid.UUID, people: dict[str, int | None]) -> Memory:
    return Memory(
        pk=pk, content=pk.hex, content_hash=pk.hex, live_key=pk.hex, updated_at=at,
        scope="personal" if owner else "global", owner_id=people.get(owner),
    )  # fmt: skip


def turned(rows, path: str) -> tuple[list[uuid.UUID], str | None, str | None]:
    pages = RecordPages()
    page = pages.paginate_queryset(rows, Request(RequestFactory().get(path)))
    return [row.pk for row in page], pages.get_next_link(), pages.get_previous_link()


def walked(make, size: int) -> list:
    """Every page to the end, and from there back to the beginning."""
    seen = [turned(make(), f"{RECORDS}?page_size={size}")]
    while seen[-1][1]:
        seen.append(turned(make(), seen[-1][1]))
    while seen[-1][2]:
        seen.append(turned(make(), seen[-1][2]))
    return seen


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=records,
    size=st.integers(1, 8),
    scopes=st.sampled_from((None, ("personal",), ("global",), ("global", "personal"), ())),
    nobody=st.booleans(),
)
def test_both_ways_give_the_same_pages(rows, size, scopes, nobody):
    people = {name: person(name).person for name in OWNERS if name}
    Memory.objects.all().delete()
    Memory.objects.bulk_create(stored(*row, people) for row in rows)
    who = Principal(person=None if nobody else people["ann"])
    wanted = Filters(scopes=scopes)
    whole = walked(lambda: queries.records(who, wanted), size)
    assert walked(lambda: Halves(queries.branches(who, wanted)), size) == whole
    first = [pk for page, _, _ in whole for pk in page]
    assert set(first) == set(queries.records(who, wanted).values_list("pk", flat=True))


def test_a_page_takes_as_many_queries_of_a_long_list_as_of_a_short_one(ann):
    def counted() -> tuple[int, int]:
        path, found = f"{RECORDS}?page_size=3", []
        for _ in range(2):
            with CaptureQueriesContext(connection) as asked:
                path = ann.get(path).json()["next"]
            found.append(len(asked))
        return found[0], found[1]

    for number in range(8):
        ann.wrote(f"note {number}", scope="personal")
    counted()
    before = counted()
    for number in range(30):
        ann.wrote(f"more {number}", scope="personal")
    assert counted() == before


def test_equal_times_read_no_text_that_is_passed_over(ann):
    for number in range(9):
        ann.wrote(f"note {number}", scope="personal")
    Memory.objects.update(updated_at=MOMENTS[0])
    first = ann.get(f"{RECORDS}?page_size=4").json()
    with CaptureQueriesContext(connection) as asked:
        second = ann.get(first["next"]).json()
    assert not {row["id"] for row in first["results"]} & {row["id"] for row in second["results"]}
    whole = [query["sql"] for query in asked if '"memories"."content"' in query["sql"]]
    assert whole
    assert all("LIMIT 5" in sql for sql in whole)
