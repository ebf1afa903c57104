"""Which database serves is asked where it must be, and nowhere else."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASKS = re.compile(r"connection\.vendor|\bvendor ==")
#: Backends, fields and migrations; copies of the database itself; one moment of it.
MAY = (
    "memory/search/backends/", "memory/fields.py", "/migrations/", "memory/backups/",
    "memory/snapshots/", "goclaw_site/management/commands/migrate.py",
)  # fmt: skip


def test_nobody_else_asks():
    files = [path for app in ("goclaw_site", "memory", "wiki", "agents")
             for path in (ROOT / app).rglob("*.py")]  # fmt: skip
    asking = [str(path.relative_to(ROOT)) for path in files if ASKS.search(path.read_text())]
    assert asking
    assert [name for name in asking if not any(part in name for part in MAY)] == []
