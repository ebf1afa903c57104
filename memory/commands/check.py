"""`memory check`: whether index and records agree, and putting right what does not."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict

from memory import backups, checking, repairing
from memory.access import require_administrator
from memory.checking import Finding
from memory.commands.base import Call, Subcommand
from memory.repairing import Repaired


def arguments(parser: ArgumentParser) -> None:
    """Declare what `check` takes."""
    parser.add_argument(
        "--repair", action="store_true", help="put right what can be, after a backup"
    )


def run(call: Call) -> int:
    """Print what does not agree; 1 where anything was found, or is left after a repair."""
    if call.options.repair:
        require_administrator(call.principal)
    found = checking.check()
    if found and call.options.repair:
        return _repair(call, found)
    if call.as_json:
        call.answer({"ok": not found, "findings": [asdict(finding) for finding in found]})
        return 1 if found else 0
    for finding in found:
        call.say(_line(finding))
    if found:
        call.say("`goclaw memory check --repair` puts right what can be, after a backup.")
    else:
        call.say(f"Clean: {len(checking.RULES)} rules, nothing found.")
    return 1 if found else 0


def _repair(call: Call, found: list[Finding]) -> int:
    copy = backups.back_up()
    done = repairing.repair(call.principal)
    left = checking.check()
    if call.as_json:
        call.answer(
            {
                "ok": not left,
                "findings": [asdict(finding) for finding in found],
                "repaired": [asdict(one) for one in done],
                "left": [asdict(finding) for finding in left],
                "backup": str(copy) if copy else None,
            }
        )
        return 1 if left else 0
    for finding in found:
        call.say(_line(finding))
    for one in done:
        call.say(_outcome(one))
    call.say(f"Backup: {copy or 'none: this database system has its own tools'}")
    call.say(_end(left))
    return 1 if left else 0


def _line(finding: Finding) -> str:
    samples = ", ".join(finding.samples)
    return f"{finding.name}: {finding.count} {finding.words} ({samples})"


def _outcome(one: Repaired) -> str:
    why = f"; the others are left: {one.why_left}" if one.repaired and one.why_left else ""
    if not one.repaired:
        return f"{one.name}: not repaired: {one.why_left}"
    return f"{one.name}: {one.repaired:,} of {one.found:,} repaired{why}"


def _end(left: list[Finding]) -> str:
    if left:
        return f"Left: {', '.join(finding.name for finding in left)}."
    return "Clean now. What was set to be indexed again is found again when the worker has done it."


COMMAND = Subcommand("check", "compare index and records", run, arguments)
