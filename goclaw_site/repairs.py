"""Commands that work although the configuration does not: they run without Django."""

from argparse import ArgumentParser
from pathlib import Path

from goclaw_site import restore
from goclaw_site.config import state_dir
from memory.backups import swapping


def run(argv: list[str]) -> int | None:
    """Run the command if it is one of these, and return its status; None where it is not."""
    words = argv[1:]
    if words[:1] == ["secrets"]:
        swapping.finish_interrupted(state_dir())
        return _secrets(argv)
    if words[:2] == ["db", "restore"]:
        return _restore(argv)
    return None


def _secrets(argv: list[str]) -> int:
    from goclaw_site.management.commands.secrets import Command

    command = Command()
    options = command.create_parser(argv[0], argv[1]).parse_args(argv[2:])
    command.handle(**vars(options))
    return 0


def _restore(argv: list[str]) -> int:
    parser = ArgumentParser(prog=f"{Path(argv[0]).name} db restore", description=restore.HELP)
    restore.arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return restore.run(parser.parse_args(argv[3:]))
