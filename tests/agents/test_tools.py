"""The tools, by REST and as functions: what they do, what they refuse, what they say."""

import logging
import uuid

import pytest

from agents import roster, tools
from agents.models import Agent
from goclaw_site.errors import GoclawError, InvalidInput, NotFound
from memory.access import Principal
from memory.models import Memory
from tests.api.callers import caller, index_all, reason

AGENTS = "/api/agents/"
TOOLS = "/api/agents/default/tools/"
HINTS = "/api/agents/default/hints/"
NAMES = ["memory_search", "memory_write", "memory_get", "memory_forget", "report_tool_error"]


def call(who, name, arguments=None, status=200, **options):
    answer = who.post(f"{TOOLS}{name}/", {} if arguments is None else arguments, **options)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_every_tool_is_listed_with_a_schema(ann):
    answer = ann.get(TOOLS)
    body = answer.json()
    assert (body["next"], body["previous"]) == (None, None)
    # Later parts add theirs; these stay.
    assert [tool["name"] for tool in body["results"]][:5] == NAMES
    for tool in body["results"]:
        assert tool["input_schema"]["type"] == "object"
        assert tool["input_schema"]["additionalProperties"] is False
        assert len(tool["description"]) > 40
    kinds = {tool["name"]: tool["annotations"] for tool in body["results"]}
    assert kinds["memory_search"] == {"read_only": True, "destructive": False}
    assert kinds["memory_forget"] == {"read_only": False, "destructive": True}


def test_registry_can_be_enumerated_and_names_are_unique():
    names = [tool.name for tool in tools.tools()]
    assert len(names) == len(set(names))


def test_write_search_get_forget(ann):
    written = call(ann, "memory_write", {"content": "I drink my coffee black.", "tags": ["habit"]})
    assert (written["outcome"], written["scope"]) == ("created", "personal")
    again = call(ann, "memory_write", {"content": "I drink my coffee black."})
    assert (again["id"], again["outcome"]) == (written["id"], "existing")
    found = call(ann, "memory_search", {"query": "coffee"})
    assert [hit["id"] for hit in found["results"]] == [written["id"]]
    assert found["mode"] == "keyword"
    record = call(ann, "memory_get", {"id": written["id"]})
    assert record["content"] == "I drink my coffee black."
    assert record["tags"] == ["habit"]
    assert call(ann, "memory_forget", {"id": written["id"]}) == {"forgotten": written["id"]}
    call(ann, "memory_get", {"id": written["id"]}, 404)
    assert not Memory.objects.exists()


def test_write_takes_what_the_api_takes(root):
    fields = {
        "content": "The gateway is 10.0.0.5.",
        "scope": "agent_notes",
        "kind": "fact",
        "domain": "network",
        "tags": ["gateway"],
        "metadata": {"ticket": 7},
        "source": {"kind": "ticket", "id": "7", "position": 3},
        "index_prefix": "ann 2026-11-01",
        "occurred_at": "2026-11-01T09:00:00Z",
        "expires_at": "2036-01-01",
    }
    record = call(root, "memory_get", {"id": call(root, "memory_write", fields)["id"]})
    for name in ("scope", "kind", "domain", "tags", "index_prefix", "occurred_at"):
        assert record[name] == fields[name]
    assert record["sources"] == [{"kind": "ticket", "id": "7", "position": 3}]
    assert record["expires_at"].startswith("2036-01-01")


def test_search_filters_like_the_api(root):
    for number in range(3):
        content = f"Server {number} runs Debian."
        call(
            root,
            "memory_write",
            {"content": content, "scope": "agent_notes", "tags": [f"t{number}"]},
        )
    index_all()
    asked = {"query": "Debian", "tags": ["t1"], "scopes": ["agent_notes"], "max_results": 3.0}
    assert len(call(root, "memory_search", asked)["results"]) == 1
    assert not call(root, "memory_search", {"query": "Debian", "until": "2001-01-01"})["results"]


def test_people_do_not_meet(ann, bob):
    mine = call(ann, "memory_write", {"content": "My salary is 5,000."})["id"]
    assert not call(bob, "memory_search", {"query": "salary"})["results"]
    for name in ("memory_get", "memory_forget"):
        hidden = call(bob, name, {"id": mine}, 404)
        assert hidden == call(bob, name, {"id": str(uuid.uuid4())}, 404)
    assert Memory.objects.count() == 1


def test_policy_is_the_apis(ann, gate, root):
    shared = {"content": "Everybody should know this.", "scope": "global"}
    refused = ann.post(f"{TOOLS}memory_write/", shared)
    assert refused.status_code == 403
    assert "personal" in reason(refused)
    assert refused.json() == ann.post("/api/memory/", shared).json()
    assert "agent_notes" in call(gate, "memory_write", shared, 403)["detail"]
    call(gate, "memory_write", shared | {"scope": "agent_notes"})
    note = call(root, "memory_write", shared)["id"]
    assert "administrator" in call(ann, "memory_forget", {"id": note}, 403)["detail"]
    call(root, "memory_forget", {"id": note})


def test_read_only_keys_read(ann):
    reader = caller("reader", read_only=True)
    assert call(reader, "memory_search", {"query": "anything"})["results"] == []
    assert call(reader, "report_tool_error", {"tool": "db_query", "error": "no such table: a"})
    assert "read" in call(reader, "memory_write", {"content": "x"}, 403)["detail"]
    for name in ("memory_forget",):
        assert call(reader, name, {"id": str(uuid.uuid4())}, 403)["code"] == "refused"


def test_nobody_is_let_in(nobody, ann):
    for path in (AGENTS, f"{AGENTS}default/", TOOLS):
        assert nobody.get(path).status_code == 401
    assert nobody.post(f"{TOOLS}memory_search/", {"query": "x"}).status_code == 401
    assert nobody.post(HINTS, {"tool": "db_query", "error": "x"}).status_code == 401


@pytest.mark.parametrize(
    ("name", "arguments", "field", "words"),
    [
        ("memory_search", {}, "query", "missing"),
        ("memory_search", {"query": 5}, "query", "must be text, not 5"),
        ("memory_search", {"query": None}, "query", "must be text"),
        (
            "memory_search",
            {"query": "x" * 200_001},
            "query",
            "200,001 characters; the limit is 200,000",
        ),
        ("memory_search", {"query": "x", "max_results": 0}, "max_results", "the least is 1"),
        ("memory_search", {"query": "x", "max_results": 101}, "max_results", "the most is 100"),
        ("memory_search", {"query": "x", "max_results": "6"}, "max_results", "whole number"),
        ("memory_search", {"query": "x", "max_results": True}, "max_results", "whole number"),
        ("memory_search", {"query": "x", "min_score": 2}, "min_score", "the most is 1"),
        ("memory_search", {"query": "x", "scopes": ["all"]}, "scopes[0]", "personal, agent_notes"),
        ("memory_search", {"query": "x", "scopes": "global"}, "scopes", "must be a list"),
        (
            "memory_search",
            {"query": "x", "tags": ["a"] * 51},
            "tags",
            "51 entries; the limit is 50",
        ),
        (
            "memory_search",
            {"query": "x", "tags": ["a" * 65]},
            "tags[0]",
            "65 characters; the limit",
        ),
        ("memory_search", {"query": "x", "since": "soon"}, "since", "not a time"),
        ("memory_search", {"query": "x", "limit": 3}, "limit", "there are query, scopes"),
        ("memory_write", {}, "content", "missing"),
        ("memory_write", {"content": ""}, "content", "at least 1"),
        ("memory_write", {"content": " \n"}, "content", "empty"),
        ("memory_write", {"content": "a\x00b"}, "content", "NUL"),
        ("memory_write", {"content": "x", "scope": "wiki"}, "scope", "use one of"),
        ("memory_write", {"content": "x", "kind": "page"}, "kind", "use one of"),
        ("memory_write", {"content": "x", "tags": ["superseded"]}, "tags", "server alone"),
        ("memory_write", {"content": "x", "tags": ["a"] * 33}, "tags", "the limit is 32"),
        ("memory_write", {"content": "x", "domain": "d" * 101}, "domain", "the limit is 100"),
        ("memory_write", {"content": "x", "metadata": []}, "metadata", "an object"),
        ("memory_write", {"content": "x", "source": {"kind": "f"}}, "source.id", "missing"),
        (
            "memory_write",
            {"content": "x", "source": {"kind": "f", "id": "1", "x": 1}},
            "source.x",
            "not",
        ),
        ("memory_write", {"content": "x", "expires_at": "2001-01-01"}, "expires_at", "passed"),
        ("memory_get", {"id": 7}, "id", "must be text"),
        ("memory_get", {"id": "a" * 65}, "id", "the limit is 64"),
        ("report_tool_error", {"tool": "db_query"}, "error", "missing"),
        ("report_tool_error", {"tool": "t" * 101, "error": "x"}, "tool", "the limit is 100"),
        ("report_tool_error", {"tool": "t", "error": "x" * 1_048_577}, "error", "1,048,576"),
        (
            "report_tool_error",
            {"tool": "t", "error": "x", "schema": {"a": 1}},
            "schema.a",
            "a list",
        ),
    ],
)
def test_wrong_arguments_name_field_and_limit(ann, name, arguments, field, words):
    said = call(ann, name, arguments, 400)
    assert said["code"] == "invalid"
    assert said["field"] == field
    assert words in said["detail"]
    assert len(said["detail"]) < 600


def test_too_long_content_names_the_limit(ann):
    said = call(ann, "memory_write", {"content": "x" * 200_001}, 413)
    assert "200,001 characters; the limit is 200,000" in said["detail"]


@pytest.mark.parametrize("body", [[], "text", 5, None, [{"query": "x"}]])
def test_arguments_must_be_an_object(ann, body):
    assert ann.post(f"{TOOLS}memory_search/", body).status_code == 400


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"query": "\\ud800"}', b"[" * 100_000])
def test_garbage_is_no_failure_of_the_server(ann, body):
    assert ann.post(f"{TOOLS}memory_search/", body).status_code in (200, 400)


@pytest.mark.parametrize("text", ["", "x", "memory://1", "0" * 32 + "g", "🦀"])
def test_what_is_no_id_is_no_record(ann, text):
    status = 404 if text else 400
    call(ann, "memory_get", {"id": text}, status)


def test_arguments_may_stand_in_an_envelope(ann):
    call(ann, "memory_write", {"arguments": {"content": "In an envelope."}})
    assert call(ann, "memory_search", {"arguments": {"query": "envelope"}})["results"]


def test_unknown_tool_says_what_there_is(ann):
    said = call(ann, "memory_serch", {}, 404)
    assert "memory_search" in said["detail"]


def test_failing_call_comes_back_with_its_hint(monkeypatch):
    """As later tools will: the hint of their family stands beside the reason."""

    def fail(principal, given):
        raise InvalidInput("no such column: emial")

    tool = tools.Tool("db_query", "x", {"type": "object"}, fail)
    monkeypatch.setattr("agents.tools.registry.tools", lambda: (tool,))
    with pytest.raises(GoclawError) as caught:
        tools.call(Principal(), "db_query", {})
    assert "There is no column emial" in str(caught.value.as_dict()["hint"])


def test_hints_door_and_tool_say_the_same(ann):
    failure = {
        "tool": "db_query",
        "error": "no such column: emial",
        "schema": {"users": ["id", "email"]},
    }
    answer = ann.post(HINTS, failure)
    assert answer.status_code == 200
    said = answer.json()
    assert said == call(ann, "report_tool_error", failure)
    assert (said["fixable"], said["category"]) == (True, "unknown_column")
    assert "Did you mean email?" in said["hint"]


def test_trouble_is_logged_without_secrets_and_nothing_is_stored(ann, caplog):
    before = Memory.objects.count()
    error = "401 Unauthorized: token=hunter22hunter22"
    with caplog.at_level(logging.INFO):
        said = ann.post(HINTS, {"tool": "http_request", "error": error}).json()
    assert said == {"fixable": False, "hint": "", "category": "credentials"}
    assert "hunter22" not in caplog.text
    assert Memory.objects.count() == before


@pytest.mark.parametrize(
    "body", [{}, {"tool": "db_query"}, {"tool": 1, "error": "x"}, [], {"a": 1}]
)
def test_hints_want_tool_and_error(ann, body):
    assert ann.post(HINTS, body).status_code == 400


def test_default_agent_exists_from_the_start(ann):
    assert [row["slug"] for row in ann.get(AGENTS).json()["results"]] == ["default"]
    assert ann.get(f"{AGENTS}default/").json()["slug"] == "default"


def test_administrators_add_agents(root, ann):
    made = root.post(AGENTS, {"slug": "ops-1", "name": "Operations"})
    assert made.status_code == 201
    assert made.json()["name"] == "Operations"
    assert root.post(AGENTS, {"slug": "ops-1"}).status_code == 409
    assert ann.post(AGENTS, {"slug": "mine"}).status_code == 403
    assert ann.get(f"{AGENTS}ops-1/tools/").status_code == 200
    reader = caller("chief", read_only=True, is_superuser=True)
    assert reader.post(AGENTS, {"slug": "other"}).status_code == 403
    assert Agent.objects.count() == 2


@pytest.mark.parametrize("slug", ["", "Ops", "a b", "-a", "a-", "a" * 65, "ä", "a/b", None, 5])
def test_slugs_are_plain(root, slug):
    assert root.post(AGENTS, {"slug": slug}).status_code == 400


def test_agent_of_the_address_is_noted(root, ann):
    root.post(AGENTS, {"slug": "ops"})
    written = ann.post(f"{AGENTS}ops/tools/memory_write/", {"content": "Noted by ops."}).json()
    assert call(ann, "memory_get", {"id": written["id"]})["agent"] == "ops"


@pytest.mark.parametrize("path", ["nobody/", "nobody/tools/", "Default/", "default/tools/a%20b/"])
def test_unknown_agents_are_not_found(ann, path):
    assert ann.get(AGENTS + path).status_code == 404


def test_agents_come_in_pages(root):
    for number in range(5):
        roster.add(Principal(is_admin=True), f"agent-{number}")
    page = root.get(AGENTS, {"page_size": 4}).json()
    assert len(page["results"]) == 4
    assert len(root.get(page["next"]).json()["results"]) == 2


@pytest.mark.parametrize("cursor", ["x", "cD0lMDA=", "bz1hYmM=", "cD0A"])
def test_cursor_that_was_not_given_out_is_refused(ann, cursor):
    assert ann.get(AGENTS, {"cursor": cursor}).status_code == 400


@pytest.mark.parametrize("slash", ["", "/"])
def test_every_path_answers_with_and_without_its_slash(ann, slash):
    for path in ("/api/agents", "/api/agents/default", "/api/agents/default/tools"):
        assert ann.get(path + slash).status_code == 200
    assert (
        ann.post(f"/api/agents/default/tools/memory_search{slash}", {"query": "x"}).status_code
        == 200
    )
    failure = {"tool": "mcp", "error": "Unknown tool: a"}
    assert ann.post(f"/api/agents/default/hints{slash}", failure).status_code == 200


def test_finding_an_unknown_tool_raises():
    with pytest.raises(NotFound):
        tools.find("x" * 100_000)
