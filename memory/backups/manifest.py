"""The papers of a backup: `manifest.json`, and `SHA256SUMS` as `sha256sum -c` reads it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from goclaw_site.errors import InvalidInput
from memory.backups.contents import NAMES

FILE, SUMS = "manifest.json", "SHA256SUMS"
FORMAT, VERSION = "goclaw-backup", 1
_LINE = re.compile(rb"(\\?)([0-9a-f]{64})  (.+)")
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself. Sizes in bytes, times in UTC."""

    made_at: datetime
    app_version: str
    driver: str
    #: Whether the vault and the key that signs sessions are in it.
    secrets: bool
    files: int
    bytes: int
    sums_sha256: str
    #: Size of each name at the top.
    parts: dict[str, int] = field(default_factory=dict)
    migrations: dict[str, list[str]] = field(default_factory=dict)
    #: Links and sockets, which a backup does not hold.
    left_out: list[str] = field(default_factory=list)
    #: What it was made by: `command`, `schedule`, `page`, or before a restore.
    made_by: str = "command"
    #: A copy of the database alone: the rest of an installation stays when it comes back.
    database_only: bool = False


def write(folder: Path, manifest: Manifest) -> None:
    """Whoever finds this file finds the rest whole: it is written last."""
    papers = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    papers["made_at"] = manifest.made_at.isoformat(timespec="seconds")
    draft = folder / f".{FILE}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(json.dumps(papers, indent=2) + "\n")
        out.flush()
        os.fsync(out.fileno())
    draft.replace(folder / FILE)


def read(folder: Path) -> Manifest:
    """Raise InvalidInput: no backup, cut short, or of a newer version."""
    try:
        papers: dict[str, Any] = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if papers.pop("format") != FORMAT:
            raise ValueError(FORMAT)
        if (version := papers.pop("version")) > VERSION:
            raise InvalidInput(
                f"The backup {folder} was made by a newer version (format {version}; this one "
                f"knows {VERSION}). Install that version to restore it."
            )
        papers["made_at"] = datetime.fromisoformat(papers["made_at"])
        return Manifest(**papers)
    except FileNotFoundError:
        raise InvalidInput(_none(folder)) from None
    except OSError as error:
        raise InvalidInput(f"{folder / FILE} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput(f"{folder / FILE} is damaged, or not of a backup of ours.") from None


def is_backup(folder: Path) -> bool:
    """Whether the folder says that it is one, whole or damaged."""
    try:
        return f'"{FORMAT}"' in (folder / FILE).read_text(encoding="utf-8")[:200]
    except (OSError, UnicodeDecodeError):
        return False


def line(name: str, digest: str) -> bytes:
    """One line of the sums; line breaks and backslashes are escaped as sha256sum does."""
    plain = os.fsencode(name)
    escaped = plain.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    mark = b"\\" if escaped != plain else b""
    return b"%b%b  %b\n" % (mark, digest.encode(), escaped)


def sums(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and SHA-256 of each file. Raise InvalidInput, for a name that climbs out too."""
    try:
        with (folder / SUMS).open("rb") as lines:
            for text in lines:
                yield _entry(text.rstrip(b"\n"), folder)
    except OSError as error:
        raise InvalidInput(f"{folder / SUMS} cannot be read: {error.strerror}.") from None


def sha256(path: Path) -> str:
    """Of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _entry(text: bytes, folder: Path) -> tuple[str, str]:
    found = _LINE.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{folder / SUMS} is damaged.")
    name = found[3]
    if found[1]:
        ends = {b"\\\\": b"\\", b"\\n": b"\n", b"\\r": b"\r"}
        name = re.sub(rb"\\[\\nr]", lambda part: ends[part[0]], name)
    decoded = os.fsdecode(name)
    parts = PurePosixPath(decoded).parts
    if not parts or parts[0] not in NAMES or ".." in parts or "\0" in decoded:
        raise InvalidInput(f"{folder / SUMS} names a file that no backup has: {decoded[:80]!r}.")
    return decoded, found[2].decode()


def _none(folder: Path) -> str:
    if not folder.is_dir():
        return f"There is no folder {folder}."
    return (
        f"{folder} is no whole backup: it has no {FILE}. A backup that was interrupted is not one; "
        "`goclaw db backup` makes a new one."
    )
