"""`db import`: make this installation what a snapshot says."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from memory.access import require_administrator
from memory.commands.base import Call, Subcommand, agreed
from memory.commands.passphrases import passphrase_arguments, passphrase_to_open
from memory.commands.reporting import counted, reporter
from memory.snapshots import importing, loading, tables
from memory.snapshots.importing import Contents, Loaded


def arguments(parser: ArgumentParser) -> None:
    """Declare what `import` takes."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--replace", action="store_true", help="take the place of what is here, after a backup"
    )
    parser.add_argument("--dry-run", action="store_true", help="check everything, write nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    passphrase_arguments(parser)


def run(call: Call) -> int:
    """Check, ask where something would go, and load."""
    given = call.options
    require_administrator(call.principal)
    path = given.file.expanduser().absolute()
    opened_by = passphrase_to_open(call, sealed=importing.is_sealed(path))
    if given.dry_run:
        return _rehearse(call, path, opened_by)
    if given.replace and not _may_replace(call):
        return 1
    with call.progress() as bars:
        loaded = importing.load(
            call.principal, path,
            passphrase=opened_by, replace=given.replace, progress=reporter(bars),
        )  # fmt: skip
    _answer(call, loaded)
    return 0


def _may_replace(call: Call) -> bool:
    held = loading.held()
    if not held:
        return True
    return agreed(call, f"Replace {listed(held)} that are here now?")


def listed(held: dict[str, int]) -> str:
    """Return counts as words."""
    return ", ".join(tables.counted(label, count) for label, count in held.items())


def _rehearse(call: Call, path: Path, opened_by: str | None) -> int:
    with call.progress() as bars:
        contents = importing.inspect(path, opened_by, reporter(bars))
    held = loading.held()
    refused = bool(held) and not call.options.replace
    if call.as_json:
        call.answer({**_body(contents), "dry_run": True, "would_replace": held, "refused": refused})
        return 1 if refused else 0
    call.say(f"{path} is sound: {_contents(contents)}.")
    call.say(importing.refusal(held) if refused else _would(held))
    return 1 if refused else 0


def _would(held: dict[str, int]) -> str:
    gone = f" in the place of {listed(held)}, after a backup" if held else ""
    return f"An import would write it{gone}. This was a rehearsal: nothing was changed."


def _answer(call: Call, loaded: Loaded) -> None:
    if call.as_json:
        backup, former = (str(p) if p else None for p in (loaded.backup, loaded.former_files))
        call.answer({**_body(loaded.contents), "replaced": loaded.replaced, "backup": backup,
                     "former_files": former})  # fmt: skip
        return
    call.say(f"Loaded {_contents(loaded.contents)}.")
    call.say("People, passwords and keys are those of the snapshot; everybody signs in again.")
    if loaded.replaced:
        call.say(f"Replaced {listed(loaded.replaced)}.")
        call.say(f"Backup: {loaded.backup or 'none: this database system has its own tools'}")
    if loaded.former_files:
        call.say(f"The files that were here are in {loaded.former_files}")
    call.say("If the server runs, restart it.")


def _contents(contents: Contents) -> str:
    written = str(contents.manifest.get("written_at", ""))[:25]
    files = f" and {contents.files:,} files" if contents.files else ""
    return f"{counted(contents.rows)}{files}, written {written}"


def _body(contents: Contents) -> dict[str, Any]:
    return {
        "written_at": contents.manifest.get("written_at"),
        "rows": contents.rows,
        "files": contents.files,
        "bytes_of_files": contents.bytes_of_files,
    }


COMMAND = Subcommand("import", "load a snapshot in the place of what is here", run, arguments)
