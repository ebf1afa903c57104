"""`python -m benchmarks.duplicates [--notes N] [--repeated SHARE] [--look-alikes N]`.

Dedupe at scale: fills a fresh database with notes, plants near-duplicates and look-alikes, runs the
job `dedupe` as a worker does, and prints what was found, what was retired wrongly, seconds and peak
memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta

from benchmarks import store
from benchmarks.notes import Notes, kinds_of_look_alikes


@dataclass(frozen=True)
class Planted:
    """The notes in the order in which they were written, and which of them are to be retired."""

    texts: list[str]
    #: Place of the older note of each near-duplicate, with what was changed in the newer.
    repeated: dict[int, str]
    #: Places of both sides of each look-alike, with what differs.
    look_alike: dict[int, str]


@dataclass
class Outcome:
    """What the job did, of what it should have done."""

    notes: int
    planted: int
    found: int
    look_alikes: int
    look_alikes_retired: int
    others_retired: int
    seconds: float
    cpu_seconds: float
    peak_mib: float
    missed: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """The share of the near-duplicates that were retired."""
        return self.found / self.planted if self.planted else 1.0


def plant(notes: int, repeated: float, look_alikes: int, seed: int = 7) -> Planted:
    """Make the notes: so many in all, so large a share said again, so many look-alikes."""
    source = Notes(seed)
    copies = round(notes * repeated)
    texts = [source.new() for _ in range(notes - copies - look_alikes)]
    older = source.dice.sample(range(len(texts)), copies + min(look_alikes, len(texts) - copies))
    said = {at: source.again(texts[at]) for at in older[:copies]}
    texts += [changed.text for changed in said.values()]
    alike: dict[int, str] = {}
    kinds = kinds_of_look_alikes()
    while len(alike) < 2 * look_alikes:
        at = source.dice.randrange(notes - copies - look_alikes)
        changed = source.look_alike(texts[at], kinds[len(alike) // 2 % len(kinds)])
        if changed is not None and at not in said and at not in alike:
            alike |= {at: changed.how, len(texts): changed.how}
            texts.append(changed.text)
    return Planted(texts, {at: changed.how for at, changed in said.items()}, alike)


def fill(texts: Sequence[str]) -> list[uuid.UUID]:
    """Put the notes into the tables as they are once indexed by keyword; return their ids.

    Directly: writing and indexing one by one is what other measurements are about.
    """
    from django.utils import timezone

    from memory import chunks
    from memory.history import content_hash, live_key
    from memory.models import Memory, MemoryChunk

    began = timezone.now() - timedelta(seconds=len(texts))
    ids: list[uuid.UUID] = []
    for start in range(0, len(texts), 2000):
        records = []
        for at, text in enumerate(texts[start : start + 2000], start):
            digest, moment = content_hash(text), began + timedelta(seconds=at)
            key = live_key("agent_notes", None, "fact", digest)
            records.append(
                Memory(
                    scope="agent_notes", kind="fact", content=text, content_hash=digest,
                    live_key=key, index_state="indexed", created_at=moment, updated_at=moment,
                )
            )  # fmt: skip
        Memory.objects.bulk_create(records)
        MemoryChunk.objects.bulk_create(
            MemoryChunk(memory=record, access=record.access, **asdict(piece))
            for record in records
            for piece in chunks.cut(record, 1600, 320)
        )
        ids += [record.pk for record in records]
    return ids


def run_job() -> tuple[float, float]:
    """Run the job slice by slice; return the seconds it took, and those of the processor alone."""
    from memory import deduping, jobs
    from memory.models import Job

    started, worked = time.monotonic(), time.process_time()
    job = jobs.start("dedupe", deduping.params(), "benchmark")
    while not job.ended:
        jobs.run_slice(str(job.pk))
        job.refresh_from_db()
        print(f"  {job}", file=sys.stderr)
    if job.state != Job.DONE:
        raise SystemExit(f"the job is {job.state}: {job.error}")
    return time.monotonic() - started, time.process_time() - worked


def measure(planted: Planted) -> Outcome:
    """Fill the tables, run the job and compare."""
    from memory.models import Memory

    ids = fill(planted.texts)
    seconds, worked = run_job()
    live = set(Memory.objects.filter(live_key__isnull=False).values_list("pk", flat=True))
    retired = {at for at, pk in enumerate(ids) if pk not in live}
    missed = Counter(how for at, how in planted.repeated.items() if at not in retired)
    wrong = list(_wrong(planted, retired))
    alike = sum(1 for at in planted.look_alike if at in retired)
    return Outcome(
        notes=len(ids),
        planted=len(planted.repeated),
        found=sum(1 for at in planted.repeated if at in retired),
        look_alikes=len(planted.look_alike) // 2,
        look_alikes_retired=alike,
        others_retired=len(wrong) - alike,
        seconds=round(seconds, 1),
        cpu_seconds=round(worked, 1),
        peak_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        missed=dict(missed.most_common(12)),
        wrong=wrong[:20],
    )


def _wrong(planted: Planted, retired: set[int]) -> Iterator[str]:
    for at in sorted(retired - set(planted.repeated)):
        yield f"{planted.look_alike.get(at, 'planted by nobody')}: {planted.texts[at]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--repeated", type=float, default=0.05)
    parser.add_argument("--look-alikes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    store.start({"GOCLAW_MEMORY__SEARCH__PROVIDER": "none"})
    planted = plant(options.notes, options.repeated, options.look_alikes, options.seed)
    outcome = measure(planted)
    print(json.dumps({"recall": round(outcome.recall, 4), **asdict(outcome)}, indent=2))


if __name__ == "__main__":
    main()
