"""Pages of records by keyset: as quick at a million records as at ten."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet, prefetch_related_objects
from django.db.models.functions import Length, Substr

from goclaw_site.errors import InvalidInput
from memory import queries
from memory.access import Principal
from memory.filters import Filters
from memory.models import Memory

PAGE = 40
#: What a list shows of a record; the text itself may be 200,000 characters long.
OPENING = 400
#: A count beyond this is "more than": counting a million rows takes longer than reading a page.
COUNTED = 10_000


@dataclass(frozen=True)
class Cursor:
    """The last record of a page; the next page begins after it."""

    at: datetime
    id: uuid.UUID

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(f"{self.at.isoformat()}|{self.id.hex}".encode()).decode()

    @classmethod
    def read(cls, text: str) -> Cursor:
        """Return the cursor. Raise InvalidInput for anything that is none."""
        try:
            at, _, pk = base64.urlsafe_b64decode(text.encode()).decode().partition("|")
            moment = datetime.fromisoformat(at)
            if moment.tzinfo is None:
                raise ValueError("a time without a zone")
            return cls(moment, uuid.UUID(pk))
        except (ValueError, binascii.Error) as error:
            raise InvalidInput("This place in the list does not exist.", field="cursor") from error

    def condition(self) -> Q:
        """What comes after; the first half is a range that every index on the time knows."""
        return Q(updated_at__lte=self.at) & (Q(updated_at__lt=self.at) | Q(id__lt=self.id))


def newest(
    principal: Principal,
    filters: Filters,
    cursor: Cursor | None = None,
    limit: int = PAGE,
    wanted: Q | None = None,
) -> tuple[list[Memory], Cursor | None]:
    """Return a page of records with tags and openings, newest first, and where the next begins."""
    narrowed = (wanted or Q()) & (cursor.condition() if cursor else Q())
    found: list[Memory] = []
    for part in queries.branches(principal, filters):
        found += opened(part.filter(narrowed))[: limit + 1]
    found.sort(key=lambda row: (row.updated_at, row.pk), reverse=True)
    rows = found[:limit]
    prefetch_related_objects(rows, "tags")
    following = Cursor(rows[-1].updated_at, rows[-1].pk) if len(found) > limit else None
    return rows, following


def opened(rows: QuerySet[Memory]) -> QuerySet[Memory]:
    """Leave the text in the database but for its beginning and its length."""
    return rows.defer("content").annotate(
        opening=Substr("content", 1, OPENING), length=Length("content")
    )


def count(principal: Principal, filters: Filters) -> int:
    """Return how many records there are, up to one more than `COUNTED`."""
    return sum(
        part.order_by()[: COUNTED + 1].count() for part in queries.branches(principal, filters)
    )


def counted(found: int) -> str:
    """Return a count in words for people."""
    return f"{COUNTED:,}+" if found > COUNTED else f"{found:,}"


def by_ids(principal: Principal, ids: Iterable[uuid.UUID]) -> Sequence[Memory]:
    """Return those of the records that the caller may see, in the given order, with openings."""
    order = list(dict.fromkeys(ids))
    rows = queries.records(principal, Filters(include_history=True)).filter(pk__in=order)
    found = {row.pk: row for row in opened(rows).prefetch_related("tags")}
    return [found[pk] for pk in order if pk in found]
