"""Writes `docs/configuration.md`, or compares it."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from goclaw_site.configdocs import markdown


class Command(BaseCommand):
    """For people who work on the project."""

    help = "Write docs/configuration.md from the declared keys (--check compares)."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """`--check` is what `make check` uses."""
        parser.add_argument("--check", action="store_true", help="fail where the file differs")

    def handle(self, *args: Any, **options: Any) -> None:
        """The file belongs to the checkout."""
        page = settings.ROOT / "docs" / "configuration.md"
        text = markdown()
        if not options["check"]:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            raise CommandError("docs/configuration.md is out of date; `make docs` writes it.")
