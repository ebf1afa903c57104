"""The rules by which one plain statement takes the place of another: a table, and how it is used.

Precision before recall: a text counts only if every sentence of it is a statement that a rule
reads. What it denies, asks, hedges, qualifies, lists or tells of the past is left to the judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory.beliefs import addresses, preferences, statements, values
from memory.beliefs.examples import KEEPS, RETIRES, Pair
from memory.beliefs.values import Value


@dataclass(frozen=True)
class Claim:
    """One statement as a rule reads it. Texts can only contradict each other under equal keys.

    `own`: it speaks of the writer's own. `beside`: what else the subject is called, if anything.
    """

    rule: str
    subject: str
    value: Value
    own: bool = False
    beside: str = ""

    @property
    def key(self) -> str:
        """The hash that an index finds it by."""
        return hashlib.sha256(f"{self.rule}\0{self.subject}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Rule:
    """A way to read a sentence, with the examples that are its tests."""

    name: str
    says: str
    read: Callable[[str], Claim | None]

    @property
    def retires(self) -> tuple[Pair, ...]:
        """Pairs of which the second must retire the first by this rule."""
        return RETIRES[self.name]

    @property
    def keeps(self) -> tuple[Pair, ...]:
        """Pairs of which neither may retire the other by any rule."""
        return KEEPS[self.name]


def claims(text: str) -> tuple[Claim, ...]:
    """Return what a text states, or nothing where any part of it is not a plain statement."""
    found: dict[str, Claim] = {}
    for sentence in statements.sentences(text):
        claim = _claim(sentence) if statements.plain(sentence) else None
        if claim is None or claim.key in found:
            return ()
        found[claim.key] = claim
    return tuple(found.values())


def contradiction(old: Sequence[Claim], new: Sequence[Claim]) -> str:
    """Return the name of the rule by which `new` retires `old`; empty where none does.

    Everything that the old text states must be stated anew, and something otherwise: a record that
    says more than the new one is never lost for a part of it.
    """
    stated = {claim.key: claim for claim in new}
    rule = ""
    for claim in old:
        anew = stated.get(claim.key)
        if anew is None or (claim.beside and anew.beside and claim.beside != anew.beside):
            return ""
        if values.differ(claim.value, anew.value):
            rule = claim.rule
        elif claim.value != anew.value:
            return ""
    return rule


def _claim(sentence: str) -> Claim | None:
    return next((claim for rule in RULES if (claim := rule.read(sentence))), None)


def _preference(sentence: str) -> Claim | None:
    found = preferences.read(sentence)
    if found is None:
        return None
    return Claim("preference", f"{found.holder}\0{found.name}", found.value, found.own)


def _address(sentence: str) -> Claim | None:
    found = addresses.read(sentence)
    if found is None:
        return None
    subject = f"{found.host}\0{found.predicate}"
    return Claim("address", subject, found.value, beside=found.beside)


def _statement(sentence: str) -> Claim | None:
    found = statements.read(sentence)
    if found is None:
        return None
    value = values.read(found.value, named=found.named)
    if value is None or (found.loose and not values.exact(value)):
        return None
    return Claim("statement", found.subject, value, found.own)


#: In the order in which they are asked.
RULES: tuple[Rule, ...] = (
    Rule("preference", "the same single-valued preference of the same person", _preference),
    Rule("address", "the same IP address, the same predicate, another value", _address),
    Rule("statement", "the same subject and field, another value", _statement),
)
