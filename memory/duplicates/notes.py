"""Agent notes that say what a newer one says: found, and retired in its favour."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from goclaw_site.errors import Conflict, NotFound, Refused
from memory.beliefs import revisions, vetoes
from memory.duplicates.candidates import Text, pairs
from memory.duplicates.usage import usage_in
from memory.expiry import unexpired
from memory.models import Memory, MemoryTag
from memory.vocabulary import AGENT_NOTES, CRITICAL, UNVERIFIED


@dataclass(frozen=True)
class Likeness:
    """Two records that say the same: `kept` is the newer one. `ratio` from 0 to 1."""

    kept: Memory
    repeat: Memory
    ratio: float


def live_notes(kinds: Sequence[str] = ()) -> QuerySet[Memory]:
    """Return the agent notes that take part: live, verified, of these kinds (all where none)."""
    unsure = MemoryTag.objects.filter(memory=OuterRef("pk"), tag=UNVERIFIED)
    rows = Memory.objects.filter(unexpired(), scope=AGENT_NOTES, live_key__isnull=False)
    rows = rows.filter(~Exists(unsure))
    return rows.filter(kind__in=kinds) if kinds else rows


def found(outlines: Sequence[str], least: float, kinds: Sequence[str] = ()) -> Iterator[Likeness]:
    """Yield the notes of these outlines that repeat a newer one of their kind.

    Left out as the older side: `critical` ones, those that end later than the newer one, and those
    that somebody wants beside another of these notes; a third wording does not retire them either.
    """
    standing = MemoryTag.objects.filter(memory=OuterRef("pk"), tag=CRITICAL)
    rows = live_notes(kinds).filter(outlined__outline__in=outlines)
    records = {
        record.pk: record
        for record in rows.annotate(standing=Exists(standing)).order_by(
            "-updated_at", "-created_at", "-pk"
        )
    }
    if len(records) < 2:
        return
    access = next(iter(records.values())).access
    hashes = [record.content_hash for record in records.values()]
    apart = {one for pair in vetoes.vetoed_pairs(access, hashes) for one in pair}

    def allowed(kept: Text[uuid.UUID], repeat: Text[uuid.UUID]) -> bool:
        new, old = records[kept.key], records[repeat.key]
        standing: bool = getattr(old, "standing", True)
        return not (old.content_hash in apart or standing or _ends_before(new, old))

    texts = [Text(record.pk, record.kind, record.content) for record in records.values()]
    for pair in pairs(texts, least, usage_in(access), allowed):
        yield Likeness(records[pair.kept], records[pair.repeat], pair.ratio)


def retire(likeness: Likeness, *, via: str, actor: str, run_id: uuid.UUID) -> str:
    """Retire the older one; return why not where it was refused or has changed meanwhile."""
    try:
        revisions.retire(
            likeness.repeat,
            likeness.kept,
            via=via,
            reason=f"A newer note says the same (ratio {likeness.ratio:.2f}).",
            actor=actor,
            run_id=run_id,
        )
    except (Conflict, NotFound, Refused) as error:
        return error.message
    return ""


def _ends_before(new: Memory, old: Memory) -> bool:
    if new.expires_at is None:
        return False
    return old.expires_at is None or new.expires_at < old.expires_at
