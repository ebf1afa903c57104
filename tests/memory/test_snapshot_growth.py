"""Twenty thousand records go out and in again, equal, in no more memory than two thousand."""

import json
import os
import subprocess
import sys

import pytest

from tests.memory.test_killpoints import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
#: Seen: 2 MB out, 5 MB in. The file alone, packed, grows by 7 MB, its text by 40.
MOST_GROWTH_MB = 20


def test_memory_does_not_grow_with_the_records(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.memory.snapshot_growth", str(tmp_path), "2000", "20000"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GOCLAW_LOG__LEVEL": "ERROR"},
        capture_output=True, text=True, timeout=840, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    small, large = (json.loads(line) for line in done.stdout.splitlines() if line[0] == "{")
    assert large["count"] == 20_000
    assert large["bytes"] > 5 * small["bytes"]
    assert large["import"]["equal"] is True, done.stdout + done.stderr
    for act in ("export", "import"):
        assert large[act]["peak"] - small[act]["peak"] < MOST_GROWTH_MB, done.stdout
