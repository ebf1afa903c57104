"""File, environment, bounds, and what people are told when something is wrong."""

import logging
from pathlib import Path

import pytest
from pydantic import ValidationError

from goclaw_site.config import (
    database_file,
    get_config,
    known_keys,
    load_config,
    state_dir,
)
from goclaw_site.errors import ConfigError


def load(tmp_path: Path, text: str = "", **env: str):
    (tmp_path / "config.yaml").write_text(text)
    return load_config(tmp_path, env)


def refusal(tmp_path: Path, text: str = "", **env: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, **env)
    return caught.value.message


def test_everything_has_a_default(tmp_path):
    config = load_config(tmp_path, {})
    assert config.server.port == 8000
    assert config.memory.search.min_score == 0.35
    assert config.memory.write_access.roles == ("admin",)


def test_sections_and_dotted_keys_mean_the_same(tmp_path):
    nested = load(tmp_path, "memory:\n  search:\n    depth: 7\n")
    dotted = load(tmp_path, "memory.search.depth: 7\n")
    mixed = load(tmp_path, "memory:\n  search.depth: 7\n  chunk: {size: 800}\n")
    assert nested.memory.search.depth == dotted.memory.search.depth == 7
    assert (mixed.memory.search.depth, mixed.memory.chunk.size) == (7, 800)


def test_section_that_is_commented_out_is_no_error(tmp_path):
    assert load(tmp_path, "memory:\n  search:\n  # depth: 7\n").memory.search.depth == 60


def test_environment_wins_over_the_file(tmp_path):
    text = "memory:\n  search:\n    min_score: 0.2\n    depth: 7\n"
    search = load(tmp_path, text, GOCLAW_MEMORY__SEARCH__MIN_SCORE="0.5").memory.search
    assert (search.min_score, search.depth) == (0.5, 7)


def test_lists_in_the_environment_are_json(tmp_path):
    config = load(tmp_path, GOCLAW_SERVER__ALLOWED_HOSTS='["a.example", "b.example"]')
    assert config.server.allowed_hosts == ("a.example", "b.example")
    message = refusal(tmp_path, GOCLAW_SERVER__ALLOWED_HOSTS="a.example")
    assert "GOCLAW_SERVER__ALLOWED_HOSTS must be JSON" in message


def test_empty_variable_counts_as_unset(tmp_path):
    assert load(tmp_path, GOCLAW_SERVER__PORT="").server.port == 8000


def test_corrupt_yaml_names_file_and_line(tmp_path):
    message = refusal(tmp_path, "server:\n  port: [1\nlog: 2\n")
    assert f"{tmp_path / 'config.yaml'}, line 3" in message


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text", "a: \x01\n"])
def test_file_that_is_no_mapping_is_refused(tmp_path, text):
    assert "config.yaml, line 1" in refusal(tmp_path, text)


def test_file_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "config.yaml").write_bytes(b"timezone: \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config(tmp_path, {})


def test_misspelt_key_names_the_nearest(tmp_path):
    message = refusal(tmp_path, "memory:\n  search:\n    min_scoer: 0.2\n")
    assert "unknown key memory.search.min_scoer; did you mean memory.search.min_score?" in message


def test_every_wrong_key_is_named_at_once(tmp_path):
    message = refusal(tmp_path, "server: {port: 0}\nmemory.chunk: {size: 500, overlap: 250}\n")
    assert "server.port" in message
    assert "overlap (250) must be less than half of size (500)" in message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("memory.search.min_score: 1.5", "memory.search.min_score: must be less than or equal"),
        ("memory.search.min_score: .nan", "memory.search.min_score"),
        ("queue.sweep_seconds: 5", "queue.sweep_seconds: must be greater than or equal to 60"),
        ("server.allowed_hosts: a.example", "server.allowed_hosts: must be a list"),
        ("timezone: Mars/Olympus", "'Mars/Olympus' is not a time zone"),
        ("database.driver: mysql", "mysql is not yet in this version"),
        ("memory: 7", "memory: must be"),
    ],
)
def test_bounds_are_held(tmp_path, text, says):
    assert says in refusal(tmp_path, text)


def test_wrong_variable_is_named_itself(tmp_path):
    message = refusal(tmp_path, GOCLAW_SERVER__PORT="many")
    assert message.startswith("GOCLAW_SERVER__PORT: server.port: must be a")


def test_unknown_variable_is_a_warning_with_the_nearest(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        load(tmp_path, GOCLAW_MEMORY__SERACH__DEPTH="5", GOCLAW_STATE_DIR="/x", PATH="/bin")
    assert len(caplog.messages) == 1
    assert "GOCLAW_MEMORY__SERACH__DEPTH" in caplog.text
    assert "did you mean GOCLAW_MEMORY__SEARCH__DEPTH?" in caplog.text


def test_secrets_are_stars_also_in_errors(tmp_path):
    config = load(tmp_path, "memory.search.api_key: sk-visible\n")
    assert "sk-visible" not in f"{config!r} {config}"
    secret = config.memory.search.api_key
    assert secret is not None
    assert secret.get_secret_value() == "sk-visible"
    assert "4711" not in refusal(tmp_path, "memory.search.api_key: 4711\n")


def test_sections_are_frozen():
    with pytest.raises(ValidationError):
        get_config().server.port = 1  # type: ignore[misc]


def test_every_key_is_described_and_reachable():
    config = get_config()
    for doc in known_keys():
        value: object = config
        for part in doc.key.split("."):
            value = getattr(value, part)
        assert doc.description.endswith("."), doc.key


def test_state_directory_and_database_file(tmp_path):
    assert state_dir({"GOCLAW_STATE_DIR": str(tmp_path)}) == tmp_path
    assert state_dir({}) == Path.home() / ".goclaw"
    config = load(tmp_path)
    assert database_file(config, tmp_path) == tmp_path / "gc_state.sqlite"
    config = load(tmp_path, "database.path: /elsewhere/x.sqlite\n")
    assert database_file(config, tmp_path) == Path("/elsewhere/x.sqlite")


def test_fixture_changes_the_configuration_of_a_test(configure):
    assert configure({"memory.search.provider": "none"}).memory.search.provider == "none"
    assert get_config().memory.search.provider == "none"
