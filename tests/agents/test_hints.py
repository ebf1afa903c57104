"""Auto-learn: every example is a test; trouble gets no hint; nothing hostile is slow."""

import logging
import time
from collections import Counter
from functools import cache
from string import Formatter

import pytest

from agents.hints import FAMILIES, MAX_ERROR, family_of, hint
from agents.hints.patterns import GENERAL, LOGIN_PAGES, SPECIAL, UNFIXABLE
from agents.hints.redaction import redacted
from goclaw_site.errors import TooLarge

FIXABLE = (*SPECIAL, *GENERAL)
OUTSIDE = (*LOGIN_PAGES, *UNFIXABLE)
SCHEMA = {"users": ["id", "user_name", "email"], "orders": ["id", "user_id", "total"]}


def examples(patterns):
    return [
        pytest.param(pattern, example, id=f"{pattern.name}-{number}")
        for pattern in patterns
        for number, example in enumerate(pattern.examples)
    ]


@pytest.mark.parametrize(("pattern", "example"), examples(FIXABLE))
def test_example_gets_its_hint(pattern, example):
    """Another tool may have a pattern of its own that says it better, but it is fixable too."""
    first, *others = [hint(family, example) for family in pattern.families]
    assert first.pattern == pattern.name
    assert first.category == pattern.category
    for advice in (first, *others):
        assert advice.fixable
        assert 20 < len(advice.hint) < 700
        assert "\n" not in advice.hint


@pytest.mark.parametrize(("pattern", "example"), examples(OUTSIDE))
def test_trouble_gets_no_hint_from_any_tool(pattern, example):
    for family in FAMILIES:
        advice = hint(family, example)
        assert (advice.fixable, advice.hint, advice.category) == (False, "", pattern.category)


@pytest.mark.parametrize(
    ("tool", "error"),
    [
        ("db_query", "Host '10.0.0.9' is not allowed to connect to this MySQL server"),
        ("db_query", "Code: 194. DB::Exception: Password required for user agent."),
        ("db_query", "unable to open database file"),
        ("http_request", '{"detail":"Authentication credentials were not provided."}'),
        ("http_request", "dial tcp 10.0.0.5:443: i/o timeout"),
        ("http_request", "java.net.UnknownHostException: api.example.com"),
        ("http_request", "curl: (60) SSL certificate problem: unable to get local issuer"),
        ("gitlab", "HTTP Basic: Access denied. The provided password or token is incorrect"),
        ("gitlab", "GitLab is not responding"),
        ("sonarqube", '{"errors":[{"msg":"Authentication is required"}]}'),
        ("zabbix_query", '{"error":{"code":-32500,"data":"API token expired."}}'),
        ("mcp", "spawn npx ENOENT"),
        ("mcp", "SSE error: Non-200 status code (401)"),
        ("mcp", "Streamable HTTP error: Error POSTing to endpoint: 403"),
        ("uptrace_query", '{"status":401,"code":"unauthorized","message":"unauthorized"}'),
        ("message", '{"errcode":"M_FORBIDDEN","error":"You don\'t have permission to post"}'),
        ("notify", "454 4.7.0 Temporary authentication failure"),
    ],
)
def test_more_trouble_of_one_tool(tool, error):
    advice = hint(tool, error)
    assert not advice.fixable
    assert advice.category != "unknown"


def test_every_tool_has_eight_patterns_and_every_pattern_an_example():
    counts = Counter(family for pattern in FIXABLE for family in pattern.families)
    assert min(counts[family] for family in FAMILIES) >= 8
    assert all(pattern.examples for pattern in (*FIXABLE, *OUTSIDE))
    assert sum(len(pattern.examples) for pattern in OUTSIDE) >= 60


def test_names_are_unique_and_braces_are_groups():
    names = [pattern.name for pattern in (*FIXABLE, *OUTSIDE)]
    assert len(names) == len(set(names))
    for pattern in FIXABLE:
        used = {name for _, name, _, _ in Formatter().parse(pattern.hint) if name}
        assert used <= {"near"} | {part.split(">")[0] for part in pattern.regex.split("(?P<")[1:]}


@pytest.mark.parametrize(
    "error",
    [
        'column "timeout" does not exist',
        "no such column: quota",
        "Unknown column 'password' in 'where clause'",
        'relation "login" does not exist',
        "no such table: http_500_errors",
        'column "unauthorized" does not exist\nLINE 1: SELECT unauthorized FROM t',
        "Code: 403. DB::Exception: Missing columns: 'token' while processing query",
    ],
)
def test_names_that_sound_like_trouble_are_fixable(error):
    assert hint("db_query", error).fixable


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        ('column "user_nme" does not exist', "Did you mean user_name"),
        ("no such column: emial", "Did you mean email?"),
        ("Unknown column 'orders.user' in 'field list'", "Did you mean user_id?"),
        ('relation "usres" does not exist', "Did you mean users?"),
        ("Table 'shop.ordrs' doesn't exist", "Did you mean orders?"),
        ("no such column: zzz", "There are: id, user_name, email, user_id, total."),
    ],
)
def test_nearest_name_of_the_schema(error, wanted):
    assert wanted in hint("db_query", error, SCHEMA).hint


def test_only_the_columns_of_the_named_table():
    said = hint("db_query", "column users.total does not exist", SCHEMA).hint
    assert "There are: id, user_name, email." in said


def test_server_own_suggestion_comes_first():
    error = (
        'column "nme" does not exist\nHINT:  Perhaps you meant to reference the column "u.name".'
    )
    assert "Did you mean u.name?" in hint("db_query", error, SCHEMA).hint


@pytest.mark.parametrize(
    ("tool", "family"),
    [
        ("db_query", "db_query"),
        ("DB_Query ", "db_query"),
        ("db_enrich", "db_query"),
        ("mcp__files__read_file", "mcp"),
        ("gitlab_search", "gitlab"),
        ("zabbix", "zabbix_query"),
        ("uptrace", "uptrace_query"),
        ("http.get", "http_request"),
        ("notify", "notify"),
        ("memory_search", ""),
        ("", ""),
        ("x" * 10_000, ""),
    ],
)
def test_families(tool, family):
    assert family_of(tool) == family


def test_unknown_messages_get_no_hint():
    for family in FAMILIES:
        advice = hint(family, "The flux capacitor is out of tune.")
        assert advice.as_dict() == {"fixable": False, "hint": "", "category": "unknown"}
    assert hint("no such tool", "no such column: a").category == "unknown"
    assert hint("no such tool", "connect ECONNREFUSED 127.0.0.1:1").category == "network"


HOSTILE = [
    "a", "'", '"', "[", "{", "(", "\\", "\n", " ", "\u202e", "𝕏", "%s{0}", "a.", '"a" ',
    'column "', "Maybe you meant: [", "syntax error at or near ", "<html ", "error: ", "status ",
    "Table '", "invalid ", '{"message":', "unknown function f ", 'Invalid parameter "/',
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_takes_no_longer_than_its_ends(unit):
    """Measured against a plain text of the same length, so that a busy machine does not matter."""
    assert _seconds(unit * (MAX_ERROR // len(unit))) < max(10 * _plain(), 0.3)


@cache
def _plain():
    _seconds("x")
    return _seconds("x" * MAX_ERROR)


def _seconds(error):
    began = time.thread_time()
    for family in ("db_query", "mcp", "message"):
        hint(family, error)
    return time.thread_time() - began


def test_message_past_the_limit_is_refused_with_the_limit():
    with pytest.raises(TooLarge, match="1,048,576"):
        hint("db_query", "x" * (MAX_ERROR + 1))


def test_end_of_a_long_trace_is_read():
    trace = "Traceback (most recent call last):\n" + "  File x\n" * 50_000
    assert hint("db_query", trace + "OperationalError: no such column: emial", SCHEMA).fixable


def test_braces_in_a_message_are_text():
    said = hint("db_query", 'column "{near.__class__}" does not exist').hint
    assert "{near.__class__}" in said


SECRETS = [
    "postgres://agent:hunter22@db/shop: Connection refused",
    "401 Unauthorized for Authorization: Bearer hunter22hunter22",
    "access denied: password=hunter22; retry",
    '403 Forbidden {"api_key": "hunter22"}',
    "timed out: https://x/?token=hunter22&a=1",
    "connection refused with glpat-hunter22hunter22",
    "403 Forbidden: key gc_0123456789_hunter22hunter22hunter22",
    "invalid token eyJhunter22hunter22.eyJhunter22.hunter22",
]


@pytest.mark.parametrize("error", SECRETS)
def test_log_holds_no_secrets(error, caplog):
    with caplog.at_level(logging.INFO, "agents.hints"):
        assert not hint("http_request", error).fixable
    assert caplog.records
    assert "hunter22" not in caplog.text
    assert "***" in caplog.text


def test_fixable_failures_are_not_logged(caplog):
    with caplog.at_level(logging.DEBUG):
        hint("db_query", "no such column: a")
    assert not caplog.records


def test_log_line_is_one_short_line():
    line = redacted("connection refused\nsecond line\n" + "z " * 100_000)
    assert "\n" not in line
    assert len(line) <= 300
