"""Reading JSON lines into items: records, turns of conversations, and what is wrong with them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.ingesting import CONTENT_LIMIT, Item, lines, read
from tests.memory.reading import faults_of, items_of, write, write_lines


def only_line(tmp_path: Path, row: Any) -> Item:
    (item,) = items_of(write_lines(tmp_path / "one.jsonl", row))
    return item


# --- JSON lines of records


def test_lines_are_records_in_order(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"content": "one"}, {"content": "two"})
    assert items_of(path) == [
        Item("one", "lines", "a.jsonl", 0),
        Item("two", "lines", "a.jsonl", 1),
    ]


def test_a_record_may_carry_all_fields(tmp_path: Path) -> None:
    row = {
        "content": " kept as given ",
        "kind": "fact",
        "domain": "network",
        "tags": ["a", "b"],
        "metadata": {"deep": [{"x": None}]},
        "occurred_at": "2024-02-29T12:00:00+02:00",
        "expires_at": "2030-01-01",
        "id": 7,
    }
    assert only_line(tmp_path, row) == Item(
        " kept as given ",
        "lines",
        "one.jsonl",
        0,
        occurred_at=datetime(2024, 2, 29, 10, tzinfo=UTC),
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
        metadata={"id": 7, "deep": [{"x": None}]},
        kind="fact",
        domain="network",
        tags=("a", "b"),
    )


def test_null_fields_are_as_good_as_none(tmp_path: Path) -> None:
    row = dict.fromkeys(lines.RECORD_FIELDS) | {"content": "x"}
    assert only_line(tmp_path, row) == Item("x", "lines", "one.jsonl", 0)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("export", ("lines", "export", 0)),
        ({"kind": "ticket", "id": "T-1", "position": 4}, ("ticket", "T-1", 4)),
        ({"kind": "ticket", "id": "T-1"}, ("ticket", "T-1", 0)),
    ],
)
def test_a_record_may_name_its_source(
    tmp_path: Path, source: object, place: tuple[str, str, int]
) -> None:
    item = only_line(tmp_path, {"content": "x", "source": source})
    assert (item.source_kind, item.source_id, item.position) == place


NESTED = "[" * 100_000


@pytest.mark.parametrize(
    ("line", "where", "reason"),
    [
        ('{"content": "a",}', ":2:17", "is not JSON"),
        ("nonsense", ":2:1", "is not JSON"),
        ('["content"]', ":2:1", "must be a JSON object, not a list"),
        ("{}", ":2", 'holds neither "content" nor "speaker" and "text"'),
        ('{"content": null}', ":2", "content must be text, not null"),
        ('{"content": 5}', ":2", "content must be text, not a number"),
        ('{"content": ["a"]}', ":2", "content must be text, not a list"),
        ('{"content": " "}', ":2", "content is empty"),
        ('{"content": "\\u0000"}', ":2", "content holds a NUL character"),
        ('{"content": "a \\ud83d b"}', ":2", "content holds a lone surrogate"),
        ('{"content": "a", "kind": 1}', ":2", "kind must be text, not a number"),
        ('{"content": "a", "domain": "\\ud83d"}', ":2", "domain holds a lone surrogate"),
        ('{"content": "a", "tags": "b"}', ":2", "tags must be a list, not text"),
        ('{"content": "a", "tags": [true]}', ":2", "tags must be text, not a boolean"),
        ('{"content": "a", "metadata": []}', ":2", "metadata must be an object, not a list"),
        ('{"content": "a", "metadata": {"x": [{"\\udfff": 1}]}}', ":2", "metadata holds a lone"),
        ('{"content": "a", "metadata": {"x": ["\\u0000"]}}', ":2", "metadata holds a NUL"),
        ('{"content": "a", "\\ud83d": 1}', ":2", "\\ud83d holds a lone surrogate"),
        ('{"content": "a", "x": NaN}', ":2", "is not JSON that can be kept: NaN"),
        ('{"content": "a", "x": ' + "9" * 5000 + "}", ":2", "is not JSON that can be kept"),
        ('{"content": "a", "x": ' + NESTED, ":2", "is not JSON that can be kept"),
        ('{"content": "a", "occurred_at": "soon"}', ":2", "occurred_at must be a time"),
        ('{"content": "a", "occurred_at": 5}', ":2", "occurred_at must be text"),
        ('{"content": "a", "expires_at": "0001-01-01T00:00+14:00"}', ":2", "expires_at must be"),
        ('{"content": "a", "source": 5}', ":2", "source must be text or an object"),
        ('{"content": "a", "source": {"id": "a"}}', ":2", "source.kind must be text, not null"),
        (
            '{"content": "a", "source": {"kind": "a", "id": "b", "position": true}}',
            ":2",
            "source.p",
        ),
        ('{"speaker": "A"}', ":2", "text must be text, not null"),
        ('{"text": "hello"}', ":2", "speaker must be text, not null"),
        ('{"text": "hello", "speaker": " "}', ":2", "speaker is empty"),
        ('{"text": "hello", "speaker": "A", "time": 5}', ":2", "time must be text"),
        ('{"text": "", "speaker": "A"}', ":2", "text is empty"),
    ],
)
def test_a_bad_line_is_a_fault_and_stops_no_other(
    tmp_path: Path, line: str, where: str, reason: str
) -> None:
    good = json.dumps({"content": "good"})
    path = write(tmp_path / "a.ndjson", f"{good}\n{line}\n\n{good}")
    found = list(read(path))
    assert [each.position for each in found if isinstance(each, Item)] == [0, 2]
    ((place, said),) = faults_of(path)
    assert place == f"a.ndjson{where}"
    assert said.startswith(reason)


def test_limits_are_named(tmp_path: Path) -> None:
    too_long = "x" * (CONTENT_LIMIT + 1)
    path = write_lines(
        tmp_path / "a.jsonl",
        {"content": too_long},
        {"content": " " + too_long[1:] + " "},
        {"speaker": "A" * 101, "text": "a"},
        {"speaker": "A", "text": too_long},
    )
    assert faults_of(path) == [
        ("a.jsonl:1", "content has 200,001 characters; the limit is 200,000"),
        ("a.jsonl:3", "speaker has 101 characters; the limit is 100"),
        ("a.jsonl:4", "text has 200,001 characters; the limit is 200,000"),
    ]


def test_a_line_that_is_not_utf8_is_a_fault_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"content": "\xff"}\n{"content": "b"}\n')
    assert faults_of(path) == [("a.jsonl:1", "is not UTF-8 text at byte 13 of the line")]


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("extra", [-1, 0, 1, 100, 1000])
def test_an_endless_line_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: int, end: str
) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 2**10)
    path = write(tmp_path / "a.jsonl", "a" * (2**10 + extra) + "\n" + '{"content": "b"}' + end)
    found = list(read(path))
    assert [(each.content, each.position) for each in found if isinstance(each, Item)] == [("b", 1)]
    assert len(faults_of(path)) == 1


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_in_other_unicode_forms(tmp_path: Path, codec: str) -> None:
    path = write(tmp_path / "a.jsonl", '{"content": "grüße 👋"}\r\n'.encode(codec))
    assert items_of(path)[0].content == "grüße 👋"


def test_an_empty_file_of_lines_says_so(tmp_path: Path) -> None:
    assert faults_of(write(tmp_path / "a.jsonl", "\n \n")) == [("a.jsonl", "empty")]


def test_reading_is_streaming(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"content": "first"}\n' + "{" * 100_000)
    first = next(iter(read(path)))
    assert isinstance(first, Item)


# --- chat logs


def utc(hour: int, minute: int) -> datetime:
    return datetime(2023, 5, 8, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("time", "prefix", "occurred_at"),
    [
        ("2023-05-08T13:56:00", "[8 May 2023, 13:56] Ann:", utc(13, 56)),
        ("2023-05-08T13:56:00Z", "[8 May 2023, 13:56] Ann:", utc(13, 56)),
        ("2023-05-08 13:56+09:00", "[8 May 2023, 13:56] Ann:", utc(4, 56)),
        ("2023-05-08", "[8 May 2023] Ann:", utc(0, 0)),
        ("1:56 pm on 8 May, 2023", "[1:56 pm on 8 May, 2023] Ann:", None),
        ("yesterday\n evening", "[yesterday evening] Ann:", None),
        (None, "Ann:", None),
    ],
)
def test_a_turn_has_speaker_and_time_before_it(
    tmp_path: Path, time: str | None, prefix: str, occurred_at: datetime | None
) -> None:
    item = only_line(tmp_path, {"speaker": "Ann", "text": "Hello!", "time": time})
    assert (item.content, item.index_prefix, item.occurred_at) == ("Hello!", prefix, occurred_at)
    assert item.source_kind == "chat"
    known = {"time": " ".join(time.split())} if time else {}
    assert item.metadata == {"speaker": "Ann"} | known


def test_other_fields_of_a_turn_are_kept(tmp_path: Path) -> None:
    row = {"speaker": "A\n B", "text": "x", "id": "D1:3", "caption": "a photo of a lake"}
    item = only_line(tmp_path, row)
    assert item.metadata == {"speaker": "A B", "id": "D1:3", "caption": "a photo of a lake"}
    assert item.index_prefix == "A B:"


def test_the_turns_keep_their_places(tmp_path: Path) -> None:
    turns: list[Any] = [{"speaker": "A", "text": f"turn {at}"} for at in range(4)]
    turns[1] = {"speaker": "A", "text": 5}
    found = list(read(write_lines(tmp_path / "a.jsonl", *turns)))
    assert [each.position for each in found if isinstance(each, Item)] == [0, 2, 3]
