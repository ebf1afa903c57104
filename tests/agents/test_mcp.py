"""MCP as clients see it: the official one by every door and key, and others that misbehave."""

import asyncio
import json
import socket
import subprocess
import sys
import time
import uuid
from urllib.parse import quote

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from agents import tools
from agents.mcp import door, server, workers
from goclaw_site.errors import InvalidInput, Unavailable
from memory.access import Principal
from tests.agents.clients import DOORS, connected, using
from tests.agents.served import ROOT

INVALID_PARAMS = -32602


def rpc(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def tool_call(name, arguments):
    return rpc("tools/call", {"name": name, "arguments": arguments})


async def call_everything(client):
    """Call each tool once; return what it answered, by name."""
    word = f"w{uuid.uuid4().hex[:12]}"
    listed = (await client.list_tools()).tools
    answers = {"listed": {tool.name: tool for tool in listed}}
    written = await client.call_tool("memory_write", {"content": f"The word is {word}."})
    answers["memory_write"] = written
    memory_id = str(uuid.uuid4()) if written.is_error else written.structured_content["id"]
    for name, arguments in (
        ("memory_search", {"query": word}),
        ("memory_get", {"id": memory_id}),
        ("memory_forget", {"id": memory_id}),
        ("report_tool_error", {"tool": "db_query", "error": "no such table: usres"}),
        ("wiki_write", {"slug": f"notes/{word}", "body": f"# Guide\n\nThe word is {word}."}),
        ("wiki_search", {"query": word}),
        ("wiki_read", {"slug": f"notes/{word}"}),
    ):
        answers[name] = await client.call_tool(name, arguments)
    return answers


@pytest.mark.parametrize("way", DOORS)
def test_person_uses_every_tool(served, way):
    answers = using(served, "root", way, call_everything)
    listed = answers.pop("listed")
    # A tool that is added and not called here fails.
    assert set(listed) == set(answers) == {tool.name for tool in tools.tools()}
    for answer in answers.values():
        assert not answer.is_error
        assert json.loads(answer.content[0].text) == answer.structured_content
    assert len(answers["memory_search"].structured_content["results"]) == 1
    assert answers["report_tool_error"].structured_content["fixable"]
    assert answers["wiki_write"].structured_content["waits_for_review"]
    assert answers["wiki_read"].structured_content["title"] == "Guide"
    assert len(answers["wiki_search"].structured_content["results"]) == 1
    assert listed["memory_search"].annotations.read_only_hint
    assert listed["memory_forget"].annotations.destructive_hint
    assert listed["memory_write"].input_schema["required"] == ["content"]


@pytest.mark.parametrize("way", DOORS)
def test_read_only_key_reads_and_is_told_why_it_may_not_write(served, way):
    answers = using(served, "reader", way, call_everything)
    for name in ("memory_write", "memory_forget", "wiki_write"):
        assert answers[name].is_error
        assert "may only read" in answers[name].content[0].text
    assert not answers["memory_search"].is_error
    assert answers["memory_get"].structured_content["code"] == "not_found"


@pytest.mark.parametrize("way", DOORS)
def test_gateway_key_writes_notes_alone(served, way):
    async def work(client):
        answers = await call_everything(client)
        word = f"w{uuid.uuid4().hex[:12]}"
        note = {"content": f"Noted {word}.", "scope": "agent_notes"}
        return answers, await client.call_tool("memory_write", note)

    answers, note = using(served, "gateway", way, work)
    assert "no person" in answers["memory_write"].content[0].text
    assert not note.is_error


def test_gateway_speaks_for_a_person_by_the_context_header(served):
    context = {
        "on_behalf_of": {"channel": "discord", "external_id": "42", "display_name": "Cleo"},
        "agent": "ops",
        "session": "s1",
    }
    headers = {"X-GoClaw-Context": json.dumps(context)}
    answers = using(served, "gateway", "http", call_everything, **headers)
    assert not answers["memory_write"].is_error
    assert answers["memory_write"].structured_content["scope"] == "personal"
    record = answers["memory_get"].structured_content
    assert (record["agent"], record["provenance"]["door"]) == ("ops", "mcp")
    other = {"X-GoClaw-Context": json.dumps(context | {"run_kind": "cron"})}
    answers = using(served, "gateway", "http", call_everything, **other)
    assert "cron run" in answers["memory_write"].content[0].text


@pytest.mark.parametrize("header", ["", "{", "[]", '{"agent": 5}', "\xff", '{"x": 1}', "9" * 9_000])
def test_wrong_context_is_refused(served, header):
    reply = served.send("POST", "/mcp", rpc("tools/list"), "gateway", X_GoClaw_Context=header)
    assert reply.status == 400
    assert "X-GoClaw-Context" in reply.json["detail"]


def test_resources_are_what_one_may_read(served):
    async def work(client):
        content = f"A resource {uuid.uuid4().hex}."
        written = await client.call_tool("memory_write", {"content": content})
        uri = f"memory://{written.structured_content['id']}"
        listed = [row.uri for row in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        read = await client.read_resource(uri)
        return content, uri, listed, templates[0].uri_template, read.contents[0].text

    content, uri, listed, template, text = using(served, "ann", "http", work)
    assert uri in listed
    assert template == "memory://{id}"
    assert text == content

    async def peek(client):
        listed = [row.uri for row in (await client.list_resources()).resources]
        said = {}
        for asked in (uri, f"memory://{uuid.uuid4()}", "memory://x", "memory://"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(asked)
            said[asked] = (caught.value.code, caught.value.message)
        with pytest.raises(MCPError, match="memory://<id> and wiki://<slug>"):
            await client.read_resource("file:///etc/passwd")
        return listed, said

    listed, said = using(served, "bob", "http", peek)
    assert uri not in listed
    assert set(said.values()) == {(INVALID_PARAMS, "No such record.")}


def test_pages_are_resources(served):
    slug = f"handbuch/größe-{uuid.uuid4().hex[:8]}"
    path = f"/api/memory/wiki/pages/{quote(slug)}/"
    made = served.send("PUT", path, {"body": "# Größe\n\ntext"}, who="root")
    assert made.status == 201, made.json

    async def work(client):
        listed = [row.uri for row in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        read = await client.read_resource(f"wiki://{quote(slug)}")
        said = []
        for asked in ("wiki://nothing", "wiki://..", "wiki://", "wiki://%ff", "wiki://a%20b"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(asked)
            said.append(caught.value.code)
        return listed, [row.uri_template for row in templates], read.contents[0], said

    listed, templates, content, said = using(served, "bob", "http", work)
    assert f"wiki://{quote(slug)}" in [uri for uri in listed if "wiki" in uri]
    assert "wiki://{+slug}" in templates
    assert (content.text, content.mime_type) == ("# Größe\n\ntext", "text/markdown")
    assert set(said) == {INVALID_PARAMS}


@pytest.mark.parametrize("way", DOORS[:2])
def test_unknown_tools_and_wrong_arguments(served, way):
    async def work(client):
        with pytest.raises(MCPError, match="there are memory_search") as caught:
            await client.call_tool("memory_serch", {})
        assert caught.value.code == INVALID_PARAMS
        said = []
        for arguments in ({}, {"query": 5}, {"query": "x" * 200_001}, {"query": "x", "limit": 1}):
            answer = await client.call_tool("memory_search", arguments)
            assert answer.is_error
            said.append((answer.structured_content["field"], answer.content[0].text))
        return said

    missing, wrong, enormous, extra = using(served, "ann", way, work)
    assert missing == ("query", "query is missing.")
    assert wrong == ("query", "query must be text, not 5.")
    assert enormous == ("query", "query has 200,001 characters; the limit is 200,000.")
    assert extra[0] == "limit"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("", "key is needed"),
        ("Bearer", "key is needed"),
        ("Basic YTpi", "key is needed"),
        ("Bearer gc_0000000000_nothing", "not known"),
        ("Bearer x", "not known"),
        (f"Bearer {'x' * 20_000}", "not known"),
    ],
)
def test_no_key_or_a_wrong_one_is_401(served, header, words):
    headers = {"Authorization": header} if header else {}
    reply = served.send("POST", "/mcp", rpc("tools/list"), **headers)
    assert reply.status == 401
    assert reply.json["code"] == "unauthorized"
    assert words in reply.json["detail"]
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_revoked_key_is_told_so(served):
    reply = served.send("POST", "/mcp", rpc("tools/list"), "revoked")
    assert (reply.status, reply.json["detail"]) == (401, "This key is revoked.")


def test_clients_may_skip_the_handshake(served):
    assert served.send("POST", "/mcp", rpc("tools/list"), "ann").json["result"]["tools"]
    reply = served.send("POST", "/mcp", tool_call("memory_search", {"query": "x"}), "ann")
    assert reply.json["result"]["structuredContent"]["mode"] == "keyword"
    assert "Mcp-Session-Id" not in reply.headers
    stray = served.send("POST", "/mcp", rpc("tools/list"), "ann", Mcp_Session_Id="of-another-life")
    assert stray.status == 200


def test_clients_reconnect(served):
    async def work():
        for _ in range(3):
            async with connected(served, "ann") as client:
                assert not (await client.call_tool("memory_search", {"query": "x"})).is_error
        async with connected(served, "ann") as one, connected(served, "ann", "http-legacy") as two:
            calls = (each.call_tool("memory_search", {"query": "x"}) for each in (one, two) * 5)
            return await asyncio.gather(*calls)

    assert not any(answer.is_error for answer in asyncio.run(work()))


BATCH = [rpc("tools/list", number=number) for number in range(3)]
GARBAGE = [
    b"", b"{", b"null", b"[]", b"\xff\xfe\x00", b"[" * 100_000, b'"text"', b"5", b"{}",
    b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": []}',
    json.dumps(BATCH).encode(), b"9" * 50_000,
]  # fmt: skip


@pytest.mark.parametrize("version", ["", "2026-07-28", "1999-01-01"])
@pytest.mark.parametrize("number", range(len(GARBAGE)))
def test_garbage_and_batches_are_refused_and_hurt_nobody(served, number, version):
    headers = {"MCP-Protocol-Version": version} if version else {}
    reply = served.send("POST", "/mcp", GARBAGE[number], "ann", **headers)
    # The SDK takes a message with an id that is none for a notification: acknowledged, dropped.
    dropped = (reply.status, reply.body) == (202, b"")
    assert dropped or 400 <= reply.status < 500 or "error" in reply.json
    assert b"Traceback" not in reply.body
    assert served.send("POST", "/mcp", rpc("tools/list"), "ann").status == 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "\x00"},
        {"query": "\ud800 lone"},
        {"query": 'NEAR("' + "*" * 5_000},
        {"query": "x", "max_results": 1e400},
        {"query": "x", "metadata": [[[[]]]] * 1000},
        {"content": "\ud800"},
        {"content": "x\x00"},
    ],
)
def test_odd_arguments_get_an_answer(served, arguments):
    name = "memory_search" if "query" in arguments else "memory_write"
    reply = served.send("POST", "/mcp", tool_call(name, arguments), "ann")
    assert reply.status in (200, 400)
    assert b"Traceback" not in reply.body


def test_unknown_methods_are_method_not_found(served):
    for method in ("prompts/list", "logging/setLevel", "nonsense", "tools/list/all"):
        reply = served.send("POST", "/mcp", rpc(method), "ann")
        assert reply.json["error"]["code"] in (-32601, INVALID_PARAMS)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_there_is_no_stream_and_no_session(served, method):
    reply = served.send(method, "/mcp", None, "ann")
    assert (reply.status, reply.headers["Allow"]) == (405, "POST")
    assert served.send(method, "/mcp").status == 401


def test_path_with_a_slash_is_the_same_door(served):
    assert served.send("POST", "/mcp/", rpc("tools/list"), "ann").status == 200


def test_too_large_a_body_is_refused_before_it_is_read(served):
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as raw:
        raw.sendall(
            f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {10**9}\r\n"
            f"Authorization: Bearer {served.keys['ann']}\r\n\r\n".encode()
        )
        assert raw.recv(200).startswith(b"HTTP/1.1 413")


def test_too_large_a_body_in_chunks_is_refused(served):
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as raw:
        raw.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Authorization: Bearer " + served.keys["ann"].encode() + b"\r\n\r\n"
        )
        try:
            for _ in range(door.MAX_BODY_BYTES // 0x100000 + 2):
                raw.sendall(chunk)
        except OSError:
            pass  # it has closed its side already
        assert raw.recv(200).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:1"}, 200),
        ({"Host": "127.0.0.1"}, 200),
        ({"Host": "evil.example"}, 400),
        ({"Host": "localhost.evil.example"}, 400),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "a b"}, 400),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[::1"}, 403),
    ],
)
def test_host_and_origin_follow_allowed_hosts(served, headers, status):
    reply = served.send("POST", "/mcp", rpc("tools/list"), "ann", **headers)
    assert reply.status == status, reply.body


@pytest.mark.parametrize("path", ["/mcp/x", "/mcp/mcp2", "/mcpx", "/mcp//x"])
def test_other_paths_are_not_found(served, path):
    assert served.send("POST", path, rpc("tools/list"), "ann").status == 404


def test_content_type_must_be_json(served):
    reply = served.send("POST", "/mcp", b"x", "ann", Content_Type="text/plain")
    assert reply.status == 400


def test_caller_who_hangs_up_leaves_the_server_well(served):
    body = json.dumps(tool_call("memory_search", {"query": "x"})).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/json\r\nAccept: application/json\r\n"
        f"Authorization: Bearer {served.keys['ann']}\r\n\r\n"
    ).encode()
    for cut in (10, len(head), len(head) + 5, len(head) + len(body)):
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", served.port), timeout=20) as raw:
                raw.sendall((head + body)[:cut])
    assert served.send("POST", "/mcp", tool_call("memory_search", {"query": "x"}), "ann").json


def test_cancelling_leaves_the_client_usable(served):
    async def work(client):
        asked = asyncio.create_task(client.call_tool("memory_search", {"query": "x" * 4_000}))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        return await client.call_tool("memory_search", {"query": "x"})

    for way in ("http", "http-legacy"):
        assert not using(served, "ann", way, work).is_error


def stdio(served, who):
    """Start `goclaw mcp` as this person."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "mcp"],
        env=served.environment(who),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_stdio_survives_garbage_and_ends_with_its_input(served):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    lines = [json.dumps(rpc("initialize", hello)).encode(), b"garbage", b"\xff\xfe", b"[]"]
    lines += [json.dumps(BATCH).encode(), b"{}", json.dumps(rpc("ping", number=7)).encode()]
    with stdio(served, "ann") as process:
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        # Closing at once would cancel what has not been answered.
        first = json.loads(process.stdout.readline())
        while (answer := json.loads(process.stdout.readline())).get("id") != 7:
            pass
        rest, complaint = process.communicate(timeout=60)
    assert first["result"]["serverInfo"]["name"] == "goclaw-memory"
    assert answer["result"] == {}
    assert (process.returncode, rest) == (0, b""), complaint


def test_stdio_without_a_good_key_is_a_plain_refusal(served):
    with stdio(served, "revoked") as process:
        out, err = process.communicate(b"", timeout=60)
    assert (process.returncode, out) == (1, b"")
    assert err.decode().splitlines() == ["goclaw: This key is revoked."]


def test_work_that_nobody_waits_for_is_dropped():
    done = []

    async def work():
        with workers.Workers(1) as pool:
            gate = asyncio.create_task(pool.run(lambda: asyncio.run(asyncio.sleep(0.2))))
            await asyncio.sleep(0.05)
            dropped = asyncio.create_task(pool.run(lambda: done.append("dropped")))
            await asyncio.sleep(0)
            dropped.cancel()
            await pool.run(lambda: done.append("kept"))
            await gate

    asyncio.run(work())
    assert done == ["kept"]


def test_too_much_work_is_refused(monkeypatch):
    monkeypatch.setattr(workers, "MAX_WAITING", 0)

    async def work():
        with workers.Workers(1) as pool:
            await pool.run(lambda: None)

    with pytest.raises(Unavailable):
        asyncio.run(work())


def in_process(work):
    """Run `work(client)` against the handlers themselves, with nobody as the caller."""

    async def run():
        with workers.Workers(1) as pool:
            built = server.build(pool, lambda context: Principal())
            async with Client(built) as client:
                return await work(client)

    return asyncio.run(run())


def test_call_past_the_limit_is_told_so(monkeypatch):
    monkeypatch.setattr(server, "TIME_LIMIT", 0.05)
    monkeypatch.setattr(tools, "call", lambda *given: time.sleep(0.5))
    said = in_process(lambda client: client.call_tool("memory_search", {"query": "x"}))
    assert said.is_error
    assert "took longer" in said.content[0].text


def test_failure_of_the_server_is_logged_and_not_shown(monkeypatch, caplog):
    def fail(*given):
        raise RuntimeError("hunter22")

    monkeypatch.setattr(tools, "call", fail)
    said = in_process(lambda client: client.call_tool("memory_search", {"query": "x"}))
    assert said.is_error
    assert "hunter22" not in str(said)
    assert "hunter22" in caplog.text


def test_hint_stands_in_the_text_of_the_error(monkeypatch):
    def fail(*given):
        raise InvalidInput("no such column: a", hint="Read the columns.")

    monkeypatch.setattr(tools, "call", fail)
    said = in_process(lambda client: client.call_tool("memory_search", {"query": "x"}))
    assert said.content[0].text == "no such column: a\nHint: Read the columns."
    assert said.structured_content["hint"] == "Read the columns."


def test_errors_of_work_reach_the_caller():
    async def work():
        with workers.Workers(1) as pool:
            await pool.run(lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(work())
