"""The number of queries does not grow with the number of records."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory import providers
from tests.api.callers import JOBS, RECORDS, SEARCH, STATS, index_all, record_path
from tests.memory.making import BagProvider, serve


def count(request):
    request()
    with CaptureQueriesContext(connection) as queries:
        answer = request()
    assert answer.status_code == 200
    return len(queries)


def fill(root, numbers):
    for n in numbers:
        root.wrote(
            f"zebra number {n}",
            tags=[f"t{n}", "zebra"],
            source={"kind": "session", "id": "talk", "position": n},
        )


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize(
    "ask",
    [
        lambda root: root.get(RECORDS, {"page_size": 50}),
        lambda root: root.get(RECORDS, {"page_size": 50, "tag": "zebra"}),
        lambda root: root.post(SEARCH, {"query": "zebra", "max_results": 50}),
        lambda root: root.get(SEARCH, {"q": "zebra", "max_results": 50, "tag": "zebra"}),
        lambda root: root.get(STATS),
    ],
    ids=["list", "list by tag", "search", "search by tag", "stats"],
)
def test_twice_the_records_take_the_same_queries(root, ask, embedded):
    if embedded:
        serve(BagProvider())
    fill(root, range(10))
    index_all()
    few = count(lambda: ask(root))
    fill(root, range(10, 20))
    index_all()
    # The matrix of vectors takes what is new in its own time.
    root.post(SEARCH, {"query": "zebra"})
    assert count(lambda: ask(root)) == few
    providers.reset()


def test_waiting_records_are_scanned_in_the_same_queries(root):
    fill(root, range(10))
    few = count(lambda: root.post(SEARCH, {"query": "zebra", "max_results": 50}))
    fill(root, range(10, 20))
    assert count(lambda: root.post(SEARCH, {"query": "zebra", "max_results": 50})) == few


def test_record_takes_the_same_queries_however_long_its_history(root):
    memory_id = root.wrote("zebra\n\n" * 10)
    index_all()
    few = count(lambda: root.get(record_path(memory_id)))
    root.patch(record_path(memory_id), {"content": "zebra\n\n" * 2000, "tags": list("abcdef")})
    for n in range(5):
        root.patch(record_path(memory_id), {"content": f"{n} zebra\n\n" * 2000})
    index_all()
    body = root.get(record_path(memory_id)).json()
    assert len(body["chunks"]) > 5
    assert len(body["revisions"]) > 5
    assert count(lambda: root.get(record_path(memory_id))) == few


def test_jobs_take_the_same_queries(root):
    from memory import jobs

    for n in range(10):
        jobs.start("reindex", {"n": n}, "root")
    few = count(lambda: root.get(JOBS))
    for n in range(10, 20):
        jobs.start("reindex", {"n": n}, "root")
    assert count(lambda: root.get(JOBS)) == few
