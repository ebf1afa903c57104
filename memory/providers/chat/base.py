"""What a chat provider is: a subclass writes one method, `send`."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from memory.providers.chat.choices import Choice
from memory.providers.failures import REJECTED, CallFailed
from memory.providers.patience import patiently

USER = "user"
ASSISTANT = "assistant"

#: How an answer of a given form is asked for: by the provider's own means for a schema, by a mode
#: that gives any JSON, or by words alone.
SCHEMA = "schema"
JSON = "json"
PLAIN = "plain"

_FORM = (
    "Answer with one JSON object and nothing else: no words around it, no code fence. "
    "It must fit this JSON schema:\n"
)


@dataclass(frozen=True)
class Message:
    """One turn; `role` is USER or ASSISTANT."""

    role: str
    text: str


@dataclass(frozen=True)
class Form:
    """The form of an answer: a pydantic model, whose docstring says what the answer is for."""

    schema: type[BaseModel]

    @property
    def name(self) -> str:
        """Return its name as providers allow it."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.schema.__name__).lower().strip("_")[:60]

    @property
    def about(self) -> str:
        """Return what the answer is."""
        return (self.schema.__doc__ or "").strip().partition("\n")[0] or "The answer."

    @property
    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return self.schema.model_json_schema()


@dataclass(frozen=True)
class Request:
    """What is asked of a model. `form` is None where any words will do."""

    messages: tuple[Message, ...]
    system: str = ""
    max_tokens: int = 1024
    form: Form | None = None

    def in_words(self) -> Request:
        """Return the same with the form described in the system's words."""
        assert self.form is not None
        schema = json.dumps(self.form.json_schema, ensure_ascii=False)
        return replace(self, system=f"{self.system}\n\n{_FORM}{schema}".strip())


@dataclass(frozen=True)
class Answer:
    """What a model said. `value` is set where the form's own means gave it as data."""

    text: str
    value: Any = None
    input_tokens: int = 0
    output_tokens: int = 0
    truncated: bool = False


class ChatProvider:
    """One model at one endpoint; safe to use from several threads.

    `endpoint` is what the circuit and the accounts know it by.
    """

    #: The ways to ask for a form, the best first; one that was refused is not tried again.
    ways: tuple[str, ...] = (SCHEMA, PLAIN)

    def __init__(self, choice: Choice) -> None:
        self.kind = choice.kind
        self.model = choice.model
        self.host = choice.host
        self.endpoint = choice.endpoint
        self.timeout_seconds = choice.timeout_seconds
        self.max_tokens = choice.max_tokens
        self._way = 0

    @property
    def who(self) -> str:
        """How messages call it."""
        return f"The model provider {self.host}"

    def send(self, request: Request, way: str, seconds: float) -> Answer:
        """Make one call. Raise CallFailed; anything else that is raised counts as nonsense."""
        raise NotImplementedError

    def answer(self, request: Request, seconds: float | None = None) -> Answer:
        """Call, again where that may mend, within `timeout_seconds` or less. Raise CallFailed."""
        most = min(self.timeout_seconds, seconds or self.timeout_seconds)
        return patiently(lambda left: self._any_way(request, left), most)

    def _any_way(self, request: Request, seconds: float) -> Answer:
        if request.form is None:
            return self.send(request, PLAIN, seconds)
        end = time.monotonic() + seconds
        for number, way in enumerate(self.ways[self._way :], self._way):
            asked = request if way == SCHEMA else request.in_words()
            try:
                answer = self.send(asked, way, max(end - time.monotonic(), 0.05))
            except CallFailed as error:
                if error.kind != REJECTED or way == self.ways[-1]:
                    raise
                continue
            # Only a way that worked is remembered: the request itself may have been refused.
            self._way = number
            return answer
        raise AssertionError("the last way returns or raises")
