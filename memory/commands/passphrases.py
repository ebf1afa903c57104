"""The passphrase of a snapshot: from a file, or typed where nobody sees it; never an argument."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from pathlib import Path

from goclaw_site.errors import InvalidInput, Refused
from memory.commands.base import Call

_SHORTEST, _LONGEST = 8, 4096


def passphrase_arguments(parser: ArgumentParser) -> None:
    """Declare where a passphrase comes from."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--passphrase", action="store_true", help="ask for one on the terminal")
    chosen.add_argument(
        "--passphrase-file", type=Path, metavar="F", help="read it from the first line of a file"
    )


def passphrase_to_seal(call: Call) -> str | None:
    """Return the passphrase for a new file, typed twice; None where none is wanted."""
    if call.options.passphrase_file:
        return _long_enough(_from_file(call.options.passphrase_file))
    if not call.options.passphrase:
        return None
    typed = _long_enough(_typed("Passphrase: "))
    if _typed("Once more: ") != typed:
        raise InvalidInput("The two passphrases differ. Nothing was written.")
    return typed


def passphrase_to_open(call: Call, *, sealed: bool) -> str | None:
    """Return the passphrase for a file that needs one."""
    if not sealed:
        return None
    if call.options.passphrase_file:
        return _from_file(call.options.passphrase_file)
    return _typed("Passphrase: ")


def _from_file(path: Path) -> str:
    try:
        with path.expanduser().open(encoding="utf-8") as held:
            line = held.readline(_LONGEST + 2).rstrip("\r\n")
    except OSError as error:
        raise InvalidInput(
            f"The passphrase file {path} cannot be read: {error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput(f"The passphrase file {path} cannot be read: it is not UTF-8.") from None
    if not line or len(line) > _LONGEST:
        raise InvalidInput(f"The first line of {path} must hold 1 to {_LONGEST:,} characters.")
    return line


def _typed(prompt: str) -> str:
    if not sys.stdin.isatty():
        raise Refused("A passphrase is needed and nobody is here to ask: --passphrase-file F.")
    return getpass.getpass(prompt, stream=sys.stderr)


def _long_enough(passphrase: str) -> str:
    if len(passphrase) < _SHORTEST:
        raise InvalidInput(f"A passphrase needs at least {_SHORTEST} characters.")
    return passphrase
