"""`goclaw providers check` against a real server that works, fails, or is not there."""

import pytest

from memory.providers import chat
from tests.contract.chatting import model_serving, status

KEY = "sk-canary-5566778899aabbcc"


@pytest.fixture
def server(configure, monkeypatch, no_model):
    monkeypatch.setattr("memory.providers.patience.pause", lambda seconds: None)
    with model_serving() as served:
        configure(
            {
                "memory.search.provider": "none",
                "ai.agent.provider": "anthropic",
                "ai.agent.model": "big",
                "ai.agent.base_url": served.address,
                "ai.agent.api_key": KEY,
            }
        )
        chat.reset()
        yield served


def test_what_answers_is_told_with_its_time(server, run):
    ran = run("providers", "check")
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["embeddings", "off"],
        ["agent", "ok"],
        ["background", "ok"],
    ]
    assert "big" in lines[1]
    assert "ms)" in lines[1]


def test_what_fails_is_told_in_words_and_the_status_says_so(server, run):
    server.fault = status(401)
    ran = run("providers", "check")
    assert ran.status == 1
    assert "does not accept the key" in ran.out
    assert KEY not in ran.out + ran.err
    ran = run("providers", "check", "--json")
    assert ran.status == 1
    parts = {trial["part"]: (trial["configured"], trial["ok"]) for trial in ran.json}
    assert parts == {
        "embeddings": (False, True), "agent": (True, False), "background": (True, False),
    }  # fmt: skip


def test_nothing_configured_is_no_failure(configure, run, no_model):
    ran = run("providers", "check")
    assert ran.status == 0
    assert ran.out.count(" off ") == 3
