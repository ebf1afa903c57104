"""Parts of a snapshot: a table or a file each, with a count and a checksum of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from goclaw_site.errors import InvalidInput
from memory.snapshots import framing
from memory.snapshots.framing import BEGIN, DATA, END, FRAME, MANIFEST, Frame, Writer

#: One row as JSON: a record's text is at most some hundred thousand characters.
MOST_LINE = 32 * 1024 * 1024
MOST_PARTS = 2_000_000


class PartWriter:
    """Writes one part after another."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._held = bytearray()
        self._digest = hashlib.sha256()
        self._bytes = self._rows = 0

    def begin(self, about: dict[str, Any]) -> None:
        """Begin a part."""
        self._held.clear()
        self._digest = hashlib.sha256()
        self._bytes = self._rows = 0
        self._writer.put_value(BEGIN, about)

    def row(self, values: list[Any]) -> None:
        """Add a row of a table as a line of JSON."""
        line = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if len(line) > MOST_LINE:
            raise InvalidInput(f"A row takes {len(line):,} bytes; the limit is {MOST_LINE:,}.")
        self._rows += 1
        self.data(line)

    def data(self, raw: bytes) -> None:
        """Add bytes of the part."""
        self._digest.update(raw)
        self._bytes += len(raw)
        self._held += raw
        while len(self._held) >= FRAME:
            self._writer.put(DATA, bytes(self._held[:FRAME]))
            del self._held[:FRAME]

    def end(self) -> None:
        """End the part with what it has to be."""
        if self._held:
            self._writer.put(DATA, bytes(self._held))
        told = {"rows": self._rows, "bytes": self._bytes, "sha256": self._digest.hexdigest()}
        self._writer.put_value(END, told)

    def finish(self) -> None:
        """End the file."""
        self._writer.finish()


@dataclass
class Part:
    """A part being read; its data has to be taken before the next part comes."""

    about: dict[str, Any]
    _frames: Iterator[Frame]
    _digest: Any = field(default_factory=hashlib.sha256)
    _bytes: int = 0
    _told: dict[str, Any] = field(default_factory=dict)
    ended: bool = False

    def data(self) -> Iterator[bytes]:
        """Yield its bytes and check them at the end. Raise InvalidInput."""
        for frame in self._frames:
            if frame.kind == END:
                self.ended, self._told = True, frame.value()
                self._check()
                return
            if frame.kind != DATA:
                break
            self._digest.update(frame.raw)
            self._bytes += len(frame.raw)
            yield frame.raw
        raise InvalidInput("a part has no end")

    def rows(self) -> Iterator[list[Any]]:
        """Yield the lines of a table as values."""
        count = 0
        for line in _lines(self.data()):
            count += 1
            yield _values(line)
        if self._told.get("rows") != count:
            raise InvalidInput(f"{self.name} does not have as many rows as it says")

    def _check(self) -> None:
        found = {"bytes": self._bytes, "sha256": self._digest.hexdigest()}
        if {name: self._told.get(name) for name in found} != found:
            raise InvalidInput(f"{self.name} does not fit its checksum")

    @property
    def name(self) -> str:
        """The table or the file, for messages."""
        return str(self.about.get("table") or self.about.get("file") or "a part")[:200]


def manifest_and_parts(found: Iterable[Frame]) -> tuple[dict[str, Any], Iterator[Part]]:
    """Return what the snapshot says about itself, and its parts in order."""
    stream = iter(found)
    first = next(stream, None)
    if first is None or first.kind != MANIFEST:
        raise InvalidInput("it says nothing about itself")
    return first.value(), _parts(stream)


def _parts(stream: Iterator[Frame]) -> Iterator[Part]:
    for number, frame in enumerate(stream):
        if frame.kind != BEGIN:
            raise InvalidInput("it holds data outside of its parts")
        if number >= MOST_PARTS:
            raise InvalidInput(f"it holds more than {MOST_PARTS:,} parts")
        part = Part(frame.value(), stream)
        yield part
        if not part.ended:
            raise InvalidInput(f"{part.name} was not read")


def _lines(data: Iterable[bytes]) -> Iterator[bytes]:
    held = bytearray()
    for raw in data:
        held += raw
        *whole, rest = held.split(b"\n")
        held = rest
        yield from map(bytes, whole)
        if len(held) > MOST_LINE:
            raise InvalidInput("a row is longer than any that is written")
    if held:
        raise InvalidInput("a row has no end")


def _values(line: bytes) -> list[Any]:
    try:
        value = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise InvalidInput("a row is malformed")
    return value


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def open_writer(out: Any, passphrase: str | None, manifest: dict[str, Any]) -> PartWriter:
    """Return the writer of parts after writing the head."""
    writer = framing.Writer(out, passphrase)
    writer.put_value(MANIFEST, manifest)
    return PartWriter(writer)
