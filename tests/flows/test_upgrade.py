"""A database of the first release comes to this version's tables, after a backup, for ever."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.backups import databases
from tests.commands.running import outside, plain_line
from tests.goclaw_site.running import Up, free_port, until

pytestmark = pytest.mark.slow
FIRST = Path(__file__).resolve().parents[1] / "data" / "upgrade" / "first.sql"


@pytest.fixture
def state(tmp_path) -> Path:
    """The state directory of the first release, with records of every kind."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    with closing(sqlite3.connect(state / "gc_state.sqlite")) as made:
        made.executescript(FIRST.read_text(encoding="utf-8"))
    return state


def rows(file: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(file)) as held:
        return held.execute(query).fetchall()


def backups_of(state: Path) -> list[Path]:
    return sorted((state / "backups").glob("gc_state_*.sqlite"))


HELD = {
    "records": "SELECT id, content, scope, content_hash, live_key FROM memories ORDER BY id",
    "tags": "SELECT memory_id, tag FROM memory_tags ORDER BY 1, 2",
    "sources": "SELECT memory_id, kind, source_id, position FROM memory_sources ORDER BY id",
    "decisions": "SELECT old_id, new_id, via, decision FROM memory_revisions ORDER BY id",
    "people": "SELECT username, password, is_superuser FROM auth_user ORDER BY 1",
    "keys": "SELECT prefix, digest, gateway, read_only FROM api_keys ORDER BY 1",
}


def test_everything_is_there_and_found_and_the_backup_was_first(state):
    before = {name: rows(state / "gc_state.sqlite", query) for name, query in HELD.items()}
    assert all(before.values())
    done = outside(state, "migrate", "--verbosity", "0")
    assert done.status == 0, done.err
    (copy,) = backups_of(state)
    assert str(copy) in done.out
    assert databases.migrations(copy) == {
        "agents": ["0001_initial"],
        "memory": ["0001_initial", "0002_keyword_index"],
    }
    assert {name: rows(copy, query) for name, query in HELD.items()} == before
    assert {name: rows(state / "gc_state.sqlite", q) for name, q in HELD.items()} == before
    for words in ("heron", "10.0.0.7", "寒い朝", "closed on Fridays"):
        assert outside(state, "memory", "search", words, "--json").json["results"], words
    checked = outside(state, "memory", "check")
    assert checked.status == 0, checked.out
    # Nothing is left to do, so nothing is copied a second time.
    outside(state, "migrate", "--verbosity", "0")
    assert backups_of(state) == [copy]


def test_the_server_does_it_by_itself(state):
    server = Up(state, free_port())
    try:
        assert until(server.answers, 60), server.ended()
        (copy,) = backups_of(state)
        assert rows(copy, HELD["records"])
        assert str(copy) in server.stop()[1]
    finally:
        server.clear()


def test_no_backup_no_upgrade(state):
    before = rows(state / "gc_state.sqlite", "SELECT app, name FROM django_migrations")
    # A folder in which nobody can make a file, not even root.
    (state / "backups").symlink_to("/proc")
    said = plain_line(outside(state, "migrate", "--verbosity", "0"))
    assert "backup" in said
    assert rows(state / "gc_state.sqlite", "SELECT app, name FROM django_migrations") == before


def test_the_copy_from_before_comes_back_alone(state, tmp_path):
    outside(state, "migrate", "--verbosity", "0")
    (state / "workspace" / "Memory.md").write_text("stays")
    assert outside(state, "memory", "add", "written after the upgrade").status == 0
    (copy,) = backups_of(state)
    done = outside(state, "db", "restore", copy, "--yes")
    assert done.status == 0, done.err
    assert databases.migrations(state / "gc_state.sqlite")["memory"] == [
        "0001_initial",
        "0002_keyword_index",
    ]
    assert (state / "workspace" / "Memory.md").read_text() == "stays"
    kept = next((state / "backups").glob("before-restore-*"))
    again = outside(state, "db", "restore", kept, "--yes")
    assert again.status == 0, again.err
    assert "after the upgrade" in outside(state, "memory", "search", "upgrade").out
    assert (state / "workspace" / "Memory.md").read_text() == "stays"
