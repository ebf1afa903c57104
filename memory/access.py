"""Who asks, what they may see and what they may write: the one place for the policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from goclaw_site.config import get_config
from goclaw_site.errors import Refused
from memory.vocabulary import (
    AGENT_CONFIG,
    AGENT_NOTES,
    AUTONOMOUS_RUNS,
    GLOBAL,
    PERSONAL,
    SHARED_SCOPES,
    SYSTEM_SCOPES,
)

ADMIN_ROLE = "admin"


@dataclass(frozen=True)
class Principal:
    """One caller of one request, command or job.

    `person` is the user's id, or None for the organisation itself. `system` marks the server's own
    jobs (mirrors of pages, schema notes), which alone write the system scopes. What an
    unconfirmed session writes is marked. `known` says that an administrator, a login or a key of
    their own tells who the person is: otherwise no right of theirs over shared memory counts. `key`
    is the prefix of the key that let the caller in.
    """

    person: int | None = None
    name: str = ""
    is_admin: bool = False
    roles: frozenset[str] = frozenset()
    agent: str | None = None
    run_kind: str = "chat"
    session: str | None = None
    shared: bool = False
    confirmed: bool = True
    known: bool = True
    read_only: bool = False
    sees_personal: bool = True
    gateway: bool = False
    system: bool = False
    door: str = "api"
    key: str = ""

    @property
    def autonomous(self) -> bool:
        """Runs that no person watches: they work on outside input."""
        return self.run_kind in AUTONOMOUS_RUNS

    @property
    def owner(self) -> int | None:
        """Whose personal records this caller writes; nobody's in an autonomous run."""
        return None if self.autonomous else self.person

    @property
    def reads_of(self) -> int | None:
        """Whose personal records this caller reads: a name alone, without a key, proves nobody."""
        return self.owner if self.sees_personal else None

    @property
    def actor(self) -> str:
        """The name that histories show."""
        return self.name or ("gateway" if self.gateway else "system")


def access_token(scope: str, owner: int | None) -> str:
    """Return the token that stands for a scope and its owner in every index.

    Letters and hex that end in a digit, so that no analyser can stem two people into one.
    """
    if scope == PERSONAL:
        if owner is None:
            raise ValueError("a personal record needs an owner")
        return f"p{owner:x}x0"
    return f"s{scope.replace('_', '')}0"


def readable_scopes(principal: Principal) -> tuple[str, ...]:
    """Return the shared scopes that this caller may read."""
    if may_configure(principal):
        return (*SHARED_SCOPES, AGENT_CONFIG)
    return SHARED_SCOPES


def principal_of(request: Any) -> Principal:
    """Return the principal that the door put on a request; nobody where there is none."""
    found = getattr(request, "principal", None)
    return found if found is not None else Principal(read_only=True)


def visible_tokens(principal: Principal, scopes: Iterable[str] | None = None) -> frozenset[str]:
    """Return the access tokens that a search of this caller may touch, within `scopes`."""
    wanted = None if scopes is None else set(scopes)
    tokens = {
        access_token(scope, None)
        for scope in readable_scopes(principal)
        if wanted is None or scope in wanted
    }
    if principal.reads_of is not None and (wanted is None or PERSONAL in wanted):
        tokens.add(access_token(PERSONAL, principal.reads_of))
    return frozenset(tokens)


def visible(principal: Principal) -> Q:
    """Return the condition on `memories` that every read of this caller starts from."""
    condition = Q(scope__in=readable_scopes(principal))
    if principal.reads_of is not None:
        condition |= Q(scope=PERSONAL, owner_id=principal.reads_of)
    return condition


def may_configure(principal: Principal) -> bool:
    """Tell whether this caller may write, and so read, `agent_config`."""
    if principal.system:
        return True
    if principal.autonomous or _is_bare_gateway(principal):
        return False
    return _may_write_anywhere(principal)


def administers(principal: Principal) -> bool:
    """Whether the caller may do what is kept for administrators; autonomous runs never may."""
    if principal.system:
        return True
    return principal.is_admin and _is_certain(principal) and not principal.autonomous


def require_administrator(principal: Principal) -> Principal:
    """Return the principal of an administrator who may change things, or raise Refused."""
    if not administers(principal):
        raise Refused("This needs an administrator.")
    require_change(principal)
    return principal


def require_write(principal: Principal, scope: str) -> None:
    """Raise Refused, with the reason and the way out, unless this caller may write `scope`."""
    if reason := _refusal(principal, scope):
        raise Refused(reason, field="scope")


def require_change(principal: Principal) -> None:
    """Raise Refused for a key that only reads."""
    if principal.read_only:
        raise Refused("This key may only read. Use a key that may write.")


def _refusal(principal: Principal, scope: str) -> str:
    """Return why the caller may not write to the scope; empty where it may."""
    if principal.read_only:
        return "This key may only read. Use a key that may write."
    if scope in SYSTEM_SCOPES:
        return "" if principal.system else f"Scope '{scope}' is written by the server alone."
    if scope == PERSONAL:
        return _personal_refusal(principal)
    if principal.system:
        return ""
    if principal.autonomous or _is_bare_gateway(principal):
        return _autonomous_refusal(principal, scope)
    if _may_write_shared(principal, scope):
        return ""
    return (
        f"Writing to '{scope}' needs an administrator or a role or person listed in "
        "memory.write_access. Use scope 'personal' for what concerns you alone."
    )


def _personal_refusal(principal: Principal) -> str:
    if principal.autonomous:
        return f"A {principal.run_kind} run has no person: it may write 'agent_notes' only."
    if principal.person is None:
        return "This caller stands for no person, so it has no 'personal' scope to write to."
    return ""


def _autonomous_refusal(principal: Principal, scope: str) -> str:
    if scope == AGENT_NOTES:
        return ""
    who = f"A {principal.run_kind} run" if principal.autonomous else "A gateway key"
    return f"{who} may write 'agent_notes' only, never '{scope}'."


def _may_write_shared(principal: Principal, scope: str) -> bool:
    if scope == GLOBAL and get_config().memory.write_access.enabled:
        return _is_listed(principal)
    return _may_write_anywhere(principal)


def _may_write_anywhere(principal: Principal) -> bool:
    return (principal.is_admin and _is_certain(principal)) or _is_listed(principal)


def _is_certain(principal: Principal) -> bool:
    return principal.confirmed and principal.known


def _is_bare_gateway(principal: Principal) -> bool:
    """A gateway that speaks for nobody; with a person it may do what that person may."""
    return principal.gateway and principal.person is None


def _is_listed(principal: Principal) -> bool:
    """Whether `memory.write_access` names the caller; its lists count only while it is enabled."""
    rule = get_config().memory.write_access
    if not rule.enabled or not _is_certain(principal):
        return False
    roles = principal.roles | {ADMIN_ROLE} if principal.is_admin else principal.roles
    return bool(roles & set(rule.roles)) or (bool(principal.name) and principal.name in rule.users)
