"""Reading `config.yaml`: a mapping of sections, or dotted keys, or both."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from goclaw_site.errors import ConfigError


def read_file(path: Path) -> dict[str, Any]:
    """The nested content; empty where there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start}).") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from None
    return _parsed(text, path)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Sections are merged, values of `above` win."""
    result = dict(below)
    for key, value in above.items():
        held = result.get(key)
        both = isinstance(held, Mapping) and isinstance(value, Mapping)
        result[key] = merged(held, value) if both else value  # type: ignore[arg-type]
    return result


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}, line {_line(error, text)}: {_reason(error)}.") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}, line 1: expected keys with values, such as `server:`.")
    return _nested(content)


def _nested(content: Mapping[Any, Any]) -> dict[str, Any]:
    """`memory.search.depth: 60` means the same as the three nested levels.

    A section with nothing below it (all of it commented out) is an empty section.
    """
    result: dict[str, Any] = {}
    for key, value in content.items():
        *sections, last = str(key).split(".")
        inner: Any = _nested(value) if isinstance(value, Mapping) else value
        branch: dict[str, Any] = {last: inner}
        for name in reversed(sections):
            branch = {name: branch}
        result = merged(result, branch)
    return result


def _line(error: yaml.YAMLError, text: str) -> int:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    return text.count("\n", 0, getattr(error, "position", 0)) + 1


def _reason(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML")
