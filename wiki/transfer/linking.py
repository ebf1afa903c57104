"""Links of Markdown files rewritten for the wiki; what leads nowhere stays as it is. Pure."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import unquote

#: From a path of the source and a fragment to the address in the wiki; None leaves the link alone.
Locate = Callable[[str, str], str | None]

_FENCE = re.compile(r"^ {0,3}(?:>[ \t]?)*[ \t]*(`{3,}|~{3,})(.*)$")
_CODE = re.compile(r"(?<!`)(`{1,20})(?!`).{0,2000}?(?<!`)\1(?!`)")
_INLINE = re.compile(
    r"(\]\([ \t]*)(<[^<>\n]{0,2000}>|[^\s()<>]{1,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?)"
)
_DEFINITION = re.compile(r"^( {0,3}\[[^\]\n]{1,500}\]:[ \t]*)(<[^<>\n]{0,2000}>|\S{1,2000})")
_ATTRIBUTE = re.compile(
    r"(\b(?:src|href)[ \t]*=[ \t]*)(\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}')", re.I
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def rewrite(text: str, folder: str, locate: Locate) -> str:
    """Return the text with every link outside code resolved from `folder` and located."""

    def moved(match: re.Match[str]) -> str:
        return match.group(1) + _moved(match.group(2), folder, locate)

    lines = []
    for line, is_code in _lines(text):
        lines.append(line if is_code else _rewritten(line, moved))
    return "".join(lines)


def _rewritten(line: str, moved: Callable[[re.Match[str]], str]) -> str:
    """Rewrite what stands between spans of code."""
    done, at = [], 0
    for code in _CODE.finditer(line) if "`" in line else ():
        done += [_plain(line[at : code.start()], moved), code.group()]
        at = code.end()
    return "".join([*done, _plain(line[at:], moved)])


def _plain(text: str, moved: Callable[[re.Match[str]], str]) -> str:
    text = _INLINE.sub(moved, text) if "](" in text else text
    text = _DEFINITION.sub(moved, text) if "]:" in text else text
    return _ATTRIBUTE.sub(moved, text) if "=" in text and "<" in text else text


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it belongs to fenced code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        if fence:
            closes = match is not None and match.group(1).startswith(fence)
            if closes and match is not None and not match.group(2).strip():
                fence = ""
            yield line, True
        elif match is not None:
            fence = match.group(1)
            yield line, True
        else:
            yield line, False


def _moved(written: str, folder: str, locate: Locate) -> str:
    """Return the destination in the form it was written in."""
    opening = written[0] if written[0] in "<\"'" else ""
    inner = written[1:-1] if opening else written
    found = _located(inner, folder, locate)
    if found is None:
        return written
    return f"{opening}{found}{'>' if opening == '<' else opening}"


def _located(address: str, folder: str, locate: Locate) -> str | None:
    if not address or _SCHEME.match(address):
        return None
    path, _, fragment = address.partition("#")
    path = unquote(path.partition("?")[0])
    if not path:
        return locate("", unquote(fragment)) if fragment else None
    if path.startswith("/"):
        whole = posixpath.normpath(path.lstrip("/") or ".")
    else:
        whole = posixpath.normpath(posixpath.join(folder, path))
    if whole.startswith("../") or whole == "..":
        return None
    return locate(whole, unquote(fragment))


def fragments(headings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return every fragment that other programs give these headings (text, our anchor).

    GitHub drops signs, MkDocs and others join words with single hyphens; repeats are numbered.
    """
    found: dict[str, str] = {}
    seen: dict[str, int] = {}
    for text, anchor in headings:
        for style, mark in ((_github, "-"), (_toc, "_")):
            base = style(text)
            count = seen.get(mark + base, 0)
            seen[mark + base] = count + 1
            found.setdefault(f"{base}{mark}{count}" if count else base, anchor)
        # Ours, and ours without the mark before it, which is how others join words by hyphens.
        found.setdefault(anchor, anchor)
        found.setdefault(anchor.removeprefix("h-"), anchor)
    return found


def _github(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", unicodedata.normalize("NFC", heading).lower().strip())
    return kept.replace(" ", "-")


def _toc(heading: str) -> str:
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
