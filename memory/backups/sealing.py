"""The papers of a folder that holds the files of a backup."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from goclaw_site import __version__
from goclaw_site.errors import InvalidInput
from memory.backups import databases, manifest
from memory.backups.contents import DATABASE, NAMES, below
from memory.backups.manifest import Manifest

BEFORE_RESTORE = "restore"


def described(folder: Path, *, secrets: bool) -> Manifest:
    """The manifest of a folder whose sums are written."""
    sizes: dict[str, int] = {}
    count = 0
    for name, _ in manifest.sums(folder):
        top = name.partition("/")[0]
        sizes[top] = sizes.get(top, 0) + (folder / name).stat().st_size
        count += 1
    return Manifest(
        made_at=datetime.now(UTC).replace(microsecond=0),
        app_version=__version__,
        driver="sqlite",
        secrets=secrets,
        files=count,
        bytes=sum(sizes.values()),
        sums_sha256=manifest.sha256(folder / manifest.SUMS),
        parts=sizes,
        migrations=_migrations(folder / DATABASE),
    )


def seal(folder: Path, *, secrets: bool = False, database_only: bool = False) -> None:
    """Make a backup of what a restore has moved into a folder. Safe to run twice."""
    if not folder.exists():
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(folder / manifest.SUMS, flags, 0o600), "wb") as out:
        for name in NAMES:
            place = folder / name
            for path, inner in [(place, name)] if place.is_file() else _inside(place, name):
                out.write(manifest.line(inner, manifest.sha256(path)))
    papers = described(folder, secrets=secrets)
    manifest.write(folder, replace(papers, made_by=BEFORE_RESTORE, database_only=database_only))


def _inside(place: Path, name: str) -> list[tuple[Path, str]]:
    return [(one.path, one.name) for one in below(place, name, [])] if place.is_dir() else []


def _migrations(database: Path) -> dict[str, list[str]]:
    """None of a file that is damaged: what a restore replaces may be just that."""
    try:
        return databases.migrations(database) if database.exists() else {}
    except InvalidInput:
        return {}
