"""`memory add search stats reindex check` in this process."""

import json
import time
import uuid

import pytest
from django.core.management import CommandError

from agents import keys
from goclaw_site import cli
from goclaw_site.errors import GoclawError, InvalidInput, Refused, TooLarge, Unauthorized
from memory import jobs
from memory.models import EngineState, Job, Memory, MemoryChunk
from tests.api.callers import SEARCH, STATS, Caller, index_all, user
from tests.memory.making import note


@pytest.fixture
def ann(db):
    return Caller(keys.create(user("ann")).text)


def test_add_writes_a_note_of_the_organisation(run):
    ran = run("memory", "add", "The gateway runs Debian", "--tag", "red", "--tag", "big")
    assert ran.status == 0
    row = Memory.objects.get()
    assert (row.scope, row.owner, row.tag_names) == ("agent_notes", None, ["big", "red"])
    assert row.metadata["provenance"]["door"] == "command"
    assert ran.out == f"Remembered: {row.pk} (agent_notes)\n"
    assert run("memory", "add", "The gateway runs Debian").out.startswith("There already:")


def test_add_for_a_person_is_personal(run, ann):
    run("memory", "add", "I like tea", "--user", "ann")
    row = Memory.objects.get()
    assert (row.scope, str(row.owner)) == ("personal", "ann")


def test_add_as_json_is_the_answer_of_the_api(run, ann):
    body = run("memory", "add", "I like tea", "--key", ann.key, "--json").json
    posted = ann.post("/api/memory/", {"content": "I like tea"}).json()
    assert body == {**posted, "outcome": "created"}


def test_add_takes_everything(run):
    body = run(
        *("memory", "add", "x", "--scope", "global", "--kind", "fact", "--domain", "net"),
        *("--expires", "2099-01-01", "--json"),
    ).json
    row = Memory.objects.get(pk=body["id"])
    assert (row.scope, row.kind, row.domain) == ("global", "fact", "net")
    assert str(row.expires_at) == "2099-01-01 00:00:00+00:00"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([""], InvalidInput),
        (["x" * 200_001], TooLarge),
        (["a\udcffb"], InvalidInput),
        (["x", "--scope", "nowhere"], InvalidInput),
        (["x", "--scope", "wiki"], Refused),
        (["x", "--scope", "personal"], Refused),
        (["x", "--kind", "rumour"], InvalidInput),
        (["x", "--tag", "superseded"], InvalidInput),
        (["x", "--expires", "soon"], InvalidInput),
        (["x", "--expires", "2001-01-01"], InvalidInput),
        (["x", "--user", "nobody"], InvalidInput),
        (["x", "--user", "a\udcffb"], InvalidInput),
        (["x", "--key", "nonsense"], Unauthorized),
        (["x", "--user", "ann", "--scope", "global"], Refused),
    ],
)
def test_what_is_refused_says_why_and_writes_nothing(run, ann, arguments, error):
    with pytest.raises(error) as caught:
        run("memory", "add", *arguments)
    assert isinstance(caught.value, GoclawError)
    assert caught.value.message
    assert "\n" not in caught.value.message
    assert not Memory.objects.exists()


def test_read_only_key_adds_nothing(run, ann):
    reader = keys.create(user("reader", is_superuser=True), read_only=True).text
    for arguments in (["add", "x"], ["reindex"]):
        with pytest.raises(Refused):
            run("memory", *arguments, "--key", reader)
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "arguments", [[], ["nothing"], ["add"], ["add", "x", "--colour"], ["search", "x", "--json=1"]]
)
def test_wrong_usage_is_told_before_anything(run, arguments):
    with pytest.raises(CommandError):
        run("memory", *arguments)


@pytest.mark.parametrize(
    "arguments", [["memory"], ["memory", "nothing"], ["memory", "add"], ["keys", "create", "-x"]]
)
def test_wrong_usage_ends_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["goclaw", *arguments])
    assert left.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.fixture
def records(ann):
    boss = Caller(keys.create(user("root", is_superuser=True)).text)
    ann.wrote("ann's own zebra", scope="personal", tags=["red"])
    boss.wrote("zebra of all", scope="global", kind="fact", domain="zoo")
    boss.wrote("noted zebra", tags=["red"])
    index_all()
    boss.wrote("waiting zebra")
    return boss


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scope": ["global", "agent_notes"]},
        {"scope": ["personal"]},
        {"kind": ["fact"]},
        {"tag": ["red"]},
        {"domain": "zoo"},
        {"since": "2099-01-01"},
        {"max_results": 1},
        {"min_score": 0.0, "max_results": 50},
        {"include_history": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("who", ["ann", "root"])
def test_search_as_json_is_the_answer_of_the_api(run, ann, records, options, who):
    caller = {"ann": ann, "root": records}[who]
    flags = [
        flag
        for name, value in options.items()
        for item in (value if isinstance(value, list) else [value])
        for flag in ([_flag(name)] if value is True else [_flag(name), item])
    ]
    printed = run("memory", "search", "zebra", "--key", caller.key, "--json", *flags).json
    body = {
        (name + "s" if isinstance(value, list) else name): value for name, value in options.items()
    }
    answered = caller.post(SEARCH, {"query": "zebra", **body}).json()
    assert _timeless(printed) == _timeless(answered)
    assert answered["results"] or options in ({"since": "2099-01-01"}, {"scope": ["personal"]})


def _flag(name):
    return "--" + name.replace("_", "-")


def _timeless(body):
    for hit in body["results"]:
        hit["explain"] = {k: v for k, v in hit["explain"].items() if k not in ("decay", "age_days")}
    return {name: value for name, value in body.items() if name != "took_ms"}


def test_name_alone_shows_nothing_personal(run, ann, records):
    named = run("memory", "search", "zebra", "--user", "ann", "--json").json
    proven = run("memory", "search", "zebra", "--user", "ann", "--key", ann.key, "--json").json
    assert "personal" not in {hit["scope"] for hit in named["results"]}
    assert "personal" in {hit["scope"] for hit in proven["results"]}


def test_key_of_the_environment_says_who_asks(run, ann, records, monkeypatch):
    monkeypatch.setenv("GOCLAW_API_KEY", ann.key)
    found = run("memory", "search", "zebra", "--json").json
    assert "personal" in {hit["scope"] for hit in found["results"]}


def test_search_for_people(run, records):
    ran = run("memory", "search", "zebra", "--explain")
    assert ran.status == 0
    assert "zebra of all" in ran.out
    assert "matched 1 of 1 words" in ran.out
    assert "1 records are not wholly indexed yet." in ran.out
    assert "<mark>" not in ran.out
    nothing = run("memory", "search", "giraffe")
    assert (nothing.status, "Nothing found." in nothing.out) == (0, True)


def test_markup_in_a_record_is_shown_as_it_is(run):
    run("memory", "add", "[bold]zebra[/] & <b>more</b> [/nothing]")
    assert "[bold]zebra[/] & <b>more</b> [/nothing]" in run("memory", "search", "zebra").out


@pytest.mark.parametrize(
    "arguments",
    [["--scope", "nowhere"], ["--since", "soon"], ["--max-results", "0"], ["--min-score", "2"]],
)
def test_wrong_filters_are_refused(run, arguments):
    with pytest.raises(InvalidInput):
        run("memory", "search", "x", *arguments)


@pytest.mark.parametrize("query", ["", " ", "\udcff", '"', "x" * 100_000, "--", "* NEAR"])
def test_any_query_is_answered(run, records, query):
    assert run("memory", "search", "--json", "--", query).status == 0


def test_stats_as_json_are_those_of_the_api(run, records):
    printed = run("memory", "stats", "--key", records.key, "--json").json
    answered = records.get(STATS).json()
    for body in (printed, answered):
        body["engine"].pop("index_lag_seconds")
        body.pop("index_lag_seconds")
    assert printed == answered
    assert printed["pending"] == 1


def test_stats_for_people(run, records):
    ran = run("memory", "stats")
    assert ran.status == 0
    assert "1 to be indexed" in ran.out
    assert "no sign of life" in ran.out
    assert "embeddings" not in run("memory", "stats", "--user", "ann").err


def test_reindex_without_a_worker_works_here(run, records):
    MemoryChunk.objects.all().delete()
    ran = run("memory", "reindex", "--json")
    assert ran.status == 0
    body = ran.json
    assert (body["kind"], body["state"], body["done"]) == ("reindex", "done", 4)
    assert Memory.objects.filter(index_state="indexed").count() == 4
    assert run("memory", "check").status == 0


def test_reindex_of_what_is_missing(run, records):
    ran = run("memory", "reindex", "--missing")
    assert (ran.status, ran.out) == (0, "Indexed 1 records.\n")


def test_reindex_goes_on_with_an_unfinished_job(run, records):
    job = jobs.start("reindex", {"missing": False}, "root")
    assert run("memory", "reindex", "--json").json["id"] == str(job.pk)


def test_reindex_follows_a_living_worker(run, records, monkeypatch):
    jobs.seen()
    worked = []

    def worker_at_work(seconds):
        worked.append(seconds)
        jobs.run(str(Job.objects.get().pk))

    monkeypatch.setattr(time, "sleep", worker_at_work)
    assert run("memory", "reindex", "--json").json["state"] == "done"
    assert worked
    EngineState.objects.all().delete()


def test_failed_reindex_is_1_and_says_why(run, records, monkeypatch):
    def fail(job, deadline):
        raise InvalidInput("The disk is full.")

    monkeypatch.setitem(jobs.STEPS, "reindex", fail)
    ran = run("memory", "reindex")
    assert ran.status == 1
    assert "The disk is full." in ran.out
    EngineState.objects.all().delete()
    again = run("memory", "reindex", "--json")
    assert (again.status, again.json["error"]) == (1, "The disk is full.")


def test_reindex_of_several_slices_does_not_wait_for_itself(run, records, monkeypatch):
    slices = []

    def step(job, deadline):
        slices.append(job.pk)
        return len(slices) == 3

    monkeypatch.setitem(jobs.STEPS, "reindex", step)
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("waited"))
    assert run("memory", "reindex").status == 0
    assert len(slices) == 3


def test_reindex_is_for_administrators(run, ann, records):
    for who in (["--user", "ann"], ["--key", ann.key]):
        with pytest.raises(Refused):
            run("memory", "reindex", *who)


def test_check_is_clean_and_finds_what_is_not(run, records):
    index_all()
    assert run("memory", "check").status == 0
    assert run("memory", "check", "--json").json == {"ok": True, "findings": []}
    MemoryChunk.objects.filter(memory__scope="global").delete()
    ran = run("memory", "check", "--json")
    assert ran.status == 1
    assert ran.json["ok"] is False
    assert ran.json["findings"]
    assert "zebra" not in ran.out
    assert run("memory", "check").status == 1


def test_times_are_iso_8601_in_utc(run):
    body = run("memory", "add", "x", "--json").json
    assert body["created_at"].endswith("Z")
    assert "T" in body["created_at"]
    assert uuid.UUID(body["id"])


def test_json_is_all_there_is_on_standard_output(run, records):
    for part in (["stats"], ["search", "zebra"], ["add", "y"], ["check"], ["reindex"]):
        json.loads(run("memory", *part, "--json").out)


def test_dedupe_shows_the_pairs_with_their_texts_and_then_retires(run, db):
    older = note("The configuration of the archive is kept in the vault")
    newer = note("The configuration of the archive is kept in the vault!")
    ran = run("memory", "dedupe", "--dry-run")
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("ratio 0.9")
    assert lines[1].split(maxsplit=2) == ["keeps", str(newer.pk), newer.content]
    assert lines[2].split(maxsplit=2) == ["retires", str(older.pk), older.content]
    assert lines[-1] == "Nothing was changed."
    ran = run("memory", "dedupe")
    assert (ran.status, ran.out.splitlines()[0][:15]) == (0, "Retired 1 notes")
    body = run("memory", "dedupe", "--json").json
    assert (body["state"], body["result"]["retired"]) == ("done", 0)


def test_dedupe_with_a_ratio_out_of_bounds_is_refused(run, db):
    with pytest.raises(InvalidInput, match=r"0\.5 to 1"):
        run("memory", "dedupe", "--ratio", "85")
    assert not Job.objects.exists()
