"""`wiki gc` takes what nothing needs, and nothing else."""

from __future__ import annotations

import os
import time
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from goclaw_site.errors import Refused
from tests.wiki.making import CHIEF, write
from wiki import attachments, cleaning, pages
from wiki.models import WikiAttachment

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def media(tmp_path, monkeypatch):
    (tmp_path / "media").mkdir()
    monkeypatch.setattr(attachments, "state_dir", lambda: tmp_path)
    monkeypatch.setattr(cleaning, "state_dir", lambda: tmp_path)
    return tmp_path / "media"


def old() -> None:
    WikiAttachment.objects.update(created_at=timezone.now() - timedelta(days=2))


def test_only_files_of_pages_that_are_gone_go(ann, media):
    write(ann, "live", "x")
    write(ann, "gone", "x")
    kept = attachments.upload(ann, "live", "kept", [b"1"]).attachment
    gone = attachments.upload(ann, "gone", "gone", [b"2"]).attachment
    shown = attachments.upload(ann, "gone", "shown", [b"3"]).attachment
    write(ann, "live", f"![x](/media/{shown.pk})")
    pages.delete(ann, "gone")
    assert cleaning.clean(ann).rows == (), "a new file waits for its page"
    old()
    assert cleaning.clean(ann, dry=True).rows == ("gone: gone",)
    assert (media / str(gone.pk)).exists()
    assert cleaning.clean(ann).rows == ("gone: gone",)
    assert {path.name for path in media.iterdir()} == {str(kept.pk), str(shown.pk)}
    assert cleaning.clean(ann).rows == ()


def test_strays_go_when_they_are_old(media):
    names = [str(uuid.uuid4()), f"{attachments.UNFINISHED}x", "somebody's.txt"]
    for name in names:
        (media / name).write_bytes(b"x")
    assert cleaning.clean(CHIEF).strays == ()
    past = time.time() - 3 * 86400
    for name in names:
        os.utime(media / name, (past, past))
    assert sorted(cleaning.clean(CHIEF).strays) == sorted(names[:2])
    assert [path.name for path in media.iterdir()] == ["somebody's.txt"]


def test_who_may_clean(agent):
    with pytest.raises(Refused):
        cleaning.clean(agent)
