"""Reads JSON lines: records as the API takes them, and turns of conversations."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO

from memory.ingesting.items import CONTENT_LIMIT, Fault, Item, WrongInput, flaw_of
from memory.ingesting.times import instant, readable

LINE_LIMIT = 4 * 2**20  # bytes of one line: the longest content, escaped, with its metadata
NAME_LIMIT = 100  # code points of a speaker and of a time, so that both fit into the prefix
RECORD_FIELDS = frozenset(
    {"content", "kind", "domain", "tags", "metadata", "occurred_at", "expires_at", "source"}
)
TURN_FIELDS = frozenset({"speaker", "text", "time"})
JSON_TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


def read_lines(stream: BinaryIO, source_id: str) -> Iterator[Item | Fault]:
    """Every line that is not blank takes a position, so that mending one moves no other."""
    position = 0
    for number, line in enumerate(_raw_lines(stream), 1):
        if not line.strip():
            continue
        try:
            yield _line_item(_parsed(line), source_id, position)
        except WrongInput as wrong:
            column = "" if wrong.column is None else f":{wrong.column}"
            yield Fault(f"{source_id}:{number}{column}", str(wrong))
        position += 1
    if not position:
        yield Fault(source_id, "empty")


def _raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is too long just enough to see that it is."""
    while line := stream.readline(LINE_LIMIT + 1):
        kept = line
        while len(line) > LINE_LIMIT and not line.endswith(b"\n"):
            line = stream.readline(LINE_LIMIT + 1)
        yield kept


def _parsed(line: bytes) -> dict[str, Any]:
    if len(line) > LINE_LIMIT:
        raise WrongInput(f"the line is longer than {LINE_LIMIT >> 20} MB")
    try:
        found = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise WrongInput(f"is not UTF-8 text at byte {error.start} of the line") from error
    except json.JSONDecodeError as error:
        raise WrongInput(f"is not JSON: {error.msg}", error.colno) from error
    except (ValueError, RecursionError) as error:
        raise WrongInput(f"is not JSON that can be kept: {error}") from error
    if not isinstance(found, dict):
        raise WrongInput(f"must be a JSON object, not {_type(found)}", 1)
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _line_item(data: dict[str, Any], source_id: str, position: int) -> Item:
    if "content" in data:
        return _record(data, source_id, position)
    if "text" in data or "speaker" in data:
        return _turn(data, source_id, position)
    raise WrongInput('holds neither "content" nor "speaker" and "text"')


def _record(data: dict[str, Any], source_id: str, position: int) -> Item:
    """An object as the API takes it; fields that it does not know are kept in the metadata."""
    kind, place, at = _source(data.get("source"), source_id, position)
    return Item(
        content=_content("content", data),
        source_kind=kind,
        source_id=place,
        position=at,
        occurred_at=_time("occurred_at", data),
        expires_at=_time("expires_at", data),
        metadata=_others(data, RECORD_FIELDS) | _metadata(data),
        kind=_optional_text("kind", data),
        domain=_optional_text("domain", data),
        tags=_tags(data),
    )


def _turn(data: dict[str, Any], source_id: str, position: int) -> Item:
    """A turn of a conversation; the time is kept as given, whether it can be read or not."""
    content = _content("text", data)
    speaker = _name("speaker", data)
    given = _name("time", data) if data.get("time") is not None else ""
    known = {"speaker": speaker} | ({"time": given} if given else {})
    return Item(
        content=content,
        source_kind="chat",
        source_id=source_id,
        position=position,
        index_prefix=f"[{readable(given)}] {speaker}:" if given else f"{speaker}:",
        occurred_at=instant(given),
        metadata=_others(data, TURN_FIELDS) | known,
    )


# --- the fields of a line


def _content(name: str, data: dict[str, Any]) -> str:
    value = _text(name, data.get(name))
    length = len(value.strip())
    if not length:
        raise WrongInput(f"{name} is empty")
    if length > CONTENT_LIMIT:
        raise WrongInput(f"{name} has {length:,} characters; the limit is {CONTENT_LIMIT:,}")
    return value


def _name(name: str, data: dict[str, Any]) -> str:
    """A short text on one line: speaker and time."""
    value = " ".join(_text(name, data.get(name)).split())
    if not value:
        raise WrongInput(f"{name} is empty")
    if len(value) > NAME_LIMIT:
        raise WrongInput(f"{name} has {len(value):,} characters; the limit is {NAME_LIMIT}")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise WrongInput(f"{name} must be text, not {_type(value)}")
    if flaw := flaw_of(value):
        raise WrongInput(f"{name} holds {flaw}")
    return value


def _optional_text(name: str, data: dict[str, Any]) -> str | None:
    value = data.get(name)
    return None if value is None else _text(name, value)


def _tags(data: dict[str, Any]) -> tuple[str, ...]:
    value = data.get("tags")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise WrongInput(f"tags must be a list, not {_type(value)}")
    return tuple(_text("tags", tag) for tag in value)


def _metadata(data: dict[str, Any]) -> dict[str, Any]:
    value = data.get("metadata")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise WrongInput(f"metadata must be an object, not {_type(value)}")
    return _storable("metadata", value)


def _others(data: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    others = {key: value for key, value in data.items() if key not in known}
    for key, value in others.items():
        _storable(key, {key: value})
    return others


def _storable(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """The value itself, when every text in it can be kept."""
    pending: list[object] = [value]
    while pending:
        inner = pending.pop()
        if isinstance(inner, str):
            _text(ascii(name)[1:-1], inner)
        elif isinstance(inner, dict):
            pending += [*inner, *inner.values()]
        elif isinstance(inner, list):
            pending += inner
    return value


def _source(value: object, source_id: str, position: int) -> tuple[str, str, int]:
    """The place of a record: the line itself, unless the line names another one."""
    if value is None:
        return "lines", source_id, position
    if isinstance(value, str):
        return "lines", _text("source", value), position
    if not isinstance(value, dict):
        raise WrongInput(f"source must be text or an object, not {_type(value)}")
    at = value.get("position", 0)
    if not isinstance(at, int) or isinstance(at, bool):
        raise WrongInput(f"source.position must be a whole number, not {_type(at)}")
    return _text("source.kind", value.get("kind")), _text("source.id", value.get("id")), at


def _time(name: str, data: dict[str, Any]) -> datetime | None:
    given = _optional_text(name, data)
    if given is None:
        return None
    at = instant(given)
    if at is None:
        raise WrongInput(f"{name} must be a time such as 2026-01-31T09:00:00Z, not {given[:40]!r}")
    return at


def _type(value: object) -> str:
    return JSON_TYPES[type(value)]
