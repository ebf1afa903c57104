"""Commands as people run them: exit statuses, plain lines, state directories of their own."""

import json
import sqlite3

import pytest

from tests.commands.running import outside, plain_line

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("outside") / "state"


def test_fresh_folder_works_without_migrating(state):
    added = outside(state, "memory", "add", "The gateway runs Debian 12", "--json")
    assert (added.status, added.err) == (0, "")
    assert added.json["outcome"] == "created"
    found = outside(state, "memory", "search", "Debian", "--json")
    assert [hit["id"] for hit in found.json["results"]] == [added.json["id"]]
    assert state.stat().st_mode & 0o777 == 0o700


def test_refusals_are_one_plain_line_and_1(state):
    assert "wiki" in plain_line(outside(state, "memory", "add", "x", "--scope", "wiki"))
    unknown = plain_line(outside(state, "memory", "stats", GOCLAW_API_KEY="gc_0000000000_x"))
    assert "key" in unknown
    surrogate = outside(state, "memory", "add", b"a\xffb".decode("utf-8", "surrogateescape"))
    assert "surrogate" in plain_line(surrogate)


def test_wrong_usage_is_2(state):
    ran = outside(state, "memory", "nothing")
    assert ran.status == 2
    assert "Traceback" not in ran.err
    assert "usage" in ran.err


def test_failed_items_are_1(state, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text('{"content": "good"}\n{broken\n')
    ran = outside(state, "memory", "ingest", log, "--json")
    assert (ran.status, ran.json["created"], ran.json["failed"]) == (1, 1, 1)
    assert ran.err == ""


def test_database_of_a_newer_version_is_refused_with_words(state):
    with sqlite3.connect(state / "gc_state.sqlite") as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) "
            "VALUES ('memory', '9999_later', '2099-01-01')"
        )
    assert "newer version" in plain_line(outside(state, "keys", "list"))
    with sqlite3.connect(state / "gc_state.sqlite") as database:
        database.execute("DELETE FROM django_migrations WHERE name = '9999_later'")
    assert outside(state, "memory", "stats").status == 0


def test_configuration_that_is_wrong_is_named(tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "config.yaml").write_text("memory:\n  serach:\n    min_score: 0.5\n")
    assert "memory.serach" in plain_line(outside(state, "memory", "stats"))
    (state / "config.yaml").write_text("memory: [unclosed\n")
    assert "config.yaml" in plain_line(outside(state, "memory", "stats"))


def test_file_that_is_no_database_is_one_plain_line(tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "gc_state.sqlite").write_text("this is no database " * 100)
    assert "not a database" in plain_line(outside(state, "memory", "stats"))


def test_key_made_by_a_command_opens_the_api_of_the_same_folder(state):
    made = json.loads(outside(state, "keys", "create", "--gateway", "--json").out)
    ran = outside(state, "memory", "search", "Debian", "--json", GOCLAW_API_KEY=made["key"])
    assert len(ran.json["results"]) == 1
