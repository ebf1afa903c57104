"""`POST /api/memory/bulk/`: results in order, and a bad item stops no other."""

import uuid
from typing import Any

import pytest

from memory.models import Memory
from memory.vocabulary import PENDING
from tests.api.callers import BULK, caller, reason


def results(caller, items):
    answer = caller.post(BULK, {"items": items})
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def test_results_stand_in_order(ann):
    rows = results(ann, [{"content": f"note {n}"} for n in (3, 1, 2, 3)])
    assert [row["status"] for row in rows] == [201, 201, 201, 200]
    assert rows[0]["id"] == rows[3]["id"]
    contents = dict(Memory.objects.values_list("pk", "content"))
    assert [contents[pk] for pk in map(_uuid, rows)] == ["note 3", "note 1", "note 2", "note 3"]


def _uuid(row):
    return uuid.UUID(row["id"])


BAD: list[tuple[Any, str, str | None]] = [
    (None, "invalid", None),
    (7, "invalid", None),
    ("text", "invalid", None),
    ([], "invalid", None),
    (True, "invalid", None),
    ({}, "invalid", "content"),
    ({"content": 7}, "invalid", "content"),
    ({"content": ""}, "invalid", "content"),
    ({"content": "a\x00b"}, "invalid", "content"),
    ({"content": "x" * 200_001}, "too_large", "content"),
    ({"content": "x", "scope": "nowhere"}, "invalid", "scope"),
    ({"content": "x", "scope": "global"}, "refused", "scope"),
    ({"content": "x", "tags": "one"}, "invalid", "tags"),
    ({"content": "x", "tags": [["one"]]}, "invalid", "tags"),
    ({"content": "x", "source": {"id": 1}}, "invalid", "source"),
    ({"content": "x", "metadata": []}, "invalid", "metadata"),
    ({"content": "x", "expires_at": "soon"}, "invalid", "expires_at"),
    ({"content": "x", "speaker": "Ann"}, "invalid", "speaker"),
]


@pytest.mark.parametrize(("bad", "code", "field"), BAD)
def test_bad_item_is_its_own_error(ann, bad, code, field):
    rows = results(ann, [{"content": "before"}, bad, {"content": "after"}])
    assert [row.get("status") for row in rows] == [201, None, 201]
    error = rows[1]["error"]
    assert (error["code"], error["field"]) == (code, field)
    assert error["detail"]
    assert set(rows[1]) == {"error"}
    assert Memory.objects.count() == 2


def test_every_bad_item_at_once(ann):
    rows = results(ann, [item for item, _, _ in BAD])
    assert [row["error"]["code"] for row in rows] == [code for _, code, _ in BAD]


@pytest.mark.parametrize(
    "body", [{}, {"items": []}, {"items": {}}, {"items": "x"}, {"items": None}, [], None, 7, "x"]
)
def test_body_without_items_is_400(ann, body):
    assert ann.post(BULK, body).status_code == 400


def test_five_hundred_are_taken_and_one_more_is_413(ann):
    rows = results(ann, [{"content": f"note {n}"} for n in range(500)])
    assert {row["status"] for row in rows} == {201}
    answer = ann.post(BULK, {"items": [{"content": f"more {n}"} for n in range(501)]})
    assert answer.status_code == 413
    assert "500" in reason(answer)
    assert Memory.objects.count() == 500


def test_key_that_may_only_read_is_refused_as_a_whole(db):
    reader = caller("reader", is_superuser=True, read_only=True)
    answer = reader.post(BULK, {"items": [{"content": "one"}]})
    assert (answer.status_code, answer.json()["code"]) == (403, "refused")
    assert not Memory.objects.exists()


def test_bulk_is_marked_so_that_single_writes_are_indexed_first(ann):
    results(ann, [{"content": "one of many"}])
    assert Memory.objects.filter(bulk=True, index_state=PENDING).count() == 1


def test_unknown_field_beside_items_is_an_error(ann):
    answer = ann.post(BULK, {"items": [{"content": "x"}], "scope": "personal"})
    assert answer.status_code == 400
    assert not Memory.objects.exists()
