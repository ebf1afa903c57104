"""The engine's tables for administrators, and what they may not see of them.

A personal record shows that it exists, whose it is, how large and how old. Its text, and what is
made from its text, is shown in no list, page, search, filter or confirmation.
"""

from memory.admin import beliefs, engine, parts, records

__all__ = ["beliefs", "engine", "parts", "records"]
