"""Copies of everything, of the database alone, and the way back. Modules here need no models."""

from memory.backups.automatic import back_up

__all__ = ["back_up"]
