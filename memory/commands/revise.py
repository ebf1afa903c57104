"""`memory revise`: go over stored facts, oldest first, and retire what newer ones replace."""

from __future__ import annotations

from argparse import ArgumentParser

from memory import jobs
from memory.api.serializers import JobSerializer
from memory.beliefs import revising
from memory.commands.base import Call, Subcommand, follow
from memory.models import Job


def arguments(parser: ArgumentParser) -> None:
    """Declare what `revise` takes."""
    parser.add_argument(
        "--dry-run", action="store_true", help="only list the pairs; no model is asked"
    )


def run(call: Call) -> int:
    """Start the job, or go on with an unfinished one, and follow it to its end."""
    params = {"dry_run": bool(call.options.dry_run)}
    job = follow(call, jobs.start_for(call.principal, revising.KIND, params))
    if call.as_json:
        call.answer(JobSerializer(job).data)
    elif job.state != Job.DONE:
        call.say(f"The job is {job.state}: {job.error or 'no reason given'}")
    else:
        _tell(call, job)
    return 0 if job.state == Job.DONE else 1


def _tell(call: Call, job: Job) -> None:
    found = job.result or {}
    for pair in found.get("pairs", []):
        call.say(f"{pair['by']}  {pair['old']} -> {pair['new']}")
        call.say(f"  - {pair['old_text']}\n  + {pair['new_text']}")
    if job.params.get("dry_run"):
        more, own = found.get("more", 0), found.get("personal", 0)
        call.say(f"{len(found.get('pairs', [])):,} pairs, {more:,} more, {own:,} of people's own.")
        return
    call.say(
        f"Looked at {job.done:,} records: {found.get('retired', 0):,} retired, "
        f"{found.get('kept', 0):,} kept, {found.get('failed', 0):,} failed."
    )
    if found.get("model"):
        call.say(f"Only the rules were asked: {found['model']}")
    if found.get("retired"):
        call.say(f"'memory revisions undo --run {job.pk}' takes it back.")


COMMAND = Subcommand("revise", "retire stored facts that newer ones replace", run, arguments)
