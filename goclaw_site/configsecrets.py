"""`${secret:NAME}` in the configuration: replaced at load, and never shown afterwards."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

STARS = "**********"
_REFERENCE = re.compile(r"\$\{secret:([^}]*)\}")
#: Shorter ones are part of ordinary words, which would turn to stars everywhere.
_SHORTEST_HIDDEN = 6

# Values that this process has read from the vault.
_known: set[str] = set()


def references(content: Mapping[str, Any]) -> dict[str, list[str]]:
    """The names of secrets by dotted key, in the order of the file."""
    found: dict[str, list[str]] = {}
    for key, text in _texts(content, ""):
        for name in _REFERENCE.findall(text):
            found.setdefault(key, []).append(name)
    return found


def replaced(content: Any, lookup: Callable[[str], str | None]) -> Any:
    """The same with the secrets in their places. Every one must be there: see `references`."""
    if isinstance(content, Mapping):
        return {key: replaced(value, lookup) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [replaced(value, lookup) for value in content]
    if isinstance(content, str):
        return _REFERENCE.sub(lambda found: _taken(lookup, found[1]), content)
    return content


def stars(text: str) -> str:
    """Text for people and logs, without any secret that this process knows."""
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, STARS).replace(repr(value)[1:-1], STARS)
    return text


def _taken(lookup: Callable[[str], str | None], name: str) -> str:
    value = lookup(name) or ""
    if len(value) >= _SHORTEST_HIDDEN:
        _known.add(value)
    return value


def _texts(content: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(content, str):
        yield key, content
    elif isinstance(content, Mapping):
        for name, value in content.items():
            yield from _texts(value, f"{key}.{name}" if key else str(name))
    elif isinstance(content, list | tuple):
        for value in content:
            yield from _texts(value, key)
