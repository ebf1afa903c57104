"""Copies of the database before what cannot be undone: as many as wanted, the newest always."""

import pytest

from goclaw_site.config import state_dir
from memory import backups
from memory.backups import automatic

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty():
    for path in automatic.found():
        path.unlink()
    yield
    for path in automatic.found():
        path.unlink()


def test_the_oldest_go(configure):
    configure({"backup.keep_automatic": 3})
    made = [backups.back_up() for _ in range(5)]
    assert automatic.found() == made[:1:-1]


def test_the_newest_stays_whatever_the_clock_did(configure):
    configure({"backup.keep_automatic": 1})
    ahead = state_dir() / "backups" / "gc_state_29990101T000000_000000Z.sqlite"
    ahead.parent.mkdir(exist_ok=True)
    ahead.write_bytes(b"of a clock that was wrong")
    made = backups.back_up()
    assert automatic.found() == [made]


def test_other_files_are_not_touched(configure):
    configure({"backup.keep_automatic": 1})
    mine = state_dir() / "backups" / "mine.sqlite"
    mine.parent.mkdir(exist_ok=True)
    mine.write_bytes(b"mine")
    backups.back_up()
    backups.back_up()
    assert mine.exists()
    mine.unlink()
