"""What a part of a command is, and how it speaks: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rest_framework.utils.encoders import JSONEncoder
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from goclaw_site.errors import Refused
from memory import jobs, queries, readiness
from memory.access import Principal
from memory.models import Job

_POLL_SECONDS = 0.3


@dataclass(frozen=True)
class Call:
    """One run of a part: who asks, what was given, and where to answer."""

    principal: Principal
    options: Namespace
    out: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))

    @property
    def as_json(self) -> bool:
        """Whether a program reads the answer."""
        return bool(getattr(self.options, "json", False))

    def say(self, text: str) -> None:
        """Print a line for people; nothing where a program reads."""
        if not self.as_json:
            self.out.print(text, markup=False)

    def answer(self, value: Any) -> None:
        """Print the answer for programs, values in the form that the API gives them."""
        print(json.dumps(value, ensure_ascii=False, cls=JSONEncoder, indent=2))

    def progress(self) -> Progress:
        """Return a bar that shows on a terminal alone."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        bars = Console(stderr=True)
        return Progress(*columns, console=bars, disable=self.as_json or not bars.is_terminal)


@dataclass(frozen=True)
class Subcommand:
    """A part of a command. `run` returns the exit status: 0 done, 1 refused or failed."""

    name: str
    help: str
    run: Callable[[Call], int]
    arguments: Callable[[ArgumentParser], None] = lambda parser: None


def agreed(call: Call, question: str) -> bool:
    """Ask on the terminal unless `--yes` was given. Raise Refused where nobody can answer."""
    if call.options.yes:
        return True
    if call.as_json or not sys.stdin.isatty():
        raise Refused(f"{question} Nobody is here to ask: --yes says so beforehand.")
    return call.out.input(f"{question} [y/N] ", markup=False).strip().lower() in ("y", "yes")


def follow(call: Call, job: Job) -> Job:
    """Wait for a job with a bar; without a live worker do its work here."""
    here = False
    with call.progress() as bar:
        task = bar.add_task(job.kind, total=None)
        while not job.ended:
            # Work done here leaves a sign of life too: do not wait for ourselves.
            here = here or not readiness.worker_alive()
            if here:
                jobs.run_slice(str(job.pk))
            else:
                time.sleep(_POLL_SECONDS)
            job = queries.job(job.pk)
            bar.update(task, total=job.total or None, completed=job.done)
    return job
