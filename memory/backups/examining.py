"""Whether a folder is a backup that can be restored: every byte of it."""

from __future__ import annotations

from pathlib import Path

from goclaw_site.errors import InvalidInput
from memory.backups import databases, manifest
from memory.backups.contents import DATABASE, SQLITE
from memory.backups.manifest import Manifest


def examine(source: Path) -> Manifest:
    """Return its manifest. Raise InvalidInput: not whole, altered, damaged, newer."""
    papers = manifest.read(source)
    try:
        _examine_files(source, papers)
    except OSError as error:
        raise InvalidInput(f"The backup {source} cannot be read: {error}.") from None
    _examine_databases(source)
    return papers


def _examine_files(source: Path, papers: Manifest) -> None:
    if manifest.sha256(source / manifest.SUMS) != papers.sums_sha256:
        raise InvalidInput(f"{source / manifest.SUMS} was altered, or is not that of this backup.")
    inside = source.resolve()
    for name, digest in manifest.sums(source):
        file = source / name
        # A link in a backup was not put there by us.
        if not file.is_file() or file.resolve() != inside / name:
            raise InvalidInput(f"The backup {source} lacks {name}. It is not whole.")
        if manifest.sha256(file) != digest:
            raise InvalidInput(f"{file} was altered or is damaged: its checksum differs.")


def _examine_databases(source: Path) -> None:
    for name in SQLITE:
        file = source / name
        if file.exists() and (found := databases.problem(file)):
            raise InvalidInput(f"{file} is no sound database: {found}.")
    if not (source / DATABASE).exists():
        return
    if unknown := databases.unknown_migrations(databases.migrations(source / DATABASE)):
        raise InvalidInput(
            f"The backup {source} was made by a newer version ({unknown[-1]} is not known to this "
            "one). Install that version to restore it."
        )
