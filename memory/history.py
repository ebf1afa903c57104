"""Decisions about records: the rows that tell of them, and the hashes they are held by."""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from collections.abc import Sequence

from memory.models import Memory, MemoryRevision
from memory.vocabulary import DELETED


def decide(
    old: Memory,
    new: Memory | None,
    *,
    via: str,
    decision: str,
    actor: str,
    reason: str = "",
    run_id: uuid.UUID | None = None,
    old_hash: str = "",
    texts: tuple[str, str] = ("", ""),
    merged: bool = False,
    final: bool = True,
) -> MemoryRevision:
    return MemoryRevision.objects.create(
        run_id=run_id or uuid.uuid4(),
        old=old,
        new=new,
        access=old.access,
        via=via,
        decision=decision,
        reason=reason,
        actor=actor,
        old_hash=old_hash or old.content_hash,
        new_hash=new.content_hash if new else "",
        text_before=texts[0],
        text_after=texts[1],
        merged=merged,
        final=final,
    )


def bury(memories: Sequence[Memory], actor: str) -> None:
    """Leave a tombstone of each record: who, when and the hash of its text."""
    run_id = uuid.uuid4()
    MemoryRevision.objects.bulk_create(
        MemoryRevision(
            run_id=run_id,
            old=memory,
            access=memory.access,
            via="manual",
            decision=DELETED,
            actor=actor,
            old_hash=memory.content_hash,
        )
        for memory in memories
    )


def content_hash(content: str) -> str:
    """SHA-256 of the NFC text without outer white space; nothing else is folded."""
    text = unicodedata.normalize("NFC", content).strip()
    return hashlib.sha256(text.encode()).hexdigest()


def live_key(scope: str, owner: int | None, kind: str, digest: str) -> str:
    """The hash that no two live records share."""
    return hashlib.sha256(f"{scope}\0{owner or ''}\0{kind}\0{digest}".encode()).hexdigest()
