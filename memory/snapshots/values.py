"""Values of columns as JSON and back, each checked against its column: it comes from outside."""

from __future__ import annotations

import base64
import math
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from django.db.models import Field

from goclaw_site.errors import GoclawError, InvalidInput
from memory.drafts import check_text
from memory.vectors import SCALE_BYTES

_MOST_DIMENSIONS = 20_000
_MOST_DEPTH = 64
_SMALL, _INT, _BIG = 2**15, 2**31, 2**63
#: The lowest and the highest value of each column type that holds whole numbers.
_WHOLE: dict[str, tuple[int, int]] = {
    "AutoField": (1, _INT - 1),
    "BigAutoField": (1, _BIG - 1),
    "SmallIntegerField": (-_SMALL, _SMALL - 1),
    "IntegerField": (-_INT, _INT - 1),
    "BigIntegerField": (-_BIG, _BIG - 1),
    "PositiveSmallIntegerField": (0, _SMALL - 1),
    "PositiveIntegerField": (0, _INT - 1),
    "PositiveBigIntegerField": (0, _BIG - 1),
}
_TEXTS = ("CharField", "TextField", "SlugField", "EmailField", "URLField", "FileField")
#: The type that `memory.fields.VectorField` has.
VECTOR = "VectorField"


def kind_of(column: Field[Any, Any]) -> str:
    """Return the column's type; a reference has the type of what it refers to."""
    while column.remote_field is not None:
        column = column.target_field  # type: ignore[attr-defined]  # every reference has one
    return column.get_internal_type()


def encoded(kind: str, value: Any) -> Any:
    """Return a value from the database as JSON takes it."""
    if value is None or kind in _WHOLE or kind in _TEXTS:
        return value
    encode = _CODECS[kind][0]
    return encode(value)


def decoded(column: Field[Any, Any], value: Any) -> Any:
    """Return a value from a snapshot as the column takes it. Raise InvalidInput."""
    if value is None:
        if not column.null:
            raise _wrong(column, "is missing")
        return None
    kind = kind_of(column)
    try:
        return _checked(column, kind, value)
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise _wrong(column, f"is no value of a {kind}") from None


def known_kinds() -> set[str]:
    """Return the types of columns that can be carried."""
    return {*_WHOLE, *_TEXTS, *_CODECS}


def _checked(column: Field[Any, Any], kind: str, value: Any) -> Any:
    if kind in _WHOLE:
        return _whole(column, kind, value)
    if kind in _TEXTS:
        return _text(column, value)
    return _CODECS[kind][1](value)


def _whole(column: Field[Any, Any], kind: str, value: Any) -> int:
    low, high = _WHOLE[kind]
    if type(value) is not int or not low <= value <= high:
        raise _wrong(column, f"is not a whole number from {low} to {high}")
    return value


def _text(column: Field[Any, Any], value: Any) -> str:
    try:
        text = check_text(column.name, value)
    except GoclawError as error:
        raise _wrong(column, error.message) from None
    limit = column.max_length if kind_of(column) != "TextField" else None
    if limit is not None and len(text) > limit:
        raise _wrong(column, f"has {len(text):,} characters; the limit is {limit:,}")
    words = {word for word, _ in column.flatchoices}
    if words and text not in words:
        raise _wrong(column, "is not one of its words")
    return text


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(UTC)


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("neither true nor false")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError("no number")
    return float(value)


def _uuid(value: Any) -> uuid.UUID:
    found = uuid.UUID(value)
    if str(found) != value:
        raise ValueError("not in its usual form")
    return found


def _json(value: Any, depth: int = 0) -> Any:
    if depth > _MOST_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        check_text("value", value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            check_text("value", name)
            _json(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _json(inner, depth + 1)
    return value


def _stored_json(value: Any) -> Any:
    try:
        return _json(value)
    except GoclawError as error:
        raise ValueError(error.message) from None


def _bytes(value: Any) -> bytes:
    return base64.b64decode(value.encode("ascii"), validate=True)


def _base64(value: Any) -> str:
    return base64.b64encode(bytes(value)).decode("ascii")


def _vector_out(value: Any) -> dict[str, str]:
    """Keep the driver's own form, so that nothing is lost between two of a kind."""
    if isinstance(value, (bytes, memoryview)):
        return {"i8": _base64(value)}
    return {"f4": _base64(np.asarray(value, dtype="<f4").tobytes())}


def _vector_in(value: Any) -> Any:
    """Return the int8 form as bytes, or float32 as an array: the column takes both."""
    ((form, text),) = value.items()
    raw = _bytes(text)
    width = len(raw) - SCALE_BYTES if form == "i8" else len(raw) // 4
    if form not in ("i8", "f4") or not 0 < width <= _MOST_DIMENSIONS:
        raise ValueError("no vector")
    numbers = np.frombuffer(raw[:SCALE_BYTES] if form == "i8" else raw, "<f4")
    if not np.all(np.isfinite(numbers)):
        raise ValueError("no vector")
    return raw if form == "i8" else numbers.astype(np.float32)


def width_of(vector: Any) -> int:
    """Return the dimension of a vector in one of the two forms."""
    return len(vector) - SCALE_BYTES if isinstance(vector, bytes) else len(vector)


_Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]
_CODECS: dict[str, _Codec] = {
    "DateTimeField": (lambda value: value.astimezone(UTC).isoformat(), _moment),
    "DateField": (lambda value: value.isoformat(), date.fromisoformat),
    "BooleanField": (bool, _truth),
    "FloatField": (float, _number),
    "UUIDField": (str, _uuid),
    "JSONField": (lambda value: value, _stored_json),
    "BinaryField": (_base64, _bytes),
    VECTOR: (_vector_out, _vector_in),
}


def _wrong(column: Field[Any, Any], reason: str) -> InvalidInput:
    return InvalidInput(f"{column.model.__name__}.{column.name} {reason}")
