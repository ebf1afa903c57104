"""The only writers of records: remember, amend, forget, and retire beside them."""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from goclaw_site.errors import Conflict, GoclawError, NotFound, Refused
from memory import audit, chunks, credentials, queue, windows
from memory.access import Principal, administers, require_change, require_write, visible
from memory.drafts import Changes, Draft, Source, check_changes, check_draft
from memory.models import Memory, MemoryRevision, MemorySource, MemoryTag
from memory.vocabulary import (
    AMENDED,
    CRITICAL,
    DELETED,
    ENGINE_TAGS,
    PENDING,
    PERSONAL,
    RETIRED,
    SUPERSEDED,
    UNVERIFIED,
)

BULK_LIMIT = 500


@dataclass(frozen=True)
class Written:
    """What a write did: `outcome` is created, existing or amended."""

    memory: Memory
    outcome: str
    superseded: tuple[uuid.UUID, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def created(self) -> bool:
        """Whether a new record was made."""
        return self.outcome == "created"


def remember(principal: Principal, draft: Draft, *, bulk: bool = False) -> Written:
    """Write one record and wake the indexer, in one transaction.

    Content that is there already (same scope, owner, kind, text, live) gives that record back;
    another text from the same source amends the record of that source.

    Raises InvalidInput, TooLarge or Refused; nothing is written then.
    """
    checked = _admit(principal, draft)
    kinds = credentials.found(checked.content)
    if kinds:
        checked = replace(checked, tags=(*checked.tags, credentials.CREDENTIAL))
    with transaction.atomic():
        written = _place(principal, checked, bulk=bulk)
        if written.memory.index_state == PENDING:
            queue.wake_indexer()
        if not bulk:
            subject = audit.of_record(written.memory.pk)
            audit.record(principal, "write", subject, scope=checked.scope, did=written.outcome)
    return replace(written, warnings=(credentials.warning(kinds),)) if kinds else written


def remember_many(
    principal: Principal, drafts: Sequence[Draft | GoclawError]
) -> list[Written | GoclawError]:
    """Write several records in order; a bad one is its own error and stops no other.

    A draft that could not even be read comes as the error it is. Marked as bulk, so that single
    writes are indexed before them.
    """
    results = [
        draft if isinstance(draft, GoclawError) else _remember_one(principal, draft)
        for draft in drafts
    ]
    counts = Counter(
        "failed" if isinstance(result, GoclawError) else result.outcome for result in results
    )
    audit.record(
        principal, "write.many", created=counts["created"], existing=counts["existing"],
        amended=counts["amended"], failed=counts["failed"],
    )  # fmt: skip
    return results


def _remember_one(principal: Principal, draft: Draft) -> Written | GoclawError:
    try:
        return remember(principal, draft, bulk=True)
    except GoclawError as error:
        return error


def amend(principal: Principal, memory_id: uuid.UUID, changes: Changes) -> Memory:
    """Change a live record and keep its old text in the history.

    Raises NotFound, Refused, InvalidInput, or Conflict with the id of an equal live record.
    """
    checked = check_changes(changes)
    subject = audit.of_record(memory_id)
    with audit.refusals(principal, "amend", subject), transaction.atomic():
        memory = _locked(principal, memory_id)
        if _expired(memory):
            raise NotFound("No such record.")
        _require_critical_right(principal, checked.tags or (), memory)
        _apply(principal, memory, checked)
        audit.record(principal, "amend", subject, scope=memory.scope)
    return memory


def forget(principal: Principal, memory_id: uuid.UUID) -> None:
    """Delete a record with everything made from it. There is no way back.

    A person's own personal record leaves nothing; of any other record a tombstone stays that names
    who, when and the hash of the text, not the text.
    """
    subject = audit.of_record(memory_id)
    with audit.refusals(principal, "forget", subject), transaction.atomic():
        memory = _locked(principal, memory_id)
        if memory.scope != PERSONAL and not administers(principal):
            raise Refused("Shared records are deleted by administrators only.")
        audit.record(principal, "forget", subject, scope=memory.scope)
        erase(memory, principal.actor)


def erase(memory: Memory, actor: str) -> None:
    """Delete the record, its copies and the texts that its history holds."""
    chunks.drop(memory.pk)
    MemoryRevision.objects.filter(old_id=memory.pk).update(text_before="", text_after="")
    MemoryRevision.objects.filter(new_id=memory.pk).update(text_after="")
    if memory.scope == PERSONAL:
        MemoryRevision.objects.filter(old_id=memory.pk).delete()
    else:
        _decide(memory, None, via="manual", decision=DELETED, actor=actor)
    around = windows.around([memory.pk])
    memory.delete()
    windows.refresh(around)


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
        return _decide(
            old, new, via=via, decision=RETIRED, actor=actor, reason=reason, run_id=run_id
        )


def content_hash(content: str) -> str:
    """SHA-256 of the NFC text without outer white space; nothing else is folded."""
    text = unicodedata.normalize("NFC", content).strip()
    return hashlib.sha256(text.encode()).hexdigest()


def live_key(scope: str, owner: int | None, kind: str, digest: str) -> str:
    """The hash that no two live records share."""
    return hashlib.sha256(f"{scope}\0{owner or ''}\0{kind}\0{digest}".encode()).hexdigest()


def _admit(principal: Principal, draft: Draft) -> Draft:
    checked = check_draft(draft, engine=principal.system)
    with audit.refusals(principal, "write", scope=checked.scope):
        require_write(principal, checked.scope)
        _require_critical_right(principal, checked.tags, None)
    return replace(checked, agent=checked.agent or principal.agent)


def _require_critical_right(
    principal: Principal, tags: Sequence[str], memory: Memory | None
) -> None:
    """`critical` is set and removed by administrators, never by a run on outside input."""
    if administers(principal):
        return
    held = memory is not None and CRITICAL in memory.tag_names
    if CRITICAL in tags and not held:
        raise Refused("The tag 'critical' is set by administrators only.", field="tags")


def _expired(memory: Memory) -> bool:
    return memory.expires_at is not None and memory.expires_at <= timezone.now()


def _place(principal: Principal, draft: Draft, *, bulk: bool) -> Written:
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
    ended = _expired(memory)
    if memory.content_hash == content_hash(draft.content) and not ended:
        return Written(memory, "existing")
    twin = _live_twin(draft, owner, kind=draft.kind)
    if twin is None and memory.live_key and not ended and memory.sources.count() == 1:
        changes = Changes(content=draft.content, kind=draft.kind, tags=draft.tags or None)
        memory.index_prefix = draft.index_prefix
        memory.occurred_at = draft.occurred_at
        memory.bulk = bulk
        _apply(principal, memory, changes)
        return Written(memory, "amended")
    around = windows.around([memory.pk])
    held.delete()
    written = _write_or_touch(principal, draft, owner, bulk)
    _drop_if_unplaced(memory, principal.actor)
    windows.refresh(around)
    return written


def _drop_if_unplaced(memory: Memory, actor: str) -> None:
    """A record whose last place now says something else is retired, so that history keeps it."""
    if memory.live_key and not _expired(memory) and not memory.sources.exists():
        retire(memory, None, via="manual", reason="its source says something else", actor=actor)


def _live_twin(draft: Draft, owner: int | None, kind: str) -> Memory | None:
    key = live_key(draft.scope, owner, kind, content_hash(draft.content))
    return Memory.objects.filter(live_key=key).first()


def _write_or_touch(principal: Principal, draft: Draft, owner: int | None, bulk: bool) -> Written:
    """Create the record, or take the equal live one that a concurrent writer may have made."""
    twin = _live_twin(draft, owner, draft.kind)
    if twin is None:
        try:
            with transaction.atomic():
                return Written(_create(principal, draft, owner, bulk), "created")
        except IntegrityError:
            twin = _live_twin(draft, owner, draft.kind)
            if twin is None:
                raise
    _touch(principal, twin, draft)
    return Written(twin, "existing")


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


def _touch(principal: Principal, memory: Memory, draft: Draft) -> None:
    """Assert an existing record again."""
    now = timezone.now()
    memory.updated_at = now
    if _expired(memory):
        memory.expires_at = draft.expires_at
        _index_anew(memory)
    memory.save()
    MemoryTag.objects.bulk_create(
        [MemoryTag(memory=memory, tag=tag) for tag in draft.tags], ignore_conflicts=True
    )
    if principal.confirmed:
        memory.tags.filter(tag=UNVERIFIED).delete()
    if draft.source is not None:
        _append_source(memory, draft.source)
        windows.refresh(windows.around([memory.pk]))


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


def _locked(principal: Principal, memory_id: uuid.UUID) -> Memory:
    """Return the record under a row lock, if this caller may see and write it."""
    require_change(principal)
    memory = (
        Memory.objects.select_for_update(of=("self",))
        .filter(visible(principal), pk=memory_id)
        .first()
    )
    if memory is None:
        raise NotFound("No such record.")
    require_write(principal, memory.scope)
    return memory


def _apply(principal: Principal, memory: Memory, changes: Changes) -> None:
    before, kind_before = memory.content, memory.kind
    memory.content = changes.content if changes.content is not None else before
    if memory.content != before:
        _require_right_to_reword(principal, memory)
    memory.kind = changes.kind or memory.kind
    memory.domain = memory.domain if changes.domain is None else changes.domain
    if changes.metadata is not None:
        memory.metadata = {**changes.metadata, **_engine_metadata(memory.metadata)}
    if changes.expires_at is not None or changes.clear_expiry:
        memory.expires_at = changes.expires_at
    if changes.tags is not None:
        _set_tags(principal, memory, changes.tags)
    if memory.content != before and credentials.found(memory.content):
        MemoryTag.objects.get_or_create(memory=memory, tag=credentials.CREDENTIAL)
    _rekey(memory)
    if memory.content != before or memory.kind != kind_before:
        _note_amendment(principal, memory, before)
    memory.save()


def _require_right_to_reword(principal: Principal, memory: Memory) -> None:
    """The text of a `critical` record is a standing instruction, and so is every change to it."""
    if CRITICAL in memory.tag_names and not administers(principal):
        raise Refused(
            "A record tagged 'critical' is changed by administrators only.", field="content"
        )


def _note_amendment(principal: Principal, memory: Memory, before: str) -> None:
    """Keep the old text, and have the new one indexed; the old text leaves search at once."""
    old_hash = content_hash(before)
    memory.updated_at = timezone.now()
    if memory.content != before:
        _index_anew(memory)
        chunks.hide(memory)
        windows.refresh(windows.around([memory.pk]))
        queue.wake_indexer()
    _decide(
        memory,
        memory,
        via="manual",
        decision=AMENDED,
        actor=principal.actor,
        old_hash=old_hash,
        texts=(before, memory.content),
    )


def _index_anew(memory: Memory) -> None:
    memory.version += 1
    memory.index_state = PENDING
    memory.attempts = 0
    memory.next_attempt_at = None
    memory.last_error = ""


def _rekey(memory: Memory) -> None:
    """Give the record the keys of its new content; an equal live record is a conflict."""
    memory.content_hash = content_hash(memory.content)
    if memory.live_key is None:
        return
    key = live_key(memory.scope, memory.owner_id, memory.kind, memory.content_hash)
    twin = Memory.objects.filter(live_key=key).exclude(pk=memory.pk).first()
    if twin is not None:
        raise Conflict("An equal record is there already.", id=str(twin.pk))
    memory.live_key = key


def _set_tags(principal: Principal, memory: Memory, tags: Sequence[str]) -> None:
    """Replace the tags; those of the engine stay, `critical` only with the right to change it."""
    held = set(memory.tag_names)
    kept = held & set(ENGINE_TAGS)
    if CRITICAL in held and CRITICAL not in tags and not administers(principal):
        raise Refused("The tag 'critical' is removed by administrators only.", field="tags")
    wanted = set(tags) | kept
    memory.tags.exclude(tag__in=wanted).delete()
    MemoryTag.objects.bulk_create(
        [MemoryTag(memory=memory, tag=tag) for tag in sorted(wanted - held)]
    )


def _engine_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """What the engine wrote survives an amendment of the metadata."""
    return {k: v for k, v in metadata.items() if k == "provenance" or k.startswith("superseded_")}


def _decide(
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
