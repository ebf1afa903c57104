"""The keys of the configuration, read off the model for messages and documentation."""

import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

_SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<", "min_length": "length ≥"}


@dataclass(frozen=True)
class KeyDoc:
    """One key as people see it; `bounds` is empty where there are none."""

    key: str
    env: str
    type: str
    default: object
    bounds: str
    description: str
    secret: bool

    @property
    def section(self) -> str:
        """The part before the last dot, empty at the top."""
        return self.key.rpartition(".")[0]


def env_name(key: str) -> str:
    """`memory.search.min_score` is `GOCLAW_MEMORY__SEARCH__MIN_SCORE` in the environment."""
    return "GOCLAW_" + key.replace(".", "__").upper()


def nearest(name: str, candidates: Iterable[str]) -> str:
    """A hint to end a message with."""
    found = get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else "."


def key_docs(model: type[BaseModel], prefix: str = "") -> list[KeyDoc]:
    """Sections are walked, leaves described."""
    return list(_walk(model, prefix))


def _walk(model: type[BaseModel], prefix: str) -> Iterator[KeyDoc]:
    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _walk(annotation, f"{prefix}{name}.")
        else:
            yield _doc(f"{prefix}{name}", field)


def _doc(key: str, field: FieldInfo) -> KeyDoc:
    return KeyDoc(
        key=key,
        env=env_name(key),
        type=_type_name(field.annotation),
        default=field.get_default(call_default_factory=True, validated_data={}),
        bounds=_bounds(field),
        description=field.description or "",
        secret=SecretStr in (field.annotation, *get_args(field.annotation)),
    )


def _bounds(field: FieldInfo) -> str:
    parts = [
        f"{sign} {getattr(rule, name)}"
        for rule in field.metadata
        for name, sign in _SIGNS.items()
        if getattr(rule, name, None) is not None
    ]
    return ", ".join(parts)


def _type_name(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(str(arg) for arg in args)
    if origin in (Union, types.UnionType):
        return " or ".join(_type_name(arg) for arg in args)
    if origin is tuple:
        return f"list of {_type_name(args[0])}"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return names.get(annotation, "secret" if annotation is SecretStr else "nothing")
