"""How much memory an export and an import of so many records take at their peak.

`python -m tests.memory.snapshot_growth FOLDER COUNT...` prints one line of JSON for each count.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from tests.memory.dying import in_child


def main(folder: Path, counts: list[int]) -> None:
    for count in counts:
        state, path = folder / str(count), folder / f"{count}.gclaw"
        os.environ["GOCLAW_STATE_DIR"] = str(state)
        database = state / "gc_state.sqlite"
        in_child(lambda s=state, n=count: prepare(s, n), database)
        out = in_child(lambda p=path: measured(lambda: write(p)), database)[1]
        back = in_child(lambda p=path: measured(lambda: read(p)), database)[1]
        told = {"count": count, "export": out, "import": back, "bytes": path.stat().st_size}
        print(json.dumps(told), flush=True)


def prepare(state: Path, count: int) -> None:
    from django.core.management import call_command

    from goclaw_site.state import prepare_state_dir
    from tests.memory.installation import fill

    prepare_state_dir(state)
    call_command("migrate", verbosity=0)
    fill(count)


def write(path: Path) -> None:
    from memory.snapshots import exporting
    from tests.memory.making import ADMIN

    exporting.export(ADMIN, path)


def read(path: Path) -> bool:
    """Import, and tell whether a second export says the same."""
    from memory.snapshots import importing
    from memory.snapshots.tables import AUDIT
    from tests.memory.making import ADMIN
    from tests.memory.test_snapshots import parts_of

    importing.load(ADMIN, path, replace=True)
    again = path.with_suffix(".again")
    write(again)
    one, other = parts_of(path), parts_of(again)
    one.pop(AUDIT), other.pop(AUDIT)
    return one == other and len(one) > 10


def measured(work: Any) -> dict[str, Any]:
    """Return the peak of this process in MB, and the seconds."""
    from django.db import connection

    with connection.cursor() as cursor:
        # The file itself would be counted as memory: SQLite maps it, and keeps many of its pages.
        cursor.execute("PRAGMA mmap_size = 0")
        cursor.execute("PRAGMA cache_size = -2000")
    begun = time.monotonic()
    equal = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"peak": round(peak, 1), "seconds": round(time.monotonic() - begun, 1), "equal": equal}


if __name__ == "__main__":
    os.environ["GOCLAW_STATE_DIR"] = sys.argv[1]
    os.environ["DJANGO_SETTINGS_MODULE"] = "goclaw_site.settings"
    import django

    django.setup()
    from memory.snapshots import exporting, importing  # noqa: F401  once, before the forks

    main(Path(sys.argv[1]), [int(count) for count in sys.argv[2:]])
