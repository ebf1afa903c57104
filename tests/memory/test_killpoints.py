"""A worker killed at twenty seeded points: nothing is lost, nothing is doubled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.memory.dying import KILLED, POINTS

ROOT = Path(__file__).parents[2]

#: All twenty points are made in the first test: a brake for a very busy machine, no measure.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("dying") / "state"
    done = subprocess.run(
        [sys.executable, "-m", "tests.memory.dying", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GOCLAW_LOG__LEVEL": "ERROR"},
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(row["name"], row["crossing"]): row for row in rows}


def test_there_are_twenty_points_at_every_step():
    assert len(set(POINTS)) == 20


@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point[0]} {point[1]}")
def test_a_kill_loses_and_doubles_nothing(outcomes, point):
    row = outcomes[point]
    assert row["code"] == KILLED, row.get("error", "the point was not reached")
    assert "error" not in row
    assert row["waiting"] > 0
    assert row["queued"] == 1
    assert set(row["finished"]) == {"indexed"}
    assert row["wrong"] == []
    assert row["findings"] == []
    assert row["unfound"] == []
    assert row["embedded_twice"] == 0


def test_the_points_leave_the_work_at_different_stages(outcomes):
    """Else the points would not be where they say they are."""
    assert len({tuple(row["states"]) for row in outcomes.values()}) >= 5
