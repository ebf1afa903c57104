"""The figures of a run: collected, printed, kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.metrics import mean


@dataclass(frozen=True)
class Figure:
    """One number."""

    set: str
    unit: str
    metric: str
    system: str
    value: float
    n: int


@dataclass
class Table:
    """The numbers so far."""

    figures: list[Figure] = field(default_factory=list)

    def add(
        self, where: tuple[str, str], metric: str, system: str, values: Sequence[float]
    ) -> None:
        """Add the mean of values over n questions."""
        self.figures.append(Figure(*where, metric, system, round(mean(values), 4), len(values)))

    def show(self) -> None:
        """Print one row for each set, unit and metric, one column for each system."""
        systems = list(dict.fromkeys(figure.system for figure in self.figures))
        rows: dict[tuple[str, str, str, int], dict[str, float]] = {}
        for figure in self.figures:
            key = (figure.set, figure.unit, figure.metric, figure.n)
            rows.setdefault(key, {})[figure.system] = figure.value
        head = "".join(f"{system:>16}" for system in systems)
        print(f"{'set':<22}{'unit':<11}{'metric':<16}{'n':>6}{head}")
        for (name, unit, metric, n), values in sorted(rows.items()):
            cells = "".join(_cell(values.get(system)) for system in systems)
            print(f"{name:<22}{unit:<11}{metric:<16}{n:>6}{cells}")

    def save(self, path: Path) -> None:
        """Write the numbers as a JSON list."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([asdict(figure) for figure in self.figures], indent=1))

    def load(self, path: Path) -> None:
        """Add the numbers of another run."""
        self.figures += [Figure(**row) for row in json.loads(path.read_text())]


def _cell(value: float | None) -> str:
    return f"{'':>16}" if value is None else f"{value:>16.3f}"
