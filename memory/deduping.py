"""The job `dedupe`: notes that say what a newer one says are retired, repeated chunks marked.

In slices, where it stopped: what it has done stands in the rows, so that a slice that is run twice
finds nothing the second time. Parameters: `ratio` (0.5 to 1) and `dry_run`, which changes nothing.
"""

from __future__ import annotations

import time
from typing import Any

from goclaw_site.errors import InvalidInput
from memory.duplicates import notes, outlines, repeats
from memory.duplicates.progress import Phase, Progress, run_phases
from memory.models import Job, MemoryChunk

RATIO = 0.85
LEAST_RATIO = 0.5
#: Pairs that the result of a dry run names; the others are counted.
MOST_NAMED = 1000
_OUTLINES = 50


def params(ratio: float = RATIO, *, dry_run: bool = False) -> dict[str, Any]:
    """Return the parameters of the job. Raise InvalidInput for a ratio outside the bounds."""
    if not LEAST_RATIO <= ratio <= 1:
        raise InvalidInput(
            f"ratio must be {LEAST_RATIO} to 1: 1 is the same letter by letter, {RATIO} is usual.",
            field="ratio",
        )
    return {"ratio": ratio, "dry_run": dry_run}


def step(job: Job, deadline: float) -> bool:
    """Do batches until the deadline; return whether the job is finished."""
    progress = Progress(job, _PHASES)
    finished = run_phases(progress, _PHASES, deadline)
    if finished:
        job.result = _result(progress)
    return finished


def _read_notes(progress: Progress, deadline: float) -> bool:
    if progress.after is None:
        repeats.release_unspoken()
    progress.begin(outlines.lacking_records().count)
    read, last = outlines.outline_records(progress.after)
    progress.advance(read, last)
    return last is not None


def _compare_notes(progress: Progress, deadline: float) -> bool:
    progress.begin(outlines.count_shared_by_records)
    shared = outlines.shared_by_records(progress.after or "", _OUTLINES)
    for likeness in notes.found(shared, progress.job.params["ratio"]):
        if progress.job.params["dry_run"]:
            _name(progress, "notes", likeness.kept.pk, likeness.repeat.pk, likeness.ratio)
            continue
        _retire(progress, likeness)
        if time.monotonic() > deadline:
            return True  # the rest of these outlines in the next slice
    progress.advance(len(shared), shared[-1] if shared else None)
    return bool(shared)


def _retire(progress: Progress, likeness: notes.Likeness) -> None:
    job = progress.job
    refused = notes.retire(likeness, via="dedupe", actor=job.actor, run_id=job.pk)
    progress.count("left" if refused else "retired")
    if refused:
        reasons = progress.notes.setdefault("left", {})
        reasons[refused] = reasons.get(refused, 0) + 1


def _read_chunks(progress: Progress, deadline: float) -> bool:
    progress.begin(outlines.lacking_chunks().count)
    read, last = outlines.outline_chunks(progress.after)
    progress.advance(read, last)
    return last is not None


def _compare_chunks(progress: Progress, deadline: float) -> bool:
    progress.begin(outlines.count_shared_by_chunks)
    shared = outlines.shared_by_chunks(progress.after or "", _OUTLINES)
    for pair in repeats.found(shared, progress.job.params["ratio"]):
        if progress.job.params["dry_run"]:
            progress.count("chunks")
        elif repeats.mark(pair):
            progress.count("marked")
        if time.monotonic() > deadline and not progress.job.params["dry_run"]:
            return True
    progress.advance(len(shared), shared[-1] if shared else None)
    return bool(shared)


def _name(progress: Progress, name: str, kept: Any, repeat: Any, ratio: float) -> None:
    progress.count(name)
    named = progress.notes.setdefault("pairs", [])
    if len(named) < MOST_NAMED:
        named.append({"kept": str(kept), "repeat": str(repeat), "ratio": round(ratio, 4)})


def _result(progress: Progress) -> dict[str, Any]:
    counts = progress.counts
    if progress.job.params["dry_run"]:
        named = progress.notes.get("pairs", [])
        return {
            "dry_run": True, "notes": counts.get("notes", 0), "chunks": counts.get("chunks", 0),
            "pairs": named, "pairs_left_out": counts.get("notes", 0) - len(named),
        }  # fmt: skip
    return {
        "run_id": str(progress.job.pk),
        "retired": counts.get("retired", 0),
        "left": progress.notes.get("left", {}),
        "marked": counts.get("marked", 0),
        "chunks_left_out": MemoryChunk.objects.exclude(duplicate_of="").count(),
    }


_PHASES: dict[str, Phase] = {
    "read notes": _read_notes,
    "compare notes": _compare_notes,
    "read chunks": _read_chunks,
    "compare chunks": _compare_chunks,
}
