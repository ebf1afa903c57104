"""PostgreSQL's rows in one file, and back: whole, or not at all."""

import pytest

from goclaw_site.config import state_dir
from goclaw_site.errors import ConfigError, Unavailable
from memory import backups, checking
from memory.backups import manifest, recording, waiting
from memory.backups.contents import DUMP
from memory.models import Memory
from memory.write import forget
from tests import databases
from tests.memory.making import ADMIN, index_all, note, texts

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(databases.chosen() != "postgres", reason="SQLite is copied as a file"),
]


@pytest.fixture(autouse=True)
def reopened():
    """A dump brings the audit trail's own seals back, which the test's end must get past."""
    yield
    databases.open_audit_trail()
    (state_dir() / DUMP).unlink(missing_ok=True)


def test_a_copy_comes_back_at_the_next_start(keyword_only):
    kept = note("grey heron")
    index_all()
    copy = backups.back_up()
    assert copy is not None
    assert copy.stat().st_mode & 0o777 == 0o600
    forget(ADMIN, kept.pk)
    note("written later")
    copy.rename(state_dir() / DUMP)
    before = waiting.load()
    assert before is not None
    assert before.exists()
    assert texts(ADMIN, "heron") == ["grey heron"]
    assert Memory.objects.count() == 1
    assert checking.check() == []
    assert waiting.load() is None
    # Numbers go on where they were.
    assert note("another").pk != kept.pk


def test_a_damaged_file_changes_nothing(keyword_only):
    note("grey heron")
    (state_dir() / DUMP).write_bytes(b"PGDMP nothing of use" * 50)
    with pytest.raises(ConfigError, match="Nothing was changed"):
        waiting.load()
    assert Memory.objects.count() == 1
    assert (state_dir() / DUMP).exists()


def test_a_backup_of_everything_holds_the_rows(keyword_only, tmp_path):
    note("grey heron")
    made = recording.back_up_to(ADMIN, tmp_path / "copy", secrets=False)
    assert made.driver == "postgresql"
    assert DUMP in dict(manifest.sums(tmp_path / "copy"))
    assert (tmp_path / "copy" / DUMP).read_bytes().startswith(b"PGDMP")


def test_no_room_is_told(keyword_only, monkeypatch):
    from memory.backups import dumps

    target = state_dir() / "nowhere" / "x.dump"
    with pytest.raises((Unavailable, OSError)):
        dumps.dump(target)
    assert not target.exists()
