"""Agents' door by the Model Context Protocol: HTTP at /mcp, and stdio."""

from agents.mcp.door import Door
from agents.mcp.stdio import serve

__all__ = ["Door", "serve"]
