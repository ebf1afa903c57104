"""The tools of the memory: search, write, get, forget."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from rest_framework.utils.encoders import JSONEncoder

from agents.tools.registry import Tool
from goclaw_site.errors import NotFound
from memory import filters, queries, write
from memory.access import Principal
from memory.api.records import written_body
from memory.api.serializers import RecordDetailSerializer
from memory.drafts import (
    MAX_AGENT,
    MAX_DOMAIN,
    MAX_METADATA,
    MAX_POSITION,
    MAX_PREFIX,
    MAX_SOURCE_ID,
    MAX_SOURCE_KIND,
    MAX_TAG,
    MAX_TAGS,
    Draft,
    Source,
)
from memory.filters import MAX_VALUES, parse_time
from memory.search import SearchRequest, search
from memory.search.pipeline import MAX_RESULTS
from memory.vocabulary import ALL_KINDS, KINDS, PERSONAL, SCOPES, WRITABLE_SCOPES

MAX_QUERY = 200_000
_MAX_MOMENT = 64


def text_of(description: str, limit: int, **more: Any) -> dict[str, Any]:
    """Return the schema of a text."""
    return {"type": "string", "maxLength": limit, "description": description, **more}


def texts(description: str, item: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": item, "maxItems": limit, "description": description}


def _moment(description: str) -> dict[str, Any]:
    return text_of(f"{description} ISO 8601, as 2026-01-31T09:00:00Z.", _MAX_MOMENT)


def object_of(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """Return the schema of an object that takes nothing else."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


_ID = text_of("The record's id.", 64, minLength=1)

SEARCH_SCHEMA = object_of(
    {
        "query": text_of("What to look for, in plain words or a question.", MAX_QUERY),
        "scopes": texts("Only these scopes.", {"enum": list(SCOPES)}, len(SCOPES)),
        "kinds": texts("Only these kinds.", {"enum": list(ALL_KINDS)}, len(ALL_KINDS)),
        "tags": texts(
            "Records that have all of these tags.",
            {"type": "string", "maxLength": MAX_TAG},
            MAX_VALUES,
        ),
        "domain": text_of("Only this domain.", MAX_DOMAIN),
        "agent": text_of("Only what this agent wrote.", MAX_AGENT),
        "source": text_of("Only what was read from this source.", MAX_SOURCE_ID),
        "since": _moment("Said at or after this time."),
        "until": _moment("Said at or before this time."),
        "as_of": _moment("Answer with what was believed at this time."),
        "include_history": {"type": "boolean", "description": "Superseded records too."},
        "max_results": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_RESULTS,
            "description": "How many results at most; 6 unless set.",
        },
        "min_score": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "Leave out results below this score.",
        },
    },
    "query",
)

WRITE_SCHEMA = object_of(
    {
        "content": {
            "type": "string",
            "minLength": 1,
            "description": "One thing, in a few plain sentences that stand on their own.",
        },
        "scope": {
            "enum": list(WRITABLE_SCOPES),
            "default": PERSONAL,
            "description": "personal: for this person alone. agent_notes: lessons that every agent "
            "here should know. global: facts for everybody. agent_config: standing instructions.",
        },
        "kind": {"enum": list(KINDS), "default": "note", "description": "What it is."},
        "domain": text_of("A field of knowledge, as network or billing.", MAX_DOMAIN),
        "tags": texts("Words to filter by.", {"type": "string", "maxLength": MAX_TAG}, MAX_TAGS),
        "metadata": {
            "type": "object",
            "description": f"Values of your own, at most {MAX_METADATA:,} characters as JSON.",
        },
        "source": object_of(
            {
                "kind": text_of("What it was read from, as file or ticket.", MAX_SOURCE_KIND),
                "id": text_of("Which one. Writing the same place again amends it.", MAX_SOURCE_ID),
                "position": {"type": "integer", "minimum": 0, "maximum": MAX_POSITION},
            },
            "kind",
            "id",
        ),
        "index_prefix": text_of("Speaker and date, found with the text.", MAX_PREFIX),
        "applies_to": text_of("The agent that an agent_config record is for.", MAX_AGENT),
        "expires_at": _moment("When it is no longer true."),
        "occurred_at": _moment("When it was said, if not now."),
    },
    "content",
)


def _search(principal: Principal, given: Mapping[str, Any]) -> dict[str, Any]:
    own = ("query", "max_results", "min_score")
    limit = given.get("max_results")
    request = SearchRequest(
        query=given["query"],
        filters=filters.parse(given, also=own),
        # JSON Schema takes 3.0 for an integer.
        max_results=None if limit is None else int(limit),
        min_score=given.get("min_score"),
    )
    return search(principal, request).as_dict()


def _write(principal: Principal, given: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(given)
    for name in ("expires_at", "occurred_at"):
        if name in fields:
            fields[name] = parse_time(name, fields[name])
    if "source" in fields:
        place = fields["source"]
        fields["source"] = Source(place["kind"], place["id"], int(place.get("position", 0)))
    draft = Draft(**fields | {"tags": tuple(fields.get("tags", ()))})
    return plain(written_body(write.remember(principal, draft)))


def _get(principal: Principal, given: Mapping[str, Any]) -> dict[str, Any]:
    record = queries.record(principal, identifier(given["id"]))
    return plain(RecordDetailSerializer(record).data)


def _forget(principal: Principal, given: Mapping[str, Any]) -> dict[str, Any]:
    memory_id = identifier(given["id"])
    write.forget(principal, memory_id)
    return {"forgotten": str(memory_id)}


def identifier(text: str) -> uuid.UUID:
    """Return the id that a text names; what is no id names nothing, so raise NotFound."""
    try:
        return uuid.UUID(text)
    except ValueError:
        raise NotFound("No such record.") from None


def plain(value: Any) -> dict[str, Any]:
    """Return plain JSON values: ids and times as the API writes them."""
    plain: dict[str, Any] = json.loads(json.dumps(value, cls=JSONEncoder))
    return plain


TOOLS = (
    Tool(
        "memory_search",
        "Find what is remembered, by meaning and by words. Call it before you answer questions "
        "about people, systems or decisions, and before you write something down.",
        SEARCH_SCHEMA,
        _search,
        read_only=True,
        title="Search memory",
    ),
    Tool(
        "memory_write",
        "Remember one fact, preference or note. Writing what is there already changes nothing. "
        "Never write passwords or keys.",
        WRITE_SCHEMA,
        _write,
        title="Remember",
    ),
    Tool(
        "memory_get",
        "Read one record by id, with its tags, origin and history.",
        object_of({"id": _ID}, "id"),
        _get,
        read_only=True,
        title="Read a record",
    ),
    Tool(
        "memory_forget",
        "Delete one record for good: your person's own, or a shared one if you are an "
        "administrator. To correct a fact, write the new one instead.",
        object_of({"id": _ID}, "id"),
        _forget,
        destructive=True,
        title="Forget a record",
    ),
)
