"""`wiki distill`: learned facts into pages."""

from __future__ import annotations

from argparse import ArgumentParser

from memory.commands.base import Call, Subcommand, follow
from memory.models import Job
from wiki import distill


def arguments(parser: ArgumentParser) -> None:
    """Declare what `distill` takes."""
    parser.add_argument("--dry-run", action="store_true", help="show the pages, save none")


def run(call: Call) -> int:
    """Follow the job; 1 where it failed, or a page of it."""
    job = follow(call, distill.start(call.principal, dry=call.options.dry_run))
    made = (job.result or {}).get("pages", [])
    if call.as_json:
        call.answer({"state": job.state, "error": job.error, "pages": made})
    if job.state != Job.DONE:
        call.say(f"The job is {job.state}. {job.error}".strip())
        return 1
    for page in made:
        call.say(f"{page['slug']}: {page['facts']} facts, {page.get('outcome', 'nothing')}")
        if reason := page.get("reason"):
            call.say(f"  {reason}")
        if call.options.dry_run:
            call.say(f"\n{page.get('body', '')}\n")
    if not made:
        call.say("There are no learned facts yet.")
    return 1 if any("reason" in page for page in made) else 0


COMMAND = Subcommand("distill", "write what agents learned into pages", run, arguments)
