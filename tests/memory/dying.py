"""A worker that dies with `os._exit(9)` at a named point, and a fresh one that finishes its work.

`python -m tests.memory.dying FOLDER` does this for every one of `POINTS`, each in processes and a
database file of their own, and prints one line of JSON for each.
"""

import json
import os
import random
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

KILLED = 9
NAMES = (
    "claim",  # the lease is taken, nothing is done
    "chunk",  # a record is being cut
    "text rows",  # chunks are written, not committed
    "windows",  # windows are written, not committed
    "text commit",  # chunks are committed, the worker knows nothing of it
    "embed",  # the provider was asked
    "embedded",  # the provider answered, nothing is stored
    "vectors",  # vectors are written, not committed
    "vector commit",  # vectors are committed, the record is not marked
    "settle",  # the record is marked
)


def points() -> list[tuple[str, int]]:
    """Return twenty points: each name at its first crossing and at a later one, seeded."""
    dice = random.Random(20261129)
    return [pair for name in NAMES for pair in ((name, 1), (name, dice.randint(2, 4)))]


POINTS = points()


def main(folder: Path) -> None:
    original = folder / "gc_state.sqlite"
    in_child(lambda: prepare(original), original)
    for number, (name, crossing) in enumerate(POINTS):
        database = folder / f"point{number}.sqlite"
        for end in ("", "-wal", "-shm"):
            if (source := Path(f"{original}{end}")).exists():
                shutil.copy(source, f"{database}{end}")
        code, _ = in_child(lambda n=name, c=crossing: die_at(n, c), database)
        finished = in_child(finish, database)[1]
        print(json.dumps({"name": name, "crossing": crossing, "code": code, **finished}))


def in_child(work: Any, database: Path) -> tuple[int, dict[str, Any]]:
    """Run `work` in a new process on this database; return its exit code and its answer."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        from django.db import connection

        os.close(reader)
        connection.settings_dict["NAME"] = str(database)
        try:
            answer = work() or {}
        except BaseException:
            answer = {"error": traceback.format_exc()}
        os.write(writer, json.dumps(answer).encode())
        connection.close()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(told or b"{}")


def small_batches() -> Any:
    """Serve a quick provider, in batches so small that every point is crossed several times."""
    from memory import indexing
    from tests.memory.making import BagProvider, serve

    indexing.TEXT_BATCH = 3
    provider = serve(BagProvider())
    provider.batch_size = 3
    return provider


def prepare(database: Path) -> None:
    from django.core.management import call_command

    from memory import write
    from memory.drafts import Changes, Draft, Source
    from memory.models import Memory
    from tests.memory.making import ADMIN, ago, index_all

    call_command("migrate", verbosity=0)
    small_batches()
    old = write.remember(ADMIN, Draft("an old text " * 300, scope="agent_notes")).memory
    write.remember(ADMIN, Draft("already there", scope="agent_notes"))
    index_all()
    write.amend(ADMIN, old.pk, Changes(content="a new text\n\n" * 300))
    talk = [Draft(f"turn {n}", "agent_notes", source=Source("s", "t", n)) for n in range(6)]
    for draft in talk:
        write.remember(ADMIN, draft)
    long = "\n\n".join(f"Part {n}. " + "words and more words. " * 20 for n in range(6))
    write.remember_many(ADMIN, [Draft(f"{long} {n}", "global") for n in range(3)])
    write.remember(ADMIN, Draft("already there", scope="global"))
    Memory.objects.update(created_at=ago(minutes=10))


def states() -> list[str]:
    from memory.models import Memory

    return sorted(Memory.objects.values_list("index_state", flat=True))


def die_at(name: str, crossing: int) -> None:
    """Work as a worker does, and die at the point."""
    from memory import chunks, indexing, jobs, windows

    provider = small_batches()
    places: dict[str, tuple[Any, str, bool]] = {
        "claim": (indexing, "_claim", True),
        "chunk": (chunks, "cut", False),
        "text rows": (chunks, "replace", True),
        "windows": (windows, "refresh", True),
        "text commit": (indexing, "store_texts", True),
        "embed": (provider, "embed_passages", False),
        "embedded": (provider, "embed_passages", True),
        "vectors": (indexing, "_store_vectors", True),
        "vector commit": (indexing, "embed_and_store", True),
        "settle": (indexing, "_settle", True),
    }
    owner, function, after = places[name]
    real, crossed = getattr(owner, function), [0]

    def fatal(*args: Any, **kwargs: Any) -> Any:
        answer = real(*args, **kwargs) if after else None
        crossed[0] += 1
        if crossed[0] == crossing and (name != "claim" or answer):
            os._exit(KILLED)
        if name == "claim" and not answer:
            crossed[0] -= 1
        return answer if after else real(*args, **kwargs)

    setattr(owner, function, fatal)
    jobs.index_waiting()


def finish() -> dict[str, Any]:
    """Let the leases be over, sweep, and do what the sweep queued; then look at everything."""
    from django_q.models import OrmQ

    from memory import checking, jobs
    from memory.models import Memory
    from tests.memory import keywordrows

    provider = small_batches()
    found_at = states()
    OrmQ.objects.all().delete()
    leased = Memory.objects.filter(next_attempt_at__isnull=False)
    waiting = Memory.objects.exclude(index_state="indexed").count()
    leased.update(next_attempt_at=None)
    jobs.sweep()
    queued = OrmQ.objects.count()
    jobs.index_waiting()
    twice = len(provider.passages_seen) - len(set(provider.passages_seen))
    return {
        "states": found_at,
        "waiting": waiting,
        "queued": queued,
        "finished": states(),
        "wrong": wrong_records(),
        "keyword_rows": keywordrows.count(),
        "findings": [f"{f.name}: {f.words}" for f in checking.check()],
        "embedded_twice": twice,
        "unfound": unfound(),
    }


def wrong_records() -> list[str]:
    """Return the records whose chunks are not exactly what cutting and embedding them gives."""
    import numpy as np

    from memory import chunks, providers
    from memory.models import Memory, MemoryChunk

    provider = providers.current()
    assert provider is not None
    found = []
    for record in Memory.objects.all():
        wanted = chunks.cut(record, 1600, 320)
        held = list(MemoryChunk.objects.filter(memory=record).order_by("position"))
        same = [(p.key, p.text) for p in wanted] == [(c.key, c.text) for c in held]
        vectors = provider.passages([chunks.embedding_input("", p.text) for p in wanted])
        near = same and all(
            chunk.embedding is not None and float(np.dot(chunk.embedding, vector)) > 0.99
            for chunk, vector in zip(held, vectors, strict=True)
        )
        if not near:
            found.append(record.content[:20])
    return found


def unfound() -> list[str]:
    """Return the turns that their own words do not find."""
    from memory.models import Memory
    from tests.memory.making import ADMIN, ids

    turns = Memory.objects.filter(content__startswith="turn")
    return [turn.content for turn in turns if turn.pk not in ids(ADMIN, turn.content)]


if __name__ == "__main__":
    os.environ["GOCLAW_STATE_DIR"] = sys.argv[1]
    os.environ["DJANGO_SETTINGS_MODULE"] = "goclaw_site.settings"
    import django

    django.setup()
    from memory import checking, jobs, search  # noqa: F401  once, before the forks

    main(Path(sys.argv[1]))
