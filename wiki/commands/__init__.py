"""The parts of `goclaw wiki`."""

from __future__ import annotations

from wiki.commands import distill, gc, transfer

SUBCOMMANDS = (transfer.IMPORT, transfer.EXPORT, distill.COMMAND, gc.COMMAND)
