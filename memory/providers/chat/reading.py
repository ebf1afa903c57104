"""Reading JSON out of what models write: fences, prose, bad escapes. Pure.

Anything doubtful is unreadable: an answer that was cut off, two different answers, a piece of an
object. A caller may act on what is read, so a wrong reading is worse than none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

MAX_CHARACTERS = 1_000_000
_MAX_ERRORS = 8

_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')
#: Some models think aloud before they answer.
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_COMMA_AT_END = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)

S = TypeVar("S", bound=BaseModel)


class Unreadable(Exception):
    """The answer cannot be used; the message says why, for the model that wrote it."""

    #: What the model wrote.
    answer: str = ""


def read_text(text: str, schema: type[S], *, truncated: bool = False) -> S:
    """Return the one object of the schema that the text holds. Raise Unreadable."""
    if truncated:
        raise Unreadable("The answer was cut off before its end. Answer more briefly.")
    if len(text) > MAX_CHARACTERS:
        raise Unreadable("The answer is far too long.")
    found: list[S] = []
    reason = "There is no whole JSON object in the answer."
    for candidate in _objects(_THOUGHT.sub("", text)):
        try:
            value = read_value(candidate, schema)
        except Unreadable as error:
            reason = str(error)
        else:
            found += [value] if value not in found else []
    if len(found) > 1:
        raise Unreadable("The answer holds several different objects. Give one.")
    if not found:
        raise Unreadable(reason)
    return found[0]


def read_value(value: Any, schema: type[S]) -> S:
    """Return the value in the form of the schema. Raise Unreadable that names the fields."""
    try:
        return schema.model_validate(cleaned(value))
    except ValidationError as error:
        rows = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"{'.'.join(map(str, row['loc'])) or 'answer'}: {row['msg']}" for row in rows]
        raise Unreadable("; ".join(lines[:_MAX_ERRORS])) from None
    except RecursionError:
        raise Unreadable("The answer is nested too deeply.") from None


def cleaned(value: Any) -> Any:
    """Return it without lone surrogates and NUL, which no database takes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\x00", "")
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {cleaned(name): cleaned(item) for name, item in value.items()}
    return value


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost objects; one that never closes ends the search."""
    position = text.find("{")
    while position >= 0:
        end = _closing(text, position)
        if end is None:
            return
        value = _decoded(text[position:end])
        if isinstance(value, dict):
            yield value
        position = text.find("{", end)


def _closing(text: str, start: int) -> int | None:
    """Return the place after the brace that closes the one at `start`."""
    depth, inside, escaped = 0, False, False
    for place in range(start, len(text)):
        sign = text[place]
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = inside
        elif sign == '"':
            inside = not inside
        elif not inside and sign in "{}":
            depth += 1 if sign == "{" else -1
            if not depth:
                return place + 1
    return None


def _decoded(text: str) -> Any:
    mends: tuple[Callable[[str], str], ...] = (str, _escaped, _without_commas)
    for mend in mends:
        text = mend(text)
        try:
            return json.loads(text, strict=False, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    return None


def _escaped(text: str) -> str:
    """Double the backslashes that begin no escape, as in a Windows path."""
    return _BAD_ESCAPE.sub(lambda found: found[0] if found[1] else "\\\\", text)


def _without_commas(text: str) -> str:
    return _COMMA_AT_END.sub(lambda found: found[1] or "", text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
