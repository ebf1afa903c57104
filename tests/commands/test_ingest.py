"""`memory ingest`: chat logs, folders and JSON lines; twice adds nothing, changes amend."""

import json

import pytest

from agents import keys
from memory.models import Memory, MemorySource
from tests.api.callers import Caller, index_all, user

SPEAKERS = ("Caroline", "Melanie")
TOPICS = ("adoption agency", "pottery class", "charity race", "camping trip", "piano lesson")


def chat(turns):
    """A conversation as in LoCoMo: two speakers, sessions of ten turns, dated."""
    return [
        {
            "speaker": SPEAKERS[n % 2],
            "text": f"Turn {n}: I thought about the {TOPICS[n % 5]} again.",
            "time": f"2023-05-{8 + n // 10:02d}T13:{n % 10 * 5:02d}:00",
        }
        for n in range(turns)
    ]


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    )
    return path


def counts(body):
    return {name: body[name] for name in ("created", "existing", "amended", "skipped", "failed")}


NOTHING = {"created": 0, "existing": 0, "amended": 0, "skipped": 0, "failed": 0}


def test_chat_log_keeps_positions_speakers_and_times(run, tmp_path):
    log = write_lines(tmp_path / "talk.jsonl", chat(40))
    ran = run("memory", "ingest", log, "--json")
    assert ran.status == 0
    assert counts(ran.json) == {**NOTHING, "created": 40}
    rows = {row.position: row.memory for row in MemorySource.objects.select_related("memory")}
    assert sorted(rows) == list(range(40))
    assert rows[13].content == "Turn 13: I thought about the camping trip again."
    assert rows[13].index_prefix == "[9 May 2023, 13:15] Melanie:"
    assert str(rows[13].occurred_at) == "2023-05-09 13:15:00+00:00"
    assert {row.source_id for row in MemorySource.objects.all()} == {"talk.jsonl"}


def test_chat_log_is_found_by_words_speaker_and_date(run, tmp_path):
    run("memory", "ingest", write_lines(tmp_path / "talk.jsonl", chat(40)))
    index_all()
    found = run("memory", "search", "pottery", "--json", "--max-results", "50").json["results"]
    assert len(found) == 8
    named = run("memory", "search", "Melanie pottery", "--json").json["results"]
    assert named
    day = run("memory", "search", "pottery", "--json", "--until", "2023-05-08T23:59:59").json
    assert len(day["results"]) == 2


def test_twice_adds_nothing(run, tmp_path):
    log = write_lines(tmp_path / "talk.jsonl", chat(20))
    run("memory", "ingest", log)
    before = list(Memory.objects.order_by("pk").values())
    body = run("memory", "ingest", log, "--json").json
    assert counts(body) == {**NOTHING, "existing": 20}
    assert list(Memory.objects.order_by("pk").values()) == before
    assert MemorySource.objects.count() == 20


def test_changed_line_amends_its_record_and_a_new_one_is_added(run, tmp_path):
    rows = chat(10)
    log = write_lines(tmp_path / "talk.jsonl", rows)
    run("memory", "ingest", log)
    index_all()
    held = MemorySource.objects.get(position=4).memory_id
    rows[4]["text"] = "Turn 4: I sold my tractor."
    rows.append({"speaker": "Caroline", "text": "One more.", "time": "2023-05-20"})
    body = run("memory", "ingest", write_lines(log, rows), "--json").json
    assert counts(body) == {**NOTHING, "created": 1, "amended": 1, "existing": 9}
    assert MemorySource.objects.get(position=4).memory_id == held
    assert Memory.objects.get(pk=held).content == "Turn 4: I sold my tractor."
    index_all()
    assert len(run("memory", "search", "tractor", "--json").json["results"]) == 1
    assert run("memory", "check").status == 0


@pytest.fixture
def folder(tmp_path):
    pages = tmp_path / "notes"
    (pages / "deep" / "er").mkdir(parents=True)
    (pages / ".hidden").mkdir()
    (pages / "index.md").write_text("# Start\n\nThe zebra lives in the zoo.\n")
    (pages / "deep" / "er" / "plain.txt").write_text("A plain giraffe.\n")
    (pages / "deep" / "tagged.md").write_text(
        "---\ntitle: Tagged\ntags: [animal, critical]\n---\nThe okapi hides.\n"
    )
    (pages / "deep" / "天気.md").write_text("明日の天気は晴れです。\n")
    (pages / ".hidden" / "secret.md").write_text("not read\n")
    (pages / "picture.png").write_bytes(b"\x89PNG\r\n")
    return pages


def test_folder_of_markdown(run, folder):
    ran = run("memory", "ingest", folder, "--json", "--tag", "docs", "--domain", "zoo")
    assert ran.status == 0, ran.out
    assert counts(ran.json) == {**NOTHING, "created": 4, "skipped": 1}
    assert ran.json["faults"] == []
    assert ".png" in ran.json["skipped_places"][0]["reason"]
    places = set(MemorySource.objects.values_list("source_id", flat=True))
    assert places == {"index.md", "deep/er/plain.txt", "deep/tagged.md", "deep/天気.md"}
    tagged = MemorySource.objects.get(source_id="deep/tagged.md").memory
    assert (tagged.tag_names, tagged.domain) == (["animal", "docs"], "zoo")
    index_all()
    for query, place in (("zebra", "index.md"), ("天気", "deep/天気.md")):
        hits = run("memory", "search", query, "--json").json["results"]
        held = MemorySource.objects.get(source_id=place).memory_id
        assert [hit["id"] for hit in hits] == [str(held)]


def test_folder_twice_and_one_changed_file(run, folder):
    run("memory", "ingest", folder)
    body = run("memory", "ingest", folder, "--json").json
    assert counts(body) == {**NOTHING, "existing": 4, "skipped": 1}
    (folder / "index.md").write_text("# Start\n\nThe zebra moved to the steppe.\n")
    body = run("memory", "ingest", folder, "--json").json
    assert counts(body) == {**NOTHING, "amended": 1, "existing": 3, "skipped": 1}
    index_all()
    assert run("memory", "search", "steppe", "--json").json["results"]
    assert run("memory", "search", "zoo", "--json").json["results"] == []


def test_file_that_is_too_long_is_cut_at_its_headings(run, tmp_path):
    page = tmp_path / "long.md"
    part = "Some words of prose. " * 4000
    page.write_text("".join(f"# Part {n}\n\n{part}\n\n" for n in range(5)))
    body = run("memory", "ingest", page, "--json").json
    assert body["created"] == Memory.objects.count() > 1
    assert body["failed"] == 0
    starts = [row.memory.content[:8] for row in MemorySource.objects.order_by("position")]
    assert all(start.startswith("# Part ") for start in starts)


def test_faults_stay_with_their_item(run, tmp_path):
    rows = [
        {"content": "good one", "kind": "fact", "tags": ["a"], "metadata": {"n": 1}},
        "{broken",
        {"content": ""},
        {"content": "x", "kind": "rumour"},
        {"content": "x", "tags": ["superseded"]},
        {"content": "x" * 200_001},
        {"content": "a\x00b"},
        '{"content": "\\ud800"}',
        [],
        7,
        {"text": "no speaker"},
        {"content": "x", "metadata": {"superseded_by": "me"}},
        {"content": "good two"},
    ]
    ran = run("memory", "ingest", write_lines(tmp_path / "mixed.jsonl", rows), "--json")
    assert ran.status == 1
    assert counts(ran.json) == {**NOTHING, "created": 2, "failed": 11}
    assert sorted(Memory.objects.values_list("content", flat=True)) == ["good one", "good two"]
    assert all("mixed.jsonl" in fault["where"] and fault["reason"] for fault in ran.json["faults"])
    people = run("memory", "ingest", tmp_path / "mixed.jsonl")
    assert people.status == 1
    assert "11 failed" in people.out


def test_faults_of_files_stop_no_other(run, folder):
    (folder / "bytes.md").write_bytes(b"\x80 broken \xff")
    (folder / "empty.md").write_text("")
    (folder / "loop").symlink_to(folder)
    ran = run("memory", "ingest", folder, "--json")
    assert ran.status == 1
    assert ran.json["created"] == 4
    assert {fault["where"].split(":")[0] for fault in ran.json["faults"]} == {
        "bytes.md",
        "empty.md",
    }


def test_paths_that_are_not_there(run, tmp_path, folder):
    ran = run("memory", "ingest", tmp_path / "nothing", folder, "--json")
    assert (ran.status, ran.json["created"], ran.json["failed"]) == (1, 4, 1)


def test_ingest_follows_the_policy(run, tmp_path, db):
    ann = Caller(keys.create(user("ann")).text)
    log = write_lines(tmp_path / "talk.jsonl", chat(3))
    assert run("memory", "ingest", log, "--key", ann.key).status == 0
    assert len(ann.listed(scope="personal")) == 3
    ran = run("memory", "ingest", log, "--key", ann.key, "--scope", "global", "--json")
    assert (ran.status, ran.json["failed"]) == (1, 3)
    assert "'personal'" in ran.json["faults"][0]["reason"]


def test_two_people_hold_the_same_place_without_sharing(run, tmp_path, db):
    ann, bob = (Caller(keys.create(user(name)).text) for name in ("ann", "bob"))
    log = write_lines(tmp_path / "talk.jsonl", chat(3))
    for who in (ann, bob):
        assert run("memory", "ingest", log, "--key", who.key, "--json").json["created"] == 3
    assert not set(ann.listed()) & set(bob.listed())
