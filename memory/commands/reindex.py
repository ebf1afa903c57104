"""`memory reindex`: cut and embed everything anew, or only what lacks it."""

from __future__ import annotations

from argparse import ArgumentParser

from memory import jobs
from memory.api.serializers import JobSerializer
from memory.commands.base import Call, Subcommand, follow
from memory.models import Job


def arguments(parser: ArgumentParser) -> None:
    """Declare what `reindex` takes."""
    parser.add_argument(
        "--missing", action="store_true", help="only records without a complete current index"
    )


def run(call: Call) -> int:
    """Start the job, or go on with an unfinished one, and follow it to its end."""
    params = {"missing": bool(call.options.missing)}
    job = follow(call, jobs.start_for(call.principal, "reindex", params))
    if call.as_json:
        call.answer(JobSerializer(job).data)
    elif job.state == Job.DONE:
        call.say(f"Indexed {job.done:,} records.")
    else:
        call.say(f"The job is {job.state}: {job.error or 'no reason given'}")
    return 0 if job.state == Job.DONE else 1


COMMAND = Subcommand("reindex", "cut and embed records anew", run, arguments)
