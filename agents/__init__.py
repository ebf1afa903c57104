"""Principals and keys, workspaces, sessions and context."""
