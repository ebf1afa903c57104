"""Reads one file: Markdown and text as records of their own, JSON lines through their reader."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from memory.chunking import split
from memory.ingesting.items import CONTENT_LIMIT, Fault, Item, WrongInput, flaw_of
from memory.ingesting.lines import read_lines
from memory.vocabulary import CRITICAL, ENGINE_TAGS

TEXT_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text"})
LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})

FILE_LIMIT = 64 * 2**20  # bytes of a file that is read as a whole
FRONT_MATTER_LIMIT = 8_000  # code points; bounds what a hostile head costs
TITLE_LIMIT, TAG_LIMIT, TAGS_LIMIT = 300, 64, 32


def guarded(where: str, found: Iterable[Item | Fault]) -> Iterator[Item | Fault]:
    """Turn what stops the reading of one file into its Fault."""
    try:
        yield from found
    except OSError as error:
        yield Fault(where, error.strerror or type(error).__name__)
    except WrongInput as wrong:
        yield Fault(where, str(wrong))


def read_file(path: Path, source_id: str) -> Iterator[Item | Fault]:
    """The items of one file; raises OSError or WrongInput where nothing of it can be read."""
    with path.open("rb") as stream:
        if path.suffix.lower() in LINE_SUFFIXES:
            yield from read_lines(_as_utf8(stream), source_id)
        else:
            yield from _text_items(_whole(stream), source_id)


def read_text(path: Path) -> str:
    """The text of a whole file; raises OSError or WrongInput."""
    with path.open("rb") as stream:
        text = _whole(stream)
    if "\0" in text:
        raise WrongInput("holds NUL: not a text file")
    return text


def _whole(stream: BinaryIO) -> str:
    data = stream.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        raise WrongInput(f"the file is larger than {FILE_LIMIT >> 20} MB")
    return _decoded(data)


def _decoded(data: bytes) -> str:
    """The text without its byte order mark; an error names the offset in the file."""
    codec, skip = "utf-8", 0
    if data.startswith(b"\xef\xbb\xbf"):
        skip = 3
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        codec, skip = "utf-16-le" if data[0] == 0xFF else "utf-16-be", 2
    try:
        return data[skip:].decode(codec)
    except UnicodeDecodeError as error:
        raise WrongInput(f"is not {codec.upper()} text at byte {error.start + skip}") from error


def _text_items(text: str, source_id: str) -> Iterator[Item]:
    if not text.strip():
        raise WrongInput("empty")
    if "\0" in text:
        raise WrongInput(f"holds NUL at character {text.index(chr(0))}: not a text file")
    metadata, tags = _front_matter(text)
    pieces = _pieces(text)
    for position, (piece, heading) in enumerate(pieces):
        known = metadata | ({"heading": heading} if heading else {})
        yield Item(piece, "file", source_id, position, metadata=known, tags=tags)


def _pieces(text: str) -> list[tuple[str, str]]:
    """The text and the headings above it; a long one is cut at headings, then paragraphs."""
    if len(text) <= CONTENT_LIMIT:
        return [(text, "")]
    spans = split(text, CONTENT_LIMIT, 0)
    pieces = [(text[span.start : span.end], span.heading) for span in spans]
    return [(piece, heading) for piece, heading in pieces if piece.strip()]


def _front_matter(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Title and tags of the YAML at the head of a page; what is not well formed is just text."""
    lines = text[:FRONT_MATTER_LIMIT].splitlines()
    if not lines or lines[0].rstrip() != "---":
        return {}, ()
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() in ("---", "...")), 0)
    block = "\n".join(lines[1:end])
    if "<<" in block:  # nested merge keys grow exponentially
        return {}, ()
    try:
        found = yaml.safe_load(block)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, ()
    if not isinstance(found, dict):
        return {}, ()
    return _page_title(found.get("title")), _page_tags(found.get("tags"))


def _page_title(found: object) -> dict[str, Any]:
    fits = isinstance(found, str) and len(found) <= TITLE_LIMIT and not flaw_of(found)
    return {"title": found} if fits else {}


def _page_tags(found: object) -> tuple[str, ...]:
    """The tags that can be kept. Reserved ones are not: a page must not make itself a rule."""
    if not isinstance(found, list):
        return ()
    words = (str(tag).strip() for tag in found if isinstance(tag, str | int | float))
    kept = (word for word in words if 0 < len(word) <= TAG_LIMIT and not flaw_of(word))
    unreserved = (word for word in kept if word not in (CRITICAL, *ENGINE_TAGS))
    return tuple(dict.fromkeys(unreserved))[:TAGS_LIMIT]


def _as_utf8(stream: BinaryIO) -> BinaryIO:
    """The stream past its byte order mark; UTF-16 is turned into UTF-8 as a whole."""
    mark = stream.read(3)
    stream.seek(0)
    if mark.startswith((b"\xff\xfe", b"\xfe\xff")):
        return BytesIO(_whole(stream).encode())
    if mark == b"\xef\xbb\xbf":
        stream.seek(3)
    return stream
