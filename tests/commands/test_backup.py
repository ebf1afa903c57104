"""`goclaw db backup` and `goclaw db restore`, as an operator runs them."""

import json
from pathlib import Path

import pytest

from goclaw_site.vault import Vault
from memory import audit
from memory.access import Principal
from memory.backups import examining, recording
from tests.commands.running import outside, plain_line

pytestmark = pytest.mark.slow
ADMIN = Principal(name="root", is_admin=True)
NAMED = "memory.search.api_key: ${secret:OPENAI}\n"


@pytest.fixture
def state(tmp_path) -> Path:
    """An installation with a record, a workspace file and a secret that its configuration names."""
    state = tmp_path / "state"
    Vault(state).set("OPENAI", "hunter2-of-the-tests")
    (state / "config.yaml").write_text(NAMED)
    assert outside(state, "memory", "add", "the heron lives at the pond").status == 0
    (state / "workspace" / "Memory.md").write_text("heron")
    return state


def test_with_secrets_the_new_machine_is_the_old_one(state, tmp_path):
    made = outside(state, "db", "backup", tmp_path / "one", "--secrets", "--json")
    assert made.json["secrets"] is True
    done = outside(tmp_path / "new", "db", "restore", tmp_path / "one", "--json")
    assert done.status == 0, done.err
    assert done.json["missing"] == []
    assert "heron" in outside(tmp_path / "new", "memory", "search", "heron").out
    assert Vault(tmp_path / "new").get("OPENAI") == "hunter2-of-the-tests"
    kept = (tmp_path / "new" / "credentials" / "secret_key").read_text()
    assert kept == (state / "credentials" / "secret_key").read_text()


def test_without_the_vault_it_says_exactly_what_is_missing(state, tmp_path):
    made = outside(state, "db", "backup", tmp_path / "one")
    assert f"GOCLAW_STATE_DIR={state} goclaw db restore {tmp_path / 'one'}" in made.out
    assert "--secrets" in made.out
    done = outside(tmp_path / "new", "db", "restore", tmp_path / "one")
    assert done.status == 0, done.err
    assert "Secret OPENAI, named by memory.search.api_key" in done.out
    assert "goclaw secrets set OPENAI" in done.out
    assert "everybody has to sign in again" in done.out
    assert "goclaw secrets set OPENAI" in plain_line(outside(tmp_path / "new", "memory", "stats"))
    # The way back works all the same while the configuration names what is missing.
    again = outside(tmp_path / "new", "db", "restore", tmp_path / "one", "--yes")
    assert "What was there is kept" in again.out
    Vault(tmp_path / "new").set("OPENAI", "hunter2-of-the-tests")
    assert "heron" in outside(tmp_path / "new", "memory", "search", "heron").out
    trail = outside(tmp_path / "new", "audit", "--json").json
    assert [row["action"] for row in trail].count("db.restore") == 2


def test_what_is_there_is_not_replaced_without_a_word(state, tmp_path):
    outside(state, "db", "backup", tmp_path / "one")
    before = (state / "gc_state.sqlite").read_bytes()
    said = plain_line(_said_nothing(outside(state, "db", "restore", tmp_path / "one")))
    assert "gc_state.sqlite, config.yaml, workspace" in said
    assert "--yes" in said
    assert (state / "gc_state.sqlite").read_bytes() == before


def _said_nothing(ran):
    """The line that describes the backup comes first, and is no answer."""
    assert len(ran.out.splitlines()) == 1
    return ran


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("restore", "{}/nothing"), "There is no folder"),
        (("restore", "{}/state"), "is no whole backup"),
        (("backup", "{}/state/media/b"), "lies in the state directory"),
        (("backup", "/proc/nowhere/b"), "could not be made"),
    ],
)
def test_refusals_are_one_line(state, tmp_path, arguments, says):
    assert says in plain_line(outside(state, "db", *[part.format(tmp_path) for part in arguments]))


def test_usage_errors_exit_with_two(tmp_path):
    assert outside(tmp_path, "db", "restore").status == 2
    assert outside(tmp_path, "db").status == 2


@pytest.mark.django_db(transaction=True)
def test_the_last_one_is_remembered_and_in_the_trail(run, tmp_path):
    assert recording.last() == {"last": None, "last_good": None}
    assert run("db", "backup", tmp_path / "one").status == 0
    assert examining.examine(tmp_path / "one").files >= 1
    with pytest.raises(Exception, match="could not be made"):
        run("db", "backup", "/proc/nowhere/b")
    held = recording.last()
    assert held["last_good"]["path"] == str(tmp_path / "one")
    assert held["last"]["ok"] is False
    assert "could not be made" in held["last"]["why"]
    assert recording.age_seconds(held["last_good"]) < 3600
    told = [(event.action, event.outcome) for event in audit.events(ADMIN)]
    assert told == [("db.backup", "failed"), ("db.backup", "done")]
    assert json.dumps(held)
