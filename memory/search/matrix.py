"""A process's compact matrix of one model's vectors: exact search, what is visible gathered first.

Rows are int8 with a scale each (a quarter of float32). The matrix is filled once and then follows
`memory_changes`; it is never rebuilt for a query. Rows are only appended or marked dead, so that a
search on a snapshot needs no lock.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import BinaryField, Max, QuerySet
from django.db.models.functions import Cast
from numpy.typing import NDArray

from memory.chunks import HIDDEN, batches
from memory.models import MemoryChange, MemoryChunk
from memory.vectors import FloatMatrix, FloatVector, unpack_levels

_DEAD = -1
_BLOCK = 2048
_ROWS_AT_ONCE = 2000


@dataclass(frozen=True)
class Snapshot:
    """The rows as they were at one moment: ids, access codes, levels and scales."""

    ids: NDArray[np.int64]
    codes: NDArray[np.int32]
    levels: NDArray[np.int8]
    scales: FloatVector

    def rows_of(
        self, codes: Collection[int], allowed: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """Return the rows with these access codes, and of these chunks where that is asked."""
        mask = np.isin(self.codes, np.fromiter(codes, np.int32, len(codes)))
        if allowed is not None:
            mask &= np.isin(self.ids, allowed)
        return np.flatnonzero(mask)

    def cosines(self, vector: FloatVector, rows: NDArray[np.int64]) -> FloatVector:
        """Return the cosine of each row with a unit vector, block by block through float32."""
        found = np.empty(len(rows), dtype=np.float32)
        whole = len(rows) == len(self.ids)
        for start in range(0, len(rows), _BLOCK):
            stop = min(start + _BLOCK, len(rows))
            part = self.levels[start:stop] if whole else self.levels[rows[start:stop]]
            found[start:stop] = part.astype(np.float32) @ vector
        return found * (self.scales if whole else self.scales[rows])


class Matrix:
    """The vectors of one model, shared by the threads of a process."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._lock = threading.Lock()
        self._codes: dict[str, int] = {}
        self._sequence = -1
        self._count = 0
        self._dead = 0
        self._set_capacity(0, 0)

    def _set_capacity(self, rows: int, dimensions: int) -> None:
        self._ids = np.zeros(rows, np.int64)
        self._access = np.full(rows, _DEAD, np.int32)
        self._levels = np.zeros((rows, dimensions), np.int8)
        self._scales = np.zeros(rows, np.float32)

    def snapshot(self) -> Snapshot:
        """Return the rows as the database has them now."""
        with self._lock:
            self._follow()
            n = self._count
            return Snapshot(self._ids[:n], self._access[:n], self._levels[:n], self._scales[:n])

    def codes_of(self, tokens: Collection[str]) -> list[int]:
        """Return the codes of the tokens that have rows at all."""
        return [self._codes[token] for token in tokens if token in self._codes]

    def _follow(self) -> None:
        latest = MemoryChange.objects.aggregate(last=Max("sequence"))["last"] or 0
        if latest == self._sequence:
            return
        if self._sequence < 0 or latest < self._sequence:
            self._rebuild(latest)
            return
        changes = list(
            MemoryChange.objects.filter(sequence__gt=self._sequence)
            .order_by("sequence")
            .values_list("sequence", "chunk")
        )
        if changes[0][0] != self._sequence + 1:
            self._rebuild(latest)  # what lay between was pruned
            return
        self._apply({chunk for _, chunk in changes})
        self._sequence = changes[-1][0]

    def _rebuild(self, latest: int) -> None:
        self._count = self._dead = 0
        self._set_capacity(0, 0)
        wanted = self._current().count()
        last = 0
        while rows := list(self._current().filter(pk__gt=last).order_by("pk")[:_ROWS_AT_ONCE]):
            self._append(rows, wanted)
            last = rows[-1][0]
        self._sequence = latest

    def _apply(self, changed: set[int]) -> None:
        wanted = np.fromiter(changed, np.int64, len(changed))
        old = np.flatnonzero(np.isin(self._ids[: self._count], wanted))
        alive = old[self._access[old] != _DEAD]
        codes = self._access.copy()  # a running search keeps the array it has
        codes[alive] = _DEAD
        self._access = codes
        self._dead += len(alive)
        for batch in batches(sorted(changed)):
            self._append(list(self._current().filter(pk__in=batch)), 0)
        if self._dead > 1000 and self._dead * 4 > self._count:
            self._compact()

    def _current(self) -> QuerySet[MemoryChunk, Any]:
        """The model's searchable rows, with the packed bytes instead of decoded vectors."""
        rows = MemoryChunk.objects.filter(embedding_model=self.model).exclude(access=HIDDEN)
        packed = Cast("embedding", BinaryField())
        return rows.annotate(packed=packed).values_list("pk", "access", "packed", "embedding_dim")

    def _append(self, rows: Sequence[tuple[int, str, bytes, int]], expected: int) -> None:
        if not rows:
            return
        dimensions = self._levels.shape[1] or rows[0][3]
        rows = [row for row in rows if row[3] == dimensions]
        if not rows:
            return
        self._grow(max(self._count + len(rows), expected), dimensions)
        levels, scales = unpack_levels([row[2] for row in rows], dimensions)
        place = slice(self._count, self._count + len(rows))
        self._ids[place] = [row[0] for row in rows]
        self._access[place] = [self._code(row[1]) for row in rows]
        self._levels[place] = levels
        self._scales[place] = scales
        self._count += len(rows)

    def _code(self, token: str) -> int:
        return self._codes.setdefault(token, len(self._codes))

    def _grow(self, rows: int, dimensions: int) -> None:
        if rows <= len(self._ids):
            return
        held = self._count
        ids, access, levels, scales = self._ids, self._access, self._levels, self._scales
        self._set_capacity(max(rows, int(held * 1.2), 256), dimensions)
        if held:
            self._ids[:held], self._access[:held] = ids[:held], access[:held]
            self._levels[:held], self._scales[:held] = levels[:held], scales[:held]

    def _compact(self) -> None:
        alive = np.flatnonzero(self._access[: self._count] != _DEAD)
        self._ids, self._access = self._ids[alive], self._access[alive]
        self._levels, self._scales = self._levels[alive], self._scales[alive]
        self._count, self._dead = len(alive), 0


_matrices: dict[tuple[str, str], Matrix] = {}
_made = threading.Lock()


def matrix_of(model: str) -> Matrix:
    """Return this process's matrix of a model in the database in use."""
    key = (str(connection.settings_dict["NAME"]), model)
    with _made:
        return _matrices.setdefault(key, Matrix(model))


def forget_all() -> None:
    """Drop every matrix: the database behind them was exchanged."""
    with _made:
        _matrices.clear()


def best(cosines: FloatVector, limit: int) -> NDArray[np.int64]:
    """Return the places of the `limit` largest, largest first; ties by place."""
    if len(cosines) > limit:
        top = np.argpartition(-cosines, limit - 1)[:limit]
    else:
        top = np.arange(len(cosines))
    ordered: NDArray[np.int64] = top[np.lexsort((top, -cosines[top]))]
    return ordered


def rows_as_floats(snapshot: Snapshot, rows: NDArray[np.int64]) -> FloatMatrix:
    """Return float32 vectors of some rows."""
    floats: FloatMatrix = snapshot.levels[rows].astype(np.float32)
    return floats * snapshot.scales[rows, None]
