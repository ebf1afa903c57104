"""`goclaw up`: web server, worker and schedules together."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from goclaw_site import up


class Command(BaseCommand):
    """Runs until it is stopped."""

    help = "Start the web server, the worker and the schedules, and stop them together."
    # The database may not be there yet.
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Both are in the configuration too."""
        parser.add_argument("--host", help="address to listen on (server.host)")
        parser.add_argument("--port", type=int, help="port to listen on (server.port)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Returns after a clean stop."""
        up.serve(options["host"], options["port"])
