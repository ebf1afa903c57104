"""The database system of a test run: SQLite, or a PostgreSQL that the run starts for itself."""

import atexit
import json
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

#: What the first process of a run tells those of xdist.
_SHARED = "PYTEST_SHARED_DATABASE"
_TOUCHING = {"db", "transactional_db", "django_db_reset_sequences"}
# The server is thrown away: what a power cut would lose is nothing.
_HASTY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def choose(system: str) -> None:
    """Set the configuration of this process; a server is started where none is shared."""
    if system == "sqlite" and _SHARED not in os.environ:
        return
    if _SHARED not in os.environ:
        os.environ[_SHARED] = json.dumps(_started())
    os.environ.update(json.loads(os.environ[_SHARED]))


def chosen() -> str:
    return "postgres" if _SHARED in os.environ else "sqlite"


def touched_by(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(_TOUCHING & fixtures)


def open_audit_trail() -> None:
    """Let a test's end delete what production never deletes."""
    from django.db import connection

    where = " ON audit_trail" if chosen() == "postgres" else ""
    with connection.cursor() as cursor:
        for event in ("delete", "truncate"):
            cursor.execute(f"DROP TRIGGER IF EXISTS audit_trail_no_{event}{where}")


def _started() -> dict[str, str]:
    """Start a server in a folder of its own; return the variables that lead to it."""
    from goclaw_site import config, embeddedpostgres

    folder = Path(tempfile.mkdtemp(prefix="goclaw-pg-"))
    own = {"GOCLAW_DATABASE__DRIVER": "postgres", "GOCLAW_DATABASE__EMBEDDED": "true"}
    state = os.environ["GOCLAW_STATE_DIR"]
    os.environ.update(own, GOCLAW_STATE_DIR=str(folder))
    embeddedpostgres.SETTINGS.update(_HASTY)
    config.reload_config()
    running = ExitStack()
    running.enter_context(embeddedpostgres.at_hand())
    where = embeddedpostgres.address(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(_stop, running, str(folder), own, os.getpid())
    for name in own:
        del os.environ[name]
    os.environ["GOCLAW_STATE_DIR"] = state
    config.get_config.cache_clear()
    return {
        "GOCLAW_DATABASE__DRIVER": "postgres",
        "GOCLAW_DATABASE__HOST": where["host"],
        "GOCLAW_DATABASE__PASSWORD": where["password"],
        "GOCLAW_DATABASE__SSLMODE": where["sslmode"],
    }


def _stop(running: ExitStack, folder: str, own: dict[str, str], owner: int) -> None:
    if os.getpid() == owner:
        for name in [name for name in os.environ if name.startswith("GOCLAW_DATABASE__")]:
            del os.environ[name]
        os.environ.update(own, GOCLAW_STATE_DIR=folder)
        running.close()
