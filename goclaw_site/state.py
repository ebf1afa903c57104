"""The state directory: made private, refused where data would not be safe."""

import os
import secrets
import stat
from pathlib import Path

from goclaw_site.errors import ConfigError

FOLDERS = ("backups", "workspace", "media", "run")
NETWORK_FILESYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.smbnetfs", "fuse.sshfs"}
)
_KEY_BYTES = 50


def prepare_state_dir(
    path: Path, *, allow_network_filesystem: bool = False, mounts: str | None = None
) -> None:
    """Make the folder and its subfolders, mode 0700; ConfigError where that is not possible.

    `mounts` is text in the form of /proc/mounts, by default that of this machine.
    """
    if not allow_network_filesystem:
        _refuse_network(path, mounts)
    try:
        _make_private(path)
        for name in FOLDERS:
            _make_private(path / name)
        _probe(path)
    except OSError as error:
        raise ConfigError(
            f"The state directory {path} cannot be written: {error.strerror}. "
            "Make it writable, or set GOCLAW_STATE_DIR to another folder."
        ) from None


def secret_key(path: Path) -> str:
    """The signing key in `credentials/secret_key`, made on the first call."""
    file = path / "credentials" / "secret_key"
    key = secret(path, "secret_key")
    if len(key) < _KEY_BYTES:
        raise ConfigError(
            f"The secret key {file} is damaged. Restore it from a backup; if there is none, "
            "delete it: a new one is made and everybody signs in again."
        )
    return key


def secret(path: Path, name: str) -> str:
    """A password of our own in `credentials/<name>`, made on the first call."""
    file = path / "credentials" / name
    try:
        if not file.exists():
            _make_private(file.parent)
            _write_once(file, secrets.token_urlsafe(_KEY_BYTES))
        return file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The secret {file} cannot be read or made: {error}.") from None


def filesystem_of(path: Path, mounts: str) -> str:
    """The type of the file system `path` lies on, by the longest matching mount."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        point = Path(fields[1].replace("\\040", " "))
        # A later mount on the same point hides the earlier one.
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind


def _refuse_network(path: Path, mounts: str | None) -> None:
    text = _machine_mounts() if mounts is None else mounts
    kind = filesystem_of(path.resolve(), text)
    if kind in NETWORK_FILESYSTEMS:
        raise ConfigError(
            f"The state directory {path} lies on a network file system ({kind}), where SQLite "
            "may lose data. Set GOCLAW_STATE_DIR to a local folder, or set "
            "database.allow_network_filesystem to true at your own risk."
        )


def _machine_mounts() -> str:
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink():
        # Whose place it leads to, and who may go there, was decided by whoever made the link.
        return
    mode = folder.stat().st_mode
    if mode & stat.S_ISVTX or folder in (Path("/"), Path.home()):
        raise ConfigError(
            f"{folder} is shared with other programs. Set GOCLAW_STATE_DIR to a folder of its own."
        )
    if stat.S_IMODE(mode) & 0o077:
        folder.chmod(0o700)


def _probe(path: Path) -> None:
    """Writing is the only test that also holds for root and for read-only mounts."""
    probe = path / "run" / f".probe-{os.getpid()}"
    probe.write_bytes(b"")
    probe.unlink()


def _write_once(file: Path, text: str) -> None:
    """Whole or not at all, and the first of several writers wins."""
    draft = file.with_name(f".{file.name}-{os.getpid()}-{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text + "\n")
        out.flush()
        os.fsync(out.fileno())
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    except OSError:
        # A file system without hard links; the key is still never seen half-written.
        draft.rename(file)
    finally:
        draft.unlink(missing_ok=True)
