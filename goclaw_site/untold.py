"""Deeds of commands that run without the database; the audit trail hears of them afterwards."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = "run/untold.jsonl"


@dataclass(frozen=True)
class Deed:
    """Action, subject and facts as the trail has them."""

    action: str
    subject: str
    facts: dict[str, Any]


def note(state: Path, action: str, subject: str, **facts: str | int) -> None:
    """Keep one deed. Names and counts alone, as in the trail."""
    file = state / FILE
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    line = {"action": action, "subject": subject, "facts": {"at": moment, **facts}}
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a") as out:
        out.write(json.dumps(line) + "\n")


def taken(state: Path) -> Iterator[Deed]:
    """Yield what nobody has told yet; one taker gets each, and a line cut short is nobody's."""
    mine = (state / FILE).with_suffix(f".{os.getpid()}")
    try:
        (state / FILE).rename(mine)
    except FileNotFoundError:
        return
    for line in mine.read_text(encoding="utf-8").splitlines():
        with suppress(ValueError, TypeError):
            yield Deed(**json.loads(line))
    mine.unlink()
