"""The bytes of a snapshot: a head, then frames, each compressed, under one checksum over all.

    GOCLAW-SNAPSHOT 1           the format's version
    {"sealed": null | {...}}    how the rest is sealed
    frame, frame, ... end       kind (1 byte), length, packed length, packed bytes

Read as if it came from a stranger: every length is bounded before anything is allocated.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import IO, Any

from goclaw_site.errors import InvalidInput, Refused
from memory.snapshots import sealing

MAGIC = b"GOCLAW-SNAPSHOT "
FORMAT = 1
FRAME = 1024 * 1024
#: Text packs about four to one. What packs better than this is written as it is, so that a file
#: which unpacks to more is a bomb and no snapshot.
MOST_RATIO = 100
_RATIO_FROM = 4096
_LEVEL = 4
_HEAD_LINE = 4096
_SHAPE = struct.Struct(">cII")

MANIFEST, BEGIN, DATA, END, FINISH = b"M", b"B", b"D", b"E", b"F"
KINDS = (MANIFEST, BEGIN, DATA, END, FINISH)


@dataclass(frozen=True)
class Frame:
    """One frame, unpacked."""

    kind: bytes
    raw: bytes

    def value(self) -> dict[str, Any]:
        """Return the JSON object in it. Raise InvalidInput."""
        return _object(self.raw)


class Writer:
    """Writes frames in order; `finish` ends the file with the checksum over all of them."""

    def __init__(self, out: IO[bytes], passphrase: str | None) -> None:
        seal, key = sealing.make(passphrase) if passphrase is not None else (None, b"")
        told = json.dumps({"sealed": asdict(seal) if seal else None})
        head = MAGIC + f"{FORMAT}\n{told}\n".encode()
        out.write(head)
        self._sealer = sealing.Sealer(out, seal, key, head) if seal else None
        self._out: sealing.Sink = self._sealer or out
        self._digest = hashlib.sha256(head)

    def put(self, kind: bytes, raw: bytes) -> None:
        """Write one frame of at most `FRAME` bytes."""
        packed = zlib.compress(raw, _LEVEL)
        if _is_bomb(len(raw), len(packed)):
            packed = zlib.compress(raw, 0)
        bare = _SHAPE.pack(kind, len(raw), len(packed))
        self._digest.update(bare)
        self._digest.update(packed)
        self._out.write(bare)
        self._out.write(packed)

    def put_value(self, kind: bytes, value: dict[str, Any]) -> None:
        """Write a JSON object as one frame."""
        self.put(kind, json.dumps(value, ensure_ascii=False).encode())

    def finish(self) -> None:
        """Write the checksum and the mark of the end."""
        self.put_value(FINISH, {"sha256": self._digest.hexdigest()})
        if self._sealer is not None:
            self._sealer.close()


def is_sealed(held: IO[bytes]) -> bool:
    """Tell whether a passphrase is needed. Raise InvalidInput for what is no snapshot."""
    return _read_head(held)[1] is not None


def frames(held: IO[bytes], passphrase: str | None) -> Iterator[Frame]:
    """Yield the frames up to the last, which is checked and not given.

    Raises InvalidInput for anything that no writer makes, Refused for a wrong passphrase.
    """
    head, seal = _read_head(held)
    if seal is not None and passphrase is None:
        raise Refused("The snapshot is sealed: it needs its passphrase.")
    source: sealing.Source = held
    if seal is not None:
        source = sealing.Opener(held, seal, sealing.key_of(seal, passphrase or ""), head)
    digest = hashlib.sha256(head)
    while True:
        so_far = digest.hexdigest()
        bare, body, raw = _next(source)
        digest.update(bare)
        digest.update(body)
        frame = Frame(bare[:1], raw)
        if frame.kind == FINISH:
            _require_end(source, frame, so_far)
            return
        yield frame


def _require_end(source: sealing.Source, frame: Frame, digest: str) -> None:
    if frame.value() != {"sha256": digest}:
        raise InvalidInput("its checksum does not fit what it holds")
    if source.read(1):
        raise InvalidInput("something follows its end")


def _next(source: sealing.Source) -> tuple[bytes, bytes, bytes]:
    """Return one frame as it stands: its shape, its packed and its unpacked bytes."""
    bare = source.read(_SHAPE.size)
    if len(bare) < _SHAPE.size:
        raise InvalidInput("it ends too early")
    kind, length, packed = _SHAPE.unpack(bare)
    if kind not in KINDS or length > FRAME or packed > FRAME + FRAME // 100 + 64:
        raise InvalidInput("it holds a frame that no writer makes")
    if _is_bomb(length, packed):
        raise InvalidInput("it unpacks to far more than it holds")
    body = source.read(packed)
    if len(body) < packed:
        raise InvalidInput("it ends too early")
    return bare, body, _unpack(body, length)


def _is_bomb(length: int, packed: int) -> bool:
    return length > _RATIO_FROM and length > packed * MOST_RATIO


def _unpack(body: bytes, length: int) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(body, length + 1)
    except zlib.error:
        raise InvalidInput("a frame cannot be unpacked") from None
    if len(raw) != length or not unpacker.eof or unpacker.unused_data:
        raise InvalidInput("a frame is not as long as it says")
    return raw


def _read_head(held: IO[bytes]) -> tuple[bytes, sealing.Seal | None]:
    first = held.readline(64)
    if not first.startswith(MAGIC):
        raise InvalidInput("it is not a snapshot of GoClaw")
    version = first[len(MAGIC) :].strip()
    if not version.isdigit() or not first.endswith(b"\n"):
        raise InvalidInput("it is not a snapshot of GoClaw")
    if int(version) > FORMAT:
        raise InvalidInput(
            f"it has format {int(version)} and this version reads up to {FORMAT}: upgrade first"
        )
    second = held.readline(_HEAD_LINE)
    told = _object(second)
    if set(told) != {"sealed"} or not second.endswith(b"\n"):
        raise InvalidInput("its head is malformed")
    try:
        seal = None if told["sealed"] is None else sealing.Seal.read(told["sealed"])
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"its head is malformed ({error})") from None
    return first + second, seal


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput("it holds something malformed")
    return value
