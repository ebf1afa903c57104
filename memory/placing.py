"""Where a draft goes: a new record, the equal live one, or an amendment by its source."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from goclaw_site.errors import Conflict
from memory import windows
from memory.access import Principal
from memory.amending import apply, expired, index_anew
from memory.beliefs.retiring import retire
from memory.drafts import Changes, Draft, Source
from memory.history import content_hash, live_key
from memory.models import Memory, MemorySource, MemoryTag
from memory.vocabulary import PERSONAL, UNVERIFIED

#: How often a write that met another one looks again.
_TRIES = 4


@dataclass(frozen=True)
class Written:
    """What a write did: `outcome` is created, existing or amended.

    `confirmed`: the record was there, but unverified until now.
    """

    memory: Memory
    outcome: str
    confirmed: bool = False
    superseded: tuple[uuid.UUID, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def created(self) -> bool:
        """Whether a new record was made."""
        return self.outcome == "created"


def place(principal: Principal, draft: Draft, *, bulk: bool) -> Written:
    """Write the draft where it belongs. Call inside a transaction.

    A concurrent writer who takes the same key or place first makes us look again: we find it then.
    """
    for _ in range(_TRIES):
        try:
            with transaction.atomic():
                return _place(principal, draft, bulk)
        except IntegrityError:
            continue
    raise Conflict("Others write the same record just now. Nothing was written: try again.")


def _place(principal: Principal, draft: Draft, bulk: bool) -> Written:
    owner = principal.owner if draft.scope == PERSONAL else None
    held = _held_place(draft, owner)
    if held is not None:
        return _again_from_source(principal, draft, held, owner, bulk)
    return _write_or_touch(principal, draft, owner, bulk)


def _held_place(draft: Draft, owner: int | None) -> MemorySource | None:
    if draft.source is None:
        return None
    probe = Memory(scope=draft.scope, owner_id=owner)
    return (
        MemorySource.objects.select_related("memory")
        .select_for_update(of=("memory",))
        .filter(
            access=probe.access,
            kind=draft.source.kind,
            source_id=draft.source.id,
            position=draft.source.position,
        )
        .first()
    )


def _again_from_source(
    principal: Principal, draft: Draft, held: MemorySource, owner: int | None, bulk: bool
) -> Written:
    """Write a place for the second time: equal text changes nothing, another one amends."""
    memory = held.memory
    ended = expired(memory)
    if memory.content_hash == content_hash(draft.content) and not ended:
        return Written(memory, "existing")
    twin = _live_twin(draft, owner, kind=draft.kind)
    if twin is None and memory.live_key and not ended and memory.sources.count() == 1:
        changes = Changes(content=draft.content, kind=draft.kind, tags=draft.tags or None)
        memory.index_prefix = draft.index_prefix
        memory.occurred_at = draft.occurred_at
        memory.bulk = bulk
        apply(principal, memory, changes)
        return Written(memory, "amended")
    around = windows.around([memory.pk])
    held.delete()
    written = _write_or_touch(principal, draft, owner, bulk)
    _drop_if_unplaced(memory, principal.actor)
    windows.refresh(around)
    return written


def _drop_if_unplaced(memory: Memory, actor: str) -> None:
    """A record whose last place now says something else is retired, so that history keeps it."""
    if memory.live_key and not expired(memory) and not memory.sources.exists():
        retire(memory, None, via="manual", reason="its source says something else", actor=actor)


def _live_twin(draft: Draft, owner: int | None, kind: str) -> Memory | None:
    key = live_key(draft.scope, owner, kind, content_hash(draft.content))
    return Memory.objects.select_for_update(of=("self",)).filter(live_key=key).first()


def _write_or_touch(principal: Principal, draft: Draft, owner: int | None, bulk: bool) -> Written:
    """Create the record, or take the equal live one."""
    twin = _live_twin(draft, owner, draft.kind)
    if twin is None:
        return Written(_create(principal, draft, owner, bulk), "created")
    return Written(twin, "existing", confirmed=_touch(principal, twin, draft))


def _create(principal: Principal, draft: Draft, owner: int | None, bulk: bool) -> Memory:
    digest = content_hash(draft.content)
    memory = Memory.objects.create(
        scope=draft.scope,
        owner_id=owner,
        agent=draft.agent,
        applies_to=draft.applies_to,
        kind=draft.kind,
        domain=draft.domain,
        content=draft.content,
        index_prefix=draft.index_prefix,
        metadata=_with_provenance(principal, draft),
        content_hash=digest,
        live_key=live_key(draft.scope, owner, draft.kind, digest),
        bulk=bulk,
        expires_at=draft.expires_at,
        occurred_at=draft.occurred_at,
    )
    tags = set(draft.tags) | (set() if principal.confirmed else {UNVERIFIED})
    MemoryTag.objects.bulk_create(MemoryTag(memory=memory, tag=tag) for tag in sorted(tags))
    _append_source(memory, draft.source)
    return memory


def _with_provenance(principal: Principal, draft: Draft) -> dict[str, Any]:
    known = {
        "run_kind": principal.run_kind,
        "author": principal.actor,
        "door": principal.door,
        "session": principal.session,
    }
    return {**draft.metadata, "provenance": {k: v for k, v in known.items() if v is not None}}


def _touch(principal: Principal, memory: Memory, draft: Draft) -> bool:
    """Assert an existing record again; return whether that lifted `unverified` from it."""
    lifted = 0
    now = timezone.now()
    memory.updated_at = now
    if expired(memory):
        memory.expires_at = draft.expires_at
        index_anew(memory)
    memory.save()
    MemoryTag.objects.bulk_create(
        [MemoryTag(memory=memory, tag=tag) for tag in draft.tags], ignore_conflicts=True
    )
    if principal.confirmed:
        lifted, _ = memory.tags.filter(tag=UNVERIFIED).delete()
    if draft.source is not None:
        _append_source(memory, draft.source)
        windows.refresh(windows.around([memory.pk]))
    return bool(lifted)


def _append_source(memory: Memory, source: Source | None) -> None:
    if source is None:
        return
    MemorySource.objects.create(
        memory=memory,
        access=memory.access,
        kind=source.kind,
        source_id=source.id,
        position=source.position,
    )
