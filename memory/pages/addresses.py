"""The address of a list: every filter stands in it, and every link is made from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

#: What belongs to a place in the list, not to what is listed.
PLACES = ("cursor", "record", "n")


@dataclass(frozen=True)
class Address:
    """A path with its parameters in order."""

    path: str
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.path}?{urlencode(self.values)}" if self.values else self.path

    def bare(self) -> Address:
        """Return the address of the list's beginning."""
        return self.without(*PLACES)

    def without(self, *names: str) -> Address:
        """Drop parameters by name."""
        return replace(self, values=tuple(pair for pair in self.values if pair[0] not in names))

    def with_value(self, name: str, value: str) -> Address:
        """Set a parameter, once."""
        return replace(self, values=(*self.without(name).values, (name, value)))

    def toggled(self, name: str, value: str) -> Address:
        """Add one value of a parameter that takes several, or take it away."""
        pair = (name, value)
        kept = tuple(held for held in self.values if held != pair)
        return replace(self, values=kept if pair in self.values else (*self.values, pair))

    def holds(self, name: str, value: str) -> bool:
        """Whether this parameter has this value."""
        return (name, value) in self.values

    def values_of(self, name: str) -> list[str]:
        """Return the values of one parameter."""
        return [value for held, value in self.values if held == name]


def canonical(path: str, lists: Iterable[tuple[str, list[str]]]) -> Address:
    """Return the address of a request without its empty parameters (forms send those too)."""
    pairs = [(name, value) for name, values in lists for value in values if value.strip()]
    return Address(path, tuple(pairs))
