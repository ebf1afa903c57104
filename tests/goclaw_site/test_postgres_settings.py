"""PostgreSQL's keys: where they lead, and what they say when they lead nowhere."""

import pytest

from goclaw_site import broker, databases
from goclaw_site.config import load_config
from goclaw_site.errors import ConfigError


def settings(tmp_path, **keys: str) -> dict:
    env = {f"GOCLAW_DATABASE__{name.upper()}": text for name, text in keys.items()}
    config = load_config(tmp_path, {"GOCLAW_DATABASE__DRIVER": "postgres", **env})
    return databases._postgres(config, tmp_path)


def test_a_url_is_taken_apart(tmp_path):
    url = "postgresql://me:p%40ss@db.example.org:6432/memory?sslmode=require"
    found = settings(tmp_path, url=url)
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example.org", "6432", "memory")
    assert (found["USER"], found["PASSWORD"]) == ("me", "p@ss")
    assert found["OPTIONS"]["sslmode"] == "require"


def test_single_keys(tmp_path):
    found = settings(tmp_path, host="db", password="x", name="other", sslmode="verify-full")
    assert (found["HOST"], found["NAME"], found["USER"]) == ("db", "other", "goclaw")
    assert found["OPTIONS"]["sslmode"] == "verify-full"
    assert found["CONN_MAX_AGE"] is None
    assert "statement_timeout=60000" in found["OPTIONS"]["options"]


def test_a_pool_and_no_time_limit(tmp_path):
    found = settings(tmp_path, host="db", pool_size="5", statement_seconds="0")
    assert found["OPTIONS"]["pool"]["max_size"] == 5
    assert found["CONN_MAX_AGE"] == 0
    assert "statement_timeout=0" in found["OPTIONS"]["options"]


def test_a_url_that_cannot_be_read_is_not_quoted(tmp_path):
    with pytest.raises(ConfigError, match=r"database\.url") as refused:
        settings(tmp_path, url="postgresql://me:se cret@[db/x")
    assert "se cret" not in refused.value.message


@pytest.mark.parametrize("keys", [{}, {"host": "db", "embedded": "true"}])
def test_one_place_is_named(tmp_path, keys):
    with pytest.raises(ConfigError, match=r"one of database\.url"):
        settings(tmp_path, **keys)


def test_redis_is_patient_for_seconds_only(tmp_path):
    config = load_config(tmp_path, {"GOCLAW_QUEUE__REDIS": "redis://:p@host:6379/0"})
    url = broker.settings_of(config)["redis"]
    assert url.startswith("redis://:p@host:6379/0?")
    assert "socket_timeout=5" in url


def test_the_database_carries_messages_by_default(tmp_path):
    assert broker.settings_of(load_config(tmp_path, {})) == {"orm": "default"}
