"""The search backends side by side on the same synthetic rows: `python -m benchmarks.backends`.

Each database runs in a process of its own, one after the other. Vectors are random directions
around a thousand centres; words follow Zipf's law. Prints one table and writes
`benchmarks/out/backends.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).parent / "out"
WIDTH, CENTRES, WORDS = 384, 1000, 30_000
MODEL = "synthetic"
QUERIES, TIMES = 100, 7
#: Words in a third to nearly all of the chunks, and words of the middle.
COMMON = ("w0", "w1", "w2", "w3", "w4", "w5")
MIDDLE = ("w10", "w20", "w30", "w40", "w50", "w60")
SMALL, LARGE = "p1x0", "sagentnotes0"
SYSTEMS: dict[str, dict[str, str]] = {
    "sqlite": {},
    "postgres": {"GOCLAW_DATABASE__DRIVER": "postgres", "GOCLAW_DATABASE__EMBEDDED": "true"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--measure", choices=SYSTEMS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measured(given.chunks)))
        return
    rows = {name: _in_a_process(name, given.chunks) for name in SYSTEMS}
    for what in rows["sqlite"]:
        print(f"{what:<44}" + "".join(f"{name} {row[what]:>10}   " for name, row in rows.items()))
    ratio = rows["postgres"]["six common words, ms"] / rows["sqlite"]["six common words, ms"]
    print(f"{'six common words, PostgreSQL to SQLite':<44}{ratio:.2f}")
    OUT.mkdir(exist_ok=True)
    (OUT / "backends.json").write_text(json.dumps(rows, indent=1))


def _in_a_process(name: str, chunks: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="goclaw-bench-") as folder:
        env = {**os.environ, **SYSTEMS[name], "GOCLAW_STATE_DIR": folder}
        command = [sys.executable, "-m", "benchmarks.backends", f"--chunks={chunks}"]
        done = subprocess.run(  # noqa: S603  our own words
            [*command, f"--measure={name}"], env=env, stdout=subprocess.PIPE, check=True
        )
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer


def measured(count: int) -> dict[str, Any]:
    """Fill the database of this process's configuration, and ask it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goclaw_site.settings")
    from goclaw_site import embeddedpostgres

    with embeddedpostgres.at_hand():
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        vectors = _vectors(count)
        began = time.perf_counter()
        fill(vectors)
        filled = time.perf_counter() - began
        return {"rows written, s": round(filled, 1), **_asked(vectors)}


def _vectors(count: int) -> Any:
    dice = np.random.default_rng(1)
    centres = dice.standard_normal((CENTRES, WIDTH)).astype(np.float32)
    rows = centres[dice.integers(0, CENTRES, count)]
    rows += dice.standard_normal(rows.shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(vectors: Any) -> None:
    """Write chunks as the indexer leaves them: every hundredth belongs to one person."""
    from memory.models import Memory, MemoryChunk

    dice = np.random.default_rng(2)
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    for start in range(0, len(vectors), 2000):
        part = vectors[start : start + 2000]
        records = [Memory(scope="agent_notes", content="x", content_hash="x") for _ in part]
        Memory.objects.bulk_create(records)
        rows = []
        lengths = dice.integers(8, 60, len(part))
        drawn = np.split(dice.choice(WORDS, lengths.sum(), p=shares), np.cumsum(lengths)[:-1])
        for place, (record, vector) in enumerate(zip(records, part, strict=True)):
            text = " ".join(f"w{word}" for word in drawn[place])
            rows.append(_chunk(MemoryChunk, record, text, vector, (start + place) % 100 == 0))
        MemoryChunk.objects.bulk_create(rows)


def _chunk(kind: Any, record: Any, text: str, vector: Any, small: bool) -> Any:
    return kind(
        memory=record, position=0, start=0, end=1, text=text, search_text=text,
        access=SMALL if small else LARGE, key=uuid.uuid4().hex, text_hash=uuid.uuid4().hex,
        embedding=vector, embedding_model=MODEL, embedding_dim=WIDTH,
    )  # fmt: skip


def _asked(vectors: Any) -> dict[str, Any]:
    from django.db import connection

    from memory.filters import Filters
    from memory.search import backends
    from memory.search.backends.base import Reach

    backend = backends.current()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    began = time.perf_counter()
    while backend.wants_index(MODEL) and not backend.build_index(MODEL, _soon()).finished:
        pass
    built = time.perf_counter() - began
    everything = Reach(frozenset({SMALL, LARGE}), Filters())
    one = Reach(frozenset({SMALL}), Filters())
    dice = np.random.default_rng(3)
    probes = vectors[dice.integers(0, len(vectors), QUERIES)]
    probes = probes + 0.5 * dice.standard_normal(probes.shape).astype(np.float32) / WIDTH**0.5
    probes = (probes / np.linalg.norm(probes, axis=1, keepdims=True)).astype(np.float32)
    ids = _ids()

    def nearest(reach: Any, probe: Any, limit: int = 10) -> list[int]:
        return [found.chunk for found in backend.by_vector(probe, MODEL, reach, limit)]

    small = np.arange(0, len(vectors), 100)
    return {
        "index built, s": round(built, 1),
        "six common words, ms": _median(lambda: backend.by_text(COMMON, everything, 80)),
        "six middling words, ms": _median(lambda: backend.by_text(MIDDLE, everything, 80)),
        "six common words, 1 % scope, ms": _median(lambda: backend.by_text(COMMON, one, 80)),
        "counts of six common words, ms": _median(lambda: backend.statistics(COMMON, everything)),
        "60 nearest of all, ms": _median(lambda: nearest(everything, probes[0], 60)),
        "60 nearest of 1 %, ms": _median(lambda: nearest(one, probes[0], 60)),
        "recall@10 of all": _recall(vectors, ids, probes, lambda p: nearest(everything, p)),
        "recall@10 of 1 %": _recall(vectors[small], ids[small], probes, lambda p: nearest(one, p)),
    }


def _ids() -> Any:
    from memory.models import MemoryChunk

    return np.array(list(MemoryChunk.objects.order_by("pk").values_list("pk", flat=True)))


def _recall(vectors: Any, ids: Any, probes: Any, ask: Callable[[Any], list[int]]) -> float:
    kept = 0
    for probe in probes:
        best = ids[np.argsort(-(vectors @ probe), kind="stable")[:10]]
        kept += len(set(best.tolist()) & set(ask(probe)))
    return round(kept / (10 * len(probes)), 4)


def _median(work: Callable[[], object]) -> float:
    work()
    spans = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        spans.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(spans), 1)


def _soon() -> float:
    return time.monotonic() + 20


if __name__ == "__main__":
    main()
