"""Adding, amending and taking an amendment back, from what a form posts."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time

from django.db import transaction
from django.http import QueryDict
from django.utils import timezone

from goclaw_site.errors import Conflict, GoclawError, InvalidInput, Refused
from memory import queries, write
from memory.access import Principal, require_write
from memory.drafts import Changes, Draft
from memory.models import Memory
from memory.vocabulary import ENGINE_TAGS, KINDS, WRITABLE_SCOPES


@dataclass(frozen=True)
class RecordForm:
    """What stands in the form; `problems` holds one message a field, `stamp` what was read."""

    content: str = ""
    scope: str = "personal"
    kind: str = "note"
    domain: str = ""
    tags: str = ""
    expires: str = ""
    stamp: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)
    twin: str = ""

    @property
    def tag_list(self) -> tuple[str, ...]:
        """The tags, which are typed with commas between."""
        return tuple(tag.strip() for tag in self.tags.split(",") if tag.strip())

    def failed(self, error: GoclawError) -> RecordForm:
        """Return the form with the problem at the field it is about."""
        name = {"expires_at": "expires"}.get(error.field or "", error.field or "")
        known = ("content", "scope", "kind", "domain", "tags", "expires")
        twin = str(error.extra.get("id", "")) if isinstance(error, Conflict) else ""
        return replace(self, problems={name if name in known else "form": error.message}, twin=twin)


class Stale(Conflict):
    """The record was changed by somebody else after the form was opened."""

    code = "stale"


def posted(values: QueryDict, scope: str = "personal") -> RecordForm:
    """Return the form as it was sent; browsers send CR LF for every line break."""
    return RecordForm(
        content=_lines(values.get("content", "")),
        scope=values.get("scope", scope),
        kind=values.get("kind", "note"),
        domain=values.get("domain", ""),
        tags=values.get("tags", ""),
        expires=values.get("expires", ""),
        stamp=values.get("stamp", ""),
    )


def filled(record: Memory) -> RecordForm:
    """Return the form with what the record holds now."""
    expires = timezone.localtime(record.expires_at).date().isoformat() if record.expires_at else ""
    return RecordForm(
        content=record.content,
        scope=record.scope,
        kind=record.kind,
        domain=record.domain,
        tags=", ".join(_own_tags(record)),
        expires=expires,
        stamp=stamp(record),
    )


def stamp(record: Memory) -> str:
    """Return what changes whenever anything changes that the form can set."""
    parts = (record.content_hash, record.kind, record.domain, *record.tag_names)
    expires = record.expires_at.isoformat() if record.expires_at else ""
    return hashlib.sha256("\0".join((*parts, expires)).encode()).hexdigest()[:20]


def add(principal: Principal, form: RecordForm) -> write.Written:
    """Write what the form says. Raises what `memory.write.remember` raises."""
    draft = Draft(
        content=form.content,
        scope=form.scope,
        kind=form.kind,
        domain=form.domain,
        tags=form.tag_list,
        expires_at=_last_moment(form.expires),
    )
    return write.remember(principal, draft)


def amend(principal: Principal, memory_id: uuid.UUID, form: RecordForm) -> Memory:
    """Write the form over the record it was made from. Raise Stale where that has changed.

    A form that is sent twice is no conflict: the record already says what it says.
    """
    with transaction.atomic():
        record = queries.record(principal, memory_id)
        changes = _changes(record, form)
        if stamp(record) != form.stamp and not _says_the_same(record, changes):
            raise Stale("Somebody changed this record after you opened it.")
        try:
            return write.amend(principal, memory_id, changes)
        except Refused as error:
            # Raised outside: the note of the refusal in the audit trail is to stay.
            refusal = error
    raise refusal


def retag(
    principal: Principal, memory_id: uuid.UUID, tags: tuple[str, ...], *, remove: bool = False
) -> Memory:
    """Add tags to a record, or take them away; the others stay."""
    record = queries.record(principal, memory_id)
    held = _own_tags(record)
    kept = [tag for tag in held if tag not in tags]
    wanted = kept if remove else [*held, *(tag for tag in tags if tag not in held)]
    return write.amend(principal, memory_id, Changes(tags=tuple(wanted)))


def writable_scopes(principal: Principal) -> list[str]:
    """Return the scopes that the form may offer."""
    return [scope for scope in WRITABLE_SCOPES if not _refused(principal, scope)]


def kinds_for(record: Memory | None = None) -> tuple[str, ...]:
    """Return the kinds that the form may offer; a kind of the engine stays what it is."""
    return (*KINDS, record.kind) if record and record.kind not in KINDS else KINDS


def _refused(principal: Principal, scope: str) -> bool:
    try:
        require_write(principal, scope)
    except Refused:
        return True
    return False


def _own_tags(record: Memory) -> list[str]:
    return [tag for tag in record.tag_names if tag not in ENGINE_TAGS]


def _changes(record: Memory, form: RecordForm) -> Changes:
    same_text = _lines(record.content) == form.content
    expires = _last_moment(form.expires)
    same_end = form.expires == filled(record).expires
    return Changes(
        content=None if same_text else form.content,
        kind=None if form.kind == record.kind else form.kind,
        domain=form.domain,
        tags=form.tag_list,
        expires_at=None if same_end else expires,
        clear_expiry=expires is None and record.expires_at is not None,
    )


def _says_the_same(record: Memory, changes: Changes) -> bool:
    return (
        changes.content is None
        and changes.kind is None
        and changes.domain == record.domain
        and set(changes.tags or ()) == set(_own_tags(record))
        and changes.expires_at is None
        and not changes.clear_expiry
    )


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _last_moment(text: str) -> datetime | None:
    """Return the end of a day: what expires on a day is good on that day."""
    if not text.strip():
        return None
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput("This is not a date such as 2027-01-31.", field="expires_at") from None
    return timezone.make_aware(datetime.combine(day, time(23, 59, 59)))
