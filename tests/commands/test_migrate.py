"""`memory migrate`: other memories into this one; again changes nothing, nobody's becomes all's."""

import json
import os

import pytest

from goclaw_site.errors import InvalidInput, Refused
from memory.models import Memory
from tests.api.callers import caller

CURATED = """# Long-term memory

## People
- **Bob** likes long walks,
  by the river
- Zoë speaks 日本語
  - and German

A paragraph over
two lines.

```
# no heading
```
## Empty
"""
DAY = """# 2024-03-05
Woke up.

## Deploy
- moved gateway to 10.0.0.7
```
## not a heading
```
## Nothing
"""


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    (folder / "memory/topics").mkdir(parents=True)
    (folder / "MEMORY.md").write_text(CURATED)
    (folder / "memory/2024-03-05.md").write_text(DAY)
    (folder / "memory/topics/cats.md").write_text("Cats sleep.")
    (folder / "memory/empty.md").write_text("")
    (folder / "memory/bad.md").write_bytes(b"\xff\xfe\xfd")
    (folder / "memory/link.md").symlink_to("/etc/hostname")
    (folder / "USER.md").write_text("the person")
    os.utime(folder / "MEMORY.md", (1_600_000_000, 1_600_000_000))
    return folder


def texts(**wanted) -> list[str]:
    rows = Memory.objects.filter(**wanted).order_by("content")
    return list(rows.values_list("content", flat=True))


def test_an_agents_workspace(run, db, workspace):
    rehearsed = run("memory", "migrate", workspace, "--dry-run")
    assert "rehearsal" in rehearsed.out
    assert "6 created" in rehearsed.out
    assert Memory.objects.count() == 0
    done = run("memory", "migrate", workspace, "--json")
    assert done.json["created"] == 6
    assert done.status == 1, "a file could not be read, and it is said"
    assert [fault["where"] for fault in done.json["faults"]] == ["memory/bad.md"]
    left = {note["where"] for note in done.json["skipped_places"]}
    assert left == {"memory/link.md", "USER.md"}
    assert texts() == [
        "# 2024-03-05\nWoke up.",
        "## Deploy\n- moved gateway to 10.0.0.7\n```\n## not a heading\n```",
        "**Bob** likes long walks,\n  by the river",
        "A paragraph over\ntwo lines.\n```\n# no heading\n```",
        "Cats sleep.",
        "Zoë speaks 日本語\n  - and German",
    ]
    bob = Memory.objects.get(content__startswith="**Bob")
    assert (bob.metadata["heading"], bob.occurred_at.year) == ("Long-term memory > People", 2020)
    deploy = Memory.objects.get(content__startswith="## Deploy")
    assert str(deploy.occurred_at) == "2024-03-05 00:00:00+00:00"
    assert deploy.index_prefix == "5 March 2024"
    again = run("memory", "migrate", workspace, "--json")
    assert (again.json["created"], again.json["existing"]) == (0, 6)


MEMORIES = {
    "results": [
        {"id": "a1", "memory": "Ann likes tea", "user_id": "ann", "metadata": {"k": 1},
         "created_at": "2023-11-07T05:31:56Z", "updated_at": "2024-01-02T03:04:05-07:00"},
        {"id": "a2", "memory": "The gate is blue", "agent_id": "bot"},
        {"id": "a3", "memory": "of nobody here", "user_id": "carl"},
        {"id": "a4", "memory": " "},
        7,
        {"memory": "a\u0000b"},
        {"id": "a5", "memory": "x", "user_id": ["ann"]},
    ]
}  # fmt: skip


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(MEMORIES))
    return path


def test_mem0_gives_everybody_their_own(run, db, export):
    ann = caller("ann")
    done = run("memory", "migrate", export, "--json")
    assert (done.json["created"], done.json["failed"]) == (2, 5)
    assert "--user NAME takes it" in json.dumps(done.json["faults"])
    record = Memory.objects.get(scope="personal")
    assert (record.owner.username, record.content) == ("ann", "Ann likes tea")
    assert str(record.occurred_at) == "2024-01-02 10:04:05+00:00"
    assert record.metadata["k"] == 1
    assert texts(scope="agent_notes") == ["The gate is blue"]
    again = run("memory", "migrate", export, "--json")
    assert (again.json["created"], again.json["existing"]) == (0, 2)
    refused = run("memory", "migrate", export, "--key", ann.key, "--scope", "global", "--json")
    assert (refused.status, refused.json["created"]) == (1, 0)


def test_mem0_of_one_person(run, db, export):
    ann = caller("ann")
    done = run("memory", "migrate", export, "--key", ann.key, "--json")
    assert done.json["created"] == 3
    assert {memory.owner.username for memory in Memory.objects.all()} == {"ann"}


@pytest.mark.parametrize(
    "content", ["", "{", "[" * 100_000, '{"x": []}', "7", '{"results": {}}', "\udcff"]
)
def test_files_that_are_no_export(run, db, tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    done = run("memory", "migrate", path)
    assert done.status == 1
    assert "1 failed" in done.out


def test_what_is_no_source(run, db, tmp_path):
    for source in (tmp_path, tmp_path / "nothing", tmp_path / "a.txt"):
        with pytest.raises(InvalidInput, match="neither"):
            run("memory", "migrate", source)


def test_our_own_layout(run, db):
    done = run("memory", "migrate")
    assert (done.status, "nothing to do" in done.out) == (0, True)
    assert run("memory", "migrate", "--dry-run", "--json").json["steps"] == []
    with pytest.raises(Refused):
        run("memory", "migrate", "--key", caller("ann").key)
