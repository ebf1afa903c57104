"""The vault: what goes in comes out, and nothing that happens to its files loses anything."""

import json
import stat
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goclaw_site.errors import ConfigError, InvalidInput
from goclaw_site.vault import MAX_SECRETS, MAX_VALUE_BYTES, Vault

SECRET = "hunter2-of-the-tests"


@pytest.fixture
def vault(tmp_path) -> Vault:
    held = Vault(tmp_path)
    held.set("PG", SECRET)
    return held


def refusal(work) -> str:
    with pytest.raises(ConfigError) as caught:
        work()
    return caught.value.message


def test_kept_encrypted_and_for_the_owner_alone(vault, tmp_path):
    assert vault.get("PG") == SECRET
    assert vault.get("OTHER") is None
    folder = tmp_path / "credentials"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == ["secrets.enc", "vault.key", "vault.lock"]
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert SECRET.encode() not in file.read_bytes()


def test_names_come_without_values(vault):
    vault.set("A.b-c_1", "x")
    assert [entry.name for entry in vault.names()] == ["A.b-c_1", "PG"]
    assert SECRET not in repr(vault.names())


def test_replaced_and_removed(vault):
    assert vault.set("PG", "new") is False
    assert vault.get("PG") == "new"
    assert vault.remove("PG") is True
    assert vault.remove("PG") is False
    assert vault.names() == []


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1))
def test_any_text_comes_back(tmp_path_factory, value):
    held = Vault(tmp_path_factory.mktemp("state"))
    if not value.strip():
        with pytest.raises(InvalidInput):
            held.set("X", value)
        return
    held.set("X", value)
    assert held.get("X") == value


@pytest.mark.parametrize("name", ["", "1A", "a b", "a/b", "ä", "A}", "../x", "A" * 49, "A\n"])
def test_odd_names_are_refused(vault, name):
    with pytest.raises(InvalidInput, match="name is 1 to 48"):
        vault.set(name, "x")


@pytest.mark.parametrize("value", ["", " \n", "a\0b", "\ud800", "x" * (MAX_VALUE_BYTES + 1)])
def test_odd_values_are_refused_and_change_nothing(vault, value):
    before = vault.file.read_bytes()
    with pytest.raises(InvalidInput):
        vault.set("PG", value)
    assert vault.file.read_bytes() == before


def test_the_longest_value_fits(vault):
    vault.set("BIG", "x" * MAX_VALUE_BYTES)
    assert len(vault.get("BIG")) == MAX_VALUE_BYTES


def test_a_full_vault_says_so(vault, monkeypatch):
    monkeypatch.setattr("goclaw_site.vault.MAX_SECRETS", 1)
    with pytest.raises(InvalidInput, match="holds 1 secrets"):
        vault.set("ONE_MORE", "x")
    assert MAX_SECRETS > 100


@pytest.mark.parametrize("part", ["salt", "nonce", "box", "version", "key", "check", "format"])
def test_an_altered_file_is_refused_and_left(vault, part):
    head = json.loads(vault.file.read_text())
    was = head[part]
    head[part] = 0 if isinstance(was, int) else ("B" if was[0] == "A" else "A") + was[1:]
    vault.file.write_text(json.dumps(head))
    before = vault.file.read_bytes()
    said = refusal(lambda: vault.get("PG"))
    assert "damaged" in said or "another key" in said
    refusal(lambda: vault.set("NEW", "x"))
    refusal(lambda: vault.remove("PG"))
    assert vault.file.read_bytes() == before


def test_every_truncation_is_refused(vault):
    whole = vault.file.read_bytes()
    for size in range(len(whole.rstrip())):
        vault.file.write_bytes(whole[:size])
        assert "cut short" in refusal(lambda: vault.get("PG"))


def test_a_newer_format_is_named(vault):
    head = json.loads(vault.file.read_text())
    vault.file.write_text(json.dumps({**head, "version": 2}))
    assert "newer version" in refusal(lambda: vault.get("PG"))


def test_a_lost_key_and_a_foreign_key(vault, tmp_path):
    key = tmp_path / "credentials" / "vault.key"
    other = Vault(tmp_path / "other")
    other.set("X", "x")
    key.write_bytes((tmp_path / "other" / "credentials" / "vault.key").read_bytes())
    assert "another key" in refusal(lambda: vault.get("PG"))
    key.write_bytes(b"short")
    assert "vault.key" in refusal(lambda: vault.get("PG"))
    key.unlink()
    assert "missing" in refusal(lambda: vault.get("PG"))
    # A new key beside a vault that it cannot open would be the end of the vault.
    refusal(lambda: vault.set("NEW", "x"))
    assert not key.exists()


def test_a_passphrase_instead_of_the_file(tmp_path):
    held = Vault(tmp_path, "correct horse battery")
    held.set("PG", SECRET)
    assert not (tmp_path / "credentials" / "vault.key").exists()
    assert Vault(tmp_path, "correct horse battery").get("PG") == SECRET
    assert "GOCLAW_VAULT_KEY" in refusal(lambda: Vault(tmp_path).get("PG"))
    assert "another key" in refusal(lambda: Vault(tmp_path, "wrong horse battery").get("PG"))
    assert "12 characters" in refusal(lambda: Vault(tmp_path, "short").get("PG"))


def test_a_passphrase_takes_a_file_sealed_vault_over(vault, tmp_path):
    sealed = Vault(tmp_path, "correct horse battery")
    assert sealed.get("PG") == SECRET
    sealed.set("OTHER", "x")
    assert sealed.get("PG") == SECRET
    assert "passphrase" in refusal(lambda: Vault(tmp_path).get("PG"))


def test_writers_at_once_lose_nothing(tmp_path):
    names = [f"S{number}" for number in range(12)]
    writers = [
        threading.Thread(target=Vault(tmp_path).set, args=(name, f"value of {name}"))
        for name in names
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    held = Vault(tmp_path)
    assert {name: held.get(name) for name in names} == {name: f"value of {name}" for name in names}


def test_a_disk_that_takes_nothing_leaves_the_vault(vault, tmp_path, monkeypatch):
    before = vault.file.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("goclaw_site.vault.os.fsync", full)
    assert "No space left" in refusal(lambda: vault.set("NEW", "x"))
    assert vault.file.read_bytes() == before
    assert not list((tmp_path / "credentials").glob(".*"))
