"""`db export` and `db import` at a terminal."""

import json
import stat

import pytest

from goclaw_site.errors import Conflict, InvalidInput, Refused
from memory.models import Memory
from tests.api.callers import caller
from tests.commands.running import outside, plain_line

CANARY = "zqsecret"


@pytest.fixture
def ann(db):
    found = caller("ann")
    found.wrote(f"{CANARY} of ann", scope="personal")
    return found


def test_out_and_in_without_a_word_of_what_it_holds(run, ann, tmp_path):
    path = tmp_path / "all.gclaw"
    made = run("db", "export", "--output", path, "--sessions")
    assert "1 record, 1 person, 1 key" in made.out
    assert "not sealed" in made.out
    assert "Sessions: there are none" in made.out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(Conflict, match="--replace"):
        run("db", "import", path)
    rehearsed = run("db", "import", path, "--dry-run")
    assert rehearsed.status == 1
    assert "sound" in rehearsed.out
    Memory.objects.all().delete()
    done = run("db", "import", path, "--replace", "--yes", "--json")
    assert (done.status, done.json["rows"]["memory.Memory"]) == (0, 1)
    assert done.json["backup"]
    assert Memory.objects.get().content == f"{CANARY} of ann"
    assert CANARY not in made.out + rehearsed.out + done.out


def test_it_asks_before_anything_goes(run, ann, tmp_path):
    path = tmp_path / "all.gclaw"
    run("db", "export", "--output", path)
    for words in (("export", "--output", path), ("import", path, "--replace")):
        with pytest.raises(Refused, match="--yes"):
            run("db", *words)
    assert run("db", "export", "--output", path, "--yes").status == 0


def test_a_passphrase_from_a_file(run, ann, tmp_path):
    path, words, other = (tmp_path / name for name in ("all.gclaw", "words", "other"))
    words.write_text("correct horse battery\nmore\n")
    other.write_text("short\n")
    with pytest.raises(InvalidInput, match="at least 8"):
        run("db", "export", "--output", path, "--passphrase-file", other)
    made = run("db", "export", "--output", path, "--passphrase-file", words, "--json")
    assert made.json["sealed"] is True
    with pytest.raises(Refused, match="--passphrase-file"):
        run("db", "import", path, "--replace", "--yes")
    with pytest.raises(Refused, match="not the passphrase"):
        run("db", "import", path, "--replace", "--yes", "--passphrase-file", other)
    rehearsed = run(
        "db", "import", path, "--replace", "--dry-run", "--json", "--passphrase-file", words
    )
    assert rehearsed.json["dry_run"] is True
    assert rehearsed.json["would_replace"]["memory.Memory"] == 1
    other.write_bytes(b"\xff\xfe\n")
    for missing, why in (
        (tmp_path / "nothing", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (other, "it is not UTF-8"),
    ):
        with pytest.raises(InvalidInput, match=rf"cannot be read: {why}\.$"):
            run("db", "export", "--output", tmp_path / "b", "--passphrase-file", missing)


@pytest.mark.parametrize("name", ["no/folder/x.gclaw", "."])
def test_where_no_file_can_be(run, db, tmp_path, name):
    with pytest.raises(InvalidInput, match="in a folder that is there"):
        run("db", "export", "--output", tmp_path / name)


@pytest.mark.slow
def test_from_one_machine_to_another(tmp_path):
    """As people do it: two state directories, the second fresh."""
    one, other, path = tmp_path / "one", tmp_path / "other", tmp_path / "all.gclaw"
    assert outside(one, "memory", "add", "the kettle is green").status == 0
    (one / "workspace/Memory.md").write_text("a line")
    assert outside(one, "db", "export", "--output", path, "--files", "--attachments").status == 0
    made = outside(other, "db", "import", path)
    assert made.status == 0, made.err
    assert (other / "workspace/Memory.md").read_text() == "a line"
    found = outside(other, "memory", "search", "kettle", "--json")
    assert json.loads(found.out)["results"][0]["text"] == "the kettle is green"
    assert "--replace" in plain_line(outside(other, "db", "import", path))
    path.write_bytes(path.read_bytes()[:-50])
    sure = ("--replace", "--yes")
    assert "Nothing was changed" in plain_line(outside(other, "db", "import", path, *sure))
    missing = plain_line(outside(other, "db", "import", tmp_path / "nothing"))
    assert "No such file" in missing
