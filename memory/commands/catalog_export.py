"""`memory export`: the catalog of agents' notes and configuration as a JSON file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from memory import catalog
from memory.commands.base import Call, Subcommand, agreed
from memory.commands.reporting import sized
from memory.snapshots import tables
from memory.snapshots.exporting import new_file


def arguments(parser: ArgumentParser) -> None:
    """Declare what `export` takes."""
    parser.add_argument("--file", required=True, type=Path, metavar="F", help="the file to write")
    parser.add_argument("--yes", action="store_true", help="write over a file that is there")


def run(call: Call) -> int:
    """Write the file; the same catalog gives the same bytes."""
    path = call.options.file.expanduser().absolute()
    pieces = catalog.export(call.principal)
    if path.exists() and not agreed(call, f"{path} is there already. Write over it?"):
        return 1
    count = catalog.records().count()
    with new_file(path) as out:
        for piece in pieces:
            out.write(piece.encode())
    if call.as_json:
        call.answer({"path": str(path), "records": count})
    call.say(f"{path}: {counted(count)}, {sized(path.stat().st_size)}.")
    call.say("It holds agents' notes and configuration alone: `goclaw db export` carries all.")
    return 0


def counted(count: int) -> str:
    """Return a number of records in words."""
    return tables.counted("memory.Memory", count)


COMMAND = Subcommand("export", "write agents' notes and configuration to a file", run, arguments)
