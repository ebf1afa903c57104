"""What a caller asks to be written, checked before anything is touched."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from goclaw_site.config import get_config
from goclaw_site.errors import InvalidInput, TooLarge
from memory.vocabulary import (
    ALL_KINDS,
    ENGINE_KINDS,
    ENGINE_METADATA_PREFIX,
    ENGINE_TAGS,
    KINDS,
    PERSONAL,
    SCOPES,
)

MAX_TAGS = 32
MAX_TAG = 64
MAX_DOMAIN = 100
MAX_AGENT = 64
MAX_PREFIX = 300
MAX_METADATA = 16_000
MAX_DEPTH = 16
MAX_SOURCE_KIND = 32
MAX_SOURCE_ID = 500
MAX_POSITION = 2_147_483_647


@dataclass(frozen=True)
class Source:
    """A place that content was read from: writing the same place again amends its record."""

    kind: str
    id: str
    position: int = 0


@dataclass(frozen=True)
class Draft:
    """A record to be written. Times are aware; lengths are Unicode code points."""

    content: str
    scope: str = PERSONAL
    kind: str = "note"
    domain: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    index_prefix: str = ""
    agent: str | None = None
    applies_to: str | None = None
    expires_at: datetime | None = None
    occurred_at: datetime | None = None


@dataclass(frozen=True)
class Changes:
    """What an amendment sets; None leaves a field as it is (`clear_expiry` removes the expiry).

    `recorded` is false for a record whose history stands elsewhere, as that of a page does.

    `lift` names tags of the engine to be taken off: what waits for a look, and `superseded`, which
    only administrators may: the record is live again. Others of them stay.
    """

    content: str | None = None
    kind: str | None = None
    domain: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] | None = None
    expires_at: datetime | None = None
    clear_expiry: bool = False
    index_prefix: str | None = None
    recorded: bool = True
    lift: tuple[str, ...] = ()


def check_draft(draft: Draft, *, engine: bool = False) -> Draft:
    """Return the draft in its stored form, or raise InvalidInput that names the field and limit."""
    return Draft(
        content=check_content(draft.content),
        scope=_one_of("scope", draft.scope, SCOPES),
        kind=check_kind(draft.kind, engine=engine),
        domain=check_line("domain", draft.domain, MAX_DOMAIN),
        tags=check_tags(draft.tags),
        metadata=check_metadata(draft.metadata),
        source=None if draft.source is None else check_source(draft.source),
        index_prefix=check_line("index_prefix", draft.index_prefix, MAX_PREFIX),
        agent=_optional_line("agent", draft.agent, MAX_AGENT),
        applies_to=_optional_line("applies_to", draft.applies_to, MAX_AGENT),
        expires_at=check_expiry(draft.expires_at),
        occurred_at=_aware("occurred_at", draft.occurred_at),
    )


def check_changes(changes: Changes) -> Changes:
    """Return the changes in their stored form, or raise InvalidInput."""
    return Changes(
        content=None if changes.content is None else check_content(changes.content),
        kind=None if changes.kind is None else check_kind(changes.kind),
        domain=None if changes.domain is None else check_line("domain", changes.domain, MAX_DOMAIN),
        tags=None if changes.tags is None else check_tags(changes.tags),
        metadata=None if changes.metadata is None else check_metadata(changes.metadata),
        expires_at=check_expiry(changes.expires_at),
        clear_expiry=changes.clear_expiry,
        index_prefix=_optional_line("index_prefix", changes.index_prefix, MAX_PREFIX),
        recorded=changes.recorded,
        lift=changes.lift,
    )


def check_content(content: str) -> str:
    """Return the content as given; it must hold 1 to `memory.max_content_chars` characters."""
    check_text("content", content)
    trimmed = content.strip()
    limit = get_config().memory.max_content_chars
    if not trimmed:
        raise InvalidInput("content is empty: at least 1 character is needed.", field="content")
    if len(trimmed) > limit:
        raise TooLarge(
            f"content has {len(trimmed):,} characters; the limit is {limit:,}.", field="content"
        )
    return content if len(content) <= limit else trimmed


def check_kind(kind: str, *, engine: bool = False) -> str:
    """Return the kind; the kinds of the engine are refused from outside."""
    if kind in ENGINE_KINDS and not engine:
        raise InvalidInput(
            f"kind '{kind}' is written by the server alone; use one of {_listed(KINDS)}.",
            field="kind",
        )
    return _one_of("kind", kind, ALL_KINDS if engine else KINDS)


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags in NFC, trimmed, each once; reserved ones are refused."""
    found = list(tags)
    if len(found) > MAX_TAGS:
        raise InvalidInput(f"{len(found)} tags; the limit is {MAX_TAGS}.", field="tags")
    return tuple(dict.fromkeys(_check_tag(tag) for tag in found))


def check_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata as a plain dict of JSON values within the size limit."""
    if not isinstance(metadata, Mapping):
        raise InvalidInput("metadata must be an object.", field="metadata")
    _check_nested("metadata", metadata)
    for key in metadata:
        if key.startswith(ENGINE_METADATA_PREFIX):
            raise InvalidInput(
                f"metadata '{key}' is written by the server alone.", field="metadata"
            )
    try:
        size = len(json.dumps(metadata, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"metadata is not plain JSON: {error}.", field="metadata") from error
    if size > MAX_METADATA:
        raise InvalidInput(
            f"metadata takes {size:,} characters as JSON; the limit is {MAX_METADATA:,}.",
            field="metadata",
        )
    return dict(metadata)


def check_source(source: Source) -> Source:
    """Return the source with its id in NFC."""
    kind = check_line("source.kind", source.kind, MAX_SOURCE_KIND)
    place = check_line("source.id", source.id, MAX_SOURCE_ID)
    if not kind or not place:
        raise InvalidInput("source needs a kind and an id.", field="source")
    if isinstance(source.position, bool) or not isinstance(source.position, int):
        raise InvalidInput("source.position must be a whole number.", field="source")
    if not 0 <= source.position <= MAX_POSITION:
        raise InvalidInput(f"source.position must be 0 to {MAX_POSITION:,}.", field="source")
    return Source(kind, place, source.position)


def check_expiry(expires_at: datetime | None) -> datetime | None:
    """Return the time; one that has passed already is a mistake of the caller."""
    aware = _aware("expires_at", expires_at)
    if aware is not None and aware <= datetime.now(UTC):
        raise InvalidInput("expires_at has passed already.", field="expires_at")
    return aware


def check_line(name: str, value: str, limit: int) -> str:
    """Return a one-line text in NFC, trimmed, within its limit."""
    check_text(name, value)
    line = unicodedata.normalize("NFC", value).strip()
    if len(line) > limit:
        raise InvalidInput(
            f"{name} has {len(line):,} characters; the limit is {limit:,}.", field=name
        )
    if any(ch in line for ch in "\r\n"):
        raise InvalidInput(f"{name} must be one line.", field=name)
    return line


def check_text(name: str, value: Any) -> str:
    """Refuse what no database can keep: other types, NUL, lone surrogates."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}.", field=name)
    if "\x00" in value:
        raise InvalidInput(f"{name} holds a NUL character, which cannot be stored.", field=name)
    if any("\ud800" <= ch <= "\udfff" for ch in value):
        raise InvalidInput(f"{name} holds a lone surrogate, which is not text.", field=name)
    return value


def _check_tag(tag: str) -> str:
    line = check_line("tags", tag, MAX_TAG)
    if not line:
        raise InvalidInput("tags holds an empty tag.", field="tags")
    if line in ENGINE_TAGS:
        raise InvalidInput(f"tag '{line}' is set by the server alone.", field="tags")
    return line


def _check_nested(name: str, value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"{name} is nested deeper than {MAX_DEPTH} levels.", field=name)
    if isinstance(value, str):
        check_text(name, value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            check_text(name, key)
            _check_nested(name, inner, depth + 1)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_nested(name, inner, depth + 1)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise InvalidInput(
            f"{name} '{str(value)[:40]}' is unknown; use one of {_listed(allowed)}.", field=name
        )
    return value


def _optional_line(name: str, value: str | None, limit: int) -> str | None:
    return (check_line(name, value, limit) or None) if value is not None else None


def _aware(name: str, value: datetime | None) -> datetime | None:
    if value is not None and value.tzinfo is None:
        raise InvalidInput(f"{name} needs a timezone, as in 2026-01-31T09:00:00Z.", field=name)
    return None if value is None else check_moment(name, value)


def check_moment(name: str, value: datetime) -> datetime:
    """Return an aware time; refuse one that is outside the calendar in UTC, as it is stored."""
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{name} is outside the calendar.", field=name) from None
    return value


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(words)
