"""Django's command runner with our help text and exit codes."""

import sys
from collections.abc import Iterator

from django.core.management import ManagementUtility, get_commands, load_command_class
from django.core.management.base import BaseCommand

OURS = ("goclaw_site", "memory", "wiki", "agents")
USAGE = 2


class Commands(ManagementUtility):
    """An unknown command is a usage error, and help shows our own commands first."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Django would exit with 1."""
        try:
            return super().fetch_command(subcommand)
        except SystemExit:
            sys.exit(USAGE)

    def main_help_text(self, commands_only: bool = False) -> str:
        """`commands_only` is what shells ask for to complete a name."""
        commands = get_commands()
        if commands_only:
            return "\n".join(sorted(commands))
        others = sorted(name for name, app in commands.items() if app not in OURS)
        return "\n".join(
            [
                f"Type '{self.prog_name} help <command>' for help on one command.",
                "",
                *_described(commands),
                "",
                "Django's: " + " ".join(others),
            ]
        )


def _described(commands: dict[str, str]) -> Iterator[str]:
    for name, app in sorted(commands.items()):
        if app in OURS:
            yield f"  {name:<20} {load_command_class(app, name).help}".rstrip()
