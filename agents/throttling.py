"""Limits: requests of one key, guesses at keys, wrong passwords.

Counted in the database, so that they hold over all web processes and restarts; a library for logins
alone would leave the keys to a second mechanism. A right key is always let in: with 192 random bits
nobody guesses one, and people behind one address must not lock each other out.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock

from django.db.models import F, Sum
from django.utils import timezone

from agents import keys
from agents.addresses import household
from agents.models import ApiKey, Attempt, KeyUse
from goclaw_site.config import get_config
from goclaw_site.errors import Throttled, Unauthorized

KEY_WINDOW = timedelta(minutes=5)
LOGIN_WINDOW = timedelta(minutes=15)
_KEPT = timedelta(hours=1)
#: Of one address, or for one name from anywhere, so many times the failures of both together.
_WIDER = 10
_MINUTE = 60
#: A process tells the others of its requests in this many parts of the limit.
_PARTS = 20


def admit_key(text: str, address: str) -> ApiKey:
    """Return the key with this text. Raise Unauthorized, or Throttled for guesses and floods."""
    try:
        key = keys.find(text)
    except Unauthorized:
        subject = _subject("key", household(address))
        _require_patience(subject, get_config().keys.guesses, KEY_WINDOW)
        _note(subject)
        raise
    count_request(key)
    return key


@contextmanager
def login_attempt(name: str, address: str) -> Iterator[None]:
    """Count the attempt before the password is looked at; leaving without an error forgets it.

    Raises Throttled. Many attempts at once are all counted before the first is decided.
    """
    place, limit = household(address), get_config().login.failures
    both = _subject("login", place, name)
    subjects = {both: limit}
    subjects |= {_subject("login name", name): limit * _WIDER}
    subjects |= {_subject("login address", place): limit * _WIDER}
    for subject, most in subjects.items():
        _require_patience(subject, most, LOGIN_WINDOW)
    noted = [_note(subject) for subject in subjects]
    yield
    Attempt.objects.filter(pk__in=noted).delete()
    Attempt.objects.filter(subject=both).delete()


def _require_patience(subject: str, most: int, window: timedelta) -> None:
    now = timezone.now()
    held = Attempt.objects.filter(subject=subject, at__gt=now - window).order_by("-at")
    times = list(held.values_list("at", flat=True)[:most])
    if len(times) >= most:
        wait = max(1, round((times[-1] + window - now).total_seconds()))
        raise Throttled(f"Too many failures. Try again in {_spoken(wait)}.", retry_after=wait)


def _note(subject: str) -> int:
    Attempt.objects.filter(at__lt=timezone.now() - _KEPT).delete()
    return Attempt.objects.create(subject=subject).pk


def _subject(*parts: str) -> str:
    """A hash: what people type into the field for a name may be their password."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _spoken(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < 2 * _MINUTE else f"{-(-seconds // _MINUTE)} minutes"


class _Counted:
    """What this process knows of one key's current minute."""

    def __init__(self, minute: int) -> None:
        self.minute = minute
        self.untold = 0
        self.told = 0


_counts: dict[int, _Counted] = {}
_lock = Lock()


def count_request(key: ApiKey) -> None:
    """Count one request of the key. Raise Throttled past `keys.requests_per_minute`.

    The database is told of every twentieth part of the limit, so that reads stay reads; the limit
    is overrun by at most that part for each web process.
    """
    limit = get_config().keys.requests_per_minute
    if not limit:
        return
    minute, second = divmod(int(time.time()), _MINUTE)
    with _lock:
        counted = _counts.get(key.pk)
        if counted is None or counted.minute != minute:
            counted = _counts[key.pk] = _Counted(minute)
        counted.untold += 1
        over = counted.told + counted.untold > limit
        tell = counted.untold if counted.untold * _PARTS >= limit and not over else 0
        counted.untold -= tell
    if tell:
        counted.told = _tell(key, minute, tell)
    if over:
        wait = _MINUTE - second
        raise Throttled(
            f"This key has made {limit:,} requests in this minute. Wait {wait} seconds.",
            retry_after=wait,
        )


def _tell(key: ApiKey, minute: int, requests: int) -> int:
    """Add to the shared count and return what it is now."""
    row, _ = KeyUse.objects.get_or_create(key=key, minute=minute)
    KeyUse.objects.filter(pk=row.pk).update(requests=F("requests") + requests)
    KeyUse.objects.filter(key=key, minute__lt=minute).delete()
    total = KeyUse.objects.filter(key=key, minute=minute).aggregate(n=Sum("requests"))["n"]
    return int(total or 0)


def forget_counts() -> None:
    """Start anew in this process."""
    with _lock:
        _counts.clear()
