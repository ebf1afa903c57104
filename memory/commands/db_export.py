"""`db export`: the whole installation into one file that any database driver can load."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from goclaw_site.errors import InvalidInput
from memory.access import require_administrator
from memory.commands.base import Call, Subcommand, agreed
from memory.commands.passphrases import passphrase_arguments, passphrase_to_seal
from memory.commands.reporting import counted, reporter, sized
from memory.snapshots import exporting, trees

_SHOWN = 20


def arguments(parser: ArgumentParser) -> None:
    """Declare what `export` takes."""
    parser.add_argument("--output", required=True, type=Path, metavar="F.gclaw")
    parser.add_argument("--sessions", action="store_true", help="conversations of agents")
    parser.add_argument("--files", action="store_true", help="workspaces of people and agents")
    parser.add_argument("--attachments", action="store_true", help="files of the wiki (media/)")
    parser.add_argument("--yes", action="store_true", help="write over a file that is there")
    passphrase_arguments(parser)


def run(call: Call) -> int:
    """Write the file and say what it holds."""
    given = call.options
    require_administrator(call.principal)
    path = _target(given.output)
    if path.exists() and not agreed(call, f"{path} is there already. Write over it?"):
        return 1
    holds = {word for word in (trees.FILES, trees.ATTACHMENTS) if getattr(given, word)}
    sealed_by = passphrase_to_seal(call)
    with call.progress() as bars:
        written = exporting.export(
            call.principal, path, holds=holds, passphrase=sealed_by, progress=reporter(bars)
        )
    _answer(call, written)
    return 0


def _target(path: Path) -> Path:
    target = path.expanduser().absolute()
    if target.is_dir() or not target.parent.is_dir():
        raise InvalidInput(f"{target} cannot be a file: name one in a folder that is there.")
    return target


def _answer(call: Call, written: exporting.Written) -> None:
    if call.as_json:
        call.answer({
            "path": str(written.path), "bytes": written.size, "sealed": written.sealed,
            "rows": written.rows, "files": written.files, "sessions": 0,
            "skipped": [{"path": found.path, "reason": found.reason} for found in written.skipped],
        })  # fmt: skip
        return
    sealed = "sealed by the passphrase" if written.sealed else "not sealed: whoever has it reads it"
    call.say(f"{written.path}: {sized(written.size)}, {sealed}.")
    call.say(f"It holds {counted(written.rows)} and {written.files:,} files.")
    _say_what_is_not_there(call, written)


def _say_what_is_not_there(call: Call, written: exporting.Written) -> None:
    if call.options.sessions:
        call.say("Sessions: there are none, agents keep no conversations here yet.")
    for word, what in ((trees.FILES, "workspaces"), (trees.ATTACHMENTS, "files of the wiki")):
        if not getattr(call.options, word):
            call.say(f"Without {what}: --{word} adds them.")
    for found in written.skipped[:_SHOWN]:
        call.say(f"  left out {found.path}: {found.reason}")
    if len(written.skipped) > _SHOWN:
        call.say(f"  and {len(written.skipped) - _SHOWN:,} more; --json lists them all")


COMMAND = Subcommand("export", "write the whole installation into one file", run, arguments)
