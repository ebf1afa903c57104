"""The loaders of the evaluation sets, on data made up for these tests."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.datasets import PassageQuestion, Turn, load_jsquad, load_locomo, load_xquad


def question(category: int, *evidence: str) -> dict[str, Any]:
    return {"question": f"asked {evidence}", "category": category, "evidence": list(evidence)}


SAMPLE = {
    "sample_id": "talk-1",
    "conversation": {
        "speaker_a": "Ada",
        "session_10": [{"dia_id": "D10:1", "speaker": "Bob", "text": " last "}],
        "session_2": [
            {"dia_id": "D2:1", "speaker": "Ada", "text": "Look!", "blip_caption": "a red kite"},
            {"dia_id": "D2:2", "speaker": "Bob", "text": "Nice."},
        ],
        "session_2_date_time": "1:05 pm on 8 May, 2023",
        "session_3_date_time": "2:00 am on 9 May, 2023",
        "session_10_date_time": "some day",
    },
    "qa": [
        question(1, "D2:1; D10:01"),
        question(2, "D:2:2", "D2:1"),
        question(4, "D2:9"),
        question(3),
        question(5, "D2:1"),
    ],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "locomo10.json").write_text(json.dumps([SAMPLE]), encoding="utf-8")
    paragraphs = [
        {"context": "一つ目", "qas": [{"question": "何？"}, {"question": "どこ？"}]},
        {"context": "二つ目", "qas": [{"question": "誰？"}]},
        {"context": "一つ目", "qas": [{"question": "いつ？"}]},
    ]
    passages = json.dumps(
        {"data": [{"paragraphs": paragraphs[:1]}, {"paragraphs": paragraphs[1:]}]}
    )
    for name in ("xquad.zh.json", "jsquad_valid.json"):
        (tmp_path / name).write_text(passages, encoding="utf-8")
    return tmp_path


def test_turns_come_in_the_order_of_their_sessions(root: Path) -> None:
    (talk,) = load_locomo(root)
    date, said_at = "1:05 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 5, tzinfo=UTC)
    assert talk.name == "talk-1"
    assert talk.turns == (
        Turn("D2:1", 2, "Ada", "Look! [shared a red kite]", date, said_at),
        Turn("D2:2", 2, "Bob", "Nice.", date, said_at),
        Turn("D10:1", 10, "Bob", "last", "some day", None),
    )


def test_evidence_is_repaired(root: Path) -> None:
    (talk,) = load_locomo(root)
    assert [(each.category, sorted(each.gold)) for each in talk.questions] == [
        (1, ["D10:1", "D2:1"]),
        (2, ["D2:1", "D2:2"]),
    ]
    assert talk.questions[0].gold_sessions == {2, 10}


def test_adversarial_questions_stand_apart(root: Path) -> None:
    (talk,) = load_locomo(root)
    assert [each.category for each in talk.adversarial] == [5]


def test_what_is_left_out_is_noted(root: Path) -> None:
    (talk,) = load_locomo(root)
    assert len(talk.notes) == 3
    assert talk.notes[0] == "evidence 'D2:9' names no turn"


def test_equal_paragraphs_are_one(root: Path) -> None:
    passages = load_xquad(root, "zh")
    assert passages.paragraphs == ("一つ目", "二つ目")
    assert passages.questions == (
        PassageQuestion("何？", 0),
        PassageQuestion("どこ？", 0),
        PassageQuestion("誰？", 1),
        PassageQuestion("いつ？", 0),
    )
    assert load_jsquad(root).questions == passages.questions


def test_a_missing_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_locomo(tmp_path)
