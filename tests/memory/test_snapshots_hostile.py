"""Snapshots that were cut, altered or made up: a sentence, and the target as it was."""

import hashlib
import io
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goclaw_site.errors import GoclawError, InvalidInput
from memory.models import Memory
from memory.snapshots import exporting, framing, importing, parts, sealing, trees
from memory.snapshots.columns import Table
from memory.snapshots.tables import CARRIED
from tests import canonical
from tests.memory.installation import fill
from tests.memory.making import ADMIN

RELAXED = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}


@pytest.fixture
def target(db, state, tmp_path):
    """An installation with something in it, and how to load bytes into it."""
    fill(20)
    return Target(state, tmp_path)


class Target:
    def __init__(self, state: Path, folder: Path) -> None:
        self.state, self.path = state, folder / "hostile.gclaw"
        self.before = canonical.dump(state)

    def refuses(self, content: bytes, passphrase: str | None = None) -> str:
        """Load it; return what is said. The target is as it was, whatever happened."""
        self.path.write_bytes(content)
        with pytest.raises(GoclawError) as caught:
            importing.load(ADMIN, self.path, passphrase=passphrase, replace=True)
        assert canonical.differences(self.before, canonical.dump(self.state)) == []
        assert list((self.state / "run").iterdir()) == []
        assert caught.value.status < 500
        return caught.value.message

    def snapshot(self, passphrase: str | None = None) -> bytes:
        exporting.export(
            ADMIN, self.path, holds={trees.FILES, trees.ATTACHMENTS}, passphrase=passphrase
        )
        return self.path.read_bytes()


def altered(content: bytes, dice: random.Random) -> bytes:
    """Return the bytes with one thing done to them."""
    at = dice.randrange(len(content))
    other = dice.randrange(len(content))
    one = bytes([content[at] ^ (1 << dice.randrange(8))])
    return dice.choice(
        [
            content[:at] + one + content[at + 1 :],
            content[:at],
            content[:at] + content[at + 1 :],
            content[:at] + dice.randbytes(dice.randrange(1, 40)) + content[at:],
            content + dice.randbytes(3),
            content[:at] + content[other : other + 30] + content[at + 30 :],
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("passphrase", [None, "correct horse"])
def test_no_alteration_passes(target, passphrase):
    whole = target.snapshot(passphrase)
    target.before = canonical.dump(target.state)

    @settings(max_examples=20 if passphrase else 150, **RELAXED)
    @given(st.integers(0, 2**64))
    def mutate(seed):
        content = altered(whole, random.Random(seed))
        if content != whole:
            target.refuses(content, passphrase)

    mutate()


@settings(max_examples=200, **RELAXED)
@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise_anything_else(content, with_head):
    head = framing.MAGIC + b'1\n{"sealed": null}\n' if with_head else b""
    with pytest.raises(GoclawError):
        list(framing.frames(io.BytesIO(head + content), None))


NO_SNAPSHOTS = [
    (b"", "not a snapshot"),
    (b"SQLite format 3\x00" + b"\x00" * 500, "not a snapshot"),
    (b"PK\x03\x04" + b"x" * 500, "not a snapshot"),
    (framing.MAGIC + b"2\n{}\n", "upgrade first"),
    (framing.MAGIC + b"99999999999999999999\n{}\n", "upgrade first"),
    (framing.MAGIC + b"1\n[]\n", "malformed"),
    (framing.MAGIC + b"1\n" + b"[" * 100_000, "malformed"),
    (framing.MAGIC + b'1\n{"sealed": null}\n', "ends too early"),
    (framing.MAGIC + b'1\n{"sealed": {"n": 1}}\n', "seal is incomplete"),
]


def test_what_is_no_snapshot(target):
    for content, says in NO_SNAPSHOTS:
        assert says in target.refuses(content, "correct horse")


@pytest.mark.parametrize(
    "changes", [{"n": 2**30}, {"n": 3}, {"p": 99}, {"r": 4096}, {"salt": "zz"}]
)
def test_a_head_that_asks_for_too_much(target, changes):
    seal = {**vars(sealing.make("x" * 8)[0]), **changes}
    content = framing.MAGIC + b"1\n" + json.dumps({"sealed": seal}).encode() + b"\n" + b"x" * 99
    assert "malformed" in target.refuses(content, "correct horse")


def test_cut_at_the_end_of_a_sealed_chunk(monkeypatch):
    """The one place where a plain cipher would notice nothing."""
    monkeypatch.setattr(sealing, "CHUNK", 1000)
    out = io.BytesIO()
    seal, key = sealing.make("correct horse")
    sealer = sealing.Sealer(out, seal, key, b"head")
    sealer.write(b"x" * 3500)
    sealer.close()
    whole = out.getvalue()
    assert sealing.Opener(io.BytesIO(whole), seal, key, b"head").read(9999) == b"x" * 3500
    chunk = 1000 + sealing.TAG
    for content in (
        whole[: 2 * chunk],
        whole[chunk:],
        whole[chunk:] + whole[:chunk],
        whole + whole,
    ):
        with pytest.raises(InvalidInput):
            sealing.Opener(io.BytesIO(content), seal, key, b"head").read(9999)
    with pytest.raises(InvalidInput):
        sealing.Opener(io.BytesIO(whole), seal, key, b"another head").read(9999)


def test_a_bomb_is_not_unpacked():
    packed = zlib.compress(b"\0" * framing.FRAME)
    frame = framing._SHAPE.pack(framing.DATA, framing.FRAME, len(packed)) + packed
    head = framing.MAGIC + b'1\n{"sealed": null}\n'
    with pytest.raises(InvalidInput, match="far more"):
        list(framing.frames(io.BytesIO(head + frame), None))
    lying = framing._SHAPE.pack(framing.DATA, 100, len(packed)) + packed
    with pytest.raises(InvalidInput, match="as long as it says"):
        list(framing.frames(io.BytesIO(head + lying), None))


def test_what_repeats_itself_is_carried_all_the_same(db, state, tmp_path):
    (state / "media/zeros").write_bytes(b"\0" * 5_000_000)
    exporting.export(ADMIN, tmp_path / "a.gclaw", holds={trees.ATTACHMENTS})
    assert importing.inspect(tmp_path / "a.gclaw").bytes_of_files == 5_001_000


class Made:
    """A snapshot written by hand: whole and with true checksums, but with something else inside."""

    def __init__(self) -> None:
        self.manifest = {"format": 1, "tables": list(CARRIED), "holds": ["files", "attachments"]}
        self.tables = {label: (Table(label).names, list(Table(label).lines())) for label in CARRIED}
        self.files: list[tuple[object, bytes]] = []

    def set(self, label: str, column: str, value: object, row: int = 0) -> None:
        names, rows = self.tables[label]
        rows[row][names.index(column)] = value

    def value(self, label: str, column: str, row: int = 0) -> object:
        names, rows = self.tables[label]
        return rows[row][names.index(column)]

    def content(self, rewrite: Callable[[str], str] = lambda text: text) -> bytes:
        out = io.BytesIO()
        writer = parts.open_writer(out, None, self.manifest)
        for label, (names, rows) in self.tables.items():
            writer.begin({"table": label, "columns": names})
            for row in rows:
                writer.row(row)
            writer.end()
        for path, data in self.files:
            about = json.dumps({"file": path})
            writer._writer.put(framing.BEGIN, rewrite(about).encode())
            writer._digest, writer._bytes = hashlib.sha256(), 0
            writer._held.clear()
            writer.data(data)
            writer.end()
        writer.finish()
        return out.getvalue()


PATHS = [
    "../evil", "/etc/passwd", "workspace/../../evil", "workspace/./x", "workspace//x", "workspace",
    "workspace/a\\..\\b", "workspace/\x00", "workspace/a\nb", "", "media/..", "credentials/secret",
    "config.yaml", "gc_state.sqlite", "agents/x/config", "agents/workspace/x", "run/x", None, 7,
    ["workspace/x"], "workspace/" + "x" * 300, "workspace/" + "a/" * 1500 + "b",
]  # fmt: skip


def test_paths_that_lead_elsewhere(target, tmp_path):
    made = Made()
    for path in PATHS:
        made.files = [(path, b"evil")]
        target.refuses(made.content())
    made.files = [("workspace/z", b"evil")]
    odd = made.content(lambda text: text.replace("workspace/z", "workspace/\\ud800"))
    assert "not allowed" in target.refuses(odd), "JSON can name what no text can hold"
    assert not list(tmp_path.glob("**/evil"))


TWICE = [
    ["workspace/a", "workspace/a"],
    ["workspace/b", "workspace/a"],
    ["workspace/a", "workspace/a/b"],
    ["workspace/a/b", "workspace/a"],
    ["media/x", "agents/a/workspace/x"],
]


def test_files_in_each_others_place(target):
    made = Made()
    for paths in TWICE:
        made.files = [(path, b"x") for path in paths]
        assert "file" in target.refuses(made.content())


def test_files_that_it_does_not_say_it_holds(target):
    made = Made()
    made.manifest["holds"] = ["files"]
    made.files = [("media/x", b"x")]
    assert "outside" in target.refuses(made.content())


ALTERATIONS = [
    ("memory.Memory", "content", "another text"),
    ("memory.Memory", "content", 7),
    ("memory.Memory", "content", None),
    ("memory.Memory", "content", "a\x00b"),
    ("memory.Memory", "scope", "everything"),
    ("memory.Memory", "owner_id", 1),
    ("memory.Memory", "live_key", "0" * 64),
    ("memory.Memory", "id", "no uuid"),
    ("memory.Memory", "id", "1" * 32),
    ("memory.Memory", "created_at", "yesterday"),
    ("memory.Memory", "created_at", "2020-01-01T00:00:00"),
    ("memory.Memory", "created_at", "0001-01-01T00:00:00+14:00"),
    ("memory.Memory", "version", -1),
    ("memory.Memory", "version", 10**30),
    ("memory.Memory", "version", True),
    ("memory.Memory", "version", 1.5),
    ("memory.Memory", "bulk", 1),
    ("memory.Memory", "metadata", json.loads("[" * 70 + "]" * 70)),
    ("memory.Memory", "domain", "x" * 101),
    ("memory.MemoryTag", "memory_id", "00000000-0000-0000-0000-000000000000"),
    ("memory.MemorySource", "access", "sglobal9"),
    ("memory.MemoryChunk", "access", "p1x0"),
    ("memory.MemoryChunk", "embedding", {"i8": "AAAA"}),
    ("memory.MemoryChunk", "embedding", {"f4": "%%%"}),
    ("memory.MemoryChunk", "embedding", {"f9": "AAAAAAAA"}),
    ("memory.MemoryChunk", "embedding", "AAAAAAAA"),
    ("memory.MemoryChunk", "embedding", {}),
    ("memory.MemoryChunk", "embedding_dim", 3),
    ("auth.User", "groups", [99]),
    ("auth.User", "groups", "1"),
    ("auth.User", "user_permissions", [["x"]]),
    ("auth.User", "is_active", "yes"),
    ("agents.ApiKey", "user_id", 99),
    ("agents.ApiKey", "gateway", False),
]


def test_rows_that_no_installation_holds(target):
    made = Made()
    for label, column, value in ALTERATIONS:
        true = made.value(label, column, 1)
        made.set(label, column, value, 1)
        words = target.refuses(made.content())
        assert words.endswith("Nothing was changed."), (label, column, value)
        assert "another text" not in words
        made.set(label, column, true, 1)


def test_somebodys_record_for_all(target):
    """Scope and owner of one row that fit together, under chunks that are somebody else's."""
    made = Made()
    names, rows = made.tables["memory.Memory"]
    row = next(n for n, values in enumerate(rows) if values[names.index("scope")] == "personal")
    from memory.write import content_hash, live_key

    digest = content_hash(str(made.value("memory.Memory", "content", row)))
    made.set("memory.Memory", "scope", "global", row)
    made.set("memory.Memory", "owner_id", None, row)
    made.set("memory.Memory", "live_key", live_key("global", None, "note", digest), row)
    assert "check --repair" in target.refuses(made.content())


def test_the_same_row_twice(target):
    made = Made()
    rows = made.tables["memory.Memory"][1]
    rows.append(list(rows[0]))
    assert "do not fit together" in target.refuses(made.content())


FOREIGN = [
    lambda made: made.manifest.update(tables=["wiki.Later"]),
    lambda made: made.manifest.update(tables=list(reversed(CARRIED))),
    lambda made: made.manifest.update(tables=[*CARRIED, *CARRIED]),
    lambda made: made.manifest.update(tables=None),
    lambda made: made.manifest.update(holds=["everything"]),
    lambda made: made.manifest.update(holds={"files": 1}),
    lambda made: made.manifest.update(tables=[["memory.Memory"]]),
    lambda made: made.tables.pop("memory.Memory"),
    lambda made: made.tables["memory.Memory"][0].append("later"),
    lambda made: made.tables["memory.Memory"][0].remove("content"),
    lambda made: made.tables["memory.Memory"][1][0].append(1),
    lambda made: made.tables["memory.Memory"][1].append([]),
]


def test_tables_that_are_not_ours(target):
    for change in FOREIGN:
        made = Made()
        change(made)
        target.refuses(made.content())


def test_a_full_disk_in_the_middle(target, monkeypatch):
    from django.db import OperationalError

    whole = target.snapshot()
    target.before = canonical.dump(target.state)
    real, crossed = importing.loading.put, []

    def full(table, batch):
        real(table, batch)
        crossed.append(1)
        if len(crossed) == 5:
            raise OperationalError("database or disk is full")

    monkeypatch.setattr(importing.loading, "put", full)
    target.path.write_bytes(whole)
    with pytest.raises(GoclawError, match=r"disk is full.*Nothing was changed"):
        importing.load(ADMIN, target.path, replace=True)
    assert canonical.dump(target.state) == target.before
    assert Memory.objects.count() == 20


def test_a_file_that_is_exchanged_between_the_two_readings(target, monkeypatch):
    whole = target.snapshot()
    target.before = canonical.dump(target.state)
    real = importing.inspect

    def exchange(path, *rest):
        contents = real(path, *rest)
        path.write_bytes(whole[:-200])
        return contents

    monkeypatch.setattr(importing, "inspect", exchange)
    assert "too early" in target.refuses(whole)
