"""The model that an administrator chose on the page: in the database, its key in the vault.

Read at each use, so that every process serves with a new choice from its next call on.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from django.db import transaction
from django.utils import timezone

from goclaw_site.config import vault
from goclaw_site.errors import ConfigError
from memory import audit
from memory.access import Principal, require_administrator
from memory.models import EngineState
from memory.providers.chat.choices import KINDS, Choice

_STATE = "chat_model_{role}"
_OURS = "page-model-"
_NAME_OF_KEY = _OURS + "{role}-{mark}"

#: What was read from the vault, by the name of the secret and the state of the vault's file.
_opened: dict[tuple[str, int], str] = {}


@dataclass(frozen=True)
class Saved:
    """What stands in the database; `secret` names the key in the vault, empty where none is."""

    kind: str
    model: str
    base_url: str
    secret: str = ""
    by: str = ""
    at: str = ""


def read(role: str) -> Saved | None:
    """Return what was chosen for a role."""
    return all_roles((role,)).get(role)


def all_roles(roles: Sequence[str]) -> dict[str, Saved]:
    """Return what was chosen for each of the roles that have a choice; one query."""
    keys = {_STATE.format(role=role): role for role in roles}
    rows = EngineState.objects.filter(key__in=keys).values_list("key", "value")
    found = ((keys[key], _read(row)) for key, row in rows)
    return {role: kept for role, kept in found if kept is not None}


def _read(row: Any) -> Saved | None:
    if not isinstance(row, dict):
        return None
    known = {one.name: str(row.get(one.name, "")) for one in fields(Saved)}
    found = Saved(**known)
    return found if found.kind in KINDS and found.model and found.base_url else None


def choice_of(saved: Saved) -> Choice:
    """Return it with its key. Raise ConfigError where the vault does not give the key.

    The vault holds the address beside the key: a row of an import, or of a hand in the
    database, can send no secret to another address.
    """
    if not saved.secret:
        return Choice(saved.kind, saved.model, saved.base_url)
    address, _, key = _held(saved.secret).partition(" ")
    if not saved.secret.startswith(_OURS) or address != saved.base_url:
        raise ConfigError("The key of the model was kept for another address.")
    return Choice(saved.kind, saved.model, saved.base_url, key)


def save(principal: Principal, role: str, choice: Choice) -> None:
    """Keep a choice.

    The key goes into the vault under a new name first, and the old one out of it last: whatever is
    interrupted, the row names a key that is there. Raises Refused, ConfigError.
    """
    require_administrator(principal)
    secret = _put(role, choice) if choice.key else ""
    row = Saved(
        choice.kind, choice.model, choice.base_url, secret,
        by=principal.actor[:150], at=timezone.now().isoformat(),
    )  # fmt: skip
    with transaction.atomic():
        before = read(role)
        EngineState.record(_STATE.format(role=role), asdict(row))
        audit.record(principal, "model.set", f"model:{role}", provider=choice.kind)
    _drop(before)


def clear(principal: Principal, role: str) -> bool:
    """Forget the choice and its key; False where there was none. Raise Refused, ConfigError."""
    require_administrator(principal)
    with transaction.atomic():
        before = read(role)
        EngineState.objects.filter(key=_STATE.format(role=role)).delete()
        if before is not None:
            audit.record(principal, "model.clear", f"model:{role}", provider=before.kind)
    _drop(before)
    return before is not None


def _put(role: str, choice: Choice) -> str:
    name = _NAME_OF_KEY.format(role=role, mark=secrets.token_hex(4))
    vault().set(name, f"{choice.base_url} {choice.key}")
    return name


def _drop(saved: Saved | None) -> None:
    if saved is not None and saved.secret.startswith(_OURS):
        vault().remove(saved.secret)


def _held(name: str) -> str:
    held = vault()
    try:
        changed = held.file.stat().st_mtime_ns
    except OSError:
        changed = 0
    value = _opened.get((name, changed)) or held.get(name)
    if value is None:
        raise ConfigError("The key of the model is not in the vault of this machine.")
    if (name, changed) not in _opened:
        _opened.clear()
        _opened[name, changed] = value
    return value
