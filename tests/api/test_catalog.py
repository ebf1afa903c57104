"""The catalog over HTTP and at a terminal."""

import json

import pytest

from memory.models import Memory
from tests.api.callers import caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def root():
    found = caller("root", is_superuser=True)
    found.wrote("the kettle is green", scope="agent_notes")
    found.wrote("zqsecret", scope="personal")
    return found


def test_out_and_in(root):
    answer = root.get("/api/memory/export/")
    assert answer.status_code == 200
    text = b"".join(answer.streaming_content).decode()
    assert "zqsecret" not in text
    document = json.loads(text)
    Memory.objects.filter(scope="agent_notes").delete()
    rehearsed = root.post("/api/memory/import", {**document, "dry_run": True})
    assert (rehearsed.status_code, rehearsed.json()["written"]) == (200, False)
    done = root.post("/api/memory/import/", document).json()
    assert (done["created"], done["results"][0]["outcome"]) == (1, "created")
    again = root.post("/api/memory/import/", document).json()
    assert (again["created"], again["unchanged"]) == (0, 1)


def test_bad_input(root):
    path = "/api/memory/import/"
    good = {"format": "goclaw-catalog", "version": 1, "records": []}
    for body in ({}, {**good, "x": 1}, {**good, "records": 1}, {**good, "format": "x"}, []):
        assert root.post(path, body).status_code == 400
    many = root.post(path, {**good, "records": [1] * 2001})
    assert many.status_code == 413
    assert "goclaw memory import" in many.json()["detail"]
    mixed = root.post(path, {**good, "records": [7, {"scope": "agent_notes", "content": "x"}]})
    assert mixed.json()["written"] is False
    assert root.get("/api/memory/export/?scope=personal").status_code == 400


def test_administrators_alone(root):
    ann = caller("ann")
    assert ann.get("/api/memory/export/").status_code == 403
    body = {"format": "goclaw-catalog", "version": 1, "records": []}
    assert ann.post("/api/memory/import/", body).status_code == 403
