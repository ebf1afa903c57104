"""Several records become one that loses no detail, and can become several again."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from goclaw_site.errors import InvalidInput, Refused
from memory import write
from memory.access import Principal
from memory.beliefs import vetoes
from memory.beliefs.retiring import retire
from memory.drafts import Draft
from memory.models import Memory, MemoryRevision


@dataclass(frozen=True)
class Merged:
    """The record that was written, and the decision about each of its sources."""

    memory: Memory
    revisions: tuple[MemoryRevision, ...]


def merge(
    principal: Principal,
    sources: Sequence[Memory],
    draft: Draft,
    *,
    via: str,
    reason: str,
    run_id: uuid.UUID,
) -> Merged:
    """Write one record in the place of several, in one transaction.

    The sources must be live, of one scope and owner, as they were read. Raises InvalidInput,
    Refused for a source or a pair that may not be merged, Conflict or NotFound for one that has
    changed or gone meanwhile; nothing is written then. A draft whose text is live already (as one
    of the sources, perhaps) retires the others in favour of that record.
    """
    _check(sources, draft)
    with transaction.atomic():
        written = write.remember_merged(principal, draft)
        memory = written.memory
        if memory.access != sources[0].access:
            raise Refused("The merged record would belong to somebody else than its sources.")
        rows = [
            retire(
                source, memory, via=via, reason=reason, actor=principal.actor, run_id=run_id,
                merged=written.created,
            )
            for source in sorted(sources, key=lambda source: source.pk)
            if source.pk != memory.pk
        ]  # fmt: skip
    return Merged(memory, tuple(rows))


def _check(sources: Sequence[Memory], draft: Draft) -> None:
    if len({source.pk for source in sources}) < 2:
        raise InvalidInput("A merge needs at least two records.")
    access = sources[0].access
    if any(source.access != access for source in sources) or draft.scope != sources[0].scope:
        raise Refused("Records of two scopes or two people are never merged.")
    if vetoes.vetoed_pairs(access, [source.content_hash for source in sources]):
        raise Refused("Somebody took this merge back before: these texts stay side by side.")
