"""Texts that try to run a script: every vector in every place of a page that it fits.

CANARY(n) stands for the call that must never happen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

_DATA = json.loads((Path(__file__).parents[1] / "data" / "xss.json").read_text())


@dataclass(frozen=True)
class Attack:
    """One text; `number` is what its canary says."""

    number: int
    text: str

    @property
    def title(self) -> str:
        """What fits into a title."""
        return self.text.replace("\n", " ")[:200]


def attacks() -> list[Attack]:
    """Return all of them; the same ones every time."""
    texts = [
        place.replace("{}", vector)
        for vector in _DATA["vectors"]
        for place in _DATA["places"]
        if "\n" not in vector or place == "{}"
    ]
    return [Attack(n, text.replace("CANARY", f"top.canary({n})")) for n, text in enumerate(texts)]
