"""`memory import`: a catalog of agents' notes and configuration from a JSON file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from goclaw_site.errors import InvalidInput, TooLarge
from memory import catalog
from memory.access import require_administrator
from memory.api.catalog import report_body
from memory.commands.base import Call, Subcommand
from memory.commands.reporting import reporter

_MOST_BYTES = 512 * 1024 * 1024
_SHOWN = 20


def arguments(parser: ArgumentParser) -> None:
    """Declare what `import` takes."""
    parser.add_argument("--file", required=True, type=Path, metavar="F", help="the file to read")
    parser.add_argument("--dry-run", action="store_true", help="look at every row, write nothing")
    parser.add_argument("--skip-bad", action="store_true", help="write the good rows all the same")


def run(call: Call) -> int:
    """Write what is new and say what became of each row; 1 where rows are bad."""
    given = call.options
    require_administrator(call.principal)
    document = catalog.parse(_read(given.file.expanduser()))
    with call.progress() as bars:
        tell = reporter(bars)
        report = catalog.load(
            call.principal, document, dry_run=given.dry_run, skip_bad=given.skip_bad,
            progress=lambda done, total: tell("writing", done, total),
        )  # fmt: skip
    if call.as_json:
        call.answer(report_body(report))
    else:
        _say(call, report)
    return 1 if report.counts[catalog.BAD] and not given.skip_bad else 0


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise TooLarge(f"{path} is larger than {_MOST_BYTES:,} bytes.", field="file")
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", field="file") from None


def _say(call: Call, report: catalog.Report) -> None:
    counts: dict[str, Any] = report.counts
    if report.dry_run:
        counts = {"would be created" if n == catalog.CREATED else n: c for n, c in counts.items()}
    call.say(", ".join(f"{count:,} {name}" for name, count in counts.items()))
    told = [result for result in report.results if result.reason]
    for result in told[:_SHOWN]:
        call.say(f"  row {result.row}, {result.outcome}: {result.reason}")
    if len(told) > _SHOWN:
        call.say(f"  and {len(told) - _SHOWN:,} more; --json lists them all")
    if report.superseded:
        call.say(f"{report.superseded:,} older records were retired by what came.")
    if not report.written and not report.dry_run:
        call.say("Nothing was written: --skip-bad writes the good rows all the same.")


COMMAND = Subcommand("import", "read agents' notes and configuration from a file", run, arguments)
