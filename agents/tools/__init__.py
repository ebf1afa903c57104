"""What agents can do here: one definition of each tool for REST, MCP and chat."""

from agents.tools.registry import Tool, call, find, tools

__all__ = ["Tool", "call", "find", "tools"]
