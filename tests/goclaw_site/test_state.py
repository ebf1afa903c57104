"""A private folder, or a refusal that says what to do."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from goclaw_site.errors import ConfigError
from goclaw_site.state import FOLDERS, filesystem_of, prepare_state_dir, secret_key

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /mnt/nas nfs4 rw 0 0
/dev/sdb1 /mnt/nas/local ext4 rw 0 0
//box/share /mnt/two\\040words cifs rw 0 0
broken
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_and_subfolders_are_private(tmp_path):
    state = tmp_path / "deep" / "state"
    prepare_state_dir(state)
    prepare_state_dir(state)
    assert [mode(folder) for folder in (state, *(state / name for name in FOLDERS))] == [0o700] * 5


def test_open_folder_is_closed(tmp_path):
    tmp_path.chmod(0o755)
    prepare_state_dir(tmp_path)
    assert mode(tmp_path) == 0o700


def test_shared_folder_is_refused_and_left_as_it_is(tmp_path):
    tmp_path.chmod(0o1777)
    with pytest.raises(ConfigError, match="shared with other programs"):
        prepare_state_dir(tmp_path)
    assert mode(tmp_path) == 0o1777


def test_folder_that_cannot_be_written_is_refused(tmp_path):
    # Permissions do not hold root back; a file in the way holds everybody back.
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written") as caught:
        prepare_state_dir(tmp_path / "file" / "state")
    assert "GOCLAW_STATE_DIR" in caught.value.message


def test_read_only_file_system_is_refused():
    with pytest.raises(ConfigError, match="cannot be written"):
        prepare_state_dir(Path("/proc/goclaw"))


@pytest.mark.parametrize("path", ["/mnt/nas/state", "/mnt/two words/state"])
def test_network_file_system_is_refused_unless_overridden(path):
    with pytest.raises(ConfigError, match=r"network file system .*allow_network_filesystem"):
        prepare_state_dir(Path(path), mounts=MOUNTS)


def test_override_for_network_file_systems(tmp_path):
    mounts = f"server:/export {tmp_path} nfs rw 0 0\n"
    with pytest.raises(ConfigError):
        prepare_state_dir(tmp_path / "state", mounts=mounts)
    prepare_state_dir(tmp_path / "state", mounts=mounts, allow_network_filesystem=True)


def test_longest_mount_decides():
    assert filesystem_of(Path("/mnt/nas/local/state"), MOUNTS) == "ext4"
    assert filesystem_of(Path("/mnt/nas-other"), MOUNTS) == "ext4"
    assert filesystem_of(Path("/mnt/nas"), MOUNTS) == "nfs4"


def test_secret_key_is_made_once_and_kept(tmp_path):
    first = secret_key(tmp_path)
    file = tmp_path / "credentials" / "secret_key"
    assert len(first) >= 50
    assert secret_key(tmp_path) == first
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)


def test_racing_processes_get_one_key(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: secret_key(tmp_path), range(32)))
    assert len(keys) == 1
    assert [path.name for path in (tmp_path / "credentials").iterdir()] == ["secret_key"]


def test_damaged_key_is_not_replaced_in_silence(tmp_path):
    secret_key(tmp_path)
    (tmp_path / "credentials" / "secret_key").write_text("short")
    with pytest.raises(ConfigError, match="damaged"):
        secret_key(tmp_path)
