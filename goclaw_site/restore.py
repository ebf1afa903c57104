"""`goclaw db restore`: runs without Django, on a state directory that may hold nothing yet."""

import json
import sqlite3
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from goclaw_site import untold
from goclaw_site.config import named_secrets, state_dir, vault
from goclaw_site.errors import ConfigError, Refused, Unavailable
from memory.backups import databases, examining, restoring, sealing
from memory.backups.contents import DATABASE, DUMP
from memory.backups.manifest import Manifest
from memory.backups.restoring import Restored

HELP = "put a backup back; what is there moves aside first"


def arguments(parser: ArgumentParser) -> None:
    """The same names as `db backup` has."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        help="a folder that `db backup` made, or a copy of the database from before a deletion",
    )
    parser.add_argument("--yes", action="store_true", help="replace what is there without asking")


def run(options: Namespace) -> int:
    """Verify, ask where something is there, swap, and say what is missing. 1: not wanted."""
    source, state = Path(options.folder).expanduser().resolve(), state_dir()
    if source.is_file():
        with _as_folder(source, state) as folder:
            return _run(options, folder, state, source)
    return _run(options, source, state, source)


def _run(options: Namespace, source: Path, state: Path, shown: Path) -> int:
    with _progress(options) as bar:
        bar.add_task("Verifying", total=None)
        papers = examining.examine(source)
    held = restoring.in_the_way(state, papers)
    _say(options, _about(shown, papers))
    if held and not _agreed(options, _question(state, held)):
        _say(options, "Nothing was changed.")
        return 1
    done = _restored(options, source, state)
    untold.note(
        state, "db.restore", "backup", made_at=papers.made_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    )
    lacking = _lacking(state, done.manifest)
    _answer(options, state, done, lacking)
    return 0


@contextmanager
def _as_folder(file: Path, state: Path) -> Iterator[Path]:
    """A copy of the database alone, as it is made before deletions, in the form of a backup."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(prefix=".restore-file-", dir=state) as folder:
            # Through SQLite, which folds in a log that may lie beside it.
            databases.copy(file, Path(folder) / DATABASE)
            sealing.seal(Path(folder), database_only=True)
            yield Path(folder)
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(f"{file} cannot be copied as a database: {error}.") from None


def _restored(options: Namespace, source: Path, state: Path) -> Restored:
    with _progress(options) as bar:
        task = bar.add_task("Copying", total=None)
        return restoring.restore(
            source, state, lambda done, total: bar.update(task, completed=done, total=total)
        )


def _about(source: Path, papers: Manifest) -> str:
    made = f"{papers.made_at:%Y-%m-%d %H:%M:%S} UTC"
    if papers.database_only:
        return f"{source} is a whole database, {papers.bytes / 1e6:,.1f} MB. Everything else stays."
    return (
        f"{source} is whole: {papers.files:,} files, {papers.bytes / 1e6:,.1f} MB, made {made} "
        f"by version {papers.app_version}, {'with' if papers.secrets else 'without'} secrets."
    )


def _question(state: Path, held: list[str]) -> str:
    return (
        f"{state} is in use ({', '.join(held)}). Replace it? What is there is kept beside the "
        "backups."
    )


def _agreed(options: Namespace, question: str) -> bool:
    if options.yes:
        return True
    if options.json or not sys.stdin.isatty():
        raise Refused(f"{question} Nobody is here to ask: --yes says so beforehand.")
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _lacking(state: Path, papers: Manifest) -> list[str]:
    """What does not work until somebody does something, each with what to do."""
    lines = _secrets(state)
    if not (state / "credentials" / "secret_key").exists():
        lines.append("The key that signs sessions was not in it: everybody has to sign in again.")
    if DUMP in papers.parts:
        lines.append("The rows are loaded into PostgreSQL by the next start, or the next command.")
    elif DATABASE not in papers.parts:
        lines.append(
            f"The database itself ({papers.driver}) is not in it. Restore it with that system's "
            "own tools."
        )
    if papers.left_out:
        lines.append(f"Links and sockets were not in it, such as {', '.join(papers.left_out[:3])}.")
    return lines


def _secrets(state: Path) -> list[str]:
    try:
        named = named_secrets(state)
        held = {entry.name for entry in vault().names()} if named else set()
    except ConfigError as error:
        return [error.message]
    return [
        f"Secret {name}, named by {key}, is not in the vault. The server does not start until it "
        f"is: goclaw secrets set {name}"
        for key, names in named.items()
        for name in names
        if name not in held
    ]


def _answer(options: Namespace, state: Path, done: Restored, lacking: list[str]) -> None:
    before = str(done.before) if done.before else None
    if options.json:
        value: dict[str, Any] = {
            "restored": str(state),
            "files": done.manifest.files,
            "bytes": done.manifest.bytes,
            "before": before,
            "missing": lacking,
        }
        print(json.dumps(value, indent=2))
        return
    print(f"Restored {done.manifest.files:,} files to {state}.")
    if before:
        print(f"What was there is kept: {before}")
    for line in lacking:
        print(f"- {line}")
    print("Start the server with: goclaw up")


def _say(options: Namespace, text: str) -> None:
    if not options.json:
        print(text)


def _progress(options: Namespace) -> Progress:
    """A bar that shows on a terminal alone."""
    bars = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    return Progress(
        *columns, console=bars, transient=True, disable=options.json or not bars.is_terminal
    )
