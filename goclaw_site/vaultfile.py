"""The file of the vault: JSON around an AES-256-GCM box, and the two ways to its key."""

import base64
import binascii
import hashlib
import json
import os
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from goclaw_site.errors import ConfigError

FORMAT, VERSION = "goclaw-vault", 1
FROM_FILE, FROM_PASSPHRASE = "file", "passphrase"
VARIABLE = "GOCLAW_VAULT_KEY"

_KEY_BYTES, _NONCE_BYTES, _SALT_BYTES = 32, 12, 16
#: A passphrase is tried offline by who has the file: short ones are refused, and each try costs
#: about a tenth of a second and 32 MB (RFC 7914's parameters for interactive use, doubled).
_SHORTEST_PASSPHRASE = 12
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}


@dataclass(frozen=True)
class Held:
    """A secret as the file holds it."""

    value: str
    changed: datetime


class Sealer:
    """Finds the key: derived from a passphrase where there is one, else from the key file."""

    def __init__(self, key_file: Path, passphrase: str | None) -> None:
        self._key_file = key_file
        self._passphrase = passphrase
        self._derived: dict[bytes, bytes] = {}

    @property
    def kind(self) -> str:
        """How what is written now is sealed."""
        return FROM_PASSPHRASE if self._passphrase else FROM_FILE

    def key(self, kind: str, salt: bytes) -> bytes:
        """The key of a file that was sealed in this way. Raise ConfigError."""
        if kind == FROM_FILE:
            return self._from_file()
        if not self._passphrase:
            raise ConfigError(
                f"The vault is sealed with a passphrase: set {VARIABLE}, as it was set then."
            )
        if salt not in self._derived:
            self._derived[salt] = _stretched(self._passphrase, salt)
        return self._derived[salt]

    def key_to_write(self, salt: bytes) -> bytes:
        """The same for what is written now; makes the key file on first use."""
        if self.kind == FROM_FILE and not self._key_file.exists():
            _make_key(self._key_file)
        return self.key(self.kind, salt)

    def _from_file(self) -> bytes:
        try:
            key = base64.b64decode(self._key_file.read_bytes().strip(), validate=True)
        except FileNotFoundError:
            raise ConfigError(
                f"The vault's key {self._key_file} is missing. Copy it back from a backup made "
                "with --secrets. If there is none, the secrets are lost: move secrets.enc away and "
                "set them again with `goclaw secrets set NAME`."
            ) from None
        except (OSError, binascii.Error) as error:
            raise ConfigError(
                f"The vault's key {self._key_file} cannot be read: {error}."
            ) from None
        if len(key) != _KEY_BYTES:
            raise ConfigError(f"The vault's key {self._key_file} is damaged: restore it.")
        return key


def sealed(held: dict[str, Held], sealer: Sealer) -> bytes:
    """The content of the file. The head is authenticated with the box."""
    salt, nonce = secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_NONCE_BYTES)
    key = sealer.key_to_write(salt)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "key": sealer.kind,
        "check": _check(key),
        "salt": _text(salt),
        "nonce": _text(nonce),
    }
    plain = {
        name: {"value": one.value, "changed": one.changed.isoformat()} for name, one in held.items()
    }
    box = AESGCM(key).encrypt(nonce, json.dumps(plain).encode(), _bound(head))
    return json.dumps({**head, "box": _text(box)}, indent=1).encode() + b"\n"


def opened(content: bytes, sealer: Sealer, file: Path) -> dict[str, Held]:
    """The secrets in the file. Raise ConfigError: damaged, newer, or another key."""
    head, nonce, salt, box = _parsed(content, file)
    key = sealer.key(head["key"], salt)
    if head["check"] != _check(key):
        raise ConfigError(_wrong_key(head["key"], file))
    try:
        plain = json.loads(AESGCM(key).decrypt(nonce, box, _bound(head)))
        return {
            name: Held(one["value"], datetime.fromisoformat(one["changed"]))
            for name, one in plain.items()
        }
    except (InvalidTag, ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(_damaged(file)) from None


def _parsed(content: bytes, file: Path) -> tuple[dict[str, Any], bytes, bytes, bytes]:
    try:
        head = json.loads(content)
        if head["format"] == FORMAT and head["version"] > VERSION:
            raise ConfigError(f"The vault {file} was made by a newer version. Install that one.")
        box = base64.b64decode(head.pop("box"), validate=True)
        nonce, salt = (base64.b64decode(head[part], validate=True) for part in ("nonce", "salt"))
        sound = head["format"] == FORMAT and head["key"] in (FROM_FILE, FROM_PASSPHRASE)
        sound = sound and isinstance(head["check"], str) and len(nonce) == _NONCE_BYTES
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise ConfigError(_damaged(file))
    return head, nonce, salt, box


def _damaged(file: Path) -> str:
    return (
        f"The vault {file} is damaged: it was cut short or altered. It is left as it is. Copy it "
        "back from a backup made with --secrets, or move it away and set the secrets again with "
        "`goclaw secrets set NAME`."
    )


def _wrong_key(kind: str, file: Path) -> str:
    held = f"the passphrase in {VARIABLE}" if kind == FROM_PASSPHRASE else "the file vault.key"
    return f"The vault {file} was sealed with another key than {held}. It is left as it is."


def _stretched(passphrase: str, salt: bytes) -> bytes:
    if len(passphrase) < _SHORTEST_PASSPHRASE:
        raise ConfigError(f"{VARIABLE} must have {_SHORTEST_PASSPHRASE} characters or more.")
    return Scrypt(salt=salt, length=_KEY_BYTES, **_SCRYPT).derive(os.fsencode(passphrase))


def _check(key: bytes) -> str:
    """Tells a wrong key from a damaged file, and says nothing else about the key."""
    return hashlib.sha256(b"goclaw-vault-check:" + key).hexdigest()[:16]


def _bound(head: dict[str, Any]) -> bytes:
    return json.dumps(head, sort_keys=True).encode()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _make_key(file: Path) -> None:
    """Whole before it has its name; the vault's lock keeps a second writer out."""
    draft = file.with_name(f".{file.name}-{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
        out.flush()
        os.fsync(out.fileno())
    draft.rename(file)
