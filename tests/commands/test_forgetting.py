"""`clear-user`, `forget`, `audit`: counts and ids, never what anybody wrote; a backup before."""

import sqlite3
from pathlib import Path

import pytest

from goclaw_site.config import state_dir
from goclaw_site.errors import InvalidInput, Refused, Unauthorized, Unavailable
from memory import backups
from memory.models import AuditEvent, Memory
from tests.api.callers import caller, index_all

CANARY = "zqsecret"


@pytest.fixture
def ann(db):
    found = caller("ann")
    for number in range(3):
        found.wrote(f"{CANARY} number {number}", scope="personal")
    return found


def backup_files() -> set[Path]:
    return {*(state_dir() / "backups").glob("gc_state_*")}


def test_clear_user_for_an_administrator(run, ann):
    before = backup_files()
    note = caller("root", is_superuser=True).wrote("shared")
    done = run("memory", "clear-user", "ann", "--yes", "--json")
    assert (done.status, done.json["deleted"]) == (0, 3)
    assert CANARY not in done.out + done.err
    assert [str(pk) for pk in Memory.objects.values_list("pk", flat=True)] == [note]
    (made,) = backup_files() - before
    assert done.json["backup"] == str(made)
    assert made.stat().st_mode & 0o077 == 0
    again = run("memory", "clear-user", "ann", "--yes")
    assert again.status == 1
    assert backup_files() - before == {made}, "nothing to do, nothing to copy"
    event = AuditEvent.objects.get(action="records.clear")
    assert event.facts == {"count": 3}


@pytest.mark.parametrize("name", ["nobody", "ANN", "", "\x00"])
def test_clear_user_of_nobody(run, ann, name):
    with pytest.raises(InvalidInput):
        run("memory", "clear-user", name, "--yes")
    assert Memory.objects.count() == 3


def test_clear_user_is_for_administrators(run, ann):
    bob = caller("bob")
    for who in (("--key", bob.key), ("--key", ann.key), ("--user", "bob")):
        with pytest.raises(Refused):
            run("memory", "clear-user", "ann", "--yes", *who)
    with pytest.raises(Unauthorized):
        run("memory", "clear-user", "ann", "--yes", "--key", "gc_0000000000_x")
    assert Memory.objects.count() == 3


@pytest.mark.parametrize("part", [("clear-user", "ann"), ("forget", "{id}")])
def test_nothing_goes_without_a_yes(run, ann, part):
    words = [word.format(id=Memory.objects.all()[0].pk) for word in part]
    with pytest.raises(Refused, match="--yes"):
        run("memory", *words)
    assert Memory.objects.count() == 3


def test_forget_by_id_says_no_word_of_it(run, ann):
    memory_id = str(Memory.objects.all()[0].pk)
    done = run("memory", "forget", memory_id, "--yes")
    assert done.status == 0
    assert "Deleted 1" in done.out
    assert CANARY not in done.out + done.err
    assert not Memory.objects.filter(pk=memory_id).exists()
    event = AuditEvent.objects.get(action="forget")
    assert (event.actor, event.subject) == ("command", f"record:{memory_id}")
    assert run("memory", "forget", memory_id, "--yes").status == 1


def test_a_query_forgets_only_what_the_caller_may_read(run, ann):
    """A count of matches among everybody's would tell what others wrote."""
    root = caller("root", is_superuser=True)
    note = root.wrote(f"{CANARY} for all")
    index_all()
    done = run("memory", "forget", CANARY, "--yes", "--json")
    assert done.json["deleted"] == 1
    assert not Memory.objects.filter(pk=note).exists()
    assert Memory.objects.count() == 3
    none = run("memory", "forget", CANARY, "--yes", "--json")
    assert (none.status, none.json["deleted"]) == (1, 0)


def test_forgetting_ones_own_with_a_key(run, ann):
    index_all()
    bob = caller("bob")
    one = str(Memory.objects.all()[0].pk)
    foreign = run("memory", "forget", one, "--yes", "--key", bob.key)
    unknown = run("memory", "forget", one[:-12] + "0" * 12, "--yes", "--key", bob.key)
    assert (foreign.status, unknown.status) == (1, 1)
    assert foreign.out.splitlines()[0] == unknown.out.splitlines()[0]
    assert run("memory", "forget", CANARY, "--yes", "--key", ann.key, "--json").json["deleted"] == 3


def test_what_may_be_read_and_not_deleted_stays(run, ann):
    note = caller("root", is_superuser=True).wrote("shared heron")
    done = run("memory", "forget", note, "--yes", "--key", ann.key)
    assert done.status == 1
    assert Memory.objects.filter(pk=note).exists()


@pytest.mark.sqlite("PostgreSQL's copy is a dump, tested in tests/memory/test_dumps.py")
@pytest.mark.django_db(transaction=True)
def test_the_backup_is_a_whole_database(run):
    found = caller("ann")
    found.wrote("before the flood", scope="personal")
    path = backups.back_up()
    assert path is not None
    with sqlite3.connect(path) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT content FROM memories").fetchall() == [("before the flood",)]
    assert [beside.name for beside in path.parent.glob(f"{path.name}*")] == [path.name]


def test_no_backup_no_deed(run, ann, monkeypatch):
    monkeypatch.setattr(backups.automatic, "_target", lambda: Path("/proc/nowhere/x.sqlite"))
    with pytest.raises(Unavailable, match="backup"):
        run("memory", "clear-user", "ann", "--yes")
    assert Memory.objects.count() == 3


def test_other_databases_are_left_to_their_own_tools(monkeypatch):
    class Elsewhere:
        vendor = "mysql"

    monkeypatch.setattr(backups.automatic, "connection", Elsewhere())
    assert backups.back_up() is None


def test_audit_at_the_terminal(run, ann):
    told = run("audit", "--json", "--actor", "ann").json
    assert [row["action"] for row in told][-3:] == ["write"] * 3
    assert all(row["actor"] == "ann" for row in told)
    said = run("audit", "--since", "2001-01-01", "--action", "write")
    assert len(said.out.splitlines()) == 3
    assert CANARY not in said.out
    assert "Nothing" in run("audit", "--since", "2999-01-01").out
    with pytest.raises(InvalidInput):
        run("audit", "--since", "soon")
    with pytest.raises(Refused):
        run("audit", "--key", ann.key)


def test_clear_says_what_would_go_and_asks(run, ann):
    note = caller("root", is_superuser=True).wrote("shared")
    before = backup_files()
    with pytest.raises(Refused, match="Delete these 4 records"):
        run("memory", "clear")
    done = run("memory", "clear", "--scope", "personal", "--yes")
    assert "personal 3 (personal records of 1 people among them)" in done.out
    assert "Deleted 3 records." in done.out
    assert CANARY not in done.out
    assert [str(pk) for pk in Memory.objects.values_list("pk", flat=True)] == [note]
    assert len(backup_files() - before) == 1
    told = run("memory", "clear", "--yes", "--json").json
    assert (told["deleted"], told["by_scope"]) == (1, {"agent_notes": 1})
    assert run("memory", "clear", "--yes").status == 1
    with pytest.raises(InvalidInput, match="pages"):
        run("memory", "clear", "--scope", "wiki", "--yes")
    with pytest.raises(Refused):
        run("memory", "clear", "--yes", "--key", ann.key)


def test_forget_shows_what_would_go(run, ann):
    root = caller("root", is_superuser=True)
    for number in range(25):
        root.wrote(f"heron number {number} " + "and more words " * 20)
    index_all()
    done = run("memory", "forget", "heron", "--yes")
    shown = [line for line in done.out.splitlines() if line.startswith("  ")]
    assert len(shown) == 21
    assert shown[-1] == "  and 5 more"
    assert "heron number" in shown[0]
    assert all(len(line) < 140 for line in shown)
    assert "Deleted 25" in done.out


def test_forget_shows_no_text_of_others(run, ann):
    memory_id = str(Memory.objects.all()[0].pk)
    with pytest.raises(Refused):
        run("memory", "forget", memory_id)
    done = run("memory", "forget", memory_id, "--yes")
    assert "not yours to read" in done.out
    assert CANARY not in done.out
