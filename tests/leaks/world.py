"""A small organisation, a canary in everything anybody wrote, and every kind of caller."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from agents import identities, keys
from agents.contexts import CallContext, Speaker
from agents.principals import for_browser, for_command, for_key
from memory import indexing
from memory.access import Principal
from memory.drafts import Changes, Draft, Source
from memory.models import Memory
from memory.vocabulary import SYSTEM_SCOPES
from memory.write import amend, remember, retire
from tests.api.callers import Answer, user
from wiki import attachments, pages
from wiki.edits import Edit

SERVER = Principal(name="server", system=True, is_admin=True)
#: In every text, so that a search brings up whatever the caller may see.
WORD = "lantern"

SHARED = frozenset({"zqnotes", "zqglobal", "zqwiki", "zqwjs", "zqdbcache"})
CONFIG = frozenset({"zqconfig"})
OWN = {name: frozenset({f"zq{name}own"}) for name in ("ann", "bea", "bob")}
PLACES = SHARED | CONFIG | OWN["ann"] | OWN["bea"] | OWN["bob"]
_SCOPES = {
    "zqnotes": "agent_notes", "zqglobal": "global", "zqconfig": "agent_config",
    "zqwiki": "wiki", "zqwjs": "wikijs", "zqdbcache": "db_cache",
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of caller: how it comes in, and the places whose canaries it may meet."""

    name: str
    sees: frozenset[str]
    principal: Principal
    key: str = ""
    context: dict[str, Any] = field(default_factory=dict)
    session: User | None = None
    arguments: tuple[str, ...] | None = None
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    @property
    def browses(self) -> bool:
        """Whether pages let this caller in."""
        return self.session is not None

    def send(self, method: str, path: str, body: Any = None, form: Any = None) -> Answer:
        """Send a request with this caller's credentials."""
        client = self._client()
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        if self.context:
            headers["X-GoClaw-Context"] = json.dumps(self.context)
        if form is not None:
            return client.post(path, form, headers=headers)
        raw = b"" if body is None else json.dumps(body)
        return client.generic(method, path, raw, content_type="application/json", headers=headers)

    def _client(self) -> Client:
        """One client for all: a session that is made within `undone` would be gone afterwards."""
        if self.session is None:
            self.client.cookies.clear()
        return self.client


@dataclass
class World:
    """What was planted, and who may come."""

    records: dict[str, Memory]
    kinds: dict[str, Kind]
    secrets: tuple[str, ...]
    job: str
    file: str

    @property
    def ids(self) -> list[str]:
        """A record of everybody's place, and every state of one person's."""
        return [
            str(record.pk)
            for name, record in self.records.items()
            if name.endswith("-live") or name.startswith("zqannown-")
        ]

    @property
    def retired(self) -> list[str]:
        """The retired record of everybody's place."""
        return [str(r.pk) for name, r in self.records.items() if name.endswith("-retired")]

    def some(self, *names: str) -> list[Kind]:
        """Return these kinds of callers."""
        return [self.kinds[name] for name in names]

    def leaks(self, kind: Kind, text: str) -> list[str]:
        """Return what stands in the text that this caller may not see."""
        forbidden = (PLACES - kind.sees) | set(self.secrets)
        return sorted(canary for canary in forbidden if canary in text)


def build() -> World:
    """Plant everything and index all but one record of each place."""
    ann, bob = user("ann"), user("bob")
    root = user("root", is_superuser=True, is_staff=True)
    chief = user("chief", groups=("admin",), is_staff=True)
    chief.user_permissions.set(Permission.objects.all())
    bea = identities.resolve(Speaker("discord", "1002", "Bea"))
    assert bea is not None
    identities.confirm(for_browser(root), bea.pk)
    records: dict[str, Memory] = {}
    for person, mark in ((ann, "zqannown"), (bob, "zqbobown"), (bea.person, "zqbeaown")):
        owner = Principal(person=person.pk, name=person.username)
        records |= _plant(owner, mark, "personal")
    for mark, scope in _SCOPES.items():
        author = SERVER if scope in SYSTEM_SCOPES else Principal(name="planter", is_admin=True)
        records |= _plant(author, mark, scope)
    job = for_browser(root)
    from memory import jobs

    started = jobs.start_for(job, "reindex", {"missing": True})
    pages.save(for_browser(root), "lantern", Edit("zqwiki", f"{WORD} zqwiki"))
    file = attachments.upload(for_browser(root), "lantern", "zqwiki", [b"zqwiki"]).attachment
    kinds, secrets = _kinds(ann, bob, root, chief)
    return World(records, kinds, secrets, str(started.pk), str(file.pk))


def _plant(author: Principal, mark: str, scope: str) -> dict[str, Memory]:
    """Records that are live, amended, retired, expired, failed and not yet indexed."""
    made = {}
    for number, state in enumerate(("live", "amended", "retired", "expired", "failed")):
        made[f"{mark}-{state}"] = remember(
            author,
            Draft(
                content=f"{WORD} {mark}content{state}",
                scope=scope,
                domain=f"{mark}domain",
                tags=(f"{mark}tag",),
                metadata={"note": f"{mark}meta"},
                source=Source("session", f"{mark}source", number),
                index_prefix=f"{mark}prefix",
            ),
        ).memory
    amend(author, made[f"{mark}-amended"].pk, Changes(content=f"{WORD} {mark}after"))
    retire(made[f"{mark}-retired"], made[f"{mark}-live"], via="rule", reason="newer", actor="rule")
    assert not indexing.index_waiting(time.monotonic() + 60)
    past = timezone.now() - timedelta(hours=1)
    Memory.objects.filter(pk=made[f"{mark}-expired"].pk).update(expires_at=past)
    Memory.objects.filter(pk=made[f"{mark}-failed"].pk).update(
        index_state="failed", last_error=f"provider refused {mark}error"
    )
    made[f"{mark}-new"] = remember(author, Draft(f"{WORD} {mark}new", scope=scope)).memory
    return made


def _kinds(
    ann: User, bob: User, root: User, chief: User
) -> tuple[dict[str, Kind], tuple[str, ...]]:
    own = keys.create(ann)
    reads = keys.create(ann, read_only=True)
    gate = keys.create(None, gateway=True, label="bot")
    made = (own, reads, gate)
    kinds = [
        _login("superuser", root, SHARED | CONFIG),
        _login("group admin", chief, SHARED | CONFIG),
        _login("person", ann, SHARED | OWN["ann"]),
        _login("other person", bob, SHARED | OWN["bob"]),
        _keyed("personal key", own, SHARED | OWN["ann"]),
        _keyed("read-only key", reads, SHARED | OWN["ann"]),
        _keyed("gateway", gate, SHARED),
        _keyed("gateway for a person", gate, SHARED | OWN["bea"], **_for_bea()),
        _keyed("gateway unconfirmed", gate, SHARED, **_for_bea(confirmed=False)),
        _keyed("gateway for a stranger", gate, SHARED, **_for_stranger()),
        _keyed("shared conversation", gate, SHARED | OWN["bea"], **_for_bea(shared=True)),
        *(
            _keyed(kind, gate, SHARED, **_for_bea(run_kind=kind))
            for kind in ("sop", "cron", "webhook")
        ),
        Kind("anonymous", frozenset(), Principal(read_only=True, door="browser")),
    ]
    texts = tuple(new.text for new in made) + tuple(new.key.digest for new in made)
    return {kind.name: kind for kind in kinds}, texts


def _for_bea(**more: Any) -> dict[str, Any]:
    return {"on_behalf_of": {"channel": "discord", "external_id": "1002"}, **more}


def _for_stranger() -> dict[str, Any]:
    return {"on_behalf_of": {"channel": "discord", "external_id": "9999"}}


def _login(name: str, person: User, sees: frozenset[str]) -> Kind:
    kind = Kind(name, sees, for_browser(person), session=person)
    kind.client.force_login(person)
    return kind


def _keyed(name: str, made: keys.NewKey, sees: frozenset[str], **context: Any) -> Kind:
    from agents.contexts import parse

    read = parse(context) if context else CallContext()
    arguments = None if context else ("--key", made.text)
    return Kind(
        name, sees, for_key(made.key, read), key=made.text, context=context, arguments=arguments
    )


def at_the_terminal(world: World) -> Iterator[Kind]:
    """Yield who may stand at a terminal."""
    operator = for_command(None, None)
    yield Kind("terminal", SHARED | CONFIG, operator, arguments=())
    named = replace(for_command("ann", None))
    yield Kind("terminal as ann", SHARED, named, arguments=("--user", "ann"))
    yield from (kind for kind in world.kinds.values() if kind.arguments is not None)


def undone(act: Callable[[], Any]) -> Any:
    """Run something and take back what it wrote, so that the next caller finds the same world."""
    with transaction.atomic():
        result = act()
        transaction.set_rollback(True)
    return result
