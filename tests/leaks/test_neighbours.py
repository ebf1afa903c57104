"""What is somebody else's and what never was look the same, to the last query."""

import json
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import Memory
from tests.agents.speaking import ANN, BEA, Gateway
from tests.api.callers import Caller, caller, gateway, index_all
from tests.api.conftest import _keyword_only  # noqa: F401  no model here

pytestmark = pytest.mark.django_db

ACTS = [
    ("GET", None), ("PATCH", {"content": "x"}), ("PATCH", {"tags": ["critical"]}), ("DELETE", None),
    ("PUT", {}), ("GET-page", None), ("GET-amend", None), ("POST-amend", None),
    ("GET-delete", None),
    ("POST-delete", None), ("tool", "memory_get"), ("tool", "memory_forget"),
]  # fmt: skip


def asked(who: Caller, act: str, body, memory_id: str) -> tuple[int, str, int, list[str]]:
    """Status, body without what differs anyway, number of queries, names of headers."""
    who.get("/api/memory/")  # warm: the time of last use, content types
    if "-" in act:
        assert who.user is not None
        who.client.force_login(who.user)
        who.client.get("/")  # the report on the server that every page shows
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = _sent(who, act, body, memory_id)
    text = answer.content.decode().replace(memory_id, "ID").replace(answer["X-Request-ID"], "R")
    for one in ("csrfmiddlewaretoken", "data-csrf"):
        head, found, tail = text.partition(one)
        text = head + tail.split(">", 1)[-1] if found else text
    return answer.status_code, text, len(queries), sorted(answer.headers)


def _sent(who: Caller, act: str, body, memory_id: str):
    if act == "tool":
        return who.post(f"/api/agents/default/tools/{body}/", {"id": memory_id})
    method, _, page = act.partition("-")
    if not page:
        return who.send(method, f"/api/memory/{memory_id}/", b"" if body is None else body)
    tail = "" if page == "page" else f"{page}/"
    path = f"/memory/{memory_id}/{tail}"
    return who.client.get(path) if method == "GET" else who.client.post(path, {"content": "x"})


@pytest.mark.parametrize("scope", ["personal", "agent_config"])
@pytest.mark.parametrize(("act", "body"), ACTS)
def test_a_foreign_record_and_a_random_id_are_one(act, body, scope):
    root, bob = caller("root", is_superuser=True), caller("bob")
    owner = caller("ann") if scope == "personal" else root
    foreign = owner.wrote("the secret", scope=scope)
    index_all()
    random = str(uuid.uuid4())
    first, second = (asked(bob, act, body, one) for one in (foreign, random))
    assert first == second
    assert first[0] in (303, 404, 405)
    assert Memory.objects.get(pk=foreign).content == "the secret"


def test_the_same_through_a_gateway():
    gate = Gateway(gateway().key)
    ann, bea = gate.saying(on_behalf_of=ANN), gate.saying(on_behalf_of=BEA)
    foreign = ann.wrote("the secret", scope="personal")
    bea.listed()
    for who in (bea, gate, bea.saying(run_kind="cron"), ann.saying(run_kind="sop")):
        for act, body in ACTS[:4]:
            first, second = (asked(who, act, body, one) for one in (foreign, str(uuid.uuid4())))
            assert first == second
            assert first[0] == 404


def test_writing_what_somebody_else_wrote_tells_nothing():
    ann, bob = caller("ann"), caller("bob")
    source = {"kind": "session", "id": "talk", "position": 1}
    body = {"content": "the secret", "source": source}
    first = ann.post("/api/memory/", body)
    second = bob.post("/api/memory/", body)
    assert first.status_code == second.status_code == 201
    keys = [set(json.loads(answer.content)) for answer in (first, second)]
    assert keys[0] == keys[1]
    assert first.json()["id"] != second.json()["id"]
    other = bob.wrote("another", scope="personal")
    assert bob.patch(f"/api/memory/{other}/", {"content": "the secret"}).status_code == 409
    ann_only = ann.wrote("only ann says so", scope="personal")
    changed = bob.patch(f"/api/memory/{other}/", {"content": "only ann says so"})
    assert changed.status_code == 200, "no conflict with a record one may not know of"
    assert ann_only not in changed.content.decode()


def test_paging_counts_and_cursors_show_nothing_of_others():
    ann, bob = caller("ann"), caller("bob")
    for number in range(7):
        ann.wrote(f"secret {number}", scope="personal")
    page = bob.get("/api/memory/", {"page_size": 2}).json()
    assert page == {"next": None, "previous": None, "results": []}
    cursor = ann.get("/api/memory/", {"page_size": 2}).json()["next"]
    assert bob.get(cursor).json()["results"] == []
    figures = bob.get("/api/memory/stats/").json()
    assert (figures["records"], figures["pending"], figures["chunks"]) == (0, 0, 0)
