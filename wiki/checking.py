"""What `memory check` asks about pages, and how the answers are put right."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

from django.db.models import Exists, F, OuterRef

from memory import checking, repairing, write
from memory.access import Principal
from memory.checking import Rule
from memory.models import Memory
from memory.vocabulary import WIKI
from wiki import mirror
from wiki.models import WikiPage, WikiRevision

_AT_ONCE = 100
_SERVER = Principal(name="check", system=True, is_admin=True, door="command")


def register() -> None:
    """Add the wiki's rules to those of the memory."""
    checking.RULES["wiki_heads"] = Rule("pages whose newest revision is missing", _headless)
    checking.RULES["wiki_mirror"] = Rule("pages that the search does not know as they are", _stale)
    checking.RULES["wiki_strays"] = Rule("records of pages that are gone", _strays)
    repairing.REPAIRS["wiki_mirror"] = _mirror_again
    repairing.REPAIRS["wiki_strays"] = _forget
    repairing.WHY_NOT["wiki_heads"] = "a revision is lost: restore a backup (`goclaw db restore`)"


def _headless() -> Iterator[int]:
    rows = WikiRevision.objects.filter(page=OuterRef("pk"), revision=OuterRef("revision"))
    lost = WikiPage.objects.filter(~Exists(rows), revision__gt=0)
    yield from lost.values_list("pk", flat=True)


def _stale() -> Iterator[int]:
    """Live pages whose records do not say what their newest revision says."""
    live = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0)
    ids = list(live.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), _AT_ONCE):
        newest = WikiRevision.objects.filter(
            page__in=ids[start : start + _AT_ONCE], revision=F("page__revision")
        )
        for revision in newest.select_related("page").order_by("page"):
            wanted = dict(enumerate(mirror.split(revision.page, revision)))
            held = mirror.records_of(revision.page)
            if wanted != {position: record.content for record, position in held}:
                yield revision.page_id


def _strays() -> Iterator[uuid.UUID]:
    live = set(WikiPage.objects.filter(deleted=False, moved_to="").values_list("pk", flat=True))
    records = Memory.objects.filter(scope=WIKI, sources__kind=mirror.SOURCE)
    for pk, page in records.values_list("pk", "sources__source_id"):
        if not (page.isdigit() and int(page) in live):
            yield pk


def _mirror_again(ids: Sequence[int]) -> int:
    for page in WikiPage.objects.select_for_update().filter(pk__in=ids):
        newest = WikiRevision.objects.filter(page=page, revision=page.revision).first()
        if newest is not None:
            mirror.follow(page, newest)
    return len(ids)


def _forget(ids: Sequence[uuid.UUID]) -> int:
    for pk in ids:
        write.forget(_SERVER, pk)
    return len(ids)
