"""Who asks, from what a request or a command brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agents import contexts, keys, throttling
from agents.principals import NO_CONTEXT, for_key
from goclaw_site.errors import Unauthorized
from memory.access import Principal

DOOR = "mcp"


def for_headers(headers: Mapping[str, str], address: str) -> Principal:
    """Return the principal of a request, from its lower-case headers and the client's address.

    Raises Unauthorized, Throttled, and what a wrong context raises.
    """
    scheme, _, text = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise Unauthorized("A key is needed: Authorization: Bearer gc_…")
    key = throttling.admit_key(text.strip(), address)
    given = headers.get(contexts.HEADER.lower())
    context = NO_CONTEXT if given is None else contexts.from_header(given)
    return replace(for_key(key, context), door=DOOR)


def for_text(text: str, context: contexts.CallContext) -> Principal:
    """Return the principal of a key that a command was given."""
    return replace(for_key(keys.find(text), context), door=DOOR)
