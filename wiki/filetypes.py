"""What a file is, by its content. Pure: names only tell one kind of plain text from another."""

from __future__ import annotations

import re

import puremagic

#: What a browser may show on our origin: pictures that hold no script.
INLINE = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"))
BINARY = "application/octet-stream"
_TEXT = "text/plain"
_SIGNIFICANT = 3
#: Signatures of the pictures: a type that is shown is never guessed.
_SIGNATURES = (
    ("image/png", 0, b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", 0, b"\xff\xd8\xff"),
    ("image/gif", 0, b"GIF87a"),
    ("image/gif", 0, b"GIF89a"),
    ("image/webp", 8, b"WEBPVP8"),
    ("image/avif", 4, b"ftypavif"),
    ("image/avif", 4, b"ftypavis"),
)
_TEXTS = {
    ".csv": "text/csv", ".md": "text/markdown", ".json": "application/json",
    ".html": "text/html", ".htm": "text/html", ".svg": "image/svg+xml", ".xml": "text/xml",
    ".yaml": "application/yaml", ".yml": "application/yaml",
}  # fmt: skip
_MARKUP = (("<svg", "image/svg+xml"), ("<!doctype html", "text/html"), ("<html", "text/html"))


def of(head: bytes, name: str = "") -> str:
    """Return the media type of a file from its first bytes (8 KiB are enough)."""
    for kind, offset, mark in _SIGNATURES:
        if head[offset : offset + len(mark)] == mark and _is_riff(head, kind):
            return kind
    text = _text(head)
    if text is not None:
        return _text_type(text, name)
    return _guessed(head, name)


def shown(content_type: str) -> bool:
    """Tell whether a browser may show the file itself."""
    return content_type in INLINE


def _is_riff(head: bytes, kind: str) -> bool:
    return kind != "image/webp" or head[:4] == b"RIFF"


def _text(head: bytes) -> str | None:
    """Return the text that the bytes are, or None; the last character may be cut."""
    if b"\x00" in head:
        return None
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return None
        return head[: error.start].decode("utf-8")


def _text_type(text: str, name: str) -> str:
    start = text.lstrip("\ufeff \t\r\n").lower()[:2000]
    for mark, kind in _MARKUP:
        if start.startswith(mark) or (start.startswith(("<?xml", "<!--")) and mark in start):
            return kind
    if start.startswith("%pdf-"):
        return "application/pdf"
    ending = "." + name.rpartition(".")[2].lower()
    return _TEXTS.get(ending, _TEXT)


def _guessed(head: bytes, name: str) -> str:
    """Return the type whose signature fits; several kinds of archive share one, so the name helps.

    Never a picture that would be shown: those have their own test above.
    """
    try:
        every = puremagic.magic_string(head)
    except (puremagic.PureError, ValueError, IndexError):
        return BINARY
    # Two bytes fit by chance.
    found = [match for match in every if len(match.byte_match) >= _SIGNIFICANT]
    if not found:
        return BINARY
    ending = "." + name.rpartition(".")[2].lower()
    fitting = [match.mime_type for match in found if match.extension == ending]
    first = "application/zip" if head.startswith(b"PK") else found[0].mime_type
    kind = next((mime for mime in (*fitting, first) if _is_type(mime)), BINARY)
    return BINARY if kind in INLINE else kind


def _is_type(mime: str) -> bool:
    return bool(re.fullmatch(r"[a-z]+/[A-Za-z0-9.+-]{1,90}", mime or ""))
