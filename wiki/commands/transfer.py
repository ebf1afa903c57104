"""`wiki import` and `wiki export`: Markdown in and out."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path

from memory.commands.base import Call, Subcommand
from wiki.transfer import exporting, importing

_SHOWN = 20
_COUNTED = ("created", "saved", "unchanged", "files", "failed")


def _import_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="DIR", help="a folder, or a zip of one")
    parser.add_argument("--prefix", default="", help="slug below which the pages stand")
    parser.add_argument("--dry-run", action="store_true", help="only tell what would change")


def _import(call: Call) -> int:
    """Import every file; a bad one stops no other. 1 where any failed."""
    given = call.options
    with call.progress() as bar:
        task = bar.add_task("importing", total=None)
        report = importing.run(
            call.principal,
            given.path,
            prefix=given.prefix,
            dry=given.dry_run,
            step=lambda done, total: bar.update(task, completed=done, total=total),
        )
    counts = {name: report.counts[name] for name in _COUNTED}
    if call.as_json:
        lists = {"results": report.results, "faults": report.faults}
        call.answer({**counts, "dry_run": given.dry_run, **lists})
    would = "would be " if given.dry_run else ""
    call.say(would + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
    for fault in report.faults[:_SHOWN]:
        call.say(f"  {fault['where']}: {fault['reason']}")
    if len(report.faults) > _SHOWN:
        call.say(f"  and {len(report.faults) - _SHOWN:,} more; --json lists them all")
    return 1 if report.faults else 0


def _export_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.zip")
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it is there")


def _export(call: Call) -> int:
    """Write the zip."""
    given = call.options
    with call.progress() as bar:
        task = bar.add_task("exporting", total=None)
        done = exporting.export(
            call.principal,
            given.file,
            overwrite=given.overwrite,
            step=lambda: bar.update(task, advance=1),
        )
    if call.as_json:
        call.answer({"file": str(given.file), **asdict(done)})
    call.say(f"{done.pages:,} pages and {done.files:,} files in {given.file}.")
    for name in done.missing:
        call.say(f"  {name}: the file is gone from the disk")
    return 1 if done.missing else 0


IMPORT = Subcommand(
    "import", "read a folder or zip of Markdown into the wiki", _import, _import_arguments
)
EXPORT = Subcommand(
    "export", "write all pages and their files as a zip", _export, _export_arguments
)
