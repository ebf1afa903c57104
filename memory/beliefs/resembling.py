"""Which older records a learned one may replace: those that share enough of its words."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from django.db.models import Q

from memory import text
from memory.beliefs import vetoes
from memory.chunks import batches
from memory.filters import Filters
from memory.models import Memory, MemoryChunk, MemoryRevision
from memory.search import backends
from memory.search.backends.base import Reach
from memory.vocabulary import CRITICAL, KEPT, PENDING, UNVERIFIED

#: Share of the newer text's words that the older one must hold.
SHARED = 0.4
#: Older records that are put to the judge at once.
MOST = 3
#: Chunks that the keyword index gives to choose from, and records that it does not know yet.
LOOKED_AT = 80
WAITING = 100
#: Longer texts say more than a judge can weigh against another.
MAX_CHARS = 6_000

#: Where a record stands in the order of stating: those of old that have no place come first.
Place = tuple[int, str, str]


def older(memory: Memory) -> list[Memory]:
    """Return up to `MOST` older live records of its kind, scope and owner, the most alike first.

    Left out are pairs that were judged with these very texts, and vetoed ones.
    """
    words = set(text.query_terms(memory.content))
    if not words or len(memory.content) > MAX_CHARS:
        return []
    found = [
        (len(words & set(text.terms(old.content))) / len(words), place(old), old)
        for old in _alike(memory, sorted(words))
    ]
    near = [item for item in found if item[0] >= SHARED and item[1] < place(memory)]
    near.sort(key=lambda item: item[:2], reverse=True)
    settled = _settled_hashes(memory, [old.content_hash for _, _, old in near])
    return [old for _, _, old in near if old.content_hash not in settled][:MOST]


def place(memory: Memory) -> Place:
    """Return where the record stands in the order of stating, which no clock moves."""
    belief = getattr(memory, "belief", None)
    return (belief.pk if belief else 0, memory.created_at.isoformat(), memory.pk.hex)


def _alike(memory: Memory, words: list[str]) -> Iterable[Memory]:
    ids = _by_keywords(memory, words) | _unread(memory)
    for batch in batches(sorted(ids - {memory.pk})):
        rows = Memory.objects.filter(pk__in=batch, live_key__isnull=False, kind=memory.kind)
        out = Q(tags__tag__in=(CRITICAL, UNVERIFIED))
        for row in rows.exclude(out).select_related("belief"):
            if row.access == memory.access and len(row.content) <= MAX_CHARS:
                yield row


def _by_keywords(memory: Memory, words: list[str]) -> set[uuid.UUID]:
    reach = Reach(frozenset({memory.access}), Filters())
    found = backends.current().by_text(words, reach, LOOKED_AT)
    return set(MemoryChunk.objects.filter(pk__in=found).values_list("memory_id", flat=True))


def _unread(memory: Memory) -> set[uuid.UUID]:
    """The newest records that no worker has cut yet: the keyword index does not know them."""
    rows = Memory.objects.filter(
        scope=memory.scope, owner_id=memory.owner_id, kind=memory.kind, index_state=PENDING
    )
    return set(rows.order_by("-created_at").values_list("pk", flat=True)[:WAITING])


def _settled_hashes(memory: Memory, hashes: list[str]) -> set[str]:
    """Return the texts that this one was judged against before, or is kept apart from."""
    own = memory.content_hash
    apart = vetoes.vetoed_pairs(memory.access, [own, *hashes])
    judged = MemoryRevision.objects.filter(
        Q(old_hash=own, new_hash__in=hashes) | Q(new_hash=own, old_hash__in=hashes),
        access=memory.access, decision=KEPT, final=True, via__in=("judge", "revise"),
    ).values_list("old_hash", "new_hash")  # fmt: skip
    both = {*judged, *(pair for pair in apart if own in pair)}
    return {one for pair in both for one in pair} - {own}
