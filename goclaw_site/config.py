"""Typed configuration: `config.yaml` in the state directory, overridden by the environment."""

import logging
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, SettingsError

from goclaw_site.configfile import merged, read_file
from goclaw_site.configkeys import KeyDoc, env_name, key_docs, nearest
from goclaw_site.configmodel import Config
from goclaw_site.configsecrets import references, replaced, stars
from goclaw_site.errors import ConfigError
from goclaw_site.vault import Vault

__all__ = [
    "Config",
    "KeyDoc",
    "database_file",
    "database_place",
    "extra_variable",
    "get_config",
    "known_keys",
    "limit_numeric_threads",
    "load_config",
    "named_secrets",
    "reload_config",
    "state_dir",
    "vault",
]

logger = logging.getLogger(__name__)

CONFIG_FILE = "config.yaml"
PREFIX = "GOCLAW_"
VAULT_KEY = "GOCLAW_VAULT_KEY"

# Variables that are read, but are no configuration keys.
EXTRA_VARIABLES = (
    "GOCLAW_STATE_DIR",
    "GOCLAW_ADMIN_PASSWORD",
    "GOCLAW_API_KEY",
    "GOCLAW_CONFIG_CHECK",
    VAULT_KEY,
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
    ours = _known_variables(env)
    given = _given(path, ours)
    named = references(given)
    if named:
        given = _with_secrets(given, named, Vault(state, env.get(VAULT_KEY)), _places(path, ours))
    try:
        return Config(**given).starred(named)
    except ValidationError as error:
        raise ConfigError(stars(_describe(error, path, ours))) from None


def vault() -> Vault:
    """The vault of this installation."""
    return Vault(state_dir(), extra_variable(VAULT_KEY))


def named_secrets(state: Path, env: Mapping[str, str] | None = None) -> dict[str, list[str]]:
    """Secrets that file and environment name: key to names. The vault is not asked."""
    ours = _known_variables(os.environ if env is None else env)
    return references(_given(state / CONFIG_FILE, ours))


def known_keys() -> list[KeyDoc]:
    """Every key with its type, default, bounds and description, in the order of the file."""
    return key_docs(Config)


def database_file(config: Config | None = None, state: Path | None = None) -> Path:
    """The SQLite file; a relative `database.path` stands in the state directory."""
    return (state or state_dir()) / Path((config or get_config()).database.path).expanduser()


def _given(path: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """What people wrote: file, then environment, as nested sections."""
    in_file = read_file(path)
    try:
        return merged(in_file, _Environment(variables)())
    except SettingsError as error:
        raise ConfigError(_unreadable_variable(variables, error)) from None


def _with_secrets(
    given: dict[str, Any],
    named: dict[str, list[str]],
    held: Vault,
    place: Callable[[str], str],
) -> dict[str, Any]:
    """Raise ConfigError with a line for each that is missing, and the command that sets it."""
    lacking = [
        f"{place(key)}: {key}: the vault has no secret {name!r}. Set it with: "
        f"goclaw secrets set {name}"
        for key, names in named.items()
        for name in names
        if held.get(name) is None
    ]
    if lacking:
        raise ConfigError("\n".join(lacking))
    filled: dict[str, Any] = replaced(given, held.get)
    return filled


def _places(path: Path, variables: Mapping[str, str]) -> Callable[[str], str]:
    return lambda key: env_name(key) if env_name(key) in variables else str(path)


def database_place(state: Path, config_file: Path | None = None) -> Path | None:
    """Where the SQLite file of a configuration lies that need not be whole; None: no SQLite.

    Secrets are not looked up, and nothing but this section has to be right.
    """
    given = _given(config_file or state / CONFIG_FILE, _known_variables(os.environ))
    section = given.get("database") or {}
    if section.get("driver", "sqlite") != "sqlite":
        return None
    return state / Path(str(section.get("path") or "gc_state.sqlite")).expanduser()


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
    whole = ".".join(part for part in item["loc"] if isinstance(part, str))
    return f"{_places(path, env)(whole)}: {key}: {reason}"
