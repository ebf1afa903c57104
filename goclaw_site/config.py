"""Typed configuration: `config.yaml` in the state directory, overridden by the environment."""

import logging
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, SettingsError

from goclaw_site.configfile import merged, read_file
from goclaw_site.configkeys import KeyDoc, env_name, key_docs, nearest
from goclaw_site.configmodel import Config
from goclaw_site.errors import ConfigError

__all__ = [
    "Config",
    "KeyDoc",
    "database_file",
    "extra_variable",
    "get_config",
    "known_keys",
    "limit_numeric_threads",
    "load_config",
    "reload_config",
    "state_dir",
]

logger = logging.getLogger(__name__)

CONFIG_FILE = "config.yaml"
PREFIX = "GOCLAW_"

# Variables that are read, but are no configuration keys.
EXTRA_VARIABLES = (
    "GOCLAW_STATE_DIR",
    "GOCLAW_ADMIN_PASSWORD",
    "GOCLAW_API_KEY",
    "GOCLAW_CONFIG_CHECK",
)

# pydantic's words, and those of a person who edits a YAML file.
_WORDS = {
    "Input should be": "must be",
    "a valid tuple": "a list",
    "a valid string": "text",
    "a valid integer": "a whole number",
    "a valid boolean": "true or false",
    "a valid number": "a number",
}


class _Environment(EnvSettingsSource):
    """Reads the mapping it is given, never the process environment."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        super().__init__(Config, env_prefix=PREFIX, env_nested_delimiter="__")

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._variables.items() if value}


def state_dir(env: Mapping[str, str] | None = None) -> Path:
    """The folder that holds everything this installation knows."""
    chosen = (os.environ if env is None else env).get("GOCLAW_STATE_DIR")
    return (Path(chosen) if chosen else Path("~/.goclaw")).expanduser().absolute()


def extra_variable(name: str) -> str | None:
    """One of the `EXTRA_VARIABLES`, or None where it is unset or empty."""
    assert name in EXTRA_VARIABLES
    return os.environ.get(name) or None


def limit_numeric_threads() -> None:
    """Call before numpy is imported: with more than one thread a call spins under load."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@lru_cache(maxsize=1)
def get_config() -> Config:
    """The configuration of this process, read once."""
    return load_config(state_dir(), os.environ)


def reload_config() -> Config:
    """Read the file and the environment again."""
    get_config.cache_clear()
    return get_config()


def load_config(state: Path, env: Mapping[str, str]) -> Config:
    """File, then environment; raises ConfigError that names the key, or the file and line."""
    path = state / CONFIG_FILE
    in_file = read_file(path)
    ours = _known_variables(env)
    try:
        from_env = _Environment(ours)()
        return Config(**merged(in_file, from_env))
    except SettingsError as error:
        raise ConfigError(_unreadable_variable(ours, error)) from None
    except ValidationError as error:
        raise ConfigError(_describe(error, path, ours)) from None


def known_keys() -> list[KeyDoc]:
    """Every key with its type, default, bounds and description, in the order of the file."""
    return key_docs(Config)


def database_file(config: Config | None = None, state: Path | None = None) -> Path:
    """The SQLite file; a relative `database.path` stands in the state directory."""
    return (state or state_dir()) / Path((config or get_config()).database.path).expanduser()


def _known_variables(env: Mapping[str, str]) -> dict[str, str]:
    known = {doc.env for doc in known_keys()}
    ours = {name: value for name, value in env.items() if name.startswith(PREFIX)}
    for name in sorted(ours.keys() - known - set(EXTRA_VARIABLES)):
        hint = nearest(name, [*known, *EXTRA_VARIABLES])
        logger.warning("Environment variable %s is not known and is ignored%s", name, hint)
    return {name: value for name, value in ours.items() if name in known}


def _unreadable_variable(variables: Mapping[str, str], error: SettingsError) -> str:
    """pydantic-settings names the top section only, so find the variable by trying each."""
    for name, value in variables.items():
        try:
            _Environment({name: value})()
        except SettingsError:
            return f'{name} must be JSON, for example ["a", "b"].'
    return str(error)


def _describe(error: ValidationError, path: Path, env: Mapping[str, str]) -> str:
    lines = [
        _describe_one(dict(item), path, env)
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "\n".join(lines)


def _describe_one(item: dict[str, Any], path: Path, env: Mapping[str, str]) -> str:
    key = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{path}: unknown key {key}{nearest(key, [doc.key for doc in known_keys()])}"
    reason = str(item["msg"]).removeprefix("Value error, ")
    for theirs, ours in _WORDS.items():
        reason = reason.replace(theirs, ours)
    variable = next((name for name in env if _names(name, item["loc"])), None)
    return f"{variable or path}: {key}: {reason}"


def _names(variable: str, loc: tuple[str | int, ...]) -> bool:
    keys = [part for part in loc if isinstance(part, str)]
    return variable == env_name(".".join(keys))
