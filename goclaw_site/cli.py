"""The command line: `goclaw X` and `python manage.py X` are the same."""

import logging
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext

from goclaw_site import repairs
from goclaw_site.config import limit_numeric_threads
from goclaw_site.configsecrets import stars
from goclaw_site.errors import GoclawError

FAILED = 1
INTERRUPTED = 130


def use_settings() -> None:
    """Must run before Django, and before numpy, is imported."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goclaw_site.settings")
    limit_numeric_threads()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; failures are a plain line on standard error, never a traceback."""
    use_settings()
    try:
        return _run(list(sys.argv if argv is None else argv))
    except GoclawError as error:
        return _fail(error.message)
    except KeyboardInterrupt:
        return INTERRUPTED
    except EOFError:
        return _fail("the question was not answered, so nothing was changed.")
    except BrokenPipeError:
        # The reader of our output has gone; nothing can be said to it any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return _unexpected(error)


def _run(argv: list[str]) -> int:
    status = repairs.run(argv)
    if status is not None:
        return status
    # Imported late: it reads the settings' module name from the environment.
    from goclaw_site import embeddedpostgres
    from goclaw_site.commands import Commands

    with embeddedpostgres.at_hand() if _needs_database(argv) else nullcontext():
        Commands(argv).execute()
    return 0


def _needs_database(argv: list[str]) -> bool:
    """`up` starts and watches an embedded database itself; help needs none."""
    wants_help = {"-h", "--help", "--version"} & set(argv)
    return not wants_help and len(argv) > 1 and argv[1] not in ("up", "help", "version")


def _fail(message: str) -> int:
    print(f"goclaw: {stars(message)}", file=sys.stderr)
    return FAILED


def _unexpected(error: Exception) -> int:
    from django.db import DatabaseError

    logging.getLogger(__name__).debug("The command failed", exc_info=error)
    if isinstance(error, DatabaseError):
        return _fail(f"the database refused: {error}. `goclaw up` or `goclaw migrate` prepares it.")
    kind = type(error).__name__
    return _fail(f"unexpected {kind}: {error}. GOCLAW_LOG__LEVEL=DEBUG shows where.")
