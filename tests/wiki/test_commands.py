"""`goclaw wiki …` at a terminal."""

from __future__ import annotations

from functools import partial

import pytest

from goclaw_site.errors import GoclawError, Refused
from tests.commands.running import here
from tests.wiki.making import write
from wiki import attachments, cleaning, pages
from wiki.models import WikiPage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(capsys):
    return partial(here, capsys)


@pytest.fixture(autouse=True)
def media(tmp_path_factory, monkeypatch):
    state = tmp_path_factory.mktemp("state")
    (state / "media").mkdir()
    monkeypatch.setattr(attachments, "state_dir", lambda: state)
    monkeypatch.setattr(cleaning, "state_dir", lambda: state)
    return state / "media"


def test_a_folder_comes_in_and_a_zip_goes_out(run, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Start\n\n![x](x.png)\n")
    (docs / "x.png").write_bytes(b"\x89PNG\r\n\x1a\nxx")
    dry = run("wiki", "import", docs, "--dry-run", "--json")
    assert (dry.json["created"], WikiPage.objects.count()) == (1, 0)
    ran = run("wiki", "import", docs, "--prefix", "team")
    assert (ran.status, "1 created" in ran.out) == (0, True)
    page = WikiPage.objects.get(slug="team")
    assert (page.author, page.author_kind) == ("command", "human")
    target = tmp_path / "out.zip"
    assert "1 pages and 1 files" in run("wiki", "export", target).out
    with pytest.raises(GoclawError, match="there already"):
        run("wiki", "export", target)
    assert run("wiki", "export", target, "--overwrite", "--json").json["pages"] == 1


def test_a_bad_file_is_said_and_the_status_is_one(run, tmp_path):
    (tmp_path / "bad.md").write_text("---\na: [\n---\n")
    (tmp_path / "good.md").write_text("text")
    ran = run("wiki", "import", tmp_path)
    assert ran.status == 1
    assert "bad.md: the front matter is not YAML" in ran.out
    assert WikiPage.objects.filter(slug="good").exists()


def test_cleaning_asks_and_tells(run, ann, monkeypatch):
    assert "Every file belongs" in run("wiki", "gc").out
    write(ann, "p", "text")
    attachments.upload(ann, "p", "a.txt", [b"x" * 2**20])
    pages.delete(ann, "p")
    monkeypatch.setattr(cleaning, "GRACE", cleaning.GRACE * 0)
    assert "would go" in run("wiki", "gc", "--dry-run").out
    with pytest.raises(Refused, match="--yes"):
        run("wiki", "gc")
    ran = run("wiki", "gc", "--yes", "--json")
    assert (ran.status, ran.json["rows"]) == (0, ["p: a.txt"])
