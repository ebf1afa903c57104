"""`memory check`: whether the parts of the index agree with the records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q

from memory import chunks
from memory.beliefs import rules
from memory.beliefs.settling import SCOPES, learned
from memory.chunks import HIDDEN, HISTORY, REPEAT
from memory.duplicates import repeats
from memory.models import (
    Memory,
    MemoryChunk,
    MemoryRevision,
    MemorySource,
    MemoryTag,
    MemoryVeto,
)
from memory.providers import current as provider
from memory.search import backends
from memory.vocabulary import INDEXED, LEARNED_KINDS, PENDING, RETIRED, SUPERSEDED, TEXT
from memory.write import content_hash, live_key

_SAMPLES = 5
_AT_ONCE = 2000


@dataclass(frozen=True)
class Finding:
    """One kind of disagreement: how many rows, and some of their ids. Never any text."""

    name: str
    count: int
    samples: tuple[str, ...]
    words: str


def check() -> list[Finding]:
    """Return everything that does not agree; an empty list is a clean index."""
    return [
        Finding(name, len(rows), tuple(str(row) for row in rows[:_SAMPLES]), words)
        for name, (rows, words) in ((name, _run(rule)) for name, rule in RULES.items())
        if rows
    ]


def _run(rule: Rule) -> tuple[list[Any], str]:
    return list(rule.rows()), rule.words


@dataclass(frozen=True)
class Rule:
    """A question that should have no answer."""

    words: str
    rows: Callable[[], Any]


def _orphans() -> Any:
    owners = Memory.objects.filter(pk=OuterRef("memory_id"))
    return MemoryChunk.objects.filter(~Exists(owners)).values_list("pk", flat=True)


def _loose_tags() -> Any:
    owners = Memory.objects.filter(pk=OuterRef("memory_id"))
    return MemoryTag.objects.filter(~Exists(owners)).values_list("pk", flat=True)


def _unchunked() -> Any:
    pieces = MemoryChunk.objects.filter(memory=OuterRef("pk"))
    done = Memory.objects.filter(index_state__in=(TEXT, INDEXED)).filter(~Exists(pieces))
    return done.values_list("pk", flat=True)


def _without_vectors() -> Any:
    """Records that claim to be indexed although a chunk has no vector, while others have one."""
    serving = provider()
    if serving is None:
        return []
    lacking = MemoryChunk.objects.filter(memory=OuterRef("pk"), embedding_model="")
    return Memory.objects.filter(Exists(lacking), index_state=INDEXED).values_list("pk", flat=True)


def _wrong_dimensions() -> Any:
    """Vectors whose length is not what the row says, or not what most of their model have."""
    usual: dict[str, int] = {}
    rows = MemoryChunk.objects.exclude(embedding_model="").values(
        "embedding_model", "embedding_dim"
    )
    for row in rows.annotate(n=Count("pk")).order_by("n"):
        usual[row["embedding_model"]] = row["embedding_dim"]
    stored = MemoryChunk.objects.exclude(embedding_model="").order_by("pk")
    for chunk in stored.only("embedding", "embedding_model", "embedding_dim").iterator(_AT_ONCE):
        length = 0 if chunk.embedding is None else len(chunk.embedding)
        if length != chunk.embedding_dim or length != usual[chunk.embedding_model]:
            yield chunk.pk


def _wrong_access() -> Any:
    """Chunks that stand under another token than their record's: the fault that leaks."""
    rows = MemoryChunk.objects.select_related("memory").order_by("pk")
    for chunk in rows.defer("embedding", "memory__content").iterator(_AT_ONCE):
        wanted = chunks.token(chunk.memory, repeats=bool(chunk.duplicate_of))
        hidden = chunk.access == HIDDEN and (
            chunk.memory.index_state == PENDING or chunk.memory.live_key is None
        )
        if chunk.access != wanted and not hidden:
            yield chunk.pk


def _wrong_text() -> Any:
    """Chunks whose text is not what stands at their place in the record."""
    rows = MemoryChunk.objects.select_related("memory").exclude(access=HIDDEN).order_by("pk")
    for chunk in rows.defer("embedding").iterator(_AT_ONCE):
        if chunk.memory.content[chunk.start : chunk.end] != chunk.text:
            yield chunk.pk


def _wrong_keys() -> Any:
    for record in Memory.objects.order_by("pk").iterator(_AT_ONCE):
        digest = content_hash(record.content)
        key = live_key(record.scope, record.owner_id, record.kind, digest)
        if record.content_hash != digest or record.live_key not in (None, key):
            yield record.pk


def _tag_and_life_disagree() -> Any:
    """Superseded means: the tag is there and the live key is not."""
    tag = MemoryTag.objects.filter(memory=OuterRef("pk"), tag=SUPERSEDED)
    both = Memory.objects.filter(Exists(tag), live_key__isnull=False)
    neither = Memory.objects.filter(~Exists(tag), live_key__isnull=True, expires_at__isnull=True)
    return [*both.values_list("pk", flat=True), *neither.values_list("pk", flat=True)]


def _undecided() -> Any:
    """Records that are retired without a decision that stands, and live ones that have one."""
    standing = MemoryRevision.objects.filter(
        old=OuterRef("pk"), decision=RETIRED, undone_at__isnull=True
    )
    tag = MemoryTag.objects.filter(memory=OuterRef("pk"), tag=SUPERSEDED)
    silent = Memory.objects.filter(Exists(tag) & ~Exists(standing))
    ignored = Memory.objects.filter(Exists(standing) & ~Exists(tag))
    return [*silent.values_list("pk", flat=True), *ignored.values_list("pk", flat=True)]


def _wrong_subjects() -> Any:
    """Learned records that stand in the rules' index under other subjects than their text has."""
    rows = Memory.objects.filter(
        Q(scope__in=SCOPES, kind__in=LEARNED_KINDS) | Q(subjects__isnull=False)
    )
    for record in rows.distinct().prefetch_related("subjects").order_by("pk").iterator(_AT_ONCE):
        said = rules.claims(record.content) if learned(record) else ()
        wanted = {(record.access, claim.key) for claim in said}
        if {(row.access, row.key) for row in record.subjects.all()} != wanted:
            yield record.pk


def _unordered_vetoes() -> Any:
    """Vetoes that no look-up finds."""
    return MemoryVeto.objects.filter(low__gte=F("high")).values_list("pk", flat=True)


def _foreign_sources() -> Any:
    rows = MemorySource.objects.select_related("memory").defer("memory__content").order_by("pk")
    return (row.pk for row in rows.iterator(_AT_ONCE) if row.access != row.memory.access)


def _foreign_neighbours() -> Any:
    """Chunks whose neighbourhood reaches into another scope, owner, or a retired record."""
    rows = MemoryChunk.objects.exclude(access=HIDDEN).order_by("pk")
    batch: list[tuple[int, str, list[int | None]]] = []
    for row in rows.values_list("pk", "access", "near").iterator(_AT_ONCE):
        batch.append(row)
        if len(batch) == _AT_ONCE:
            yield from _reaching_out(batch)
            batch = []
    yield from _reaching_out(batch)


def _reaching_out(rows: list[tuple[int, str, list[int | None]]]) -> Any:
    wanted = sorted({pk for row in rows for pk in row[2] if pk is not None})
    access: dict[int, str] = {}
    for ids in chunks.batches(wanted):
        access.update(MemoryChunk.objects.filter(pk__in=ids).values_list("pk", "access"))
    for pk, own, near in rows:
        live = own.removeprefix(HISTORY).removeprefix(REPEAT)
        beside = (access.get(one, HIDDEN) for one in near if one is not None)
        if any(other.removeprefix(REPEAT) != live for other in beside):
            yield pk


def _unspoken_for() -> Any:
    return repeats.unspoken_for().values_list("pk", flat=True)


def _database() -> Any:
    return backends.current().database_faults()


def _keyword_rows() -> Any:
    return backends.current().keyword_faults()


RULES: dict[str, Rule] = {
    "database": Rule("the database's own check finds a fault", _database),
    "orphan_chunks": Rule("chunks without a record", _orphans),
    "orphan_tags": Rule("tags without a record", _loose_tags),
    "unchunked": Rule("records that claim to be indexed and have no chunk", _unchunked),
    "missing_vectors": Rule("records that claim to be indexed and lack a vector", _without_vectors),
    "wrong_dimensions": Rule("vectors of the wrong length", _wrong_dimensions),
    "wrong_access": Rule("chunks under another access token than their record", _wrong_access),
    "wrong_text": Rule("chunks that differ from the text of their record", _wrong_text),
    "wrong_keys": Rule("records whose hash or live key is wrong", _wrong_keys),
    "superseded": Rule("records whose tag and life disagree", _tag_and_life_disagree),
    "decisions": Rule("retired records without a decision, or against it", _undecided),
    "subjects": Rule("learned records under the wrong subjects", _wrong_subjects),
    "vetoes": Rule("vetoes that no look-up finds", _unordered_vetoes),
    "foreign_sources": Rule("sources under another access token", _foreign_sources),
    "foreign_neighbours": Rule("windows that reach into what is not theirs", _foreign_neighbours),
    "repeats": Rule("chunks left out of search that nothing speaks for", _unspoken_for),
    "keyword_rows": Rule(
        "chunks that the keyword index lacks, or rows it should not have", _keyword_rows
    ),
}
