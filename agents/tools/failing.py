"""The tool that asks what to do about a failing tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents import hints
from agents.tools.registry import Tool
from memory.access import Principal

REPORT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tool": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": f"The tool that failed: {', '.join(hints.FAMILIES)}.",
        },
        "error": {
            "type": "string",
            "minLength": 1,
            "maxLength": hints.MAX_ERROR,
            "description": "Its message, as it came.",
        },
        "schema": {
            "type": "object",
            "maxProperties": 2000,
            "additionalProperties": {
                "type": "array",
                "maxItems": 2000,
                "items": {"type": "string", "maxLength": 200},
            },
            "description": "Tables with their columns, where known: the nearest name is given.",
        },
    },
    "required": ["tool", "error"],
    "additionalProperties": False,
}


def _report(principal: Principal, given: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing is stored, so whoever may come in may ask."""
    advice = hints.hint(given["tool"], given["error"], given.get("schema"))
    return advice.as_dict()


TOOLS = (
    Tool(
        "report_tool_error",
        "Ask what to do about a tool call that failed. Nothing is stored. `fixable` false means "
        "that another attempt will fail too: tell the person.",
        REPORT_SCHEMA,
        _report,
        read_only=True,
        title="Ask about a failure",
    ),
)
