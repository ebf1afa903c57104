"""From written records to searchable chunks, in two stages: text, then vectors.

What is unfinished stands in the rows (`index_state`), so that a lost message or a killed worker
loses nothing. A batch is claimed by a lease, worked on outside any transaction, and stored in one
transaction that drops the result of any record that has changed meanwhile.
"""

from __future__ import annotations

import logging
import random
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from goclaw_site.config import get_config
from goclaw_site.errors import ProviderError
from memory import chunks, providers, windows
from memory.models import Memory, MemoryChange, MemoryChunk
from memory.providers.base import EmbeddingProvider
from memory.vectors import FloatVector
from memory.vocabulary import FAILED, INDEXED, PENDING, TEXT

log = logging.getLogger(__name__)

#: A killed worker's batch is free again after this.
LEASE = timedelta(seconds=120)
TEXT_BATCH = 50
MAX_ATTEMPTS = 8
_FIRST_DELAY, _LONGEST_DELAY = 5.0, 1800.0


def index_waiting(deadline: float) -> bool:
    """Work until nothing waits or `deadline` (monotonic seconds); return whether work is left.

    Order: text of single writes, their vectors, text of bulk writes, their vectors; after each
    batch the order is looked at again, so that a fresh write never stands behind an import.
    """
    while time.monotonic() < deadline:
        if not _next_batch():
            return False
    return True


def _next_batch() -> bool:
    """Do the most urgent batch; return False when there is none."""
    steps: tuple[Callable[[], bool], ...] = (
        lambda: index_texts(bulk=False),
        lambda: index_vectors(bulk=False),
        lambda: index_texts(bulk=True),
        lambda: index_vectors(bulk=True),
    )
    return any(step() for step in steps)


def index_waiting_singles(deadline: float) -> None:
    """Serve fresh single writes between two batches of bulk work."""
    while time.monotonic() < deadline and (index_texts(bulk=False) or index_vectors(bulk=False)):
        pass


def waiting() -> Q:
    """Return the condition for records whose index is unfinished."""
    # The first part is word for word the condition of the partial index, which makes it serve.
    return ~Q(index_state=INDEXED) & Q(index_state__in=(PENDING, TEXT))


def due() -> Q:
    """Return the condition for records that a worker may take up now."""
    return waiting() & (Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=timezone.now()))


def index_texts(*, bulk: bool) -> bool:
    """Cut and normalise one batch of records; return whether there was one."""
    claimed = _claim(PENDING, bulk, TEXT_BATCH)
    if claimed:
        store_texts(claimed)
    return bool(claimed)


def store_texts(records: Sequence[Memory], *, fresh_vectors: bool = False) -> None:
    """Make the chunks of these records anew; a record whose text cannot be cut fails alone.

    `fresh_vectors` embeds everything again instead of reusing equal texts' vectors.
    """
    size = get_config().memory.chunk
    cut = []
    for record in records:
        try:
            cut.append((record, chunks.cut(record, size.size, size.overlap)))
        except Exception as error:  # the fault stays with its item, whatever it is
            log.exception("record %s could not be cut", record.pk)
            _fail(record, f"cutting: {error}")
    model = _model_name()
    with transaction.atomic():
        current = _unchanged([record for record, _ in cut])
        for record, pieces in cut:
            if record.pk in current:
                known = "" if fresh_vectors else model
                lacking = chunks.replace(current[record.pk], pieces, known)
                _text_done(current[record.pk], finished=not model or not lacking)
        windows.refresh(windows.around(current))


def _text_done(record: Memory, *, finished: bool) -> None:
    Memory.objects.filter(pk=record.pk).update(
        index_state=INDEXED if finished else TEXT, next_attempt_at=None, attempts=0, last_error=""
    )


def _unchanged(records: Sequence[Memory]) -> dict[uuid.UUID, Memory]:
    """Return the records that are still what was worked on, locked and freshly read."""
    versions = {record.pk: record.version for record in records}
    rows = Memory.objects.select_for_update(of=("self",)).filter(pk__in=list(versions))
    return {row.pk: row for row in rows if row.version == versions[row.pk]}


@dataclass(frozen=True)
class _Waiting:
    """A chunk without a vector of the current model."""

    pk: int
    memory: uuid.UUID
    key: str
    text: str
    text_hash: str


def index_vectors(*, bulk: bool) -> bool:
    """Embed one batch of chunks; return whether there was one."""
    provider = providers.current()
    if provider is None:
        return _finish_without_vectors(bulk)
    if provider.resting:
        return False
    records = _claim(TEXT, bulk, provider.batch_size)
    if not records:
        return False
    lacking = chunks_lacking(records, provider.model)[: provider.batch_size]
    try:
        if lacking:
            embed_and_store(provider, lacking)
    except ProviderError as error:
        return _postpone(records, error, provider)
    _settle(records, provider.model)
    return True


def _finish_without_vectors(bulk: bool) -> bool:
    records = _claim(TEXT, bulk, TEXT_BATCH)
    ids = [record.pk for record in records]
    Memory.objects.filter(pk__in=ids, index_state=TEXT).update(
        index_state=INDEXED, next_attempt_at=None, attempts=0
    )
    return bool(ids)


def embed_records(
    records: Sequence[Memory], provider: EmbeddingProvider, *, fresh: bool = False
) -> bool:
    """Embed all that these records lack; False when the provider failed and may work later."""
    lacking = chunks_lacking(records, provider.model)
    try:
        for start in range(0, len(lacking), provider.batch_size):
            part = lacking[start : start + provider.batch_size]
            embed_and_store(provider, part, fresh=fresh)
    except ProviderError as error:
        _postpone(records, error, provider)
        return not error.transient
    _settle(records, provider.model)
    return True


def chunks_lacking(records: Sequence[Memory], model: str) -> list[_Waiting]:
    """Return the chunks of these records that have no vector of `model`, in order."""
    prefixes = {record.pk: record.index_prefix for record in records}
    rows = (
        MemoryChunk.objects.filter(memory_id__in=list(prefixes))
        .exclude(embedding_model=model)
        .order_by("memory_id", "position")
    )
    return [
        _Waiting(
            row.pk,
            row.memory_id,
            row.key,
            chunks.embedding_input(prefixes[row.memory_id], row.text),
            row.text_hash,
        )
        for row in rows.only("memory_id", "key", "text", "text_hash", "position")
    ]


def embed_and_store(
    provider: EmbeddingProvider, waiting_chunks: Sequence[_Waiting], *, fresh: bool = False
) -> None:
    """Embed outside any transaction, each text once, then store what is still wanted in one.

    `fresh` embeds also what the model has embedded before.
    """
    texts = {chunk.text_hash: chunk.text for chunk in waiting_chunks}
    vectors = {} if fresh else chunks.known_vectors(set(texts), provider.model)
    new = [digest for digest in texts if digest not in vectors]
    if new:
        rows = provider.passages([texts[digest] for digest in new])
        vectors.update(zip(new, rows, strict=True))
    with transaction.atomic():
        _store_vectors(provider.model, waiting_chunks, vectors)


def _store_vectors(
    model: str, waiting_chunks: Sequence[_Waiting], vectors: Mapping[str, FloatVector]
) -> None:
    stored = []
    for chunk in waiting_chunks:
        vector = vectors[chunk.text_hash]
        wanted = MemoryChunk.objects.filter(pk=chunk.pk, key=chunk.key)
        if wanted.update(embedding=vector, embedding_model=model, embedding_dim=len(vector)):
            stored.append(chunk.pk)
    chunks.log(stored, MemoryChange.PUT)


def _settle(records: Sequence[Memory], model: str) -> None:
    """Mark the records whose chunks all have vectors, and free the others for the next batch."""
    ids = [record.pk for record in records]
    with transaction.atomic():
        open_ids = set(
            MemoryChunk.objects.filter(memory_id__in=ids)
            .exclude(embedding_model=model)
            .values_list("memory_id", flat=True)
        )
        for record in records:
            state = TEXT if record.pk in open_ids else INDEXED
            Memory.objects.filter(pk=record.pk, version=record.version, index_state=TEXT).update(
                index_state=state, next_attempt_at=None, attempts=0, last_error=""
            )


def _postpone(records: Sequence[Memory], error: ProviderError, provider: EmbeddingProvider) -> bool:
    """Put a failed batch off with growing delay; a lasting fault is pinned to its own record."""
    if not error.transient and len(records) > 1:
        return _one_by_one(records, provider)
    log.warning("embedding failed for %d records: %s", len(records), error.message)
    for record in records:
        attempts = record.attempts + 1
        lost = not error.transient and attempts >= MAX_ATTEMPTS
        Memory.objects.filter(pk=record.pk, version=record.version).update(
            attempts=attempts,
            last_error=error.message[:500],
            next_attempt_at=timezone.now() + timedelta(seconds=_delay(attempts)),
            index_state=FAILED if lost else F("index_state"),
        )
    return not error.transient


def _one_by_one(records: Sequence[Memory], provider: EmbeddingProvider) -> bool:
    for record in records:
        if provider.resting:  # the others come again when their lease is over
            return False
        embed_records([record], provider)
    return True


def _delay(attempts: int) -> float:
    """Seconds until the next try: doubling from five, half of it jitter, half an hour at most."""
    longest: float = min(_FIRST_DELAY * 2 ** min(attempts - 1, 16), _LONGEST_DELAY)
    return longest * (0.5 + random.random() / 2)  # noqa: S311  spreads load, keeps no secret


def _fail(record: Memory, reason: str) -> None:
    Memory.objects.filter(pk=record.pk, version=record.version).update(
        index_state=FAILED, last_error=reason[:500], next_attempt_at=None
    )


def _claim(state: str, bulk: bool, limit: int) -> list[Memory]:
    """Take up to `limit` due records for the time of a lease, oldest first."""
    condition = due() & Q(index_state=state, bulk=bulk)
    if not Memory.objects.filter(condition).exists():
        return []
    skip = connection.features.has_select_for_update_skip_locked
    with transaction.atomic():
        rows = Memory.objects.select_for_update(skip_locked=skip).filter(condition)
        claimed = list(rows.order_by("created_at")[:limit])
        Memory.objects.filter(pk__in=[record.pk for record in claimed]).update(
            next_attempt_at=timezone.now() + LEASE
        )
    return claimed


def _model_name() -> str:
    """The model that chunks are waiting for; empty where search is by keyword alone."""
    provider = providers.current()
    return provider.model if provider else ""
