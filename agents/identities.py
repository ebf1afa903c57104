"""Whom a channel knows, and which person that is: found, confirmed, linked, merged."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents.contexts import Speaker
from agents.models import Identity
from goclaw_site.errors import Conflict, InvalidInput, NotFound
from memory import audit, ownership
from memory.access import Principal, require_administrator

#: "Last seen" is written at most this often.
_SEEN_EVERY = timedelta(hours=1)


def resolve(speaker: Speaker, *, create: bool = True) -> Identity | None:
    """Return the identity with its person; an unknown one becomes a person without login."""
    digest = digest_of(speaker.channel, speaker.external_id)
    known = _known(digest)
    if known is None:
        return _make(speaker, digest) if create else None
    if create:
        _note(known, speaker)
    return known


def digest_of(channel: str, external_id: str) -> str:
    """Hash channel and id together so that no two pairs read the same."""
    return hashlib.sha256(json.dumps([channel, external_id]).encode()).hexdigest()


def confirm(principal: Principal, identity_id: int) -> Identity:
    """Say that this is who it seems to be: what they wrote is verified from now on, and before."""
    require_administrator(principal)
    with transaction.atomic():
        identity = _locked(identity_id)
        _confirm(identity)
        lifted = ownership.verify(principal, identity.person_id)
        audit.record(
            principal, "identity.confirm", f"identity:{identity.pk}",
            person=identity.person_id, lifted=lifted,
        )  # fmt: skip
    return identity


def link(principal: Principal, identity_id: int, person: User) -> Identity:
    """Give the identity to a person, and confirm it.

    A person who was made for this identity alone is merged: nobody else could own the records.
    """
    require_administrator(principal)
    with transaction.atomic():
        identity = _locked(identity_id)
        before = identity.person
        if before.pk != person.pk and _made_for(identity):
            merge(principal, before, person)
        identity.person = person
        identity.save(update_fields=["person"])
        audit.record(
            principal,
            "identity.link",
            f"identity:{identity.pk}",
            person=person.pk,
            before=before.pk,
        )
        return confirm(principal, identity.pk)


def merge(principal: Principal, source: User, target: User) -> ownership.Moved:
    """Make one person of two: records and identities move, and the first one goes, keys and all.

    Roles do not move: rights are given, never inherited. Raises InvalidInput, Conflict, Refused.
    """
    require_administrator(principal)
    _require_mergeable(principal, source, target)
    with transaction.atomic():
        moved = ownership.move(principal, source.pk, target.pk)
        moving = Identity.objects.filter(person=source)
        moving.filter(confirmed_at__isnull=True).update(confirmed_at=timezone.now())
        identities = moving.update(person=target)
        ownership.verify(principal, target.pk)
        audit.record(
            principal, "person.merge", f"person:{source.pk}", into=target.pk, moved=moved.records,
            united=moved.united, identities=identities,
        )  # fmt: skip
        source.delete()
    return moved


def _require_mergeable(principal: Principal, source: User, target: User) -> None:
    if source.pk == target.pk:
        raise InvalidInput("One person cannot be merged with themselves.", field="into")
    if source.pk == principal.person:
        raise InvalidInput("Merge yourself the other way round: you stay.", field="into")
    if source.is_superuser:
        raise Conflict("A superuser stays: merge the other person into this one.")


def _known(digest: str) -> Identity | None:
    return Identity.objects.select_related("person").filter(digest=digest).first()


def _make(speaker: Speaker, digest: str) -> Identity:
    """Two first messages at once make one person: the loser's transaction leaves nothing."""
    try:
        with transaction.atomic():
            person = User.objects.create(
                username=_username(speaker.channel, digest),
                first_name=speaker.display_name[:150],
                password=make_password(None),
            )
            return Identity.objects.create(
                channel=speaker.channel,
                external_id=speaker.external_id,
                digest=digest,
                display_name=speaker.display_name,
                person=person,
            )
    except IntegrityError:
        known = _known(digest)
        if known is None:
            raise
        return known


def _username(channel: str, digest: str) -> str:
    """A name that no caller can choose: configuration may list names."""
    word = re.sub(r"[^a-z0-9]+", "", channel.lower())[:20] or "channel"
    return f"{word}-{digest[:16]}"


def _note(identity: Identity, speaker: Speaker) -> None:
    now = timezone.now()
    renamed = speaker.display_name and speaker.display_name != identity.display_name
    if not renamed and now - identity.seen_at < _SEEN_EVERY:
        return
    name = speaker.display_name or identity.display_name
    Identity.objects.filter(pk=identity.pk).update(seen_at=now, display_name=name)
    identity.display_name = name


def _confirm(identity: Identity) -> None:
    if identity.confirmed_at is None:
        identity.confirmed_at = timezone.now()
        identity.save(update_fields=["confirmed_at"])


def _made_for(identity: Identity) -> bool:
    """Whether the person has no login, no other identity and no key."""
    person = identity.person
    return (
        not person.has_usable_password()
        and not person.is_superuser
        and not person.identities.exclude(pk=identity.pk).exists()
        and not person.api_keys.exists()
    )


def _locked(identity_id: int) -> Identity:
    found = Identity.objects.select_for_update(of=("self",)).select_related("person")
    identity = found.filter(pk=identity_id).first()
    if identity is None:
        raise NotFound("There is no such identity.")
    return identity
