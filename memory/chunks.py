"""The rows of `memory_chunks`: making, hiding, re-tagging and dropping them.

Every change to what search may see is written to `memory_changes` in the same transaction, so that
the processes' matrices of vectors follow.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import QuerySet

from memory import chunking
from memory.access import access_token
from memory.duplicates.reading import stored_outline
from memory.models import Memory, MemoryChange, MemoryChunk
from memory.text import normalise
from memory.vectors import FloatVector

T = TypeVar("T")

#: Stands in `access` of chunks that no search may see: the record was amended or has expired.
HIDDEN = ""
#: Before the token of a chunk that repeats another one: only narrowed searches name it, since what
#: they ask for may not hold for the record whose chunk speaks for it.
REPEAT = "d"
#: Before the token of a superseded record: only searches of the history name it.
HISTORY = "h"


@dataclass(frozen=True)
class Piece:
    """One chunk to be: pure data, made outside any transaction."""

    position: int
    start: int
    end: int
    heading: str
    text: str
    search_text: str
    key: str
    text_hash: str
    outline: str


def token(memory: Memory, *, repeats: bool = False) -> str:
    """Return what `access` holds for chunks of this record as it is now."""
    base = access_token(memory.scope, memory.owner_id)
    if not memory.live_key:
        return HISTORY + base
    return REPEAT + base if repeats else base


def embedding_input(prefix: str, text: str) -> str:
    """Return what is embedded for a chunk: speaker and date stand before the words."""
    return f"{prefix} {text}" if prefix else text


def cut(memory: Memory, size: int, overlap: int) -> list[Piece]:
    """Return the pieces of a record."""
    spans = chunking.split(memory.content, size, overlap)
    return [_piece(memory, position, span) for position, span in enumerate(spans)]


def _piece(memory: Memory, position: int, span: chunking.Span) -> Piece:
    text = memory.content[span.start : span.end]
    whole = embedding_input(memory.index_prefix, text)
    return Piece(
        position=position,
        start=span.start,
        end=span.end,
        heading=span.heading[:300],
        text=text,
        search_text=normalise(whole),
        key=_digest(memory.pk.hex, str(position), text),
        text_hash=_digest(whole),
        outline=stored_outline(text),
    )


def replace(memory: Memory, pieces: Sequence[Piece], model: str) -> int:
    """Put the pieces in the place of the record's chunks; return how many lack a vector.

    A vector is reused wherever text hash and model are equal. Call inside a transaction.
    """
    known = known_vectors({piece.text_hash for piece in pieces}, model)
    marks = _marks(memory.pk)
    _delete(MemoryChunk.objects.filter(memory_id=memory.pk))
    rows = [
        _row(memory, piece, marks.get(piece.key, ""), model, known.get(piece.text_hash))
        for piece in pieces
    ]
    made = MemoryChunk.objects.bulk_create(rows)
    log([row.pk for row in made if row.embedding_model], MemoryChange.PUT)
    release(set(marks) - {row.key for row in made if not row.duplicate_of})
    return sum(1 for row in made if not row.embedding_model)


def _row(
    memory: Memory, piece: Piece, kept: str, model: str, vector: FloatVector | None
) -> MemoryChunk:
    return MemoryChunk(
        memory=memory,
        position=piece.position,
        start=piece.start,
        end=piece.end,
        heading=piece.heading,
        text=piece.text,
        search_text=piece.search_text,
        access=token(memory, repeats=bool(kept)),
        key=piece.key,
        text_hash=piece.text_hash,
        duplicate_of=kept,
        outline=piece.outline,
        embedding=vector,
        embedding_model=model if vector is not None else "",
        embedding_dim=0 if vector is None else len(vector),
    )


def known_vectors(hashes: set[str], model: str) -> dict[str, FloatVector]:
    """Return the vectors that the model made of these texts before, by the hash of the text."""
    if not model or not hashes:
        return {}
    found: dict[str, FloatVector] = {}
    for batch in batches(sorted(hashes)):
        rows = MemoryChunk.objects.filter(text_hash__in=batch, embedding_model=model)
        found.update((row.text_hash, row.embedding) for row in rows.only("text_hash", "embedding"))
    return found


def drop(memory_ids: Sequence[uuid.UUID]) -> None:
    """Delete the chunks of records with their keyword rows and vectors."""
    for batch in batches(memory_ids):
        rows = MemoryChunk.objects.filter(memory_id__in=batch)
        keys = list(rows.values_list("key", flat=True))
        _delete(rows)
        release(keys)


def _delete(chunks: QuerySet[MemoryChunk]) -> None:
    log(chunks.exclude(embedding_model="").values_list("pk", flat=True), MemoryChange.DROP)
    chunks.delete()


def hide(memory: Memory) -> None:
    """Take the chunks out of every search until they are made anew; vectors stay for reuse."""
    _set_access(MemoryChunk.objects.filter(memory=memory), HIDDEN)
    release(_marks(memory.pk))


def retag(memory: Memory) -> None:
    """Give the chunks the token of the record as it is now.

    Hidden ones stay hidden: they hold a text that the record no longer has.
    """
    _retag([memory.pk], token(memory), token(memory, repeats=True))
    if memory.live_key is None:
        release(_marks(memory.pk))


def retag_live(memories: Sequence[Memory]) -> None:
    """Do the same for many records that are live again, in a few statements."""
    tokens: dict[tuple[str, str], list[uuid.UUID]] = {}
    for memory in memories:
        key = (token(memory), token(memory, repeats=True))
        tokens.setdefault(key, []).append(memory.pk)
    for (alone, repeats), ids in tokens.items():
        for batch in batches(ids):
            _retag(batch, alone, repeats)


def _retag(memory_ids: Sequence[uuid.UUID], alone: str, repeats: str) -> None:
    """Set the tokens by primary key: asked for chunks that repeat none, a database may read all."""
    held = MemoryChunk.objects.filter(memory_id__in=memory_ids).exclude(access=HIDDEN)
    rows = list(held.values_list("pk", "duplicate_of"))
    for access, marked in ((alone, False), (repeats, True)):
        for ids in batches([pk for pk, kept in rows if bool(kept) is marked]):
            _set_access(MemoryChunk.objects.filter(pk__in=ids), access)


def mark_repeat(chunk: MemoryChunk, kept: MemoryChunk) -> None:
    """Let one chunk speak for another of the same token. Both are locked, live and unmarked."""
    if chunk.access != kept.access or chunk.duplicate_of or kept.duplicate_of:
        raise ValueError("a chunk speaks for another live one of its own scope and owner alone")
    row = MemoryChunk.objects.filter(pk=chunk.pk)
    row.update(duplicate_of=kept.key)
    _set_access(row, REPEAT + kept.access)
    _release_where(MemoryChunk.objects.filter(duplicate_of=chunk.key))


def release(keys: Iterable[str]) -> None:
    """Let what these chunks spoke for be found again: they are gone, hidden or retired."""
    for batch in batches(sorted(keys)):
        _release_where(MemoryChunk.objects.filter(duplicate_of__in=batch))


def _release_where(spoken_for: QuerySet[MemoryChunk]) -> None:
    rows = list(spoken_for.values_list("pk", "access"))
    if not rows:
        return
    MemoryChunk.objects.filter(pk__in=[pk for pk, _ in rows]).update(duplicate_of="")
    for access in {access for _, access in rows if access.startswith(REPEAT)}:
        ids = [pk for pk, held in rows if held == access]
        _set_access(MemoryChunk.objects.filter(pk__in=ids), access.removeprefix(REPEAT))


def _marks(memory_id: uuid.UUID) -> dict[str, str]:
    """The keys of a record's chunks, with that of the chunk that speaks for each."""
    rows = MemoryChunk.objects.filter(memory_id=memory_id)
    return dict(rows.values_list("key", "duplicate_of"))


def _set_access(chunks: QuerySet[MemoryChunk], access: str) -> None:
    rows = chunks.exclude(access=access)
    changed = list(rows.exclude(embedding_model="").values_list("pk", flat=True))
    rows.update(access=access)
    log(changed, MemoryChange.PUT if access else MemoryChange.DROP)


def log(chunk_ids: Iterable[int], operation: str) -> None:
    """Append to the change log."""
    MemoryChange.objects.bulk_create(
        [MemoryChange(chunk=chunk, operation=operation) for chunk in chunk_ids], batch_size=400
    )


def restart_log() -> None:
    """Leave a gap in the log of changes: every process then reads its matrix anew."""
    log([0, 0], MemoryChange.DROP)
    last = MemoryChange.objects.order_by("-sequence").values_list("sequence", flat=True)[0]
    MemoryChange.objects.filter(sequence__lt=last).delete()


def batches(items: Sequence[T], size: int = 400) -> Iterable[Sequence[T]]:
    """Cut a list so that no statement meets a database's limit of variables."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
