"""One row of the catalog: a record as JSON, and back as a draft."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from goclaw_site.errors import InvalidInput
from memory.access import access_token
from memory.drafts import Draft, Source, check_draft, check_text
from memory.filters import parse_time
from memory.models import Memory
from memory.vocabulary import (
    AGENT_CONFIG,
    AGENT_NOTES,
    ENGINE_METADATA_PREFIX,
    ENGINE_TAGS,
)
from memory.write import content_hash, live_key

FORMAT = "goclaw-catalog"
VERSION = 1
SCOPES = (AGENT_NOTES, AGENT_CONFIG)
_TEXTS = ("scope", "kind", "domain", "content", "index_prefix", "agent", "applies_to")
_TIMES = ("occurred_at", "expires_at", "created_at")
_FIELDS = ("id", *_TEXTS, "tags", "metadata", "source", *_TIMES)
_NULLABLE = ("agent", "applies_to")

Place = tuple[str, str, str, int]


@dataclass(frozen=True)
class Row:
    """A row that could be written, and how it is recognised here."""

    draft: Draft
    id: uuid.UUID | None
    key: str
    place: Place | None

    def differences(self, record: Memory) -> list[str]:
        """Return in which fields the equal record here is another."""
        held, draft = record, self.draft
        pairs = {
            "domain": (held.domain, draft.domain),
            "tags": (_own_tags(held), sorted(draft.tags)),
            "applies_to": (held.applies_to, draft.applies_to),
            "expires_at": (held.expires_at, draft.expires_at),
        }
        return [name for name, (mine, theirs) in pairs.items() if mine != theirs]


def row_of(record: Memory) -> dict[str, Any]:
    """Return the record as a row; `tags` and `sources` should be prefetched."""
    places = sorted(record.sources.all(), key=lambda place: place.pk)
    place = places[0] if places else None
    return {
        "id": str(record.pk),
        "scope": record.scope,
        "kind": record.kind,
        "domain": record.domain,
        "content": record.content,
        "index_prefix": record.index_prefix,
        "agent": record.agent,
        "applies_to": record.applies_to,
        "tags": _own_tags(record),
        "metadata": _own_metadata(record.metadata),
        "source": place and {"kind": place.kind, "id": place.source_id, "position": place.position},
        "occurred_at": _told(record.occurred_at),
        "expires_at": _told(record.expires_at),
        "created_at": _told(record.created_at),
    }


def read_row(value: Any) -> Row:
    """Return the checked row. Raise InvalidInput that names the field and the limit."""
    if not isinstance(value, dict):
        raise InvalidInput("a row must be an object")
    if unknown := sorted(set(map(str, value)) - set(_FIELDS)):
        raise InvalidInput(f"'{unknown[0][:40]}' is not a field of a row")
    if value.get("scope") not in SCOPES:
        raise InvalidInput(f"scope must be one of {', '.join(SCOPES)}", field="scope")
    draft = check_draft(_draft(value))
    digest = content_hash(draft.content)
    key = live_key(draft.scope, None, draft.kind, digest)
    return Row(draft, _id(value.get("id")), key, _place(draft.scope, draft.source))


def _place(scope: str, source: Source | None) -> Place | None:
    if source is None:
        return None
    return (access_token(scope, None), source.kind, source.id, source.position)


def _draft(value: dict[str, Any]) -> Draft:
    """A record is as old as it was where it comes from: that is when it was said."""
    texts = {name: _text(name, value[name]) for name in _TEXTS if name in value}
    times = {name: _time(name, value.get(name)) for name in _TIMES}
    return Draft(
        **{"content": "", **texts},
        tags=_tags(value.get("tags", [])),
        metadata=value.get("metadata", {}),
        source=_source(value.get("source")),
        occurred_at=times["occurred_at"] or times["created_at"],
        expires_at=times["expires_at"],
    )


def _text(name: str, value: Any) -> Any:
    return None if value is None and name in _NULLABLE else check_text(name, value)


def _time(name: str, value: Any) -> datetime | None:
    return None if value is None else parse_time(name, check_text(name, value))


def _tags(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidInput("tags must be a list.", field="tags")
    return tuple(check_text("tags", tag) for tag in value)


def _source(value: Any) -> Source | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) - {"kind", "id", "position"}:
        raise InvalidInput("source must hold kind, id and position.", field="source")
    return Source(value.get("kind"), value.get("id"), value.get("position", 0))  # type: ignore[arg-type]  # checked next


def _id(value: Any) -> uuid.UUID | None:
    if value is None:
        return None
    try:
        return uuid.UUID(check_text("id", value))
    except ValueError:
        raise InvalidInput("id is not the id of a record.", field="id") from None


def _own_tags(record: Memory) -> list[str]:
    return [tag for tag in record.tag_names if tag not in ENGINE_TAGS]


def _own_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Without what the engine wrote: it writes its own on the other side."""
    return {
        name: value
        for name, value in metadata.items()
        if name != "provenance" and not name.startswith(ENGINE_METADATA_PREFIX)
    }


def _told(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
