"""`memory dedupe`: retire near-duplicate notes and leave repeated chunks out of search."""

from __future__ import annotations

import uuid
from argparse import ArgumentParser
from typing import Any

from django.db.models import Q

from memory import deduping, jobs, queries
from memory.api.serializers import JobSerializer
from memory.chunks import batches
from memory.commands.base import Call, Subcommand, follow
from memory.models import Job, Memory


def arguments(parser: ArgumentParser) -> None:
    """Declare what `dedupe` takes."""
    parser.add_argument(
        "--ratio", type=float, default=deduping.RATIO,
        help="how close two texts must be, 0.5 to 1 (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="change nothing; show the pairs with their texts"
    )


def run(call: Call) -> int:
    """Start the job, or go on with an unfinished one, and follow it to its end."""
    params = deduping.params(call.options.ratio, dry_run=call.options.dry_run)
    job = follow(call, jobs.start_for(call.principal, "dedupe", params))
    if call.as_json:
        call.answer(JobSerializer(job).data)
    elif job.state != Job.DONE:
        call.say(f"The job is {job.state}: {job.error or 'no reason given'}")
    elif call.options.dry_run:
        show_pairs(call, job.result or {})
    else:
        _tell(call, job.result or {})
    return 0 if job.state == Job.DONE else 1


def show_pairs(call: Call, result: dict[str, Any]) -> None:
    """Print the pairs of a dry run with both texts."""
    pairs = result["pairs"]
    ids = {uuid.UUID(pair[side]) for pair in pairs for side in ("kept", "repeat")}
    held: dict[uuid.UUID, Memory] = {}
    for batch in batches(sorted(ids)):
        held |= queries.visible_by_id(call.principal, batch, Q())
    for pair in pairs:
        call.say(f"ratio {pair['ratio']:.2f}")
        for side, words in (("kept", "keeps  "), ("repeat", "retires")):
            record = held.get(uuid.UUID(pair[side]))
            text = record.content if record else "(gone meanwhile)"
            call.say(f"  {words} {pair[side]}  {text}")
    if result.get("pairs_left_out"):
        call.say(f"… and {result['pairs_left_out']:,} more pairs.")
    chunks = result.get("chunks", 0)
    call.say(f"{result['notes']:,} notes would be retired, {chunks:,} chunks left out of search.")
    call.say("Nothing was changed.")


def _tell(call: Call, result: dict[str, Any]) -> None:
    call.say(f"Retired {result['retired']:,} notes; {result['marked']:,} chunks are left out anew.")
    for reason, count in result["left"].items():
        call.say(f"  {count:,} left as they are: {reason}")
    if result["retired"]:
        call.say(f"To take it back: goclaw memory revisions undo --run {result['run_id']}")


COMMAND = Subcommand("dedupe", "retire near-duplicate notes and repeated chunks", run, arguments)
