"""Loads the evaluation sets from a folder that is given: LoCoMo, XQuAD and JSQuAD."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
LANGUAGES = ("en", "zh", "de", "vi")

# The release has a few entries such as "D8:6; D9:17", "D:11:26" and "D30:05".
EVIDENCE = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
SESSION = re.compile(r"session_(\d+)")
DATE_FORMAT = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class Turn:
    """One turn; `text` has the caption of a shared picture, `date` is that of its session."""

    dia_id: str
    session: int
    speaker: str
    text: str
    date: str
    said_at: datetime | None


@dataclass(frozen=True)
class Question:
    """A question and the turns that answer it."""

    text: str
    category: int
    gold: frozenset[str]

    @property
    def gold_sessions(self) -> frozenset[int]:
        """The sessions that hold a turn that answers it."""
        return frozenset(int(dia_id[1:].partition(":")[0]) for dia_id in self.gold)


@dataclass(frozen=True)
class Conversation:
    """A conversation; `questions` are those of categories 1 to 4.

    `notes` tells what was left out of the data and why.
    """

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    adversarial: tuple[Question, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PassageQuestion:
    """A question and the index of the paragraph it was asked about."""

    text: str
    paragraph: int


@dataclass(frozen=True)
class Passages:
    """The paragraphs of one language, each once, and the questions about them."""

    name: str
    paragraphs: tuple[str, ...]
    questions: tuple[PassageQuestion, ...]


def load_locomo(root: Path) -> tuple[Conversation, ...]:
    """The conversations of `locomo10.json`; FileNotFoundError where it is not there."""
    samples = _json(root / "locomo10.json")
    return tuple(_conversation(sample, at) for at, sample in enumerate(samples))


def load_xquad(root: Path, language: str) -> Passages:
    """The set of one of LANGUAGES; FileNotFoundError where it is not there."""
    return _passages(f"xquad-{language}", root / f"xquad.{language}.json")


def load_jsquad(root: Path) -> Passages:
    """The Japanese set; FileNotFoundError where it is not there."""
    return _passages("jsquad", root / "jsquad_valid.json")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


# --- LoCoMo


def _conversation(sample: dict[str, Any], at: int) -> Conversation:
    turns = tuple(_turns(sample["conversation"]))
    known = {turn.dia_id for turn in turns}
    notes: list[str] = []
    questions = [_question(entry, known, notes) for entry in sample["qa"]]
    usable = [question for question in questions if question.gold]
    return Conversation(
        name=str(sample.get("sample_id", at)),
        turns=turns,
        questions=tuple(each for each in usable if each.category != ADVERSARIAL),
        adversarial=tuple(each for each in usable if each.category == ADVERSARIAL),
        notes=tuple(notes),
    )


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    sessions = sorted(int(match[1]) for key in conversation if (match := SESSION.fullmatch(key)))
    for session in sessions:
        date = str(conversation.get(f"session_{session}_date_time", ""))
        for entry in conversation[f"session_{session}"] or []:
            yield _turn(entry, session, date)


def _turn(entry: dict[str, Any], session: int, date: str) -> Turn:
    text = (entry.get("text") or "").strip()
    caption = (entry.get("blip_caption") or "").strip()
    return Turn(
        dia_id=entry["dia_id"],
        session=session,
        speaker=entry.get("speaker", ""),
        text=f"{text} [shared {caption}]" if caption else text,
        date=date,
        said_at=_said_at(date),
    )


def _said_at(date: str) -> datetime | None:
    """The time of "1:56 pm on 8 May, 2023", taken as UTC."""
    try:
        return datetime.strptime(date, DATE_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _question(entry: dict[str, Any], known: set[str], notes: list[str]) -> Question:
    gold = set()
    for evidence in entry.get("evidence") or []:
        for session, turn in EVIDENCE.findall(evidence):
            dia_id = f"D{int(session)}:{int(turn)}"
            if dia_id in known:
                gold.add(dia_id)
            else:
                notes.append(f"evidence {evidence!r} names no turn")
    if not gold:
        notes.append(f"left out, no usable evidence: {entry['question']!r}")
    return Question(str(entry["question"]), int(entry["category"]), frozenset(gold))


# --- SQuAD-like sets


def _passages(name: str, path: Path) -> Passages:
    """Equal paragraphs count as one: they are one record, and either is a right answer."""
    places: dict[str, int] = {}
    questions = []
    for article in _json(path)["data"]:
        for entry in article["paragraphs"]:
            place = places.setdefault(entry["context"], len(places))
            questions += [PassageQuestion(each["question"], place) for each in entry["qas"]]
    return Passages(name, tuple(places), tuple(questions))
