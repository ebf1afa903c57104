"""Changing a record: new text, tags, kind, and what each of them entails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from goclaw_site.errors import Conflict, Refused
from memory import chunks, credentials, queue, windows
from memory.access import Principal, administers
from memory.beliefs import restoring
from memory.drafts import Changes
from memory.history import content_hash, decide, live_key
from memory.models import Memory, MemoryTag
from memory.vocabulary import AMENDED, CRITICAL, ENGINE_TAGS, PENDING, REVIEW_TAGS, SUPERSEDED


def apply(principal: Principal, memory: Memory, changes: Changes) -> None:
    before, kind_before = memory.content, memory.kind
    memory.content = changes.content if changes.content is not None else before
    if memory.content != before:
        _require_right_to_reword(principal, memory)
    memory.kind = changes.kind or memory.kind
    if changes.index_prefix is not None:
        memory.index_prefix = changes.index_prefix
    memory.domain = memory.domain if changes.domain is None else changes.domain
    if changes.metadata is not None:
        memory.metadata = {**changes.metadata, **_engine_metadata(memory.metadata)}
    if changes.expires_at is not None or changes.clear_expiry:
        memory.expires_at = changes.expires_at
    if changes.tags is not None:
        _set_tags(principal, memory, changes.tags)
    _lift(principal, memory, changes.lift)
    if memory.content != before and credentials.found(memory.content):
        MemoryTag.objects.get_or_create(memory=memory, tag=credentials.CREDENTIAL)
    _rekey(memory)
    if memory.content != before or memory.kind != kind_before:
        _note_amendment(principal, memory, before, recorded=changes.recorded)
    _save(memory)


def _lift(principal: Principal, memory: Memory, tags: Sequence[str]) -> None:
    """Take off tags of the engine; `superseded` stays unless an administrator removes it."""
    looked_at = [tag for tag in tags if tag in REVIEW_TAGS]
    if looked_at:
        memory.tags.filter(tag__in=looked_at).delete()
    if SUPERSEDED in tags and memory.superseded and administers(principal):
        restoring.lift(memory, principal.actor)


def _require_right_to_reword(principal: Principal, memory: Memory) -> None:
    """The text of a `critical` record is a standing instruction, and so is every change to it."""
    if CRITICAL in memory.tag_names and not administers(principal):
        raise Refused(
            "A record tagged 'critical' is changed by administrators only.", field="content"
        )


def _note_amendment(principal: Principal, memory: Memory, before: str, *, recorded: bool) -> None:
    """Keep the old text, and have the new one indexed; the old text leaves search at once."""
    old_hash = content_hash(before)
    memory.updated_at = timezone.now()
    if memory.content != before:
        memory.tags.filter(tag__in=REVIEW_TAGS).delete()
        index_anew(memory)
        chunks.hide(memory)
        windows.refresh(windows.around([memory.pk]))
        queue.wake_indexer()
    if not recorded:
        return
    decide(
        memory,
        memory,
        via="manual",
        decision=AMENDED,
        actor=principal.actor,
        old_hash=old_hash,
        texts=(before, memory.content),
    )


def index_anew(memory: Memory) -> None:
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
    memory.live_key = live_key(memory.scope, memory.owner_id, memory.kind, memory.content_hash)
    _refuse_twin(memory)


def _save(memory: Memory) -> None:
    """Another writer may have taken the key since it was looked for."""
    try:
        with transaction.atomic():
            memory.save()
    except IntegrityError:
        _refuse_twin(memory)
        raise


def _refuse_twin(memory: Memory) -> None:
    twin = Memory.objects.filter(live_key=memory.live_key).exclude(pk=memory.pk).first()
    if twin is not None:
        raise Conflict("An equal record is there already.", id=str(twin.pk))


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


def require_critical_right(
    principal: Principal, tags: Sequence[str], memory: Memory | None
) -> None:
    """`critical` is set and removed by administrators, never by a run on outside input."""
    if administers(principal):
        return
    held = memory is not None and CRITICAL in memory.tag_names
    if CRITICAL in tags and not held:
        raise Refused("The tag 'critical' is set by administrators only.", field="tags")


def expired(memory: Memory) -> bool:
    return memory.expires_at is not None and memory.expires_at <= timezone.now()
