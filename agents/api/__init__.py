"""Agents, their tools and hints over HTTP."""
