"""`memory check`: whether index and records agree."""

from __future__ import annotations

from dataclasses import asdict

from memory import checking
from memory.commands.base import Call, Subcommand


def run(call: Call) -> int:
    """Print what does not agree; 1 where anything was found."""
    found = checking.check()
    if call.as_json:
        call.answer({"ok": not found, "findings": [asdict(finding) for finding in found]})
        return 1 if found else 0
    for finding in found:
        samples = ", ".join(finding.samples)
        call.say(f"{finding.name}: {finding.count} {finding.words} ({samples})")
    if not found:
        call.say(f"Clean: {len(checking.RULES)} rules, nothing found.")
    return 1 if found else 0


COMMAND = Subcommand("check", "compare index and records", run)
