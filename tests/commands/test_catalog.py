"""`memory export --file` and `memory import --file`, as the source document writes them."""

import pytest

from goclaw_site.errors import InvalidInput, Refused
from memory.models import Memory
from tests.api.callers import caller


@pytest.fixture
def root(db):
    found = caller("root", is_superuser=True)
    found.wrote("the kettle is green", scope="agent_notes")
    return found


def test_the_lines_of_the_document(run, root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = run("memory", "export", "--file", "catalog.json")
    assert "1 record," in out.out
    same = run("memory", "import", "--file", "catalog.json")
    assert (same.status, same.out.splitlines()[0]) == (
        0, "0 created, 1 unchanged, 0 conflicting, 0 bad"
    )  # fmt: skip
    Memory.objects.all().delete()
    rehearsed = run("memory", "import", "--file", "catalog.json", "--dry-run")
    assert "1 would be created" in rehearsed.out
    assert run("memory", "import", "--file", "catalog.json", "--json").json["created"] == 1
    with pytest.raises(Refused, match="--yes"):
        run("memory", "export", "--file", "catalog.json")
    for line in (("stats",), ("reindex",)):
        assert run("memory", *line).status == 0


def test_bad_rows_are_named(run, root, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(
        '{"format": "goclaw-catalog", "version": 1, "records": ['
        '{"scope": "personal", "content": "x"}, {"scope": "agent_notes", "content": "y"}]}'
    )
    refused = run("memory", "import", "--file", path)
    assert refused.status == 1
    assert "row 1, bad: scope must be one of agent_notes, agent_config" in refused.out
    assert "Nothing was written" in refused.out
    assert run("memory", "import", "--file", path, "--skip-bad").status == 0
    assert Memory.objects.filter(content="y").exists()
    with pytest.raises(InvalidInput, match="cannot be read"):
        run("memory", "import", "--file", tmp_path / "nothing")
