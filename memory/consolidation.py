"""The nightly job `memory_consolidate`: learned notes that say one thing become one record.

First near-duplicates (by rule, the newer survives), then notes whose vectors lie close, put to the
background model where one is set. In slices, where it stopped; what the model has told apart is not
asked again. Parameter: `dry_run`, which names near-duplicates and groups and changes nothing.
"""

from __future__ import annotations

import time
from typing import Any

from django.db.models import Exists, OuterRef

from memory.chunks import log
from memory.consolidating import groups, merging
from memory.duplicates import notes, outlines, repeats
from memory.duplicates.progress import Phase, Progress, run_phases
from memory.models import Job, Memory, MemoryChange, MemoryChunk, MemoryRevision
from memory.providers import chat
from memory.vocabulary import LEARNED_KINDS, RETIRED

KIND = "memory_consolidate"
#: How close two notes must be to become one without a model.
RATIO = 0.92
#: Questions to the model in one run; what is left is for the next night.
MOST_ASKED = 500
MOST_NAMED = 1000
#: Calls that fail one after the other before the model is left alone for this run.
MOST_FAILURES = 3
_AT_ONCE = 50


def params(*, dry_run: bool = False) -> dict[str, Any]:
    """Return the parameters of the job."""
    return {"dry_run": dry_run}


def step(job: Job, deadline: float) -> bool:
    """Do batches until the deadline; return whether the job is finished."""
    progress = Progress(job, _PHASES)
    finished = run_phases(progress, _PHASES, deadline)
    if finished:
        job.result = _result(progress)
    return finished


def _read(progress: Progress, deadline: float) -> bool:
    progress.begin(outlines.lacking_records().count)
    read, last = outlines.outline_records(progress.after)
    progress.advance(read, last)
    return last is not None


def _near_duplicates(progress: Progress, deadline: float) -> bool:
    progress.begin(outlines.count_shared_by_records)
    shared = outlines.shared_by_records(progress.after or "", _AT_ONCE)
    for likeness in notes.found(shared, RATIO, LEARNED_KINDS):
        if progress.job.params["dry_run"]:
            _name(progress, likeness)
            continue
        run_id = progress.job.pk
        refused = notes.retire(likeness, via="consolidation", actor="consolidation", run_id=run_id)
        if refused:
            _leave(progress, refused)
        if time.monotonic() > deadline:
            return True
    progress.advance(len(shared), shared[-1] if shared else None)
    return bool(shared)


def _similar(progress: Progress, deadline: float) -> bool:
    """Look at one note; a call to the model may take as long as its timeout."""
    provider = chat.background()
    if provider is None:
        progress.notes["without_model"] = chat.why_none()
        return False
    progress.begin(groups.learned().count)
    batch = groups.after(progress.after, _AT_ONCE)
    for note in batch:
        if not _consolidate(progress, note, provider):
            return False
        progress.advance(1, str(note.pk))
        if time.monotonic() > deadline or not progress.save():
            return True
    return bool(batch)


def _consolidate(progress: Progress, note: Memory, provider: chat.ChatProvider) -> bool:
    """Merge what lies around the note; False where the model is to be left alone in this run."""
    group = groups.around(note) if groups.learned().filter(pk=note.pk).exists() else [note]
    if len(group) < 2:
        return True
    if progress.job.params["dry_run"]:
        progress.count("groups")
        return True
    if progress.counts.get("asked", 0) >= MOST_ASKED:
        _leave(progress, f"{MOST_ASKED} questions were asked in this run")
        return False
    progress.count("asked")
    try:
        left = merging.merge(group, provider, progress.job.pk)
    except chat.CallFailed as error:
        progress.count("failed")
        _leave(progress, error.message)
        return progress.counts["failed"] < MOST_FAILURES
    progress.count("groups_left" if left else "merged")
    if left:
        _leave(progress, left)
    return True


def _orphans(progress: Progress, deadline: float) -> bool:
    """Drop chunks without a record, and let be found what nothing speaks for any more."""
    if not progress.job.params["dry_run"]:
        holders = Memory.objects.filter(pk=OuterRef("memory_id"))
        loose = MemoryChunk.objects.filter(~Exists(holders))
        ids = list(loose.values_list("pk", flat=True)[:_AT_ONCE])
        MemoryChunk.objects.filter(pk__in=ids).delete()
        log(ids, MemoryChange.DROP)
        progress.count("orphans", len(ids))
        if len(ids) == _AT_ONCE:
            return True
        repeats.release_unspoken()
    return False


def _leave(progress: Progress, reason: str) -> None:
    reasons = progress.notes.setdefault("left", {})
    reasons[reason] = reasons.get(reason, 0) + 1


def _name(progress: Progress, likeness: notes.Likeness) -> None:
    progress.count("notes")
    named = progress.notes.setdefault("pairs", [])
    if len(named) < MOST_NAMED:
        ratio = round(likeness.ratio, 4)
        kept, repeat = str(likeness.kept.pk), str(likeness.repeat.pk)
        named.append({"kept": kept, "repeat": repeat, "ratio": ratio})


def _result(progress: Progress) -> dict[str, Any]:
    counts = progress.counts
    if progress.job.params["dry_run"]:
        named = progress.notes.get("pairs", [])
        return {
            "dry_run": True, "notes": counts.get("notes", 0), "groups": counts.get("groups", 0),
            "pairs": named, "pairs_left_out": counts.get("notes", 0) - len(named),
            "without_model": progress.notes.get("without_model", ""),
        }  # fmt: skip
    decided = MemoryRevision.objects.filter(run_id=progress.job.pk, decision=RETIRED)
    return {
        "run_id": str(progress.job.pk),
        "retired": decided.count(),
        "merged": counts.get("merged", 0),
        "asked": counts.get("asked", 0),
        "failed": counts.get("failed", 0),
        "left": progress.notes.get("left", {}),
        "without_model": progress.notes.get("without_model", ""),
        "orphans": counts.get("orphans", 0),
    }


_PHASES: dict[str, Phase] = {
    "read notes": _read,
    "near-duplicates": _near_duplicates,
    "similar notes": _similar,
    "orphans": _orphans,
}
