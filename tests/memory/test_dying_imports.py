"""An import killed at twelve points: the target is as it was, or as the snapshot says."""

import json
import os
import subprocess
import sys

import pytest

from tests.memory.dying import KILLED
from tests.memory.dying_imports import AFTER, POINTS
from tests.memory.test_killpoints import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("dying") / "state"
    done = subprocess.run(
        [sys.executable, "-m", "tests.memory.dying_imports", str(folder)],
        cwd=ROOT,
        env={
            **os.environ, "PYTHONPATH": str(ROOT), "GOCLAW_LOG__LEVEL": "ERROR",
            "GOCLAW_MEMORY__SEARCH__PROVIDER": "none",
        },
        capture_output=True, text=True, timeout=540, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize("name", [name for name, _ in POINTS])
def test_a_kill_leaves_the_one_or_the_other(outcomes, name):
    row = outcomes[name]
    assert row["code"] == KILLED, row.get("error", "the point was not reached")
    assert "error" not in row
    assert row["untouched"] == (name not in AFTER)
    assert row["left"] == []
    assert row["findings"] == []
    if name in AFTER:
        assert row["woken"] == row["whole"], "the next start puts the files in place"


def test_all_of_them_end_alike(outcomes):
    assert len({row["whole"] for row in outcomes.values()}) == 1
