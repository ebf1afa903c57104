"""People: invited, given roles, reset, deactivated, deleted. The one writer of accounts' rights."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from agents.models import ApiKey
from goclaw_site.config import get_config
from goclaw_site.errors import Conflict, InvalidInput, NotFound, Refused
from memory import audit, ownership
from memory.access import ADMIN_ROLE, Principal, require_administrator
from memory.drafts import check_line

EDITOR_ROLE = "editor"
DELETE, HAND_OVER = "delete", "hand"
_MAX_NAME = 150


@dataclass(frozen=True)
class Invited:
    """A person and the one link with which they set a password, as a path of this server."""

    person: User
    path: str


def person(person_id: int) -> User:
    """Return a person. Raise NotFound."""
    found = User.objects.filter(pk=person_id).first()
    if found is None:
        raise NotFound("There is no such person.")
    return found


def roles() -> list[str]:
    """Return the roles that can be given: ours, those of the configuration, and what there is."""
    named = set(get_config().memory.write_access.roles) | {ADMIN_ROLE, EDITOR_ROLE}
    return sorted(named | set(Group.objects.values_list("name", flat=True)))


def invite(principal: Principal, username: str, wanted: list[str]) -> Invited:
    """Make a person who sets a password by a link. Raise InvalidInput, Conflict, Refused."""
    require_administrator(principal)
    name = check_username(username)
    if User.objects.filter(username=name).exists():
        raise Conflict(f"There is a person named '{name}' already.", field="username")
    with transaction.atomic():
        made = User(username=name)
        made.set_unusable_password()
        made.save()
        audit.record(principal, "person.invite", _subject(made))
        _give_roles(principal, made, wanted)
    return Invited(made, link(made))


def invite_known(principal: Principal, somebody: User, username: str) -> Invited:
    """Give a login to a person whom only channels know so far, under a name of their own."""
    _require_right_over(principal, somebody)
    name = check_username(username)
    if User.objects.filter(username=name).exclude(pk=somebody.pk).exists():
        raise Conflict(f"There is a person named '{name}' already.", field="username")
    with transaction.atomic():
        somebody.username = name
        somebody.save(update_fields=["username"])
        audit.record(principal, "person.invite", _subject(somebody))
    return Invited(somebody, link(somebody))


def link(somebody: User) -> str:
    """Return the path that sets a password: good once, for `PASSWORD_RESET_TIMEOUT` seconds."""
    who = urlsafe_base64_encode(force_bytes(somebody.pk))
    return reverse("invited", args=[who, default_token_generator.make_token(somebody)])


def set_roles(principal: Principal, somebody: User, wanted: list[str]) -> None:
    """Give exactly these roles; they count from the next request on. Raise Refused, Conflict."""
    _require_right_over(principal, somebody)
    with transaction.atomic():
        _give_roles(principal, somebody, wanted)


def reset(principal: Principal, somebody: User) -> Invited:
    """Take the password away, end the sessions, and return the link for a new one."""
    _require_right_over(principal, somebody)
    with transaction.atomic():
        somebody.set_unusable_password()
        somebody.save(update_fields=["password"])
        ended = end_sessions(somebody)
        audit.record(principal, "person.reset", _subject(somebody), sessions=ended)
    return Invited(somebody, link(somebody))


def sign_out(principal: Principal, somebody: User) -> int:
    """End every session of a person; return how many there were."""
    _require_right_over(principal, somebody)
    ended = end_sessions(somebody)
    audit.record(principal, "person.sign_out", _subject(somebody), sessions=ended)
    return ended


def set_active(principal: Principal, somebody: User, active: bool) -> None:
    """Let a person in, or keep them out: with sessions ended and keys revoked."""
    _require_right_over(principal, somebody)
    _refuse_self(principal, somebody)
    with transaction.atomic():
        somebody.is_active = active
        somebody.save(update_fields=["is_active"])
        if not active:
            _require_an_administrator()
            end_sessions(somebody)
            ApiKey.objects.filter(user=somebody, revoked_at=None).update(revoked_at=timezone.now())
        action = "person.activate" if active else "person.deactivate"
        audit.record(principal, action, _subject(somebody))


def delete(
    principal: Principal, somebody: User, records: str, heir: User | None = None
) -> ownership.Moved:
    """Delete a person with sessions and keys; their records are deleted or handed to another.

    Nobody's personal records there are not: the choice must be made. Raise InvalidInput, Refused.
    """
    _require_right_over(principal, somebody)
    _refuse_self(principal, somebody)
    with transaction.atomic():
        moved = _settle_records(principal, somebody, records, heir)
        end_sessions(somebody)
        audit.record(principal, "person.delete", _subject(somebody), records=records)
        somebody.delete()
        _require_an_administrator()
    return moved


def end_sessions(somebody: User) -> int:
    """End every browser session; return how many there were.

    A session does not know its owner but in its signed text, so each one that lives is read.
    """
    store, alive = SessionStore(), Session.objects.filter(expire_date__gt=timezone.now())
    ended = [
        session.pk
        for session in alive.iterator()
        if store.decode(session.session_data).get(SESSION_KEY) == str(somebody.pk)
    ]
    Session.objects.filter(pk__in=ended).delete()
    return len(ended)


def check_username(username: str) -> str:
    """Return the name as it is stored. Raise InvalidInput."""
    name = check_line("username", username, _MAX_NAME)
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        raise InvalidInput(
            "A name is made of letters, digits and @ . + - _, without spaces.", field="username"
        ) from None
    return name


def has_login(somebody: User) -> bool:
    """Whether there is a password; a provider or a proxy may let others in."""
    return somebody.has_usable_password()


def _settle_records(
    principal: Principal, somebody: User, records: str, heir: User | None
) -> ownership.Moved:
    if records == DELETE:
        return ownership.Moved(ownership.clear(principal, somebody.pk), 0)
    if records != HAND_OVER or heir is None:
        raise InvalidInput("Say what becomes of the records: delete or hand over.", field="records")
    if heir.pk == somebody.pk:
        raise InvalidInput("The records need another person.", field="heir")
    return ownership.move(principal, somebody.pk, heir.pk)


def _give_roles(principal: Principal, somebody: User, wanted: list[str]) -> None:
    names = {check_line("roles", name, _MAX_NAME) for name in wanted}
    if unknown := names - set(roles()):
        raise InvalidInput(f"There is no role '{min(unknown)[:40]}'.", field="roles")
    held = set(somebody.groups.values_list("name", flat=True))
    somebody.groups.set(Group.objects.get_or_create(name=name)[0] for name in names)
    _require_an_administrator()
    for action, changed in (("role.give", names - held), ("role.take", held - names)):
        for name in sorted(changed):
            group = Group.objects.get(name=name)
            audit.record(
                principal, action, _subject(somebody), role=group.pk, admin=name == "admin"
            )


def _require_right_over(principal: Principal, somebody: User) -> None:
    """Who could reset a superuser would be one."""
    require_administrator(principal)
    if somebody.is_superuser and somebody.pk != principal.person:
        mine = User.objects.filter(pk=principal.person or 0, is_superuser=True).exists()
        if not mine and principal.door != "command":
            raise Refused("Only a superuser may change a superuser.")


def _refuse_self(principal: Principal, somebody: User) -> None:
    if somebody.pk == principal.person:
        raise Refused("Another administrator has to do this to you.")


def _require_an_administrator() -> None:
    """Somebody must be left who can open the door again."""
    people = User.objects.filter(is_active=True)
    if not (people.filter(is_superuser=True) | people.filter(groups__name=ADMIN_ROLE)).exists():
        raise Conflict("This is the last administrator: make another one first.")


def _subject(somebody: User) -> str:
    return f"person:{somebody.pk}"
