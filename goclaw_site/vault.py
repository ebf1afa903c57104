"""The vault: secrets that the configuration names, encrypted, in the state directory."""

import fcntl
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from goclaw_site.errors import ConfigError, InvalidInput
from goclaw_site.vaultfile import Held, Sealer, opened, sealed

FOLDER = "credentials"
FILE = "secrets.enc"
KEY_FILE = "vault.key"
_LOCK = "vault.lock"

#: Limits of one secret and of the vault; a certificate with its chain fits.
MAX_VALUE_BYTES = 65_536
MAX_SECRETS = 500
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,47}")


@dataclass(frozen=True)
class Entry:
    """What may be shown of a secret."""

    name: str
    changed: datetime


class Vault:
    """The secrets of one state directory; `passphrase` replaces the key file.

    Every method raises ConfigError where the file cannot be opened, and leaves it as it is then.
    """

    def __init__(self, state: Path, passphrase: str | None = None) -> None:
        self._folder = state / FOLDER
        self.file = self._folder / FILE
        self._sealer = Sealer(self._folder / KEY_FILE, passphrase)

    def get(self, name: str) -> str | None:
        """The value, or None."""
        held = self._read().get(name)
        return held.value if held else None

    def names(self) -> list[Entry]:
        """Every secret, by name, without its value."""
        return [Entry(name, held.changed) for name, held in sorted(self._read().items())]

    def set(self, name: str, value: str) -> bool:
        """Put or replace one; True where it is new. Raise InvalidInput."""
        check_name(name)
        _check_value(value)

        def put(held: dict[str, Held]) -> bool:
            is_new = name not in held
            if is_new and len(held) >= MAX_SECRETS:
                raise InvalidInput(f"The vault holds {MAX_SECRETS} secrets, and no more.")
            held[name] = Held(value, datetime.now(UTC))
            return is_new

        return self._change(put)

    def remove(self, name: str) -> bool:
        """Take one out; False where it was not there."""
        return self._change(lambda held: held.pop(name, None) is not None)

    def _read(self) -> dict[str, Held]:
        try:
            text = self.file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise ConfigError(f"The vault {self.file} cannot be read: {error.strerror}.") from None
        return opened(text, self._sealer, self.file)

    def _change(self, change: Callable[[dict[str, Held]], bool]) -> bool:
        """Read, change and write while no other process does."""
        try:
            with self._locked():
                held = self._read()
                before = dict(held)
                done = change(held)
                if held != before:
                    _write(self.file, sealed(held, self._sealer))
                return done
        except OSError as error:
            raise ConfigError(
                f"The vault {self.file} cannot be written: {error.strerror}. It is as it was."
            ) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        handle = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def check_name(name: str) -> None:
    """Raise InvalidInput for a name that no reference could hold."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "A secret's name is 1 to 48 letters, digits, '_', '-' and '.', and begins with a "
            "letter, such as OPENAI_KEY.",
            field="NAME",
        )


def _check_value(value: str) -> None:
    if not value.strip():
        raise InvalidInput("The value is empty; `goclaw secrets rm NAME` removes a secret.")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInput("The value is not text: it holds half of a character.") from None
    if size > MAX_VALUE_BYTES:
        raise InvalidInput(
            f"The value has {size:,} bytes; a secret has {MAX_VALUE_BYTES:,} at most."
        )
    if "\0" in value:
        raise InvalidInput("The value holds a NUL character, which no password or key has.")


def _write(file: Path, content: bytes) -> None:
    """Whole or not at all, also through a power cut."""
    draft = file.with_name(f".{file.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
