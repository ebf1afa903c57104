"""What a caller says about its run: on whose behalf, which agent, what kind, which conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goclaw_site.errors import InvalidInput
from memory.drafts import MAX_AGENT, check_line, check_text
from memory.vocabulary import AUTONOMOUS_RUNS, RUN_KINDS

HEADER = "X-GoClaw-Context"
FIELD = "context"
MAX_HEADER = 8_192
MAX_CHANNEL = 64
MAX_EXTERNAL_ID = 500
MAX_DISPLAY_NAME = 200
MAX_SESSION = 200

_SPEAKER = ("channel", "external_id", "display_name")
_KNOWN = ("on_behalf_of", "agent", "run_kind", "session", "shared", "confirmed")


@dataclass(frozen=True)
class Speaker:
    """A person as a channel knows them; the id is kept exactly as given."""

    channel: str
    external_id: str
    display_name: str = ""


@dataclass(frozen=True)
class CallContext:
    """One run of an agent. `confirmed` is None where the caller does not say."""

    on_behalf_of: Speaker | None = None
    agent: str | None = None
    run_kind: str = "chat"
    session: str | None = None
    shared: bool = False
    confirmed: bool | None = None

    @property
    def autonomous(self) -> bool:
        """Whether no person watches the run, whoever is named."""
        return self.run_kind in AUTONOMOUS_RUNS


def from_header(text: str) -> CallContext:
    """Return the context of a header as WSGI hands it over. Raise InvalidInput."""
    if len(text) > MAX_HEADER:
        raise InvalidInput(f"{HEADER} is longer than {MAX_HEADER:,} bytes.", field=HEADER)
    try:
        value = json.loads(text.encode("latin-1").decode("utf-8"))
    except (UnicodeError, ValueError, RecursionError):
        raise InvalidInput(f"{HEADER} is not JSON in UTF-8.", field=HEADER) from None
    return parse(value, HEADER)


def parse(value: Any, name: str = FIELD) -> CallContext:
    """Return the context of a JSON value; `name` stands in messages. Raise InvalidInput."""
    given = _object(name, value, _KNOWN)
    return CallContext(
        on_behalf_of=_speaker(name, given.get("on_behalf_of")),
        agent=_line(f"{name}.agent", given.get("agent"), MAX_AGENT),
        run_kind=_run_kind(name, given.get("run_kind")),
        session=_line(f"{name}.session", given.get("session"), MAX_SESSION),
        shared=_flag(f"{name}.shared", given.get("shared")) or False,
        confirmed=_flag(f"{name}.confirmed", given.get("confirmed")),
    )


def _speaker(name: str, value: Any) -> Speaker | None:
    if value is None:
        return None
    here = f"{name}.on_behalf_of"
    given = _object(here, value, _SPEAKER)
    return Speaker(
        channel=_exact(f"{here}.channel", given.get("channel"), MAX_CHANNEL),
        external_id=_exact(f"{here}.external_id", given.get("external_id"), MAX_EXTERNAL_ID),
        display_name=_line(f"{here}.display_name", given.get("display_name"), MAX_DISPLAY_NAME)
        or "",
    )


def _exact(name: str, value: Any, limit: int) -> str:
    """An id is compared, never shown as it is: nothing is trimmed or folded."""
    if value is None:
        raise InvalidInput(f"{name} is missing.", field=name)
    text = check_text(name, value)
    if not text.strip():
        raise InvalidInput(f"{name} is empty.", field=name)
    if len(text) > limit:
        raise InvalidInput(
            f"{name} has {len(text):,} characters; the limit is {limit}.", field=name
        )
    return text


def _run_kind(name: str, value: Any) -> str:
    if value is None:
        return "chat"
    if not isinstance(value, str) or value not in RUN_KINDS:
        known = ", ".join(RUN_KINDS)
        raise InvalidInput(f"{name}.run_kind must be one of {known}.", field=f"{name}.run_kind")
    return value


def _object(name: str, value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a JSON object.", field=name)
    for key in value:
        if key not in known:
            inner = f"{name}.{str(key)[:40]}"
            raise InvalidInput(f"{inner} is not known; there are {', '.join(known)}.", field=inner)
    return value


def _line(name: str, value: Any, limit: int) -> str | None:
    return None if value is None else check_line(name, value, limit) or None


def _flag(name: str, value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise InvalidInput(f"{name} must be true or false.", field=name)
