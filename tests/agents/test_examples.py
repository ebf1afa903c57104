"""The examples run as their README says."""

import json
import os
import subprocess
import sys

import pytest

from tests.agents.served import ROOT
from tests.goclaw_site.running import free_port, until

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def model():
    port = free_port()
    process = subprocess.Popen([sys.executable, str(EXAMPLES / "scripted_model.py"), str(port)])
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(10)


def run(served, script, *arguments, who="ann", given="", **env):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *arguments],
        env={**os.environ, "GOCLAW_URL": served.url, "GOCLAW_API_KEY": served.keys[who], **env},
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def test_agent_is_forty_lines_or_so():
    lines = (EXAMPLES / "agent.py").read_text().splitlines()
    code = [
        line for line in lines if line.strip() and not line.startswith(('"""', "import", "from"))
    ]
    assert len(code) <= 40


def test_agent_remembers_and_recalls_in_another_run(served, model):
    asked = "Remember that I drink my coffee black."
    assert until(lambda: run(served, "agent.py", asked, MODEL_URL=model)[0] == 0)
    answer = run(served, "agent.py", "How do I take my coffee?", MODEL_URL=model)
    assert answer == (0, "I drink my coffee black.", "")


def test_agent_of_another_person_does_not_know(served, model):
    answer = run(served, "agent.py", "How do I take my coffee?", who="bob", MODEL_URL=model)
    assert answer == (0, "I do not know.", "")


def test_agent_lives_with_a_refusal(served, model):
    asked = "Remember that this key may only read."
    status, said, _ = run(served, "agent.py", asked, who="reader", MODEL_URL=model)
    assert (status, said) == (0, "I will remember that.")


def entry(kind, content, second, **more):
    return {
        "type": kind,
        "message": {"role": kind, "content": content},
        "timestamp": f"2026-11-29T09:00:{second:02}.000Z",
        **more,
    }


@pytest.fixture
def transcript(tmp_path):
    lines = [
        {"type": "summary", "summary": "Coffee"},
        entry("user", "Our staging cluster is called bluebird.", 1),
        entry("assistant", [{"type": "text", "text": "Noted: staging is bluebird."}], 2),
        entry("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}], 3),
        entry("user", [{"type": "tool_result", "content": "secret output"}], 4),
        entry("user", "<command-name>/clear</command-name>", 5, isMeta=True),
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_hook_posts_turns_once_and_brings_them_back(served, transcript):
    stop = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(transcript)}
    for _ in range(2):
        assert run(served, "claude_code_hook.py", given=json.dumps(stop)) == (0, "", "")
    listed = served.send("GET", "/api/memory/?source=s1", who="ann").json["results"]
    assert sorted(row["content"] for row in listed) == [
        "Noted: staging is bluebird.",
        "Our staging cluster is called bluebird.",
    ]
    assert {row["scope"] for row in listed} == {"personal"}
    prompt = {
        "hook_event_name": "UserPromptSubmit",
        "prompt": "What is our staging cluster called?",
    }
    status, said, _ = run(served, "claude_code_hook.py", given=json.dumps(prompt))
    assert status == 0
    assert "bluebird" in said
    assert run(served, "claude_code_hook.py", who="bob", given=json.dumps(prompt))[1] == ""


@pytest.mark.parametrize("given", ["", "not json", "{}", '{"hook_event_name": "UserPromptSubmit"}'])
def test_hook_never_stops_claude(served, given):
    status, said, complaint = run(served, "claude_code_hook.py", given=given)
    assert (status, said) == (0, "")
    assert complaint.startswith("GoClaw Memory was not reached")


def test_hook_lives_without_a_server(served, transcript):
    stop = {"hook_event_name": "Stop", "session_id": "s2", "transcript_path": str(transcript)}
    nowhere = f"http://127.0.0.1:{free_port()}"
    assert run(served, "claude_code_hook.py", given=json.dumps(stop), GOCLAW_URL=nowhere)[0] == 0
