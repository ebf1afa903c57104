"""`goclaw worker`: background work alone, for set-ups with several machines or a Procfile."""

from typing import Any

from django.core.management.base import BaseCommand

from goclaw_site.processes import run_worker
from memory import providers, schedules


class Command(BaseCommand):
    """Runs until it is stopped; `goclaw up` starts one by itself."""

    help = "Run the worker and the schedules alone (`goclaw up` includes them)."

    def handle(self, *args: Any, **options: Any) -> None:
        """The weights are loaded before the processes part, so that they share one copy."""
        schedules.install()
        providers.preload()
        run_worker()
