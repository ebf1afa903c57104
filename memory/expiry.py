"""Records with an end: out of search when it comes, deleted a month later."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memory import chunks, windows, write
from memory.models import Memory

#: An expired record can still be looked into for so long.
KEPT = timedelta(days=30)
_BATCH = 200


def unexpired() -> Q:
    """Return the condition for records whose end has not come."""
    return Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now())


def sweep() -> None:
    """Take expired records out of every index, and delete those that expired long ago."""
    while _retire_some():
        pass
    while _purge_some():
        pass


def _retire_some() -> bool:
    with transaction.atomic():
        ended = list(
            Memory.objects.select_for_update(of=("self",))
            .filter(expires_at__lte=timezone.now(), live_key__isnull=False)
            .order_by("pk")[:_BATCH]
        )
        for memory in ended:
            memory.live_key = None
            memory.save(update_fields=["live_key"])
            chunks.hide(memory)
        windows.refresh(windows.around([memory.pk for memory in ended]))
    return len(ended) == _BATCH


def _purge_some() -> bool:
    with transaction.atomic():
        ended = list(
            Memory.objects.select_for_update(of=("self",))
            .filter(expires_at__lte=timezone.now() - KEPT)
            .order_by("pk")[:_BATCH]
        )
        write.erase(ended, "expiry")
    return len(ended) == _BATCH
