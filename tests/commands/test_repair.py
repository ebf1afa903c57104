"""`memory check --repair` at a terminal."""

from memory.models import MemoryChunk
from tests.api.callers import caller, index_all


def test_what_was_found_and_what_became_of_it(run, db):
    caller("root", is_superuser=True).wrote("a heron")
    index_all()
    assert run("memory", "check", "--repair").status == 0
    MemoryChunk.objects.all().delete()
    found = run("memory", "check")
    assert found.status == 1
    assert "--repair" in found.out
    done = run("memory", "check", "--repair")
    assert done.status == 0
    assert "unchunked: 1 of 1 repaired" in done.out
    assert "Backup: /" in done.out
    assert "Clean now" in done.out
    index_all()
    MemoryChunk.objects.all().delete()
    told = run("memory", "check", "--repair", "--json").json
    assert told["ok"] is True
    assert told["repaired"][0]["name"] == "unchunked"
    assert told["left"] == []
    assert told["backup"]
