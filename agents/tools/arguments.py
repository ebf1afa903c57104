"""Arguments of a tool against its schema; what is wrong is said with the field and its limit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from goclaw_site.errors import InvalidInput

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_SHOWN = 60


def check(validator: Draft202012Validator, arguments: Any) -> dict[str, Any]:
    """Return the arguments; None stands for none. Raise InvalidInput that names field and limit."""
    given = {} if arguments is None else arguments
    if not isinstance(given, Mapping):
        raise InvalidInput("The arguments must be a JSON object.")
    error = best_match(validator.iter_errors(given))
    if error is not None:
        field = _field(error)
        raise InvalidInput(_words(field, error), field=field)
    return dict(given)


def _field(error: ValidationError) -> str:
    """Return the name of the wrong argument, with its place inside: tags[3], source.id."""
    path = ""
    for step in error.absolute_path:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{step}" if path else str(step)
    if error.validator == "required":
        wanted: Any = error.validator_value
        held: Any = error.instance
        missing = next(name for name in wanted if name not in held)
        return f"{path}.{missing}" if path else str(missing)
    if error.validator == "additionalProperties":
        given: Any = error.instance
        extra = str(next(name for name in given if name not in _known(error)))[:_SHOWN]
        return f"{path}.{extra}" if path else extra
    return path[:200]


def _known(error: ValidationError) -> list[str]:
    schema: Any = error.schema
    return list(schema.get("properties", {}))


def _words(field: str, error: ValidationError) -> str:
    limit = error.validator_value
    size = len(error.instance) if isinstance(error.instance, (str, list, dict)) else 0
    said = {
        "required": lambda: f"{field} is missing.",
        "additionalProperties": lambda: (
            f"'{field}' is not an argument; there are {', '.join(_known(error))}."
        ),
        "type": lambda: f"{field} must be {_type_words(limit)}, not {_shown(error.instance)}.",
        "enum": lambda: f"{field} {_shown(error.instance)} is unknown; use one of {_list(limit)}.",
        "maxLength": lambda: f"{field} has {size:,} characters; the limit is {limit:,}.",
        "minLength": lambda: f"{field} has {size} characters; at least {limit} are needed.",
        "maxItems": lambda: f"{field} has {size:,} entries; the limit is {limit:,}.",
        "maxProperties": lambda: f"{field} has {size:,} entries; the limit is {limit:,}.",
        "minimum": lambda: f"{field} is {_shown(error.instance)}; the least is {limit:,}.",
        "maximum": lambda: f"{field} is {_shown(error.instance)}; the most is {limit:,}.",
        "pattern": lambda: f"{field} {_shown(error.instance)} does not have the form {limit}.",
    }
    words = said.get(str(error.validator))
    return words() if words else f"{field} is not valid: it breaks '{error.validator}'."


def _type_words(types: Any) -> str:
    names = [types] if isinstance(types, str) else types
    return " or ".join(_TYPES.get(name, name) for name in names)


def _list(values: Any) -> str:
    return ", ".join(str(value) for value in values)


def _shown(value: Any) -> str:
    """Return the value, short: what was sent may be a megabyte, or a secret."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
