"""`db export`: the installation of one moment into one file, while the server goes on."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from django.db import connection

from goclaw_site.config import state_dir
from goclaw_site.errors import Unavailable
from memory import audit
from memory.access import Principal, require_administrator
from memory.snapshots import framing, trees
from memory.snapshots.columns import Table
from memory.snapshots.moment import one_moment
from memory.snapshots.parts import PartWriter, open_writer
from memory.snapshots.tables import CARRIED

#: Told what is being done, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]
_TOLD_EVERY = 500


@dataclass
class Written:
    """What a snapshot holds."""

    path: Path
    rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    skipped: list[trees.Found] = field(default_factory=list)
    sealed: bool = False
    size: int = 0


def export(
    principal: Principal,
    path: Path,
    *,
    holds: set[str] | None = None,
    passphrase: str | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Written:
    """Write the snapshot and return what it holds; `holds` are words of `memory.snapshots.trees`.

    Nothing stands at `path` before it is whole. Raises Refused, Unavailable.
    """
    require_administrator(principal)
    wanted = holds or set()
    written = Written(path, sealed=passphrase is not None)
    with new_file(path) as out:
        writer = open_writer(out, passphrase, _manifest(wanted))
        with one_moment():
            _write_tables(writer, written, progress)
        _write_files(writer, written, wanted, progress)
        writer.finish()
    written.size = path.stat().st_size
    audit.record(
        principal, "snapshot.export", rows=sum(written.rows.values()), files=written.files,
        sealed=written.sealed,
    )  # fmt: skip
    return written


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a private file beside `path`, and put it there once it is whole and on the disk."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror or error}. Nothing is left of it."
        ) from None
    finally:
        draft.unlink(missing_ok=True)


def _manifest(holds: set[str]) -> dict[str, object]:
    return {
        "format": framing.FORMAT,
        "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "driver": connection.vendor,
        "holds": sorted(holds),
        "tables": list(CARRIED),
    }


def _write_tables(writer: PartWriter, written: Written, progress: Progress) -> None:
    tables = [Table(label) for label in CARRIED]
    total = sum(table.held().count() for table in tables)
    done = 0
    for table in tables:
        writer.begin({"table": table.label, "columns": table.names})
        count = 0
        for count, line in enumerate(table.lines(), 1):  # noqa: B007  the last one is the count
            writer.row(line)
            done += 1
            if not done % _TOLD_EVERY:
                progress("records and people", done, total)
        writer.end()
        written.rows[table.label] = count
    progress("records and people", done, total)


def _write_files(writer: PartWriter, written: Written, holds: set[str], progress: Progress) -> None:
    state = state_dir()
    for found in trees.walk(state, holds):
        if found.reason:
            written.skipped.append(found)
        elif reason := _write_file(writer, state, found.path):
            written.skipped.append(trees.Found(found.path, reason))
        else:
            written.files += 1
            progress("files", written.files, 0)


def _write_file(writer: PartWriter, state: Path, path: str) -> str:
    """Write one file; return why it was left out, where it cannot be opened any more."""
    content = trees.blocks(state / path)
    try:
        first = next(content, b"")
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    writer.begin({"file": path})
    writer.data(first)
    for block in content:
        writer.data(block)
    writer.end()
    return ""
