"""The builders of principals: one for each way in."""

from __future__ import annotations

from dataclasses import replace

from django.contrib.auth.models import AnonymousUser, User

from agents import identities, keys
from agents.contexts import CallContext
from agents.models import ApiKey, Identity
from goclaw_site.errors import InvalidInput, Refused
from memory.access import ADMIN_ROLE, Principal
from memory.drafts import check_text

NO_CONTEXT = CallContext()


def for_browser(user: User | AnonymousUser) -> Principal:
    """Return the principal of a login; nobody for an anonymous visitor."""
    if not isinstance(user, User):
        return Principal(door="browser", read_only=True)
    return _person(user, door="browser")


def for_key(key: ApiKey, context: CallContext = NO_CONTEXT) -> Principal:
    """Return the principal of a key: its owner, or whomever a gateway key speaks for.

    Raises Refused where the context claims more than the key may.
    """
    if key.user is not None:
        owner = _person(key.user, door="api", read_only=key.read_only)
        return _in_own_run(replace(owner, key=key.prefix), context)
    speaker = None if context.autonomous else context.on_behalf_of
    identity = identities.resolve(speaker, create=not key.read_only) if speaker else None
    caller = _gateway(key) if identity is None else _spoken_for(key, identity, context)
    unconfirmed = context.confirmed is False or (speaker is not None and identity is None)
    return replace(
        caller,
        agent=context.agent,
        run_kind=context.run_kind,
        session=context.session,
        shared=context.shared,
        confirmed=caller.confirmed and not unconfirmed,
    )


def for_login(user: User, context: CallContext) -> Principal:
    """Return the principal of a login that calls the API with a context. Raise Refused."""
    return _in_own_run(for_browser(user), context)


def _gateway(key: ApiKey) -> Principal:
    return Principal(
        name=f"gateway {key.label or key.prefix}",
        gateway=True,
        read_only=key.read_only,
        key=key.prefix,
    )


def _spoken_for(key: ApiKey, identity: Identity, context: CallContext) -> Principal:
    """The person a gateway names. Rights need an identity that an administrator confirmed.

    In a session that the gateway itself doubts, a confirmed person's memory stays closed: only an
    identity nobody confirmed reads back there what it wrote.
    """
    if not identity.person.is_active:
        raise Refused("This person is deactivated.")
    doubted = context.confirmed is False
    known = identity.confirmed and not doubted
    person = _person(identity.person, door="api", read_only=key.read_only)
    return replace(
        person,
        gateway=True,
        key=key.prefix,
        known=known,
        is_admin=person.is_admin and known,
        roles=person.roles if known else frozenset(),
        sees_personal=not (doubted and identity.confirmed),
        confirmed=identity.confirmed if context.confirmed is None else context.confirmed,
    )


def _in_own_run(owner: Principal, context: CallContext) -> Principal:
    """A person's own key or login may say which agent and conversation, not who or what it is."""
    if context.on_behalf_of is not None:
        raise Refused(
            "Only a gateway key may name a person; this caller is one already.",
            field="on_behalf_of",
        )
    if context.autonomous:
        raise Refused(
            f"A {context.run_kind} run needs a gateway key; a personal key is its owner's chat.",
            field="run_kind",
        )
    return replace(
        owner,
        agent=context.agent,
        session=context.session,
        shared=context.shared,
        confirmed=context.confirmed is not False,
    )


def for_command(username: str | None, key: str | None) -> Principal:
    """Return the principal of a terminal command.

    Without a name it is an administrator without a person. With a name it writes as that person but
    sees nothing personal, unless the person's own key proves it.
    """
    if key:
        owner = keys.find(key)
        if username and (owner.user is None or owner.user.get_username() != username):
            raise InvalidInput("--user and the key name different people.", field="user")
        return for_key(owner)
    if not username:
        return Principal(name="command", is_admin=True, door="command")
    return _person(named(username), door="command", sees_personal=False)


def named(username: str) -> User:
    """Return the person with this name. Raise InvalidInput."""
    check_text("user", username)
    user = User.objects.filter(username=username).first()
    if user is None:
        raise InvalidInput(f"There is no person named '{username[:60]}'.", field="user")
    return user


def _person(
    user: User, *, door: str, read_only: bool = False, sees_personal: bool = True
) -> Principal:
    roles = frozenset(user.groups.values_list("name", flat=True))
    return Principal(
        person=user.pk,
        name=user.get_username(),
        is_admin=user.is_superuser or ADMIN_ROLE in roles,
        roles=roles,
        read_only=read_only,
        sees_personal=sees_personal,
        door=door,
    )
