"""`db import`: everything is checked first, then written in one transaction; files come last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction

from goclaw_site.config import state_dir
from goclaw_site.errors import Conflict, InvalidInput, Refused, Unavailable
from memory import audit, backups
from memory.access import Principal, require_administrator
from memory.models import EngineState
from memory.snapshots import framing, loading, trees
from memory.snapshots.columns import Row, Table
from memory.snapshots.exporting import Progress
from memory.snapshots.parts import Part, manifest_and_parts
from memory.snapshots.tables import CARRIED, counted

#: Key of the fact that files wait to be put in place: written in the transaction of the rows.
_WAITING = "import_files"
_SAFE = "Nothing was changed."
_TOLD_EVERY = 500

Take = Callable[[Table, Iterator[Row]], None]
TakeFile = Callable[[str, Iterator[bytes]], None]


@dataclass
class Contents:
    """What a snapshot holds, after every byte of it was checked."""

    manifest: dict[str, Any]
    rows: dict[str, int] = field(default_factory=dict)
    files: int = 0
    bytes_of_files: int = 0

    @property
    def holds(self) -> set[str]:
        """The words of `memory.snapshots.trees` that it has files for."""
        return set(self.manifest["holds"])


@dataclass(frozen=True)
class Loaded:
    """What an import did: what came, what stood there before and is gone, and the copies of it."""

    contents: Contents
    replaced: dict[str, int]
    backup: Path | None = None
    former_files: Path | None = None


def inspect(
    path: Path,
    passphrase: str | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Contents:
    """Check every byte, row and path of a snapshot and return what it holds; nothing is written.

    Raises InvalidInput, Refused, Unavailable.
    """
    with _opened(path, passphrase) as (manifest, parts):
        contents = Contents(manifest)

        def count(table: Table, rows: Iterator[Row]) -> None:
            contents.rows[table.label] = _counted(rows, "checking rows", progress)

        def measure(name: str, data: Iterator[bytes]) -> None:
            contents.files += 1
            contents.bytes_of_files += sum(len(block) for block in data)

        _walk(manifest, parts, count, measure)
    return contents


def load(
    principal: Principal,
    path: Path,
    *,
    passphrase: str | None = None,
    replace: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Loaded:
    """Make this installation what the snapshot says; on any failure it stays as it was.

    An installation that holds something is kept, unless `replace` is given: then it is backed up
    first. Raises InvalidInput, Refused, Conflict, Unavailable.
    """
    require_administrator(principal)
    finish_interrupted()
    contents = inspect(path, passphrase, progress)
    held = loading.held()
    if held and not replace:
        raise Conflict(refusal(held), field="FILE")
    copy = backups.back_up() if held else None
    stage = trees.Stage(state_dir())
    stage.require_space(contents.bytes_of_files)
    try:
        with _words(path), transaction.atomic():
            _write(path, passphrase, stage, contents, progress)
            if contents.holds:
                stage.complete(contents.holds)
                EngineState.record(_WAITING, stage.name)
            audit.record(
                principal, "snapshot.import", rows=sum(contents.rows.values()),
                files=contents.files, replaced=sum(held.values()),
            )  # fmt: skip
    except BaseException:
        stage.discard()
        raise
    return Loaded(contents, held, copy, finish_interrupted())


def refusal(held: dict[str, int]) -> str:
    """Return why an import into this installation needs `--replace`."""
    words = ", ".join(counted(label, count) for label, count in held.items())
    return (
        f"This installation holds {words} already, and an import takes the place of everything. "
        f"--replace does so after a backup. {_SAFE}"
    )


def finish_interrupted() -> Path | None:
    """Put files in place whose rows are in the database; return where the former files went.

    Also removes what an import left that was killed before its rows were in.
    """
    state = state_dir()
    name = EngineState.read(_WAITING)
    former = None
    trees.discard_abandoned(state, str(name))
    if isinstance(name, str):
        former = trees.Stage(state, name).put_in_place()
        EngineState.objects.filter(key=_WAITING).delete()
    return former


def _write(
    path: Path, passphrase: str | None, stage: trees.Stage, contents: Contents, progress: Progress
) -> None:
    """Write what was checked; the file is checked again, in case it was changed in between."""
    total = sum(contents.rows.values())
    done = 0
    with _opened(path, passphrase) as (manifest, parts):
        loading.clear()

        def put(table: Table, rows: Iterator[Row]) -> None:
            nonlocal done
            for batch in loading.batches_of(rows):
                loading.put(table, batch)
                done += len(batch)
                progress("writing rows", done, total)

        def stage_file(name: str, data: Iterator[bytes]) -> None:
            with stage.create(name) as out:
                for block in data:
                    out.write(block)

        _walk(manifest, parts, put, stage_file)
        loading.settle()


def _walk(manifest: dict[str, Any], parts: Iterator[Part], take: Take, take_file: TakeFile) -> None:
    """Give every part to its taker, in the order that a writer keeps: tables, then files."""
    waiting = list(manifest["tables"])
    before = ""
    for part in parts:
        if "table" in part.about:
            if not waiting or part.about["table"] != waiting.pop(0):
                raise InvalidInput(f"its table {part.name} does not stand where it should")
            table = Table(part.about["table"])
            read = table.reader(part.about.get("columns"))
            take(table, map(read, part.rows()))
        else:
            before = trees.check_path(part.about.get("file"), before)
            if not trees.belongs(before, set(manifest["holds"])):
                raise InvalidInput(f"it holds a file outside of its folders: {before[:80]!r}")
            take_file(before, part.data())
    if waiting:
        raise InvalidInput(f"its table {waiting[0]} is missing")


def _counted(rows: Iterator[Row], what: str, progress: Progress) -> int:
    count = 0
    for count, _ in enumerate(rows, 1):
        if not count % _TOLD_EVERY:
            progress(what, count, 0)
    return count


@contextmanager
def _opened(path: Path, passphrase: str | None) -> Iterator[tuple[dict[str, Any], Iterator[Part]]]:
    with _words(path), path.open("rb") as held:
        manifest, parts = manifest_and_parts(framing.frames(held, passphrase))
        yield _checked_manifest(manifest), parts


def _checked_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    tables, holds = manifest.get("tables"), manifest.get("holds")
    if not isinstance(tables, list) or not isinstance(holds, list):
        raise InvalidInput("it says nothing about its tables")
    if unknown := [name for name in tables if name not in CARRIED]:
        raise InvalidInput(
            f"it has a table {str(unknown[0])[:60]!r} that this version does not know: a newer one "
            "wrote it, so upgrade first"
        )
    places = [CARRIED.index(name) for name in tables]
    if places != sorted(set(places)) or any(
        word not in (trees.FILES, trees.ATTACHMENTS) for word in holds
    ):
        raise InvalidInput("what it says about itself is malformed")
    return manifest


@contextmanager
def _words(path: Path) -> Iterator[None]:
    """Turn every failure into a sentence that says what is safe."""
    try:
        yield
    except (InvalidInput, Refused) as error:
        if error.message.endswith(_SAFE):
            raise
        words = f"{path}: {error.message}. {_SAFE}" if error.code == "invalid" else error.message
        raise type(error)(words, field="FILE") from None
    except IntegrityError as error:
        raise InvalidInput(f"{path}: its rows do not fit together ({error}). {_SAFE}") from None
    except OSError as error:
        raise Unavailable(f"{path}: {error.strerror or error}. {_SAFE}") from None
    except DatabaseError as error:
        raise Unavailable(f"The database refused: {error}. {_SAFE}") from None


def is_sealed(path: Path) -> bool:
    """Tell whether the snapshot needs a passphrase. Raise InvalidInput, Unavailable."""
    with _words(path), path.open("rb") as held:
        return framing.is_sealed(held)
