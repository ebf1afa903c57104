"""`memory consolidate`: make one record of learned notes that say the same."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from goclaw_site.errors import Refused
from memory import consolidation, jobs
from memory.api.serializers import JobSerializer
from memory.commands.base import Call, Subcommand, follow
from memory.commands.dedupe import show_pairs
from memory.models import Job


def arguments(parser: ArgumentParser) -> None:
    """Declare what `consolidate` takes."""
    parser.add_argument(
        "--dry-run", action="store_true", help="change nothing; show the pairs with their texts"
    )
    parser.add_argument("--memory-md", action="store_true", help="not in this version")


def run(call: Call) -> int:
    """Start the job, or go on with an unfinished one, and follow it to its end."""
    if call.options.memory_md:
        raise Refused(
            "There is no Memory.md in this version: it comes with conversations. Nothing was"
            " changed; without --memory-md the learned notes are consolidated."
        )
    params = consolidation.params(dry_run=call.options.dry_run)
    job = follow(call, jobs.start_for(call.principal, consolidation.KIND, params))
    if call.as_json:
        call.answer(JobSerializer(job).data)
    elif job.state != Job.DONE:
        call.say(f"The job is {job.state}: {job.error or 'no reason given'}")
    elif call.options.dry_run:
        show_pairs(call, job.result or {})
        call.say(f"{(job.result or {})['groups']:,} groups would be put to the model.")
    else:
        _tell(call, job.result or {})
    return 0 if job.state == Job.DONE else 1


def _tell(call: Call, result: dict[str, Any]) -> None:
    call.say(f"Retired {result['retired']:,} notes; {result['merged']:,} merged ones were written.")
    for reason, count in result["left"].items():
        call.say(f"  {count:,} left as they are: {reason}")
    if result["without_model"]:
        call.say(f"Only near-duplicates were looked at. {result['without_model']}")
    if result["retired"]:
        call.say(f"To take it back: goclaw memory revisions undo --run {result['run_id']}")


COMMAND = Subcommand(
    "consolidate", "make one record of learned notes that say the same", run, arguments
)
