"""Decisions about records: retiring, and the rows that tell of it; the hashes they are held by."""

from __future__ import annotations

import hashlib
import unicodedata
import uuid

from django.db import transaction
from django.utils import timezone

from memory import chunks, windows
from memory.models import Memory, MemoryRevision, MemoryTag
from memory.vocabulary import RETIRED, SUPERSEDED


def retire(
    old: Memory,
    new: Memory | None,
    *,
    via: str,
    reason: str,
    actor: str,
    run_id: uuid.UUID | None = None,
) -> MemoryRevision:
    """Mark `old` as superseded, in one transaction with the decision about it.

    Nothing is deleted: the record leaves search and prompt and can be brought back.
    """
    with transaction.atomic():
        now = timezone.now()
        old.metadata = {
            **old.metadata,
            "superseded_by": str(new.pk) if new else None,
            "superseded_at": now.isoformat(),
            "superseded_reason": reason,
        }
        old.live_key = None
        old.save(update_fields=["metadata", "live_key"])
        MemoryTag.objects.get_or_create(memory=old, tag=SUPERSEDED)
        chunks.retag(old)
        windows.refresh(windows.around([old.pk]))
        return decide(
            old, new, via=via, decision=RETIRED, actor=actor, reason=reason, run_id=run_id
        )


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
    )


def content_hash(content: str) -> str:
    """SHA-256 of the NFC text without outer white space; nothing else is folded."""
    text = unicodedata.normalize("NFC", content).strip()
    return hashlib.sha256(text.encode()).hexdigest()


def live_key(scope: str, owner: int | None, kind: str, digest: str) -> str:
    """The hash that no two live records share."""
    return hashlib.sha256(f"{scope}\0{owner or ''}\0{kind}\0{digest}".encode()).hexdigest()
