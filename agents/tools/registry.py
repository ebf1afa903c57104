"""The tools by name, and the one way to call one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from jsonschema import Draft202012Validator

from agents import hints
from agents.tools.arguments import check
from goclaw_site.errors import GoclawError, NotFound
from memory.access import Principal

Handler = Callable[[Principal, Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Tool:
    """One tool. `schema` is the JSON Schema of its arguments; results are plain JSON objects.

    The policy is checked by the functions that the handler calls, never by who may see the tool.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    handler: Handler
    read_only: bool = False
    destructive: bool = False
    title: str = ""

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The schema made ready; making it takes longer than using it."""
        return Draft202012Validator(dict(self.schema))

    def as_dict(self) -> dict[str, Any]:
        """Return the definition as REST shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "input_schema": dict(self.schema),
            "annotations": {"read_only": self.read_only, "destructive": self.destructive},
        }


@cache
def tools() -> tuple[Tool, ...]:
    """Return every tool, in the order in which they are shown."""
    # Each module of tools needs `Tool`, so they are imported once this one is complete.
    from agents.tools import failing, memories, wikipages

    return (*memories.TOOLS, *failing.TOOLS, *wikipages.TOOLS)


def find(name: str) -> Tool:
    """Return the tool with this name. Raise NotFound with the names that there are."""
    for tool in tools():
        if tool.name == name:
            return tool
    known = ", ".join(tool.name for tool in tools())
    raise NotFound(f"There is no tool '{name[:60]}'; there are {known}.")


def call(principal: Principal, name: str, arguments: Any) -> dict[str, Any]:
    """Check the arguments, then call the tool as this principal.

    Raises GoclawError; where a hint is known for the failure it is in the error's `hint`.
    """
    tool = find(name)
    try:
        return tool.handler(principal, check(tool.validator, arguments))
    except GoclawError as error:
        advice = hints.hint(tool.name, error.message)
        if advice.fixable:
            error.extra["hint"] = advice.hint
        raise
