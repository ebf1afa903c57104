"""A stream sealed by a passphrase: scrypt makes the key, AES-256-GCM seals it chunk by chunk.

Each chunk's nonce holds its number and whether it is the last, so that no chunk can be changed,
moved, repeated or left out, and a file that was cut short is noticed (the STREAM construction).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import asdict, dataclass
from typing import IO, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from goclaw_site.errors import InvalidInput, Refused

CHUNK = 64 * 1024
TAG = 16
#: OWASP's figures for scrypt with 32 MB: the same cost as N = 2^17 with p = 1.
COST_N, COST_R, COST_P = 2**15, 8, 3
#: What a file may ask of the machine that reads it.
MOST_N, MOST_P = 2**17, 8
_KEY, _CHECK = 32, 8
_SALT, _PREFIX = 16, 7


class Source(Protocol):
    """What can be read from: a file, or an opened seal."""

    def read(self, size: int) -> bytes: ...


class Sink(Protocol):
    """What can be written to."""

    def write(self, data: bytes) -> object: ...


@dataclass(frozen=True)
class Seal:
    """What the head of a sealed file says; binary values in hex. `check` knows the passphrase."""

    salt: str
    prefix: str
    check: str = ""
    n: int = COST_N
    r: int = COST_R
    p: int = COST_P

    @classmethod
    def read(cls, value: object) -> Seal:
        """Return the seal that a head describes. Raise ValueError for what no writer makes."""
        if not isinstance(value, dict) or set(value) != set(asdict(cls("", ""))):
            raise ValueError("its seal is incomplete")
        seal = cls(**value)
        lengths = [len(bytes.fromhex(text)) for text in (seal.salt, seal.prefix, seal.check)]
        costs = (type(seal.n), type(seal.r), type(seal.p)) == (int, int, int)
        if lengths != [_SALT, _PREFIX, _CHECK] or not costs:
            raise ValueError("its seal is malformed")
        power = seal.n > 1 and seal.n & (seal.n - 1) == 0
        if not (power and seal.n <= MOST_N and seal.r == COST_R and 1 <= seal.p <= MOST_P):
            raise ValueError("its seal asks for more work than any writer of ours does")
        return seal


def make(passphrase: str) -> tuple[Seal, bytes]:
    """Return a new seal for the head of a file, and its key."""
    bare = Seal(secrets.token_hex(_SALT), secrets.token_hex(_PREFIX))
    key, check = _derived(bare, passphrase)
    return Seal(bare.salt, bare.prefix, check.hex()), key


def key_of(seal: Seal, passphrase: str) -> bytes:
    """Return the key. Raise Refused for another passphrase than the one of the writer."""
    key, check = _derived(seal, passphrase)
    if not hmac.compare_digest(check, bytes.fromhex(seal.check)):
        raise Refused("This is not the passphrase that the snapshot was sealed with.")
    return key


def _derived(seal: Seal, passphrase: str) -> tuple[bytes, bytes]:
    made = hashlib.scrypt(
        passphrase.encode("utf-8", "surrogateescape"),
        salt=bytes.fromhex(seal.salt),
        n=seal.n,
        r=seal.r,
        p=seal.p,
        maxmem=256 * 1024 * 1024,
        dklen=_KEY + _CHECK,
    )
    return made[:_KEY], made[_KEY:]


def _nonce(seal: Seal, number: int, *, last: bool) -> bytes:
    return bytes.fromhex(seal.prefix) + number.to_bytes(4, "big") + bytes([last])


class Sealer:
    """Writes what it is given, sealed; `close` writes the last chunk and must be called."""

    def __init__(self, out: Sink, seal: Seal, key: bytes, head: bytes) -> None:
        self._out, self._seal, self._head = out, seal, head
        self._box = AESGCM(key)
        self._held = bytearray()
        self._number = 0

    def write(self, data: bytes) -> None:
        """Take more; whole chunks go out once it is sure that another follows."""
        self._held += data
        while len(self._held) > CHUNK:
            self._put(bytes(self._held[:CHUNK]), last=False)
            del self._held[:CHUNK]

    def close(self) -> None:
        """Mark the end."""
        self._put(bytes(self._held), last=True)

    def _put(self, chunk: bytes, *, last: bool) -> None:
        nonce = _nonce(self._seal, self._number, last=last)
        self._out.write(self._box.encrypt(nonce, chunk, self._head))
        self._number += 1


class Opener:
    """Reads what a `Sealer` wrote; InvalidInput where a chunk was changed or the end is missing."""

    def __init__(self, held: IO[bytes], seal: Seal, key: bytes, head: bytes) -> None:
        self._in, self._seal, self._head = held, seal, head
        self._box = AESGCM(key)
        self._ready = b""
        self._number = 0
        self._next = held.read(CHUNK + TAG)
        self._ended = False

    def read(self, size: int) -> bytes:
        """Return `size` bytes, fewer at the end alone."""
        while len(self._ready) < size and not self._ended:
            self._ready += self._open()
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken

    def _open(self) -> bytes:
        chunk, self._next = self._next, self._in.read(CHUNK + TAG)
        self._ended = not self._next
        nonce = _nonce(self._seal, self._number, last=self._ended)
        self._number += 1
        try:
            return self._box.decrypt(nonce, chunk, self._head)
        except (InvalidTag, ValueError):
            where = "it ends too early or its end" if self._ended else f"chunk {self._number}"
            raise InvalidInput(f"{where} was altered") from None
