"""What every section of the configuration is made of."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr, model_validator

from goclaw_site.configsecrets import STARS


class Hiding(BaseModel):
    """Values from the vault are stars in every text that is made of a section."""

    _hidden: frozenset[str] = PrivateAttr(frozenset())

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What `repr` and `str` show."""
        for name, value in super().__repr_args__():
            yield name, STARS if name in self._hidden else value

    def hide(self, path: list[str]) -> None:
        """Print the value at this path as stars from now on."""
        inner = getattr(self, path[0], None)
        if isinstance(inner, Hiding) and path[1:]:
            inner.hide(path[1:])
        else:
            self._hidden |= {path[0]}


class Section(Hiding):
    """Frozen, and closed to keys that are not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_default(cls, value: object) -> object:
        """A section whose lines are all commented out arrives as None."""
        return {} if value is None else value
