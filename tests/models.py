"""Scripted chat models for any test: one in the process, one behind real HTTP.

    def test_unsure_keeps(scripted_model):
        model = scripted_model([{"verdict": "unsure"}])       # answers in their order
        ...                                                   # what asks chat.background()
        assert "the gateway is" in model.prompts[0]

    scripted_model(lambda prompt: {"verdict": "replaces"})    # or from the prompt
    scripted_model(["Sure! ```json\\n{\\"verdict\\": 1}\\n```"])  # as models write it
    scripted_model([failure("busy"), {...}])                  # fails, then works
    scripted_model([])                                        # must not be asked at all

What may pass at once ("busy", "slow", "unreachable", "broken") is tried three times in one call, as
of a real provider, so three such lines make a call fail; "key" or "nonsense" needs one. After
three failed calls in a row the circuit is open: `chat.circuit.close(model)` ends that.

It serves both roles until the test ends and goes through everything but the network: reading,
validation, the one repair, accounting, the circuit. A script that is used up fails the test.
`model_server` gives the same scripts over HTTP in both wire formats, and every fault of a network:
see `tests/contract/chatting.py`.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from memory.providers import chat
from memory.providers.chat.base import Answer, ChatProvider, Request
from memory.providers.chat.choices import Choice
from memory.providers.failures import CallFailed

#: Text, an object, a whole Answer, or the failure of a call.
Scripted = str | dict[str, Any] | BaseModel | Answer | Exception
Script = Sequence[Scripted] | Callable[[str], Scripted]


class ScriptRanOut(BaseException):
    """More was asked than the script answers; no `except Exception` swallows it."""


class Lines:
    """Answers of a script, one after the other, whoever asks."""

    def __init__(self, script: Script) -> None:
        self._script = script if callable(script) else list(script)
        self.prompts: list[str] = []

    def next(self, prompt: str) -> Scripted:
        self.prompts.append(prompt)
        if callable(self._script):
            return self._script(prompt)
        if not self._script:
            raise ScriptRanOut(f"the script does not answer: {prompt[:300]}")
        return self._script.pop(0)


class ScriptedProvider(ChatProvider):
    """A chat model in the process; `requests` and `prompts` tell what it was asked."""

    def __init__(self, script: Script) -> None:
        super().__init__(Choice("scripted", "script", "http://scripted.test"))
        self.lines = Lines(script)
        self.requests: list[Request] = []

    @property
    def prompts(self) -> list[str]:
        return self.lines.prompts

    def send(self, request: Request, way: str, seconds: float) -> Answer:
        self.requests.append(request)
        said = self.lines.next(request.messages[-1].text)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Answer):
            return said
        return Answer(as_text(said), input_tokens=100, output_tokens=10)


def as_text(said: str | dict[str, Any] | BaseModel) -> str:
    if isinstance(said, BaseModel):
        return said.model_dump_json()
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def failure(kind: str, retry_after: float | None = None) -> CallFailed:
    """Return the failure of a call, such as 'busy', 'slow', 'unreachable', 'key', 'nonsense'."""
    return CallFailed("The scripted model", kind, f"fails: {kind}", retry_after)


@pytest.fixture
def scripted_model(monkeypatch) -> Iterator[Callable[[Script], ScriptedProvider]]:
    """Return a function that makes a scripted model and lets it serve every role."""
    monkeypatch.setattr("memory.providers.patience.pause", lambda seconds: None)

    def serve(script: Script) -> ScriptedProvider:
        provider = ScriptedProvider(script)
        chat.use(provider)
        return provider

    yield serve
    chat.reset()


@pytest.fixture
def no_model() -> Iterator[None]:
    """No chat model is set, whatever an earlier test configured."""
    chat.use(None)
    yield
    chat.reset()
