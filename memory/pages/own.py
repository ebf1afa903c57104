"""Everything about oneself: counted, exported, deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db import transaction

from memory import audit, queries, write
from memory.access import Principal, access_token
from memory.api.serializers import RecordSerializer, RevisionSerializer
from memory.filters import Filters
from memory.pages import paging
from memory.vocabulary import PERSONAL

EVERYTHING = Filters(scopes=(PERSONAL,), include_history=True)
FORMAT = "goclaw-my-memory"
VERSION = 1
#: Records deleted by one request; the page asks again for the rest.
DELETED_AT_ONCE = 500


def count(principal: Principal) -> int:
    """Return how many personal records there are, replaced ones too."""
    return paging.count(principal, EVERYTHING)


def delete_some(principal: Principal) -> tuple[int, int]:
    """Delete personal records; return how many went, and how many are left."""
    rows = queries.records(principal, EVERYTHING).filter(owner_id=principal.reads_of)
    ids = list(rows.values_list("pk", flat=True)[:DELETED_AT_ONCE])
    with transaction.atomic():
        for memory_id in ids:
            write.forget(principal, memory_id)
    return len(ids), count(principal)


def export(principal: Principal) -> Iterator[str]:
    """Yield everything as one JSON document, in pieces, so that no size of memory is too large."""
    audit.record(
        principal, "export", "" if principal.person is None else f"person:{principal.person}"
    )
    head = {"format": FORMAT, "version": VERSION, "person": principal.name}
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "records": ['
    yield from _joined(_records(principal))
    yield '], "history": ['
    yield from _joined(_history(principal))
    yield "]}\n"


def _records(principal: Principal) -> Iterator[Any]:
    rows = queries.records(principal, EVERYTHING).filter(owner_id=principal.reads_of)
    for row in rows.prefetch_related("tags", "sources").iterator(chunk_size=200):
        yield RecordSerializer(row).data


def _history(principal: Principal) -> Iterator[Any]:
    if principal.reads_of is None:
        return
    token = access_token(PERSONAL, principal.reads_of)
    rows = queries.decisions(principal).filter(access=token)
    for row in rows.iterator(chunk_size=200):
        yield RevisionSerializer(row).data


def _joined(items: Iterator[Any]) -> Iterator[str]:
    for index, item in enumerate(items):
        text = json.dumps(item, ensure_ascii=False, default=str)
        yield f"{',' if index else ''}\n{text}"
