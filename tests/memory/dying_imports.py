"""Imports that die with `os._exit(9)` at a named point, and what they leave.

`python -m tests.memory.dying_imports FOLDER` does this for each of `POINTS`, in processes, a
database and a state directory of their own, and prints one line of JSON for each.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.memory.dying import KILLED, in_child

#: Where it dies, and at which crossing of that place.
POINTS = (
    ("inspected", 1),  # all was checked, nothing is written
    ("cleared", 1),  # the old rows are gone, not committed
    ("first rows", 1),
    ("more rows", 8),
    ("last rows", 14),
    ("links", 2),
    ("first file", 1),  # a file stands beside, the rows are not committed
    ("last file", 3),
    ("settled", 1),
    ("audited", 1),  # the last statement before the commit
    ("committed", 1),  # the rows are in, the files wait
    ("exchanging", 1),  # one folder is exchanged, the others wait
)
AFTER = ("committed", "exchanging")


def main(folder: Path) -> None:
    start, snapshot = folder / "start", folder / "a.gclaw"
    _child(start, lambda: prepare(start, snapshot))
    for number, (name, crossing) in enumerate(POINTS):
        state = folder / f"point{number}"
        shutil.copytree(start, state)
        before = _child(state, lambda s=state: look(s))[1]
        code, said = _child(state, lambda n=name, c=crossing: die_at(n, c, snapshot))
        after = _child(state, lambda s=state: look(s))[1]
        again = _child(state, lambda s=state: finish(s, snapshot))[1]
        row = {"name": name, "code": code, "untouched": after == before, **said, **again}
        print(json.dumps(row))


def _child(state: Path, work: Any) -> tuple[int, dict[str, Any]]:
    os.environ["GOCLAW_STATE_DIR"] = str(state)
    return in_child(work, state / "gc_state.sqlite")


def prepare(state: Path, snapshot: Path) -> None:
    """Make a snapshot, and then another installation in the same place."""
    from django.core.management import call_command

    from goclaw_site.state import prepare_state_dir
    from memory.snapshots import exporting
    from tests.memory.installation import fill
    from tests.memory.making import ADMIN, note, person

    prepare_state_dir(state)
    call_command("migrate", verbosity=0)
    fill(300)
    for name in ("workspace/a", "workspace/b/c", "media/d"):
        (state / name).parent.mkdir(exist_ok=True)
        (state / name).write_text(f"of the snapshot {name}")
    exporting.export(ADMIN, snapshot, holds={"files", "attachments"})
    from memory.snapshots import loading

    loading.clear()
    person("carl")
    note("what stands here")
    for name in ("workspace/a", "media/e"):
        (state / name).write_text("of the target")


def look(state: Path) -> dict[str, str]:
    """Return a hash of everything."""
    import hashlib

    from tests import canonical

    text = json.dumps(canonical.dump(state), sort_keys=True)
    return {"dump": hashlib.sha256(text.encode()).hexdigest()}


def die_at(name: str, crossing: int, snapshot: Path) -> None:
    """Import, and die at the point."""
    from memory import audit
    from memory.snapshots import importing, loading, trees
    from tests.memory.making import ADMIN

    places: dict[str, tuple[Any, str, bool]] = {
        "inspected": (importing, "inspect", True),
        "cleared": (loading, "clear", True),
        "first rows": (loading, "put", True),
        "more rows": (loading, "put", True),
        "last rows": (loading, "put", True),
        "links": (loading, "_link", True),
        "first file": (trees.Stage, "create", True),
        "last file": (trees.Stage, "create", True),
        "settled": (loading, "settle", True),
        "audited": (audit, "record", True),
        "committed": (trees.Stage, "put_in_place", False),
        "exchanging": (trees, "_exchange", True),
    }
    owner, function, after = places[name]
    real, crossed = getattr(owner, function), [0]

    def fatal(*args: Any, **kwargs: Any) -> Any:
        crossed[0] += 1
        if crossed[0] != crossing:
            return real(*args, **kwargs)
        if after:
            real(*args, **kwargs)
        os._exit(KILLED)

    setattr(owner, function, fatal)
    importing.load(ADMIN, snapshot, replace=True)


def finish(state: Path, snapshot: Path) -> dict[str, Any]:
    """Do as the next start does, then import again; tell what is there each time."""
    from memory import checking
    from memory.snapshots import importing
    from tests.memory.making import ADMIN

    importing.finish_interrupted()
    woken = look(state)["dump"]
    left = sorted(file.name for file in (state / "run").iterdir())
    importing.load(ADMIN, snapshot, replace=True)
    ignored = ("wrong_text", "missing_vectors")
    findings = [found.name for found in checking.check() if found.name not in ignored]
    return {"woken": woken, "whole": look(state)["dump"], "left": left, "findings": findings}


if __name__ == "__main__":
    os.environ["GOCLAW_STATE_DIR"] = sys.argv[1]
    os.environ["DJANGO_SETTINGS_MODULE"] = "goclaw_site.settings"
    import django

    django.setup()
    from memory.snapshots import exporting, importing  # noqa: F401  once, before the forks

    main(Path(sys.argv[1]))
