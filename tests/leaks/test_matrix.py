"""Every door × every scope × every kind of caller: nobody meets what is not theirs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import Q

from agents import tools
from agents.models import ApiKey
from goclaw_site.errors import GoclawError, NotFound
from memory import jobs
from memory.access import Principal
from memory.models import Job, Memory
from tests.api.conftest import _keyword_only  # noqa: F401  no model in any of these
from tests.leaks import doors
from tests.leaks.doors import Knock
from tests.leaks.world import PLACES, SHARED, Kind, World, at_the_terminal, build, undone

pytestmark = pytest.mark.django_db
#: A key opens no page of the admin whosever it is: one of them stands for all.
ADMIN_KINDS = ("superuser", "group admin", "person", "personal key", "gateway", "anonymous")
#: Who meets what is not theirs when a leak is planted.
WITNESSES = ("group admin", "other person", "gateway unconfirmed", "cron")


@pytest.fixture
def world(configure, tmp_path, settings) -> World:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    configure({"keys.requests_per_minute": 0, "login.failures": 1000})
    return build()


def text_of(answer: Any) -> str:
    """Everything that leaves the server: status, headers, cookies, body."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return (
        f"{answer.status_code} {answer.headers} {answer.cookies}\n{body.decode('utf-8', 'replace')}"
    )


def knock(world: World, kind: Kind, door: str, one: Knock) -> Iterator[str]:
    answer = undone(lambda: _taken(kind.send(one.method, one.path, one.body, one.form)))
    status, text = answer
    for canary in world.leaks(kind, text):
        yield f"{kind.name} at {door} ({one.method} {one.path}) met {canary}"
    if status >= 500 and door != "readyz":
        yield f"{kind.name} at {door} ({one.method} {one.path}) got {status}"


def _taken(answer: Any) -> tuple[int, str]:
    """Streams are read while the world is as it was."""
    return answer.status_code, text_of(answer)


def at_addresses(world: World, names: Any = None, kinds: Any = None) -> list[str]:
    found = []
    for name in names or [name for name in doors.addresses() if name in doors.ROWS]:
        every = list(doors.knocks(name, world))
        for kind in kinds or world.kinds.values():
            open_to = kind.browses or name.startswith(("api-", "schema"))
            # A page turns a caller without a session away whatever is asked: a few will do.
            for one in every if open_to else every[:2]:
                found += knock(world, kind, name, one)
    return found


def at_admin(world: World, kinds: Any = None, only: str = "") -> list[str]:
    found = []
    pages = {name: doors.admin_knocks(name, model) for name, model in doors.admin_pages().items()}
    pages |= {name: doors.knocks(f"admin:{name}", world) for name in doors.ADMIN_ROWS}
    for name, stream in pages.items():
        if only not in name:
            continue
        every = list(stream)
        for kind in kinds or world.some(*ADMIN_KINDS):
            inside = kind.browses and kind.session is not None and kind.session.is_staff
            for one in every if inside else every[:1]:
                found += knock(world, kind, f"admin:{name}", one)
    return found


def at_terminal(world: World, capsys: Any, tmp_path: Any, names: Any = None) -> list[str]:
    found = []
    for name, row in doors.COMMANDS.items():
        if row.left_out or (names and name not in names):
            continue
        for kind in at_the_terminal(world):
            for given in row.arguments:
                for arguments in _filled(given, world, tmp_path):
                    said = undone(lambda: _said(capsys, name, kind, arguments))  # noqa: B023
                    canaries = world.leaks(kind, said.replace(" ".join(arguments), ""))
                    found += [f"{kind.name} at {name} {arguments} met {one}" for one in canaries]
    return found


def _filled(given: tuple[str, ...], world: World, tmp_path: Any) -> Iterator[list[str]]:
    ids = world.ids[::3] if "{id}" in given else [""]
    note = tmp_path / "note.txt"
    note.write_text("from a file")
    whole = tmp_path / "whole.gclaw"
    prefix = ApiKey.objects.values_list("prefix", flat=True)[0]
    for one in ids:
        places = {"file": note, "folder": tmp_path, "prefix": prefix, "snapshot": whole}
        yield [part.format(id=one, **places) for part in given]


def _said(capsys: Any, name: str, kind: Kind, arguments: list[str]) -> str:
    """The key that lets somebody in is their own to print; it is not looked for."""
    words = name.split()
    takes_who = words[0] not in ("keys", "db") and not (
        words[0] == "audit" and "--user" in (kind.arguments or ())
    )
    who = list(kind.arguments or ()) if takes_who else []
    capsys.readouterr()
    error = ""
    for form in ([], ["--json"]):
        try:
            with transaction.atomic():
                call_command(*words, *arguments, *who, *form)
        except GoclawError as refusal:
            error += json.dumps(refusal.as_dict())
        except SystemExit:
            pass
    said = capsys.readouterr()
    return said.out + said.err + error


def at_tools(world: World, kinds: Any = None) -> list[str]:
    found = []
    bodies = [
        {"query": "lantern", "include_history": True, "max_results": 50, "min_score": 0},
        *({"id": one} for one in world.ids),
        {"content": "lantern by a tool"},
        {"slug": "lantern"},
        {"query": "lantern"},
        {"slug": "lantern", "body": "x"},
        {"tool": "db_query", "error": "no such column: x"},
        {},
    ]
    for tool in tools.tools():
        for kind in kinds or world.kinds.values():
            sees = kind if kind.name != "anonymous" else _stranger(kind)
            for body in bodies:
                said = undone(lambda: _called(kind.principal, tool.name, body))  # noqa: B023
                canaries = world.leaks(sees, said)
                found += [f"{kind.name} at tool {tool.name} {body} met {one}" for one in canaries]
    return found


def _stranger(kind: Kind) -> Kind:
    """The doors turn strangers away; the functions behind them show what everybody may read."""
    return Kind(kind.name, SHARED, kind.principal)


def _called(principal: Principal, name: str, arguments: Any) -> str:
    try:
        with transaction.atomic():
            return json.dumps(tools.call(principal, name, arguments), default=str)
    except GoclawError as error:
        return json.dumps(error.as_dict(), default=str)


def test_every_door_has_a_row():
    assert doors.missing() == []
    known = set(doors.addresses())
    assert {name for name in doors.ROWS if name not in known} == set(), "rows without a door"
    assert set(doors.COMMANDS) == set(doors.commands())


def test_a_door_without_a_row_is_found(monkeypatch):
    monkeypatch.delitem(doors.ROWS, "api-search")
    monkeypatch.delitem(doors.ADMIN_ROWS, "search")
    monkeypatch.delitem(doors.COMMANDS, "memory search")
    monkeypatch.setattr(doors, "TOOLS", set())
    gone = doors.missing()
    assert {"api-search", "admin:search", "command memory search", "tool memory_search"} <= set(
        gone
    )


def test_the_world_holds_a_canary_everywhere(world):
    """A matrix that looks for nothing finds nothing."""
    assert len(world.kinds) == 15
    for place in PLACES:
        records = Memory.objects.filter(content__contains=place).exclude(kind="page")
        assert records.count() == 6
    for name in ("person", "gateway for a person", "superuser"):
        kind = world.kinds[name]
        answer = kind.send("GET", "/api/memory/?include_history=true&page_size=200")
        met = {place for place in PLACES if place in text_of(answer)}
        assert met == kind.sees, name


def test_people_with_a_session_stay_signed_in(world):
    """Else every page would be closed, and nothing proven."""
    for _ in range(2):
        for kind in world.kinds.values():
            answer = undone(lambda: kind.send("GET", "/me/"))  # noqa: B023
            assert answer.status_code == (200 if kind.browses else 302), kind.name


def test_no_address_shows_anything_to_the_wrong_caller(world, caplog):
    caplog.set_level(logging.DEBUG)
    assert at_addresses(world) == []
    assert canaries_in(caplog.text, PLACES) == [], "the log is read by operators"


def test_the_admin_shows_no_personal_text(world, caplog):
    caplog.set_level(logging.DEBUG)
    assert at_admin(world) == []
    assert canaries_in(caplog.text, PLACES) == []


def test_no_command_prints_anything_for_the_wrong_person(world, capsys, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    assert at_terminal(world, capsys, tmp_path) == []
    assert canaries_in(caplog.text, PLACES) == []


def test_no_tool_tells_anything_to_the_wrong_caller(world):
    assert at_tools(world) == []


def test_what_jobs_leave_behind_holds_no_text(world):
    jobs.run(world.job)
    rows = json.dumps(list(Job.objects.values()), default=str)
    assert canaries_in(rows, PLACES) == []


def test_failures_quote_nothing(world, monkeypatch):
    """Whatever breaks inside, the answer does not repeat what broke it."""

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("zqannown zqconfig")

    for where in ("memory.queries.visible", "memory.write.visible"):
        monkeypatch.setattr(where, broken)
    record = world.ids[0]
    for kind in world.kinds.values():
        for method, path in (
            ("GET", f"/api/memory/{record}/"),
            ("DELETE", f"/api/memory/{record}/"),
            ("GET", f"/memory/{record}/"),
            ("GET", "/"),
        ):
            text = text_of(kind.send(method, path))
            assert canaries_in(text, PLACES) == [], (kind.name, path)


def witnesses(world: World) -> list[Kind]:
    return world.some(*WITNESSES)


def canaries_in(text: str, places: Any) -> list[str]:
    return sorted(place for place in places if place in text)


def _plant_in_the_list(monkeypatch: Any) -> None:
    monkeypatch.setattr("memory.queries.visible", lambda principal: Q())


def _plant_in_the_search(monkeypatch: Any) -> None:
    from memory.api import search as door

    real = door.search
    ann = Memory.objects.filter(content__contains="zqannown")[0].owner_id
    monkeypatch.setattr(
        door, "search", lambda principal, asked: real(Principal(person=ann, name="ann"), asked)
    )


def _plant_in_the_admin(monkeypatch: Any) -> None:
    monkeypatch.setattr(Memory, "__str__", lambda self: self.content)


def _plant_in_a_refusal(monkeypatch: Any) -> None:
    from memory import write

    real = write._locked

    def telling(principal: Principal, memory_id: Any) -> Memory:
        try:
            return real(principal, memory_id)
        except NotFound:
            text = Memory.objects.get(pk=memory_id).content
            raise NotFound(f"No such record: {text}") from None

    monkeypatch.setattr(write, "_locked", telling)


def _plant_in_a_command(monkeypatch: Any) -> None:
    from memory.commands import forget

    real = forget.ownership.forget_by_id

    def telling(principal: Principal, memory_id: Any) -> None:
        print([record.content for record in Memory.objects.filter(pk=memory_id)])
        real(principal, memory_id)

    monkeypatch.setattr(forget.ownership, "forget_by_id", telling)


def _look_at(door: str) -> Any:
    return lambda world, *_: at_addresses(world, [door], witnesses(world))


def _look_at_admin(world: World, *_: Any) -> list[str]:
    return at_admin(world, world.some("superuser"), "memory_memory_")


def _look_at_forget(world: World, *rest: Any) -> list[str]:
    return at_terminal(world, *rest, ["memory forget"])


PLANTED = {
    "the list of the API": (_plant_in_the_list, _look_at("api-records")),
    "the search of the API": (_plant_in_the_search, _look_at("api-search")),
    "the admin": (_plant_in_the_admin, _look_at_admin),
    "a refusal": (_plant_in_a_refusal, _look_at("api-record")),
    "a command": (_plant_in_a_command, _look_at_forget),
}


@pytest.mark.parametrize("where", PLANTED)
def test_a_planted_leak_turns_it_red(where, world, monkeypatch, capsys, tmp_path):
    plant, look = PLANTED[where]
    plant(monkeypatch)
    found = look(world, capsys, tmp_path)
    assert found, f"a leak in {where} was not seen"
    assert any("own" in line or "zqconfig" in line for line in found)
