"""Callers of the API: a person, a key, and the requests that they send."""

import json
import time
from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client

from agents import keys
from memory import indexing

RECORDS = "/api/memory/"
BULK = "/api/memory/bulk/"
SEARCH = "/api/memory/search/"
STATS = "/api/memory/stats/"
REINDEX = "/api/memory/reindex/"
DEDUPE = "/api/memory/dedupe/"
JOBS = "/api/jobs/"
NO_BODY = b""

# What the test client adds to a response has no public type.
Answer = Any


class Caller:
    """Sends requests with or without a key; a failure of the server is an answer here too."""

    def __init__(self, key: str = "", user: User | None = None) -> None:
        self.key = key
        self.user = user
        self.client = Client(raise_request_exception=False)

    def send(self, method: str, path: str, body: Any = NO_BODY, **options: Any) -> Answer:
        """`body` is sent as JSON, bytes as they are."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        raw = body if isinstance(body, bytes) else json.dumps(body)
        return self.client.generic(
            method,
            path,
            raw,
            content_type=options.pop("content_type", "application/json"),
            headers=headers | options.pop("headers", {}),
            **options,
        )

    def get(self, path: str, parameters: Any = None, **options: Any) -> Answer:
        return self.send("GET", path, query_params=parameters, **options)

    def post(self, path: str, body: Any = NO_BODY, **options: Any) -> Answer:
        return self.send("POST", path, body, **options)

    def patch(self, path: str, body: Any = NO_BODY) -> Answer:
        return self.send("PATCH", path, body)

    def delete(self, path: str) -> Answer:
        return self.send("DELETE", path)

    def write(self, content: str, **fields: Any) -> Answer:
        """Write to `agent_notes` where no scope is given."""
        return self.post(RECORDS, {"content": content, "scope": "agent_notes", **fields})

    def wrote(self, content: str, **fields: Any) -> str:
        """Write and return the id."""
        answer = self.write(content, **fields)
        assert answer.status_code in (200, 201), answer.content
        return str(answer.json()["id"])

    def found(self, query: str, **fields: Any) -> list[str]:
        """Search and return the ids, the best first."""
        answer = self.post(SEARCH, {"query": query, **fields})
        assert answer.status_code == 200, answer.content
        return [hit["id"] for hit in answer.json()["results"]]

    def listed(self, **parameters: Any) -> list[str]:
        answer = self.get(RECORDS, parameters)
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()["results"]]


def record_path(memory_id: str) -> str:
    return f"/api/memory/{memory_id}/"


def user(name: str, *, groups: tuple[str, ...] = (), **fields: Any) -> User:
    """A person without a password: hashing one takes half a second."""
    made = User.objects.create(username=name, **fields)
    made.groups.set(Group.objects.get_or_create(name=group)[0] for group in groups)
    return made


def caller(name: str, *, read_only: bool = False, **fields: Any) -> Caller:
    """A new person with a key."""
    owner = user(name, **fields)
    return Caller(keys.create(owner, read_only=read_only).text, owner)


def gateway(**fields: Any) -> Caller:
    return Caller(keys.create(None, gateway=True, **fields).text)


def index_all() -> None:
    """Do what a worker does; the hour is far beyond what any machine needs."""
    assert not indexing.index_waiting(time.monotonic() + 3600)


def reason(answer: Answer) -> str:
    """The words of a refusal, after a look at its shape."""
    body = answer.json()
    assert isinstance(body["detail"], str)
    assert body["detail"]
    assert isinstance(body["code"], str)
    assert "Traceback" not in body["detail"]
    return str(body["detail"])
