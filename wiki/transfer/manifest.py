"""What an export says of itself, so that an import gives identical pages. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from goclaw_site.errors import InvalidInput

NAME = "manifest.json"
FORMAT = "goclaw-wiki"
VERSION = 1
PAGES = "pages/"
MEDIA = "media/"
MAX_BYTES = 64 * 1024 * 1024
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_STORED = re.compile(rf"/media/({_ID})(?![\w-])")
_FILED = re.compile(rf"(?:\.\./)+media/({_ID})/[^\s()<>\"']+")


@dataclass(frozen=True)
class Manifest:
    """Pages: path to hash of body. Files: path to id and name, as they were."""

    pages: Mapping[str, str]
    files: Mapping[str, Mapping[str, str]]

    def dump(self) -> str:
        """Return the JSON text."""
        value = {
            "format": FORMAT,
            "version": VERSION,
            "pages": dict(self.pages),
            "files": {path: dict(facts) for path, facts in self.files.items()},
        }
        return json.dumps(value, ensure_ascii=False, indent=1)


def load(raw: bytes) -> Manifest | None:
    """Return the manifest of an export, or None for a file of that name by others.

    Raises InvalidInput for one of a version that is newer than this server.
    """
    try:
        value = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return None
    if value.get("version") != VERSION:
        raise InvalidInput(f"This export has version {value.get('version')!r}; update the server.")
    return Manifest(_texts(value.get("pages")), _facts(value.get("files")))


def digest(body: str) -> str:
    """Return the hash that tells whether a page came back as it was."""
    return hashlib.sha256(body.encode()).hexdigest()


def file_name(attachment_id: str, name: str) -> str:
    """Return where a file stands in an export."""
    plain = re.sub(r"[^\w. -]", "_", name)
    return f"{MEDIA}{attachment_id}/{plain}"


def filed(body: str, path: str, names: Mapping[str, str]) -> str:
    """Return a body whose files are found beside it, so that any program shows its pictures.

    A body that would not come back the same stays as it is.
    """
    up = "../" * path.count("/")

    def relative(match: re.Match[str]) -> str:
        name = names.get(match.group(1))
        return f"{up}{quote(name)}" if name else match.group()

    found = _STORED.sub(relative, body)
    return found if stored(found) == body else body


def stored(body: str) -> str:
    """Return a body whose files are addresses of the wiki again."""
    return _FILED.sub(lambda match: f"/media/{match.group(1)}", body)


def restored(body: str, wanted: str | None) -> str:
    """Return the body as it was exported; `wanted` is its hash, None for a page that is new."""
    again = stored(body)
    return body if wanted not in (None, digest(again)) and digest(body) == wanted else again


def _texts(value: Any) -> dict[str, str]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {name: text for name, text in pairs if isinstance(text, str)}


def _facts(value: Any) -> dict[str, dict[str, str]]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {name: _texts(facts) for name, facts in pairs}
