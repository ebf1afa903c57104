"""What every chat provider keeps, whichever wire it speaks, over a real HTTP server."""

import logging
import time
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from goclaw_site.errors import ProviderError
from memory.providers import chat
from memory.providers.chat import choosing
from memory.providers.chat.choices import Choice
from memory.providers.failures import CallFailed
from tests.contract import chatting
from tests.contract.chatting import ModelServer, model_serving, raw, status

pytestmark = pytest.mark.django_db

KEY = "sk-canary-9f8e7d6c5b4a39281706"
WIRES = {"anthropic": "", "openai": "/v1"}


class Verdict(BaseModel):
    """Whether the newer statement replaces the older one."""

    model_config = ConfigDict(extra="forbid")

    verdict: Literal["replaces", "keeps", "unsure"] = Field(description="What is to be done.")
    reason: str = Field("", description="Why, in one sentence.")
    default: str = ""


@pytest.fixture
def server():
    with model_serving() as served:
        yield served


@pytest.fixture(params=WIRES)
def wire(request) -> str:
    return request.param


@pytest.fixture
def provider(server, wire, monkeypatch):
    monkeypatch.setattr("memory.providers.patience.pause", lambda seconds: None)
    yield choosing.make(_choice(server, wire))
    chat.reset()


def _choice(server: ModelServer, wire: str, seconds: float = 20.0) -> Choice:
    return Choice(wire, "small", server.address + WIRES[wire], KEY, seconds)


def impatient(server: ModelServer, wire: str) -> chat.ChatProvider:
    """Wait for no answer longer than a moment: for those that never come."""
    return choosing.make(_choice(server, wire, 0.3))


def ask(provider, prompt="Is it so?", **fields):
    return chat.ask(provider, Verdict, system="Judge.", prompt=prompt, purpose="test", **fields)


def say(provider, text="hello"):
    return chat.complete(provider, [chat.Message(chat.USER, text)], purpose="test")


def test_words(server, provider):
    server.script(["good morning"])
    answer = say(provider)
    assert answer.text == "good morning"
    assert (answer.input_tokens, answer.output_tokens, answer.truncated) == (25, 7, False)


def test_what_is_sent(server, provider, wire):
    turns = [
        chat.Message(chat.USER, "one"), chat.Message(chat.ASSISTANT, "two"),
        chat.Message(chat.USER, "three"),
    ]  # fmt: skip
    chat.complete(provider, turns, system="Be brief.", purpose="test", max_tokens=99)
    body, headers = server.requests[0], server.headers[0]
    assert body["model"] == "small"
    assert [turn["content"] for turn in body["messages"]][-3:] == ["one", "two", "three"]
    assert body["max_tokens"] == 99
    assert headers["accept-encoding"] == "identity"
    if wire == "anthropic":
        assert body["system"] == "Be brief."
    else:
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert headers["authorization"] == f"Bearer {KEY}"


def test_a_form_is_asked_for_by_the_providers_own_means(server, provider, wire):
    server.script([{"verdict": "keeps"}])
    assert ask(provider) == Verdict(verdict="keeps")
    body = server.requests[0]
    if wire == "anthropic":
        assert body["tool_choice"] == {"type": "tool", "name": "verdict"}
        assert body["tools"][0]["input_schema"]["required"] == ["verdict"]
        assert body["tools"][0]["description"].startswith("Whether the newer")
    else:
        form = body["response_format"]["json_schema"]
        assert form["strict"] is True
        assert form["schema"]["required"] == ["verdict", "reason", "default"]
        assert all("default" not in one for one in form["schema"]["properties"].values())


def test_where_a_form_is_refused_it_is_asked_for_in_words_from_then_on(server, provider):
    rest = len(provider.ways) - 1
    server.faults = [status(400)] * rest
    server.script(['Sure:\n```json\n{"verdict": "unsure"}\n```', {"verdict": "keeps"}])
    assert ask(provider).verdict == "unsure"
    assert ask(provider).verdict == "keeps"
    assert len(server.requests) == rest + 2
    words = str(server.requests[-1]["messages"]) + str(server.requests[-1].get("system"))
    assert "JSON schema" in words
    assert "tools" not in server.requests[-1]
    assert "response_format" not in server.requests[-1]


def test_a_request_that_is_refused_every_way_changes_no_way(server, provider):
    server.fault = status(400)
    with pytest.raises(CallFailed) as error:
        ask(provider)
    assert (error.value.kind, error.value.transient) == ("rejected", False)
    server.fault = None
    server.script([{"verdict": "keeps"}])
    ask(provider)
    assert {"tools", "response_format"} & set(server.requests[-1])


def test_one_repair_shows_the_model_its_answer_and_the_reason(server, provider):
    server.script([{"verdict": "perhaps"}, {"verdict": "unsure"}])
    assert ask(provider).verdict == "unsure"
    again = str(server.requests[1]["messages"])
    assert "perhaps" in again
    assert "verdict:" in again
    assert "Is it so?" in again


def test_there_is_no_second_repair(server, provider):
    server.script(["no idea", "still none", {"verdict": "keeps"}])
    with pytest.raises(ProviderError) as error:
        ask(provider)
    assert error.value.kind == "unusable"  # type: ignore[attr-defined]
    assert len(server.requests) == 2
    assert "no idea" not in error.value.message


def test_an_answer_that_was_cut_off_is_repaired(server, provider):
    server.faults = [chatting.cut_off]
    server.script([{"verdict": "keeps"}])
    assert ask(provider).verdict == "keeps"
    assert "cut off" in str(server.requests[1]["messages"])


FAULTS = {
    "wrong key": (status(401), "key", 1),
    "forbidden": (status(403), "key", 1),
    "unknown model": (status(404), "missing", 1),
    "no such address": (chatting.nowhere, "address", 1),
    "no such address, in JSON": (chatting.nowhere_in_json, "address", 1),
    "no credit": (status(402), "credit", 1),
    "quota": (status(429, "insufficient_quota"), "credit", 1),
    "too often": (status(429), "busy", 3),
    "too often, for an hour": (status(429, headers={"Retry-After": "3600"}), "busy", 1),
    "broken": (status(500), "broken", 3),
    "overloaded": (status(529, "overloaded_error"), "broken", 3),
    "too long": (status(413), "rejected", 1),
    "elsewhere": (status(302, headers={"Location": "http://127.0.0.2:9/v1"}), "redirected", 1),
    "elsewhere for ever": (status(308, headers={"Location": "/elsewhere"}), "redirected", 1),
    "hangs up": (chatting.hangs_up, "unreachable", 3),
    "hangs up at once": (chatting.hangs_up_at_once, "unreachable", 3),
    "declines": (chatting.refuses, "declined", 1),
    "says nothing": (chatting.empty, "nonsense", 1),
    "no JSON": (raw(b"{"), "nonsense", 1),
    "no object": (raw(b"[1, 2]"), "nonsense", 1),
    "null": (raw(b"null"), "nonsense", 1),
    "empty object": (raw(b"{}"), "nonsense", 1),
    "nothing at all": (raw(b""), "nonsense", 1),
    "a page to log in": (raw(b"<html>Log in</html>", "text/html"), "nonsense", 1),
    "words": (raw(b"fine", "text/plain"), "nonsense", 1),
    "no UTF-8": (raw(b'{"id": "\xff\xfe\x00"}'), "nonsense", 1),
    "other shapes": (raw(b'{"choices": 5, "content": 5, "usage": []}'), "nonsense", 1),
    "nested deeply": (raw(b"[" * 100_000), "nonsense", 1),
    "compressed": (raw(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "nonsense", 1),
    "huge": (chatting.huge, "oversized", 1),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_a_provider_error(server, provider, name, caplog):
    caplog.set_level(logging.DEBUG)
    fault, kind, tries = FAULTS[name]
    server.fault = fault
    with pytest.raises(CallFailed) as error:
        say(provider)
    assert error.value.kind == kind
    assert len(server.requests) == tries
    assert provider.host in error.value.message
    _keyless(error.value, caplog)


def _keyless(error: BaseException, caplog) -> None:
    """The key is in nothing that a person or a log is shown."""
    assert KEY not in caplog.text
    link: BaseException | None = error
    while link is not None:
        assert KEY not in f"{link!r}{link}"
        link = link.__cause__
    assert KEY not in repr(vars(error))


def test_after_a_fault_the_next_call_works(server, provider):
    server.faults = [status(429), status(503), chatting.hangs_up]
    with pytest.raises(CallFailed):
        say(provider)
    assert say(provider).text == "hello"


def test_a_busy_provider_is_asked_again(server, provider):
    server.faults = [status(429, headers={"Retry-After": "0"}), status(529)]
    assert say(provider).text == "hello"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("given", "waited"),
    [("7", 7), ("0", 0), ("-5", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0)],
)
def test_the_pause_that_is_asked_for_is_kept(server, provider, monkeypatch, given, waited):
    pauses: list[float] = []
    monkeypatch.setattr("memory.providers.patience.pause", pauses.append)
    server.faults = [status(429, headers={"Retry-After": given})]
    assert say(provider).text == "hello"
    assert pauses == [waited]


@pytest.mark.parametrize("given", ["soon", "nan", "inf", "", "1e999", "\u00b2"])
def test_a_pause_in_nonsense_is_none(server, provider, monkeypatch, given):
    pauses: list[float] = []
    monkeypatch.setattr("memory.providers.patience.pause", pauses.append)
    server.faults = [status(429, headers={"Retry-After": given.encode().decode("latin-1")})]
    assert say(provider).text == "hello"
    assert len(pauses) == 1
    assert 0 <= pauses[0] <= 4


@pytest.mark.parametrize(
    "fault",
    [chatting.held, chatting.held_after_headers, chatting.dripping],
    ids=lambda f: f.__name__,
)
def test_an_answer_that_does_not_come_is_given_up(server, wire, fault, caplog):
    caplog.set_level(logging.DEBUG)
    server.fault = fault
    began = time.monotonic()
    with pytest.raises(CallFailed) as error:
        say(impatient(server, wire))
    assert error.value.kind == "slow"
    assert time.monotonic() - began < 20
    _keyless(error.value, caplog)


def test_nobody_listens(server, wire, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("memory.providers.patience.pause", lambda seconds: None)
    with pytest.raises(CallFailed) as error:
        say(choosing.make(Choice(wire, "small", "http://127.0.0.1:9/v1", KEY)))
    assert error.value.kind == "unreachable"
    _keyless(error.value, caplog)


def test_a_name_and_password_in_an_address_are_not_told(wire):
    made = choosing.make(Choice(wire, "small", f"http://me:{KEY}@127.0.0.1:9/v1"))
    assert KEY not in made.who + made.endpoint + repr(made)


def test_odd_characters_go_out_and_come_back(server, provider):
    server.script([{"verdict": "keeps", "reason": '漢字 \ud800\x00 😀 \\ "'}])
    assert ask(provider, "\ud800\x00 漢字 😀").reason == '漢字 ? 😀 \\ "'
    assert "漢字 😀" in str(server.requests[0]["messages"])


def test_nothing_of_the_environment_is_used(server, wire, monkeypatch):
    for name in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", "from-the-environment")
        monkeypatch.setenv(f"{name}_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "from-the-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "from-the-environment")
    say(choosing.make(Choice(wire, "small", server.address + WIRES[wire])))
    assert "from-the-environment" not in str(server.headers)
