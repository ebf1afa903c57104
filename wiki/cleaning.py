"""`wiki gc`: files that no page has any more, and what broken uploads left on the disk."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from goclaw_site.config import state_dir
from memory import audit
from memory.access import Principal
from wiki import attachments
from wiki.access import require_editor
from wiki.models import WikiAttachment, WikiPage, WikiRevision

#: A file may wait so long for its page: it is pasted before the page is first saved.
GRACE = timedelta(days=1)
_USED = re.compile(r"/media/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})")
_AT_ONCE = 200


@dataclass(frozen=True)
class Cleaned:
    """What went, or would go: rows with their files, files without a row, bytes in all."""

    rows: tuple[str, ...]
    strays: tuple[str, ...]
    size: int


def clean(principal: Principal, *, dry: bool = False) -> Cleaned:
    """Remove files of pages that are gone, unless another page still shows them. Raise Refused."""
    require_editor(principal)
    rows = list(_unused())
    strays = list(_strays())
    size = sum(row.size for row in rows) + sum(path.stat().st_size for path in strays)
    done = Cleaned(
        tuple(f"{row.slug}: {row.name}" for row in rows),
        tuple(path.name for path in strays),
        size,
    )
    if dry:
        return done
    for row in rows:
        with transaction.atomic():
            attachments.drop(row)
    for path in strays:
        path.unlink(missing_ok=True)
    audit.record(principal, "wiki.gc", rows=len(rows), strays=len(strays), bytes=size)
    return done


def _unused() -> Iterator[WikiAttachment]:
    """Files of slugs without a live page, old enough, that no live text names."""
    live = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0)
    gone = WikiAttachment.objects.exclude(slug_key__in=live.values("slug_key"))
    rows = list(gone.filter(created_at__lt=timezone.now() - GRACE).order_by("created_at", "pk"))
    used = _named_in_live_texts() if rows else set()
    yield from (row for row in rows if row.pk not in used)


def _named_in_live_texts() -> set[uuid.UUID]:
    found: set[uuid.UUID] = set()
    live = WikiPage.objects.filter(deleted=False, moved_to="", revision__gt=0).order_by("pk")
    heads = list(live.values_list("pk", "revision"))
    for start in range(0, len(heads), _AT_ONCE):
        newest = dict(heads[start : start + _AT_ONCE])
        texts = WikiRevision.objects.filter(page_id__in=list(newest), body__contains="/media/")
        for page, number, body in texts.values_list("page_id", "revision", "body").iterator():
            if newest[page] == number:
                found |= {uuid.UUID(name) for name in _USED.findall(body)}
    return found


def _strays() -> Iterator[Path]:
    """Files without a row, and halves of uploads, that are older than the grace."""
    old = time.time() - GRACE.total_seconds()
    held = {str(pk) for pk in WikiAttachment.objects.values_list("pk", flat=True)}
    for path in sorted((state_dir() / attachments.FOLDER).iterdir()):
        ours = path.name.startswith(attachments.UNFINISHED) or _is_id(path.name)
        if path.is_file() and ours and path.name not in held and path.stat().st_mtime < old:
            yield path


def _is_id(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False
