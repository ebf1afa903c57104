"""Making, finding, rotating and revoking keys. A key reads `gc_<prefix>_<secret>`."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from agents.models import ApiKey
from goclaw_site.errors import Conflict, InvalidInput, NotFound, Unauthorized
from memory import audit
from memory.access import Principal, administers, require_administrator
from memory.drafts import check_line, check_text

MARK = "gc"
_PREFIX_BYTES, _SECRET_BYTES = 5, 24
_MAX_LABEL = 100
#: "Last used" is written at most this often: a read must not become a write each time.
_USE_NOTED_EVERY = timedelta(minutes=1)
#: Stands in the audit trail where nobody is named: a test, a script on the server.
_SERVER = Principal(name="server", system=True, door="server")


@dataclass(frozen=True)
class NewKey:
    """A key just made: the one moment its text is known."""

    text: str
    key: ApiKey


def create(
    user: User | None,
    *,
    gateway: bool = False,
    read_only: bool = False,
    expires_at: datetime | None = None,
    label: str = "",
    by: Principal = _SERVER,
) -> NewKey:
    """Make a key for a person, or for the organisation. Raise InvalidInput, Refused.

    People make their own; administrators make gateway keys and keys for people.
    """
    if user is None or user.pk != by.person:
        require_administrator(by)
    if gateway == (user is not None):
        raise InvalidInput("A key is for a person or, as a gateway key, for the organisation.")
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidInput("expires has passed already.", field="expires")
    label = check_line("label", label, _MAX_LABEL)
    prefix = secrets.token_hex(_PREFIX_BYTES)
    text = f"{MARK}_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    with transaction.atomic():
        key = ApiKey.objects.create(
            prefix=prefix,
            digest=_digest(text),
            user=user,
            gateway=gateway,
            read_only=read_only,
            expires_at=expires_at,
            label=label,
            made_by=by.actor[:150],
        )
        owner = user.pk if user else None
        audit.record(
            by, "key.create", f"key:{prefix}", gateway=gateway, read_only=read_only, person=owner
        )
    return NewKey(text, key)


def find(text: str) -> ApiKey:
    """Return the usable key with this text, with its owner. Raise Unauthorized, saying why."""
    parts = text.split("_", 2)
    prefix = parts[1] if len(parts) == 3 and parts[0] == MARK else ""
    key = ApiKey.objects.select_related("user").filter(prefix=prefix[:12]).first()
    # The comparison takes the same time whether or not the prefix is known.
    held = key.digest if key else _digest("")
    if not hmac.compare_digest(held, _digest(text)) or key is None:
        raise Unauthorized("This key is not known.")
    if key.state != "active":
        raise Unauthorized(f"This key is {key.state}.")
    if key.user is not None and not key.user.is_active:
        raise Unauthorized("The owner of this key is deactivated.")
    _note_use(key)
    return key


def revoke(prefix: str, by: Principal = _SERVER) -> ApiKey:
    """Revoke the key with this prefix; twice is as good as once.

    Raises NotFound, also for a key that is not the caller's to see.
    """
    check_text("prefix", prefix)
    bare = prefix.removeprefix(f"{MARK}_").split("_", 1)[0]
    with transaction.atomic():
        key = manageable(by).select_for_update(of=("self",)).filter(prefix=bare).first()
        if key is None:
            raise NotFound(f"There is no key with the prefix '{prefix[:20]}'.")
        if key.revoked_at is None:
            key.revoked_at = timezone.now()
            key.save(update_fields=["revoked_at"])
            audit.record(by, "key.revoke", f"key:{key.prefix}")
    return key


def rotate(prefix: str, by: Principal) -> NewKey:
    """Make a key like this one and revoke it. Raise NotFound, Conflict for one that has ended."""
    with transaction.atomic():
        old = manageable(by).select_related("user").filter(prefix=prefix).first()
        if old is None:
            raise NotFound("There is no such key.")
        if old.state != "active":
            raise Conflict(f"This key is {old.state}: make a new one.")
        made = create(
            old.user,
            gateway=old.gateway,
            read_only=old.read_only,
            expires_at=old.expires_at,
            label=old.label,
            by=by,
        )
        revoke(prefix, by)
    return made


def manageable(principal: Principal) -> QuerySet[ApiKey]:
    """Return the keys that the caller may see and end: one's own, for administrators all."""
    if administers(principal):
        return ApiKey.objects.all()
    return ApiKey.objects.filter(Q(user=principal.person) & Q(user__isnull=False))


def _note_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > _USE_NOTED_EVERY:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)


def _digest(text: str) -> str:
    """SHA-256 is enough for 192 random bits: there is nothing to guess at."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
