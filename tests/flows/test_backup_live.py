"""A backup while others write at full speed, and a new machine that is the old one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.canonical import differences
from tests.commands.running import outside
from tests.flows.serving import eventually
from tests.goclaw_site.running import Up, free_port, until

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import django
django.setup()
from memory.access import Principal
from memory.drafts import Draft
from memory.write import remember
who = Principal(name="writer", is_admin=True)
number = 0
while True:
    remember(who, Draft(f"heron number {number}", scope="agent_notes", tags=("heron",)))
    print(number, flush=True)
    number += 1
"""
DUMP = """
import django, json, sys
from pathlib import Path
django.setup()
from tests.canonical import dump
json.dump(dump(Path(sys.argv[1])), sys.stdout)
"""
FILL = """
import django
django.setup()
from django.contrib.auth.models import User
from agents import keys
from memory.access import Principal
from memory.drafts import Changes, Draft, Source
from memory.write import amend, remember
admin = Principal(name="root", is_admin=True)
ann = User.objects.create_user("ann", password="of-the-tests")
mine = Principal(person=ann.pk, name="ann")
keys.create(ann, by=admin, label="one")
remember(mine, Draft("Ann likes herons.", scope="personal", kind="preference", tags=("birds",)))
held = remember(admin, Draft("The heron nests in May.", scope="agent_notes", kind="fact"))
amend(admin, held.memory.pk, Changes(content="The heron nests in April."))
for place in range(3):
    source = Source("session", "talk", place)
    remember(admin, Draft(f"turn {place} about the heron", scope="agent_notes", source=source))
"""


def environment(state: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GOCLAW_")}
    return {
        **clean,
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "goclaw_site.settings",
        "GOCLAW_STATE_DIR": str(state),
        "GOCLAW_MEMORY__SEARCH__PROVIDER": "none",
    }


def python(state: Path, code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(state),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def dumped(state: Path) -> dict:
    return json.loads(python(state, DUMP, str(state)))


def found(state: Path, words: str) -> list[str]:
    answer = outside(state, "memory", "search", words, "--max-results", "20", "--json").json
    return [hit["id"] for hit in answer["results"]]


def numbers(state: Path) -> list[int]:
    rows = dumped(state)["memory.Memory"]
    return sorted(int(row["content"].rpartition(" ")[2]) for row in rows)


def test_the_new_machine_is_the_old_one(tmp_path):
    state, new = tmp_path / "state", tmp_path / "new"
    assert outside(state, "migrate", "--verbosity", "0").status == 0
    python(state, FILL)
    (state / "workspace" / "Memory.md").write_text("# Herons\n")
    (state / "media" / "ab").mkdir(parents=True)
    (state / "media" / "ab" / "cd").write_bytes(os.urandom(5000))
    assert outside(state, "db", "backup", tmp_path / "one", "--secrets").status == 0
    assert outside(new, "db", "restore", tmp_path / "one").status == 0
    one, other = dumped(state), dumped(new)
    assert one["memory.Memory"]
    assert one["files"]
    assert differences(one, other) == []
    assert found(new, "heron") == found(state, "heron") != []
    server = Up(new, free_port())
    try:
        assert until(server.answers, 60), server.ended()
        assert server.stop()[0] == 0
    finally:
        server.clear()


def test_a_backup_under_writes_is_of_one_moment(tmp_path):
    """Every write that was acknowledged before it is in it, none is in it without those before."""
    state = tmp_path / "state"
    assert outside(state, "migrate", "--verbosity", "0").status == 0
    told = tmp_path / "told.txt"
    with told.open("w") as out:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER], env=environment(state), stdout=out
        )
    try:
        eventually(lambda: _acknowledged(told) >= 20, "the first writes")
        for name in ("one", "two"):
            before = _acknowledged(told)
            done = outside(state, "db", "backup", tmp_path / name)
            assert done.status == 0, done.err
            after = _acknowledged(told)
            assert outside(tmp_path / f"new-{name}", "db", "restore", tmp_path / name).status == 0
            held = numbers(tmp_path / f"new-{name}")
            assert held == list(range(len(held)))
            # One more may have been written and not yet told.
            assert before <= len(held) <= after + 1
            assert outside(tmp_path / f"new-{name}", "memory", "check").status == 0
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait(10)


def _acknowledged(told: Path) -> int:
    return told.read_text().count("\n")
