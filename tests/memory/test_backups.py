"""Backups of whole state directories: whole or not there, and the way back alike."""

import errno
import fcntl
import json
import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goclaw_site.errors import Conflict, GoclawError, InvalidInput, Unavailable
from memory.backups import examining, making, manifest, restoring, swapping
from memory.backups.contents import layout
from memory.backups.making import Making, Wish, make

ROOT = Path(__file__).resolve().parents[2]
#: Runs a function of ours and dies without a word at the n-th call of a function of the system.
DYING = """
import os, sys
from pathlib import Path
from memory.backups import restoring, swapping
left = int(sys.argv[3])
def counted(real):
    def call(*args, **kwargs):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        return real(*args, **kwargs)
    return call
os.rename = counted(os.rename)
Path.rename = counted(Path.rename)
Path.replace = counted(Path.replace)
Path.unlink = counted(Path.unlink)
os.fsync = counted(os.fsync)
restoring.restore(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def database(file: Path, *words: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE IF NOT EXISTS django_migrations (app, name)")
        made.execute("CREATE TABLE IF NOT EXISTS words (word)")
        made.executemany("INSERT INTO words VALUES (?)", [(word,) for word in words])
        made.commit()


def words(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as held:
        return [row[0] for row in held.execute("SELECT word FROM words ORDER BY rowid")]


def put(file: Path, content: bytes = b"x") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


@pytest.fixture
def state(tmp_path) -> Path:
    """An installation with something of everything."""
    return installation(tmp_path / "state")


def installation(state: Path) -> Path:
    database(state / "gc_state.sqlite", "one", "two")
    database(state / "kg.sqlite", "graph")
    put(state / "config.yaml", b"server.port: 8123\n")
    put(state / "workspace" / "memory" / "2026-01-01.md", b"a day")
    put(state / "agents" / "ops" / "workspace" / "Memory.md", b"of an agent")
    put(state / "media" / "ab" / "cd", os.urandom(3000))
    put(state / "credentials" / "secret_key", b"k" * 60)
    put(state / "credentials" / "secrets.enc", b"sealed")
    put(state / "backups" / "gc_state_1.sqlite", b"old")
    return state


def backed_up(state: Path, target: Path, **wish) -> Path:
    make(Wish(target, layout(state), **wish))
    return target


def tree(folder: Path) -> dict[str, bytes]:
    """What an installation holds: rows of databases, bytes of files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if (
            path.is_dir()
            or name.startswith(("run/", "backups/"))
            or name.endswith(("-wal", "-shm"))
        ):
            continue
        content = repr(words(path)).encode() if path.suffix == ".sqlite" else path.read_bytes()
        found[name] = content
    return found


def nothing_half_made(folder: Path) -> bool:
    return not [path for path in folder.glob(".*") if path.name.endswith((".part", ".old"))]


def test_holds_everything_and_can_be_checked_by_hand(state, tmp_path):
    target = backed_up(state, tmp_path / "copies" / "one", secrets=True)
    assert tree(target).keys() - {"manifest.json", "SHA256SUMS"} == tree(state).keys()
    done = subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=target, check=False)
    assert done.returncode == 0
    papers = examining.examine(target)
    assert papers.secrets
    assert papers.files == 8
    assert papers.bytes == sum((target / name).stat().st_size for name, _ in manifest.sums(target))


def test_without_secrets_none_are_in_it(state, tmp_path):
    target = backed_up(state, tmp_path / "one")
    assert not (target / "credentials").exists()
    assert b"sealed" not in b"".join(
        path.read_bytes() for path in target.rglob("*") if path.is_file()
    )


def test_readable_by_the_owner_alone(state, tmp_path):
    target = backed_up(state, tmp_path / "one", secrets=True)
    for path in [target, *target.rglob("*")]:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=20
).filter(lambda name: name not in (".", "..") and len(name.encode()) < 200)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(NAMES, st.binary(max_size=50), max_size=6))
def test_any_name_and_content_come_back(tmp_path_factory, found):
    folder = tmp_path_factory.mktemp("any")
    database(folder / "state" / "gc_state.sqlite", "x")
    for name, content in found.items():
        put(folder / "state" / "workspace" / name, content)
    target = backed_up(folder / "state", folder / "copy")
    examining.examine(target)
    restoring.restore(target, folder / "new")
    assert tree(folder / "new") == tree(folder / "state")


def test_links_are_left_out_and_named(state, tmp_path):
    (state / "workspace" / "out").symlink_to("/etc")
    os.mkfifo(state / "media" / "pipe")
    papers = make(Wish(tmp_path / "one", layout(state)))
    assert papers.left_out == ["workspace/out", "media/pipe"]


def test_a_folder_on_another_disk_is_followed(state, tmp_path):
    shutil.move(state / "media", tmp_path / "disk")
    (state / "media").symlink_to(tmp_path / "disk")
    target = backed_up(state, tmp_path / "one")
    assert (target / "media" / "ab" / "cd").is_file()


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("state", "holds the state directory"),
        (".", "holds the state directory"),
        ("state/media/b", "lies in the state directory"),
        ("state/b", "lies in the state directory"),
        ("state/backups", "holds many backups"),
        ("full", "is not empty"),
        ("file", "is no folder"),
        ("/proc", "is a whole disk"),
    ],
)
def test_places_that_would_do_harm_are_refused(state, tmp_path, place, says):
    put(tmp_path / "full" / "theirs", b"theirs")
    put(tmp_path / "file")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput, match=says):
        make(Wish((tmp_path / place).resolve(), layout(state)))
    assert sorted(tmp_path.rglob("*")) == before


def test_an_older_backup_is_replaced_when_the_new_one_is_whole(state, tmp_path, monkeypatch):
    target = backed_up(state, tmp_path / "one")
    database(state / "gc_state.sqlite", "three")
    monkeypatch.setattr(making.databases, "problem", lambda file: "torn page")
    with pytest.raises(Unavailable, match="torn page"):
        backed_up(state, target)
    assert words(target / "gc_state.sqlite") == ["one", "two"]
    monkeypatch.undo()
    backed_up(state, target)
    assert words(target / "gc_state.sqlite") == ["one", "two", "three"]
    assert nothing_half_made(tmp_path)


def test_a_place_that_cannot_be_written_is_said(state):
    with pytest.raises(Unavailable, match="could not be made"):
        make(Wish(Path("/proc/nowhere/one"), layout(state)))


def test_a_folder_that_cannot_be_read_fails_the_backup(state, tmp_path, monkeypatch):
    real = os.scandir

    def refused(path):
        if str(path).endswith("media"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(Unavailable, match="Permission denied"):
        make(Wish(tmp_path / "one", layout(state)))
    assert not (tmp_path / "one").exists()
    assert nothing_half_made(tmp_path)


def test_a_disk_without_room_is_said_before_anything_is_written(state, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(Unavailable, match=r"has 0 MB free. Nothing was written"):
        make(Wish(tmp_path / "one", layout(state)))
    assert nothing_half_made(tmp_path)


@pytest.mark.parametrize("limit", [5_000, 100_000, 1_500_000])
def test_a_disk_that_fills_up_on_the_way_leaves_nothing(state, tmp_path, limit):
    """A limit on the size of files stands in for the full disk: the same errors of the system."""
    put(state / "media" / "large", os.urandom(2_000_000))
    with closing(sqlite3.connect(state / "gc_state.sqlite")) as held:
        held.execute("INSERT INTO words VALUES (?)", ("x" * 50_000,))
        held.commit()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        with pytest.raises(Unavailable, match="could not be made"):
            make(Wish(tmp_path / "one", layout(state)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (tmp_path / "one").exists()
    assert nothing_half_made(tmp_path)


def test_slices_go_on_where_another_process_was_killed(state, tmp_path):
    wish = Wish(tmp_path / "one", layout(state))
    first = Making(wish, resume=True)
    assert first.work(0.0) is None
    with (first.part / manifest.SUMS).open("ab") as sums:
        sums.write(b"cut sho")
    assert Making(wish, resume=True).work(float("inf")) is not None
    assert examining.examine(wish.target).files == 6


def test_one_backup_at_a_time(state, tmp_path):
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(Unavailable, match="Another backup"):
        make(Wish(tmp_path / "one", layout(state)))
    os.close(handle)
    backed_up(state, tmp_path / "one")


def _papers(at: Path, **changed) -> None:
    file = at / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changed}))


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _linked(file: Path) -> None:
    shutil.move(file, file.with_name("aside"))
    file.symlink_to(file.with_name("aside"))


def _sums(at: Path, name: str) -> None:
    file = at / "SHA256SUMS"
    file.write_text(file.read_text() + f"{'0' * 64}  {name}\n")
    _papers(at, sums_sha256=manifest.sha256(file))


def _resealed(at: Path) -> None:
    lines = [manifest.line(name, manifest.sha256(at / name)) for name, _ in manifest.sums(at)]
    (at / "SHA256SUMS").write_bytes(b"".join(lines))
    _papers(at, sums_sha256=manifest.sha256(at / "SHA256SUMS"))


def _torn(at: Path) -> None:
    """Whole by its sums, but not by SQLite's own rules."""
    file = at / "gc_state.sqlite"
    content = bytearray(file.read_bytes())
    content[4096:4300] = b"\xff" * 204
    file.write_bytes(content)
    _resealed(at)


def _newer(at: Path) -> None:
    with closing(sqlite3.connect(at / "gc_state.sqlite")) as held:
        held.execute("INSERT INTO django_migrations VALUES ('memory', '9999_of_tomorrow')")
        held.execute("INSERT INTO django_migrations VALUES ('theirs', '9999_folded')")
        held.commit()
        held.execute("PRAGMA journal_mode=DELETE")
    _resealed(at)


# The way back.


@pytest.mark.parametrize("secrets", [True, False])
def test_restored_into_nothing(state, tmp_path, secrets):
    target = backed_up(state, tmp_path / "one", secrets=secrets)
    done = restoring.restore(target, tmp_path / "new")
    wanted = {
        name: content
        for name, content in tree(state).items()
        if secrets or not name.startswith("credentials")
    }
    assert tree(tmp_path / "new") == wanted
    assert done.before is None
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_what_was_there_becomes_a_backup(state, tmp_path):
    target = backed_up(state, tmp_path / "one", secrets=True)
    other = tmp_path / "other"
    database(other / "gc_state.sqlite", "mine")
    put(other / "workspace" / "Memory.md", b"mine")
    put(other / "credentials" / "secrets.enc", b"mine")
    before = tree(other)
    done = restoring.restore(target, other)
    assert tree(other) == tree(state)
    assert examining.examine(done.before).secrets
    restoring.restore(done.before, other)
    assert tree(other) == before


def test_parts_that_the_backup_lacks_go_and_credentials_stay(tmp_path):
    database(tmp_path / "small" / "gc_state.sqlite", "small")
    target = backed_up(tmp_path / "small", tmp_path / "one")
    state = installation(tmp_path / "state")
    restoring.restore(target, state)
    assert tree(state).keys() == {
        "gc_state.sqlite",
        "credentials/secret_key",
        "credentials/secrets.enc",
    }


def test_a_damaged_database_is_replaced_all_the_same(state, tmp_path):
    target = backed_up(state, tmp_path / "one", secrets=True)
    wanted = tree(state)
    (state / "gc_state.sqlite").write_bytes(b"not a database at all" * 500)
    put(state / "gc_state.sqlite-wal", b"nor a log")
    (state / "config.yaml").write_bytes(b"server: [")
    done = restoring.restore(target, state)
    assert tree(state) == wanted
    assert (done.before / "gc_state.sqlite").read_bytes().startswith(b"not a database")


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda at: (at / "manifest.json").unlink(), "no whole backup"),
        (lambda at: (at / "manifest.json").write_text("{"), "is damaged"),
        (lambda at: (at / "manifest.json").write_text("[]"), "is damaged"),
        (lambda at: _papers(at, version=2), "newer version"),
        (lambda at: _papers(at, extra=2), "is damaged"),
        (lambda at: (at / "SHA256SUMS").write_text(""), "was altered"),
        (lambda at: (at / "SHA256SUMS").unlink(), "cannot be read"),
        (lambda at: (at / "media" / "ab" / "cd").unlink(), "lacks media/ab/cd"),
        (lambda at: put(at / "media" / "ab" / "cd", b"other"), "checksum differs"),
        (lambda at: _flip(at / "gc_state.sqlite"), "checksum differs"),
        (lambda at: _linked(at / "config.yaml"), "lacks config.yaml"),
        (lambda at: _sums(at, "../../out"), "names a file that no backup has"),
        (lambda at: _sums(at, "/etc/passwd"), "names a file that no backup has"),
        (lambda at: _sums(at, "media/../../x"), "names a file that no backup has"),
        (lambda at: _sums(at, "run/up.lock"), "names a file that no backup has"),
        (_torn, "no sound database"),
        (_newer, "newer version"),
    ],
)
def test_what_cannot_be_trusted_is_refused(state, tmp_path, harm, says):
    target = backed_up(state, tmp_path / "one")
    harm(target)
    with pytest.raises(InvalidInput, match=says):
        examining.examine(target)


def test_a_running_server_is_never_replaced(state, tmp_path):
    target = backed_up(state, tmp_path / "one")
    put(state / "run" / "up.lock", b"4711\n")
    handle = os.open(state / "run" / "up.lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    before = tree(state)
    with pytest.raises(Conflict, match="process 4711"):
        restoring.restore(target, state)
    os.close(handle)
    assert tree(state) == before


def test_nor_a_database_that_another_process_has_open(state, tmp_path):
    target = backed_up(state, tmp_path / "one")
    with closing(sqlite3.connect(state / "gc_state.sqlite")) as theirs:
        theirs.execute("SELECT * FROM words").fetchall()
        with pytest.raises(Conflict, match="Another process"):
            restoring.restore(target, state)
    restoring.restore(target, state)


def test_a_disk_without_room_for_the_way_back(state, tmp_path, monkeypatch):
    target = backed_up(state, tmp_path / "one")
    before = tree(state)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(Unavailable, match="Nothing was changed"):
        restoring.restore(target, state)
    assert tree(state) == before
    assert not (state / ".restore").exists()


def test_a_database_in_another_place_comes_back_there(tmp_path):
    elsewhere = tmp_path / "disk" / "rows.sqlite"
    state = tmp_path / "state"
    database(elsewhere, "one")
    put(state / "config.yaml", f"database.path: {elsewhere}\n".encode())
    target = backed_up(state, tmp_path / "one")
    database(elsewhere, "two")
    restoring.restore(target, state)
    assert words(elsewhere) == ["one"]
    aside = [path for path in elsewhere.parent.iterdir() if "before-restore" in path.name]
    assert [words(path) for path in aside] == [["one", "two"]]


@pytest.mark.slow
@pytest.mark.parametrize("step", range(0, 40, 3))
def test_killed_anywhere_it_is_the_old_or_the_new_state(tmp_path, step):
    new = installation(tmp_path / "new")
    target = backed_up(new, tmp_path / "one", secrets=True)
    state = tmp_path / "state"
    database(state / "gc_state.sqlite", "old")
    put(state / "media" / "old", b"old")
    put(state / "credentials" / "secret_key", b"old")
    before, after = tree(state), tree(new)
    subprocess.run(
        [sys.executable, "-c", DYING, str(target), str(state), str(step)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=60,
    )
    swapping.finish_interrupted(state)
    assert not (state / ".restore").exists()
    assert tree(state) in (before, after)
    if tree(state) == before:
        restoring.restore(target, state)
        assert tree(state) == after
    else:
        kept = [path for path in (state / "backups").iterdir() if path.is_dir()]
        assert [words(path / "gc_state.sqlite") for path in kept] == [["old"]]
        assert all(examining.examine(path) for path in kept)


def test_nothing_starts_while_a_restore_runs(state):
    put(state / ".restore" / "new" / "config.yaml")
    with swapping.alone(state), pytest.raises(GoclawError, match="A restore is running"):
        swapping.finish_interrupted(state)
    swapping.finish_interrupted(state)
    assert not (state / ".restore").exists()
