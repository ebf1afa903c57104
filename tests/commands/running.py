"""Commands, in this process and in one of their own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management import call_command

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit status and what it said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def here(capsys: Any, *arguments: object) -> Ran:
    """Run in this process, inside the test's transaction; refusals are raised."""
    capsys.readouterr()
    status = 0
    try:
        call_command(*map(str, arguments))
    except SystemExit as left:
        status = int(left.code or 0)
    said = capsys.readouterr()
    return Ran(status, said.out, said.err)


def outside(state: Path, *arguments: object, **env: str) -> Ran:
    """Run `manage.py` as people do, on a state directory of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GOCLAW_")}
    done = subprocess.run(
        [sys.executable, str(MANAGE), *map(str, arguments)],
        env={
            **clean,
            "GOCLAW_STATE_DIR": str(state),
            "GOCLAW_MEMORY__SEARCH__PROVIDER": "none",
            **env,
        },
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def plain_line(ran: Ran) -> str:
    """The one line that a refusal is; no trace, nothing on standard output."""
    assert ran.status == 1, (ran.status, ran.out, ran.err)
    assert "Traceback" not in ran.err + ran.out
    lines = ran.err.strip().splitlines()
    assert len(lines) == 1, ran.err
    return lines[0]
