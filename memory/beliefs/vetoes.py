"""Pairs of texts that no route may bring against each other again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from memory.chunks import batches
from memory.models import MemoryVeto

#: Two content hashes, the lower first.
Pair = tuple[str, str]


def pair(one: str, other: str) -> Pair:
    """Return the two hashes in the order in which a veto is kept."""
    return (one, other) if one <= other else (other, one)


def all_pairs(hashes: Iterable[str]) -> set[Pair]:
    """Return every unordered pair of different hashes."""
    return set(combinations(sorted(set(hashes)), 2))


def vetoed(access: str, one: str, other: str) -> bool:
    """Whether somebody took back that one of these two texts retired the other."""
    low, high = pair(one, other)
    return MemoryVeto.objects.filter(access=access, low=low, high=high).exists()


def vetoed_pairs(access: str, hashes: Iterable[str]) -> frozenset[Pair]:
    """Return the vetoed pairs that lie wholly within these hashes, of one scope and owner."""
    wanted = set(hashes)
    found: set[Pair] = set()
    for batch in batches(sorted(wanted)):
        rows = MemoryVeto.objects.filter(access=access, low__in=batch).values_list("low", "high")
        found.update(row for row in rows if row[1] in wanted)
    return frozenset(found)


def add(access: str, pairs: Iterable[Pair]) -> None:
    """Keep these pairs apart from now on; those that are kept apart already stay."""
    ordered = {pair(one, other) for one, other in pairs if one and other and one != other}
    MemoryVeto.objects.bulk_create(
        [MemoryVeto(access=access, low=low, high=high) for low, high in sorted(ordered)],
        ignore_conflicts=True,
        batch_size=200,
    )


def move(before: str, after: str) -> None:
    """Give the vetoes of one person to another."""
    held = MemoryVeto.objects.filter(access=before)
    add(after, held.values_list("low", "high"))
    held.delete()


def drop(access: str) -> None:
    """Forget the vetoes of a person whose records are cleared."""
    MemoryVeto.objects.filter(access=access).delete()
