"""One record: read, amended, deleted; what is not theirs does not exist."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import Memory, MemoryRevision
from tests.api.callers import NO_BODY, index_all, reason, record_path

KEYS = {"id", "scope", "kind", "domain", "content", "tags", "metadata", "index_state"} | {
    "chunks",
    "provenance",
    "revisions",
    "sources",
    "superseded",
    "expires_at",
    "created_at",
    "updated_at",
}


def test_detail_has_chunks_provenance_and_revisions(root):
    memory_id = root.wrote("long\n\n" * 600, kind="fact")
    index_all()
    root.patch(record_path(memory_id), {"content": "short"})
    index_all()
    body = root.get(record_path(memory_id)).json()
    assert set(body) >= KEYS
    assert [chunk["position"] for chunk in body["chunks"]] == [0]
    assert body["provenance"]["door"] == "api"
    assert [row["decision"] for row in body["revisions"]] == ["amended"]
    assert body["revisions"][0]["text_before"] == "long\n\n" * 600
    assert body["index_state"] == "text" or body["index_state"] == "indexed"


def test_amended_fields_come_back_and_others_stay(ann):
    memory_id = ann.wrote("tea", scope="personal", tags=["drink"], metadata={"a": 1})
    answer = ann.patch(
        record_path(memory_id),
        {
            "content": "coffee",
            "kind": "preference",
            "domain": "kitchen",
            "expires_at": "2099-01-01T00:00:00Z",
        },
    )
    assert answer.status_code == 200
    body = answer.json()
    assert (body["content"], body["kind"], body["domain"]) == ("coffee", "preference", "kitchen")
    assert body["tags"] == ["drink"]
    assert body["metadata"]["a"] == 1
    assert body["expires_at"] == "2099-01-01T00:00:00Z"
    cleared = ann.patch(record_path(memory_id), {"expires_at": None, "tags": [], "metadata": {}})
    body = cleared.json()
    assert (body["expires_at"], body["tags"]) == (None, [])
    assert "a" not in body["metadata"]
    assert body["content"] == "coffee"


def test_amended_text_is_found_and_the_old_one_is_not(ann):
    memory_id = ann.wrote("my dog is called Rex", scope="personal")
    index_all()
    ann.patch(record_path(memory_id), {"content": "my cat is called Tom"})
    assert ann.found("Tom") == [memory_id]
    assert ann.found("Rex") == []


def test_amending_into_an_equal_record_is_409_with_its_id(ann):
    there = ann.wrote("one", scope="personal")
    other = ann.wrote("two", scope="personal")
    answer = ann.patch(record_path(other), {"content": "one"})
    assert answer.status_code == 409
    assert answer.json()["id"] == there
    assert answer.json()["code"] == "conflict"
    assert Memory.objects.get(pk=other).content == "two"


@pytest.mark.parametrize(
    "body",
    [
        {"content": ""},
        {"content": None},
        {"content": 7},
        {"content": "a\x00b"},
        {"kind": "rumour"},
        {"kind": ""},
        {"tags": "x"},
        {"tags": ["superseded"]},
        {"metadata": []},
        {"metadata": {"superseded_by": 1}},
        {"expires_at": "2001-01-01T00:00:00Z"},
        {"scope": "global"},
        {"owner": 1},
        {"id": "x"},
        [],
        None,
        "x",
        7,
    ],
)
def test_wrong_changes_change_nothing(root, body):
    memory_id = root.wrote("as it was")
    assert root.patch(record_path(memory_id), body).status_code == 400
    row = Memory.objects.get()
    assert (row.content, row.kind, row.version) == ("as it was", "note", 1)


def test_too_long_a_change_is_413(root):
    memory_id = root.wrote("as it was")
    assert root.patch(record_path(memory_id), {"content": "x" * 200_001}).status_code == 413


def test_deleted_record_is_gone_with_its_texts(ann):
    memory_id = ann.wrote("my zebra", scope="personal")
    index_all()
    ann.patch(record_path(memory_id), {"content": "my own zebra"})
    answer = ann.delete(record_path(memory_id))
    assert (answer.status_code, answer.content) == (204, b"")
    assert ann.get(record_path(memory_id)).status_code == 404
    assert ann.delete(record_path(memory_id)).status_code == 404
    assert ann.found("zebra") == []
    assert not MemoryRevision.objects.exists()


def test_shared_record_leaves_a_tombstone_without_text(root):
    memory_id = root.wrote("the zebra")
    root.delete(record_path(memory_id))
    row = MemoryRevision.objects.get()
    assert (row.decision, row.actor) == ("deleted", "root")
    assert "zebra" not in f"{row.text_before}{row.text_after}{row.reason}"


def test_people_read_shared_records_and_do_not_change_them(root, ann):
    memory_id = root.wrote("for all")
    assert ann.get(record_path(memory_id)).status_code == 200
    assert "'personal'" in reason(ann.patch(record_path(memory_id), {"content": "x"}))
    assert ann.delete(record_path(memory_id)).status_code == 403
    assert Memory.objects.get().content == "for all"


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
@pytest.mark.parametrize("other", ["bob", "root", "gate"])
def test_foreign_record_cannot_be_told_from_none(request, ann, method, other):
    """The same status, the same words, the same number of queries."""
    caller = request.getfixturevalue(other)
    foreign = ann.wrote("ann's own", scope="personal")
    caller.get(record_path(foreign))

    def tried(memory_id):
        body = {"content": "x"} if method == "PATCH" else NO_BODY
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answer = caller.send(method, record_path(memory_id), body)
        return answer.status_code, answer.content, len(queries)

    assert tried(foreign) == tried(str(uuid.uuid4()))
    assert tried(foreign)[0] == 404
    assert Memory.objects.get().content == "ann's own"


def test_ids_in_upper_case_are_the_same_ids(root):
    memory_id = root.wrote("one")
    assert root.get(record_path(memory_id.upper())).json()["id"] == memory_id


@pytest.mark.parametrize(
    "garbage",
    [
        "x",
        "0",
        "-1",
        "%00",
        "%ff",
        "..%2f",
        "None",
        "é",
        "0" * 32,
        "0" * 5000,
        "{}",
        "'; drop table memories; --",
        "12345678-1234-1234-1234-12345678901g",
    ],
)
@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_garbage_for_an_id_is_404(root, method, garbage):
    answer = root.send(method, record_path(garbage), {})
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
