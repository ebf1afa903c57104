"""`POST /api/memory/`: what is taken, what is refused, and what the answers look like."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory.models import Memory
from tests.api.callers import RECORDS, reason, record_path

PLACE = {"kind": "session", "id": "talk-7", "position": 3}


def test_new_record_is_201_and_equal_one_is_200(ann):
    first = ann.post(RECORDS, {"content": "I prefer tea"})
    again = ann.post(RECORDS, {"content": "I prefer tea"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert Memory.objects.count() == 1


def test_answer_has_the_keys_of_the_contract(ann):
    body = ann.post(RECORDS, {"content": "I prefer tea"}).json()
    assert uuid.UUID(body["id"])
    assert body["index_state"] == "pending"
    assert body["superseded"] == []
    assert body["scope"] == "personal"
    assert body["created_at"].endswith("Z")


def test_every_field_comes_back(root):
    sent: dict[str, Any] = {
        "content": "The gateway runs Debian 12",
        "scope": "agent_notes",
        "kind": "fact",
        "domain": "network",
        "tags": ["debian", "critical"],
        "metadata": {"seen": {"at": [1, 2.5, None, True, "é"]}},
        "source": PLACE,
        "index_prefix": "[May] Ann:",
        "agent": "scout",
        "expires_at": "2099-01-31T09:00:00Z",
        "occurred_at": "2020-05-08T13:56:00+02:00",
    }
    shown = root.get(record_path(root.post(RECORDS, sent).json()["id"])).json()
    for name in ("content", "scope", "kind", "domain", "index_prefix", "agent", "expires_at"):
        assert shown[name] == sent[name]
    assert shown["tags"] == ["critical", "debian"]
    assert shown["metadata"]["seen"] == sent["metadata"]["seen"]
    assert shown["sources"] == [PLACE]
    assert shown["occurred_at"] == "2020-05-08T11:56:00Z"
    assert shown["provenance"]["author"] == "root"


def test_content_is_kept_exactly(ann):
    text = "  zero\u200bwidth \U0001f469\u200d\U0001f467 e\u0301 \ufeff \U0010ffff\ttab\r\n "
    memory_id = ann.wrote(text, scope="personal")
    assert ann.get(record_path(memory_id)).json()["content"] == text


def test_longest_content_is_taken_and_one_more_is_413(ann):
    assert ann.write("é" * 200_000, scope="personal").status_code == 201
    answer = ann.write("é" * 200_001, scope="personal")
    assert answer.status_code == 413
    assert "200,000" in reason(answer)
    assert answer.json()["field"] == "content"
    assert Memory.objects.count() == 1


@pytest.mark.parametrize("content", ["", " ", "\n\t "])
def test_empty_content_is_refused(ann, content):
    answer = ann.write(content, scope="personal")
    assert answer.status_code == 400
    assert answer.json()["field"] == "content"
    assert reason(answer)


def test_missing_content_is_a_field_error(ann):
    answer = ann.post(RECORDS, {})
    assert answer.status_code == 400
    assert list(answer.json()) == ["content"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scope", "everything"),
        ("scope", "PERSONAL"),
        ("kind", "rumour"),
        ("kind", "page"),
        ("tags", ["superseded"]),
        ("tags", ["unverified"]),
        ("tags", ["x"] * 33),
        ("tags", ["x" * 65]),
        ("tags", [""]),
        ("tags", ["two\nlines"]),
        ("domain", "x" * 101),
        ("metadata", {"superseded_by": "me"}),
        ("metadata", {"long": "x" * 16_001}),
        ("source", {"kind": "session"}),
        ("source", {"kind": "", "id": "x"}),
        ("source", {"kind": "a", "id": "x", "position": -1}),
        ("expires_at", "2001-01-01T00:00:00Z"),
        ("occurred_at", "yesterday"),
        ("agent", "x" * 65),
        ("speaker", "an unknown field"),
    ],
)
def test_what_cannot_be_used_is_400_and_names_the_field(root, field, value):
    answer = root.write("text", **{field: value})
    assert answer.status_code == 400
    body = answer.json()
    assert field in body or str(body["field"]).startswith(field)
    assert not Memory.objects.exists()


@pytest.mark.parametrize("scope", ["wiki", "wikijs", "db_cache"])
def test_system_scopes_are_refused_even_to_administrators(root, scope):
    answer = root.write("text", scope=scope)
    assert answer.status_code == 403
    assert "server" in reason(answer)


@pytest.mark.parametrize("scope", ["agent_notes", "global", "agent_config"])
def test_people_are_pointed_to_their_personal_scope(ann, scope):
    answer = ann.write("text", scope=scope)
    assert answer.status_code == 403
    assert "'personal'" in reason(answer)
    assert answer.json()["code"] == "refused"


def test_critical_tag_is_for_administrators(ann, root):
    assert ann.write("mine", scope="personal", tags=["critical"]).status_code == 403
    assert root.write("ours", tags=["critical"]).status_code == 201


def test_same_source_with_another_text_amends_the_record(root):
    first = root.write("the sky is grey", source=PLACE).json()
    second = root.write("the sky is blue", source=PLACE)
    assert second.status_code == 200
    assert second.json()["id"] == first["id"]
    assert second.json()["outcome"] == "amended"
    assert root.get(record_path(first["id"])).json()["content"] == "the sky is blue"


def test_expired_record_is_gone_from_every_read(root):
    memory_id = root.wrote("short lived zebra", expires_at="2099-01-01T00:00:00Z")
    Memory.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert root.get(record_path(memory_id)).status_code == 404
    assert root.listed(include_history="true") == []
    assert root.found("zebra", include_history=True) == []
