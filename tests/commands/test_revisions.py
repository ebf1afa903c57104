"""`memory revisions` and its `undo`."""

import uuid

import pytest

from goclaw_site.errors import InvalidInput, NotFound
from memory.models import Memory, MemoryRevision

OLD, NEW = "the gateway is 10.0.0.5", "the gateway is 10.0.0.7"


@pytest.fixture
def pair(run, db):
    first = run("memory", "add", OLD, "--kind", "fact", "--json").json["id"]
    second = run("memory", "add", NEW, "--kind", "fact")
    assert f"takes the place of {first}" in second.out
    return first, str(Memory.objects.get(content=NEW).pk)


def test_it_lists_what_was_decided(run, pair):
    old, new = pair
    ran = run("memory", "revisions")
    assert ran.status == 0
    assert all(word in ran.out for word in ("retired", "via rule", old, new))
    assert run("memory", "revisions", "--record", new, "--json").json[0]["old"] == old
    assert run("memory", "revisions", "--via", "judge").out == "Nothing has been decided.\n"


def test_undo_by_record_and_then_there_is_nothing_left(run, pair):
    ran = run("memory", "revisions", "undo", pair[0], "--reason", "both hold")
    assert (ran.status, ran.out) == (0, "Live again: 1.\n")
    assert MemoryRevision.objects.get().undone_reason == "both hold"
    again = run("memory", "revisions", "undo", pair[0])
    assert (again.status, again.out) == (1, "It was undone already; nothing has changed.\n")


def test_undo_by_run(run, pair):
    of = str(MemoryRevision.objects.get().run_id)
    assert run("memory", "revisions", "undo", "--run", of, "--json").json["restored"] == [pair[0]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["undo"], InvalidInput),
        (["undo", "x"], InvalidInput),
        (["undo", str(uuid.UUID(int=1))], NotFound),
        (["undo", str(uuid.UUID(int=1)), "--run", str(uuid.UUID(int=1))], InvalidInput),
        (["--run", "x"], InvalidInput),
    ],
)
def test_bad_input_is_said(run, db, arguments, error):
    with pytest.raises(error):
        run("memory", "revisions", *arguments)


def test_revise_lists_pairs_without_a_model_and_says_what_was_left(run, pair, no_model):
    run("memory", "revisions", "undo", pair[0])
    ran = run("memory", "revise", "--dry-run")
    assert (ran.status, ran.out.splitlines()[-1]) == (0, "0 pairs, 0 more, 0 of people's own.")
    ran = run("memory", "revise")
    assert "0 retired" in ran.out
    assert "Only the rules were asked" in ran.out
    assert run("memory", "revise", "--json").json["state"] == "done"
