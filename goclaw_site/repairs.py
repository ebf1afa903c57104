"""Commands that work although the configuration does not: they run without Django."""

from importlib import import_module
from typing import Any

#: The command's module, by the words it is called with.
_ALONE = {("secrets",): "secrets"}


def run(argv: list[str]) -> bool:
    """Run the command if it is one of these; False where it is not."""
    words = tuple(argv[1:])
    name = next((name for start, name in _ALONE.items() if words[: len(start)] == start), None)
    if name is None:
        return False
    command: Any = import_module(f"goclaw_site.management.commands.{name}").Command()
    options = command.create_parser(argv[0], argv[1]).parse_args(argv[2:])
    command.handle(**vars(options))
    return True
