"""Every door there is, read off the server itself, and a row for each that says how to knock."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver, reverse

import goclaw_site.management.commands as command_modules
from agents import tools
from agents.models import ApiKey, Identity
from agents.pages.people import ACTIONS
from goclaw_site.asgi import MOUNTS
from goclaw_site.parts import PartsCommand
from memory.models import Memory, MemoryRevision
from memory.providers.chat import ROLES
from tests.leaks.world import WORD, World

READS = ("GET", "HEAD")
EVERYWHERE = ("GET", "POST")
WRITES = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Knock:
    """One request. `form` is what a browser posts, `body` what a program sends."""

    method: str
    path: str
    body: Any = None
    form: Any = None


@dataclass(frozen=True)
class Row:
    """How to knock at one address: its parameters' values, queries, bodies, forms."""

    fill: Callable[[World], list[dict[str, Any]]] = lambda world: [{}]
    queries: tuple[str, ...] = ("",)
    bodies: Callable[[World], list[Any]] = lambda world: [{}]
    forms: Callable[[World], list[dict[str, Any]]] = lambda world: []
    methods: tuple[str, ...] = EVERYWHERE


def _records(world: World) -> list[dict[str, Any]]:
    return [{"memory_id": memory_id} for memory_id in world.ids]


def _revisions(world: World) -> list[dict[str, Any]]:
    rows = MemoryRevision.objects.values_list("old_id", "pk")
    return [{"memory_id": str(old), "revision": pk} for old, pk in rows]


def _runs(world: World) -> list[dict[str, Any]]:
    rows = MemoryRevision.objects.values_list("run_id", flat=True).distinct()
    return [{"run_id": str(run)} for run in rows.order_by("run_id")]


def _decided(world: World) -> list[Any]:
    rows = MemoryRevision.objects.filter(decision="retired")
    return sorted(rows.values_list("run_id", flat=True))


def _jobs(world: World) -> list[dict[str, Any]]:
    return [{"job_id": world.job}]


def _people(world: World) -> list[dict[str, Any]]:
    rows = Memory.objects.exclude(owner=None).values_list("owner_id", flat=True).distinct()
    return [{"person_id": pk} for pk in rows.order_by("owner_id")]


def _acts(world: World) -> list[dict[str, Any]]:
    return [{**who, "action": action} for who in _people(world) for action in ACTIONS]


def _identities(world: World) -> list[dict[str, Any]]:
    return [{"identity_id": pk} for pk in Identity.objects.values_list("pk", flat=True)]


def _keys(world: World) -> list[dict[str, Any]]:
    return [{"prefix": prefix} for prefix in ApiKey.objects.values_list("prefix", flat=True)]


def _agent(world: World) -> list[dict[str, Any]]:
    return [{"slug": "default"}]


def _tools(world: World) -> list[dict[str, Any]]:
    return [{"slug": "default", "name": tool.name} for tool in tools.tools()]


def _slug(world: World) -> list[dict[str, Any]]:
    return [{"slug": "lantern"}, {"slug": "nothing/here"}]


def _files(world: World) -> list[dict[str, Any]]:
    return [{"attachment_id": world.file}]


def _roles(world: World) -> list[dict[str, Any]]:
    return [{"role": role} for role in (*ROLES, "nobody")]


def _parts(world: World) -> list[dict[str, Any]]:
    return [{"part": part} for part in (*ROLES, "embeddings", "nobody")]


def _ids_of(world: World) -> dict[str, Any]:
    return {"ids": world.ids}


def _catalog(world: World) -> dict[str, Any]:
    """Rows that name everybody's records and guess at their texts."""
    rows = [
        {"id": pk, "scope": scope, "content": WORD}
        for pk in world.ids
        for scope in ("agent_notes", "personal")
    ]
    return {"format": "goclaw-catalog", "version": 1, "records": rows}


_LISTS = ("", "?include_history=true", "?scope=personal", "?q=" + WORD, f"?tag=x&domain={WORD}")
_EVERYTHING = {"query": WORD, "include_history": True, "max_results": 100, "min_score": 0}

ROWS: dict[str, Row] = {
    "healthz": Row(),
    "readyz": Row(),
    "login": Row(forms=lambda world: [{"username": "ann", "password": "wrong"}]),
    "logout": Row(forms=lambda world: [{}]),
    "invited": Row(fill=lambda world: [{"uidb64": "MQ", "token": "x-y"}]),
    "oidc-start": Row(queries=("?next=/me/",)),
    "oidc-finish": Row(queries=("?code=x&state=y",)),
    "password": Row(forms=lambda world: [{"old_password": "x", "new_password1": "y"}]),
    "schema": Row(queries=("", "?format=json")),
    "api-docs": Row(),
    "api-records": Row(
        queries=(*_LISTS[:3], "?source=x", "?as_of=2999-01-01", "?page_size=200", "?wrong=1"),
        bodies=lambda world: [{"content": f"{WORD} of one's own"}, {"content": ""}, [], {"x": 1}],
        methods=(*READS, "POST"),
    ),
    "api-record": Row(
        fill=_records,
        bodies=lambda world: [{"content": "changed"}],
        methods=("GET", "PATCH", "DELETE"),
    ),
    "api-bulk": Row(bodies=lambda world: [{"items": [{"content": f"{WORD} a"}, {"x": 1}, 7]}]),
    "api-search": Row(
        queries=(f"?q={WORD}&include_history=true&max_results=100&min_score=0", "?q=", ""),
        bodies=lambda world: [_EVERYTHING, {**_EVERYTHING, "scopes": ["personal"]}, {"query": 1}],
    ),
    "api-export": Row(),
    "api-import": Row(bodies=lambda world: [{}, _catalog(world), {**_catalog(world), "x": 1}]),
    "api-stats": Row(),
    "api-reindex": Row(bodies=lambda world: [{}, {"missing": True}, {"x": 1}]),
    "api-consolidate": Row(bodies=lambda world: [{}, {"dry_run": True}, {"x": 1}]),
    "api-dedupe": Row(bodies=lambda world: [{}, {"ratio": 0.9, "dry_run": True}, {"ratio": 7}]),
    "api-revise": Row(bodies=lambda world: [{}, {"dry_run": True}, {"x": 1}]),
    "api-revisions": Row(
        queries=("", "?page_size=200", "?via=rule", "?undone=false", "?record=x", "?wrong=1")
    ),
    "api-revisions-undo": Row(
        bodies=lambda world: [
            *({"memory_id": str(pk)} for pk in world.retired),
            *({"run_id": str(run)} for run in _decided(world)),
            {},
        ]
    ),
    "api-audit": Row(queries=("", "?action=write&page_size=200")),
    "api-jobs": Row(),
    "api-job": Row(fill=_jobs),
    "api-job-cancel": Row(fill=_jobs),
    "api-agents": Row(bodies=lambda world: [{"slug": "new"}]),
    "api-agent": Row(fill=_agent),
    "api-agent-tools": Row(fill=_agent),
    "api-agent-tool": Row(
        fill=_tools,
        bodies=lambda world: [
            _EVERYTHING,
            {"id": world.ids[0]},
        ],
        methods=("GET", "POST"),
    ),
    "api-agent-hints": Row(
        fill=_agent, bodies=lambda world: [{"tool": "db_query", "error": "no such column: x"}]
    ),
    "memory": Row(queries=(*_LISTS, "?cursor=x", "?record=" + "0" * 32)),
    "memory-own": Row(queries=_LISTS),
    "memory-add": Row(forms=lambda world: [{"content": "x", "scope": "personal", "kind": "note"}]),
    "memory-bulk": Row(
        forms=lambda world: [
            {**_ids_of(world), "action": "tag", "tags": "x"},
            {**_ids_of(world), "action": "delete"},
            {**_ids_of(world), "action": "delete", "confirmed": "1"},
            {**_ids_of(world), "action": "nonsense"},
        ]
    ),
    "memory-record": Row(fill=_records, queries=("", "?q=" + WORD)),
    "memory-amend": Row(
        fill=_records, forms=lambda world: [{"content": "changed", "kind": "note"}]
    ),
    "memory-delete": Row(fill=_records, forms=lambda world: [{}]),
    "memory-undo": Row(fill=_revisions, forms=lambda world: [{}]),
    "revisions": Row(queries=("", f"?q={WORD}", "?via=rule", "?undone=yes", "?via=x")),
    "revisions-run": Row(fill=_runs),
    "revisions-undo": Row(fill=_records, forms=lambda world: [{"reason": "x"}]),
    "revisions-undo-run": Row(fill=_runs, forms=lambda world: [{"reason": "x"}]),
    "changes": Row(queries=("", "?days=7", "?days=x", "?cursor=x")),
    "changes-wrong": Row(fill=_records, forms=lambda world: [{}]),
    "memory-own-export": Row(),
    "memory-own-delete": Row(forms=lambda world: [{}, {"sure": "yes"}]),
    "models": Row(),
    "models-edit": Row(fill=_roles, forms=lambda world: [{}, {"act": "try"}, {"kind": "ollama"}]),
    "models-clear": Row(fill=_roles, forms=lambda world: [{}]),
    "models-try": Row(fill=_parts, forms=lambda world: [{}]),
    "backups": Row(),
    "backups-now": Row(forms=lambda world: [{}]),
    "backups-cancel": Row(forms=lambda world: [{}]),
    "components": Row(),
    "keys": Row(),
    "keys-make": Row(forms=lambda world: [{"label": "x"}, {"kind": "gateway"}, {"expires": "x"}]),
    "keys-rotate": Row(fill=_keys, forms=lambda world: [{}]),
    "keys-revoke": Row(fill=_keys, forms=lambda world: [{}]),
    "people": Row(queries=("", "?q=a")),
    "people-invite": Row(forms=lambda world: [{"username": "new"}, {"username": "ann"}]),
    "people-one": Row(fill=_people),
    "people-delete": Row(
        fill=_people,
        forms=lambda world: [{}, {"records": "delete"}, {"records": "hand", "heir": "root"}],
    ),
    "people-act": Row(
        fill=_acts, forms=lambda world: [{"username": "renamed", "heir": "root", "roles": "editor"}]
    ),
    "identities": Row(),
    "identities-confirm": Row(fill=_identities, forms=lambda world: [{}]),
    "identities-link": Row(fill=_identities, forms=lambda world: [{"person": "nobody"}]),
    "audit": Row(queries=("", "?action=write", "?since=x")),
    "wiki": Row(queries=("", "?below=lantern", "?part=level")),
    "wiki-distill": Row(forms=lambda world: [{}]),
    "wiki-new": Row(queries=("", "?title=x&in=y", "?title=x&in=..")),
    "wiki-preview": Row(forms=lambda world: [{"body": f"[[{WORD}]]"}]),
    "wiki-recent": Row(queries=("", "?before=9", "?before=x")),
    "wiki-search": Row(queries=("", f"?q={WORD}", "?tag=x")),
    "wiki-review": Row(),
    "wiki-decide": Row(
        forms=lambda world: [
            {"decision": "accept:1@lantern"},
            {"decision": "reject:1@lantern"},
            {"decision": "accept-picked", "pick": "1@lantern"},
            {"decision": "x"},
        ]
    ),
    "wiki-restore": Row(forms=lambda world: [{"slug": "lantern", "revision": "1"}, {}]),
    "wiki-undelete": Row(forms=lambda world: [{"slug": "lantern"}]),
    "wiki-move": Row(
        queries=("?slug=lantern", ""), forms=lambda world: [{"slug": "lantern", "to": "x"}]
    ),
    "wiki-delete": Row(queries=("?slug=lantern", ""), forms=lambda world: [{"slug": "lantern"}]),
    "wiki-files": Row(forms=lambda world: [{"slug": "lantern"}]),
    "wiki-file-delete": Row(fill=_files, forms=lambda world: [{}]),
    "wiki-page": Row(
        fill=_slug,
        queries=(
            "",
            "?view=edit",
            "?view=history",
            "?view=diff",
            "?view=links",
            "?view=files",
            "?view=source",
            "?revision=1",
            "?view=x",
        ),
        forms=lambda world: [{"body": "x", "base": "1"}, {"body": "x", "preview": "1"}],
    ),
    "api-wiki": Row(
        queries=("", "?q=" + WORD, "?review=true", "?prefix=l&tag=x"),
        bodies=lambda world: [{"title": WORD, "body": "x"}, {"body": 1}],
    ),
    "api-wiki-page": Row(
        fill=_slug,
        queries=("", "?revision=1", "?revision=x"),
        bodies=lambda world: [{"body": "x"}, {"body": "x", "base_revision": 1}],
        methods=("GET", "PUT", "DELETE"),
    ),
    "api-wiki-tree": Row(queries=("", "?below=x")),
    "api-wiki-history": Row(queries=("?slug=lantern", "")),
    "api-wiki-diff": Row(queries=("?slug=lantern&from=0", "?slug=lantern&to=x", "")),
    "api-wiki-recent": Row(),
    "api-wiki-feed": Row(),
    "api-wiki-restore": Row(bodies=lambda world: [{"slug": "lantern", "revision": 1}]),
    "api-wiki-move": Row(bodies=lambda world: [{"slug": "lantern", "to": "x"}]),
    "api-wiki-review": Row(
        bodies=lambda world: [{"slug": "lantern", "revision": 1, "decision": "reject"}]
    ),
    "api-wiki-distill": Row(bodies=lambda world: [{}, {"dry_run": True}]),
    "api-wiki-search": Row(queries=(f"?q={WORD}&max_results=50", "")),
    "api-wiki-files": Row(queries=("", "?slug=lantern")),
    "api-wiki-file": Row(fill=_files, methods=("GET", "DELETE")),
    "media": Row(fill=_files),
    "start": Row(forms=lambda world: [{}]),
    "start-light": Row(fill=_keys),
}
#: Answers of Django's admin that are no page of a table.
ADMIN_ROWS: dict[str, Row] = {
    "index": Row(),
    "search": Row(queries=("?s=" + WORD, "")),
    "login": Row(forms=lambda world: [{"username": "ann", "password": "wrong"}]),
    "logout": Row(forms=lambda world: [{}]),
    "password_change": Row(),
    "password_change_done": Row(),
    "jsi18n": Row(),
    "autocomplete": Row(
        queries=(
            f"?app_label=memory&model_name=memorytag&field_name=memory&term={WORD}",
            "?app_label=agents&model_name=apikey&field_name=user&term=a",
        )
    ),
    "view_on_site": Row(fill=lambda world: [{"content_type_id": 1, "object_id": world.ids[0]}]),
    "app_list": Row(fill=lambda world: [{"app_label": "memory"}, {"app_label": "agents"}]),
}
#: Addresses without a name: a redirect of Django's login page, and the admin's answer to the rest.
UNNAMED = {"admin/login/": "/admin/login/", "admin/(?P<url>.*)$": "/admin/nothing/here/"}


def addresses() -> dict[str, list[str]]:
    """Return the names of all addresses, with their routes."""
    found: dict[str, list[str]] = {}
    for name, route in _walk(get_resolver()):
        found.setdefault(name, []).append(route)
    return found


def _walk(resolver: URLResolver, prefix: str = "", space: str = "") -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        here = prefix + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield f"{space}{entry.name or here}", here
        else:
            inner = f"{entry.namespace}:" if entry.namespace else space
            yield from _walk(entry, here, inner)


def missing() -> list[str]:
    """Return the doors that no row knows."""
    gone = [name for name in addresses() if not _has_row(name)]
    gone += [f"command {name}" for name in commands() if name not in COMMANDS]
    gone += [f"tool {tool.name}" for tool in tools.tools() if tool.name not in TOOLS]
    gone += [f"mount {prefix}" for prefix, _ in MOUNTS if prefix not in MOUNTED]
    return gone


def _has_row(name: str) -> bool:
    bare = name.removeprefix("admin:")
    if name.startswith("admin:"):
        return bare in ADMIN_ROWS or bare in admin_pages() or bare.startswith("admin/")
    return name in ROWS or name in UNNAMED


def knocks(name: str, world: World) -> Iterator[Knock]:
    """Yield the requests of a row, every parameter with every query and body."""
    bare = name.removeprefix("admin:")
    row = (ADMIN_ROWS if name != bare else ROWS)[bare]
    for filled in row.fill(world):
        path = reverse(name, kwargs=filled or None)
        for method, query in product([m for m in row.methods if m in READS], row.queries):
            yield Knock(method, path + query)
        for form in row.forms(world):
            yield Knock("POST", path, form=form)
        for method, body in product([m for m in row.methods if m in WRITES], row.bodies(world)):
            yield Knock(method, path, body=body)


def admin_pages() -> dict[str, type[Any]]:
    """Return the admin's pages for tables, by the name of the address, with the table."""
    pages = ("changelist", "add", "history", "delete", "change")
    found: dict[str, type[Any]] = {}
    for model, page in product(admin.site._registry, pages):
        found[f"{model._meta.app_label}_{model._meta.model_name}_{page}"] = model
    found["auth_user_password_change"] = next(
        m for m in admin.site._registry if m.__name__ == "User"
    )
    return found


#: Rows of a table that are opened one by one; those of people come first where there are owners.
_ROWS_OF_A_TABLE = 6


def _shown(model: type[Any]) -> list[str]:
    rows = model._default_manager.all()
    owner = {"Memory": "owner", "MemoryChunk": "memory__owner", "MemoryTag": "memory__owner",
             "MemorySource": "memory__owner"}.get(model.__name__)  # fmt: skip
    if owner:
        rows = rows.exclude(**{owner: None}).order_by("pk")
    elif model.__name__ == "MemoryRevision":
        rows = rows.order_by("-access")
    return [str(pk) for pk in rows.values_list("pk", flat=True)[:_ROWS_OF_A_TABLE]]


def admin_knocks(bare: str, model: type[Any]) -> Iterator[Knock]:
    """Yield the requests at one page of the admin, for every row of the table."""
    name, page = f"admin:{bare}", bare.rsplit("_", 1)[1]
    if page == "changelist":
        path = reverse(name)
        for query in ("", f"?q={WORD}", f"?content__startswith={WORD}"):
            yield Knock("GET", path + query)
        rows = [str(pk) for pk in model._default_manager.values_list("pk", flat=True)[:20]]
        yield Knock("POST", path, form={"action": "delete_selected", "_selected_action": rows})
    elif page == "add":
        yield Knock("GET", reverse(name))
        yield Knock("POST", reverse(name), form={})
    else:
        for number, pk in enumerate(_shown(model)):
            yield Knock("GET", reverse(name, args=[pk]))
            if number == 0:
                yield Knock("POST", reverse(name, args=[pk]), form={})


@dataclass(frozen=True)
class Terminal:
    """How to run a part of a command; `{id}` stands for each record's id."""

    arguments: tuple[tuple[str, ...], ...] = ((),)
    #: Why it is not run here.
    left_out: str = ""
    options: dict[str, Any] = field(default_factory=dict)


COMMANDS: dict[str, Terminal] = {
    "memory add": Terminal(((f"{WORD} at a terminal",), ("x", "--scope", "agent_config"))),
    "memory search": Terminal(
        ((WORD, "--include-history", "--max-results", "100", "--min-score", "0", "--explain"),)
    ),
    "memory ingest": Terminal((("{file}",),)),
    "memory stats": Terminal(),
    "memory consolidate": Terminal(((), ("--dry-run",), ("--memory-md",))),
    "memory dedupe": Terminal(((), ("--dry-run", "--ratio", "0.6"), ("--ratio", "7"))),
    "memory reindex": Terminal((("--missing",),)),
    "memory check": Terminal(((), ("--repair",))),
    "memory revise": Terminal((("--dry-run",), ())),
    "memory revisions": Terminal(((), ("--via", "rule"), ("undo", "{id}"), ("--record", "{id}"))),
    "memory forget": Terminal((("{id}", "--yes"), (WORD, "--yes"))),
    "memory export": Terminal((("--file", "{snapshot}"),)),
    "memory import": Terminal((("--file", "{snapshot}"), ("--file", "{file}", "--dry-run"))),
    "memory migrate": Terminal(((), ("--dry-run",), ("{file}",), ("nowhere", "--dry-run"))),
    "memory clear": Terminal((("--yes",), ("--scope", "personal", "--yes"), ("--scope", "wiki"))),
    "memory clear-user": Terminal((("ann", "--yes"), ("nobody", "--yes"))),
    "providers check": Terminal(),
    "keys create": Terminal(left_out="prints the one secret that it makes; test_keys"),
    "keys list": Terminal(),
    "keys revoke": Terminal((("{prefix}",), ("nothing",))),
    "audit": Terminal((("--limit", "1000"), ("--since", "x"))),
    "db backup": Terminal(left_out="copies files and says how many; test_backup"),
    "db export": Terminal((("--output", "{snapshot}", "--files"),)),
    "db import": Terminal(
        (("{snapshot}",), ("{snapshot}", "--dry-run"), ("{snapshot}", "--replace", "--yes"))
    ),
    "db restore": Terminal(left_out="runs without the database; test_backup"),
    "migrate": Terminal(left_out="changes tables; says where the backup lies; test_upgrade"),
    "secrets": Terminal(left_out="knows no records; test_secrets looks for values in all it says"),
    "wiki import": Terminal((("{folder}", "--dry-run"), ("{folder}",), ("/nothing",))),
    "wiki export": Terminal((("{folder}/out.zip", "--overwrite"),)),
    "wiki distill": Terminal((("--dry-run",),)),
    "wiki gc": Terminal((("--dry-run",), ("--yes",))),
    "up": Terminal(left_out="serves; the doors are the addresses"),
    "worker": Terminal(left_out="runs jobs; their rows and the log are looked at"),
    "mcp": Terminal(left_out="serves the tools, which are looked at one by one"),
    "docs_configuration": Terminal(left_out="writes a page of this repository"),
}
TOOLS = {
    "memory_search", "memory_write", "memory_get", "memory_forget", "report_tool_error",
    "wiki_read", "wiki_search", "wiki_write",
}  # fmt: skip
#: Applications beside Django; their tools and resources go through the functions looked at here.
MOUNTED = {"/mcp"}


def commands() -> list[str]:
    """Return our commands, each part by itself."""
    found = []
    for module in pkgutil.iter_modules(command_modules.__path__):
        command = import_module(f"{command_modules.__name__}.{module.name}").Command
        if issubclass(command, PartsCommand):
            found += [f"{module.name} {part.name}" for part in command.parts]
        else:
            found.append(module.name)
    return found
