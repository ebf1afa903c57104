"""`db backup`: everything into one folder, while the server runs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from memory.access import require_administrator
from memory.backups import recording
from memory.backups.listing import restore_command
from memory.backups.manifest import Manifest
from memory.commands.base import Call, Subcommand


def arguments(parser: ArgumentParser) -> None:
    """Declare what `db backup` takes."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        help="a folder that does not exist yet, or an older backup, which it replaces",
    )
    parser.add_argument(
        "--secrets", action="store_true", help="with the vault and the key that signs sessions"
    )


def run(call: Call) -> int:
    """Say where it lies, how large it is, and what it lacks."""
    require_administrator(call.principal)
    target = Path(call.options.folder).expanduser().resolve()
    with _progress(call) as bar:
        task = bar.add_task("Copying", total=None)
        made = recording.back_up_to(
            call.principal,
            target,
            secrets=call.options.secrets,
            watch=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if call.as_json:
        call.answer(
            {
                "backup": str(target),
                "files": made.files,
                "bytes": made.bytes,
                "secrets": made.secrets,
                "driver": made.driver,
                "left_out": made.left_out,
            }
        )
    for line in _lines(target, made):
        call.say(line)
    return 0


def _lines(target: Path, made: Manifest) -> list[str]:
    lines = [f"Backed up {made.files:,} files, {made.bytes / 1e6:,.1f} MB, to {target}."]
    if made.driver not in ("sqlite", "postgresql"):
        lines.append(
            f"The rows are not in it: back the {made.driver} database up with its own tools."
        )
    if not made.secrets:
        lines.append("Without the vault and the key that signs sessions: --secrets takes them too.")
    if made.left_out:
        lines.append(f"Left out, as links or sockets: {', '.join(made.left_out[:5])}.")
    return [*lines, f"Restore it with: {restore_command(target)}"]


def _progress(call: Call) -> Progress:
    bars = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    return Progress(*columns, console=bars, disable=call.as_json or not bars.is_terminal)


COMMAND = Subcommand(
    "backup", "copy everything into a folder, while the server runs", run, arguments
)
