"""The job `backup`: everything into a new folder, by the clock or at a press; old ones go."""

from __future__ import annotations

import re
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.utils import timezone

from goclaw_site.config import get_config, state_dir
from goclaw_site.errors import GoclawError, Unavailable
from memory import audit
from memory.access import Principal
from memory.backups import manifest, recording
from memory.backups.making import Making
from memory.backups.manifest import Manifest
from memory.models import Job

KIND = "backup"
SCHEDULE, PAGE = "schedule", "page"
#: The copy of the database is one piece, which a killed worker begins anew; not for ever.
MAX_TRIES = 3
_LEASE = timedelta(seconds=120)
_TOLD_EVERY = 1.0
_NAME = re.compile(r"goclaw-\d{8}T\d{6}Z")
_SERVER = Principal(name="server", system=True, is_admin=True, door="job")
#: Jobs count in units that fit a database's ordinary integer.
_UNIT = 1024


class _Cancelled(GoclawError):
    """Somebody asked the job to stop."""


def folder() -> Path:
    """Where scheduled backups go."""
    return state_dir() / Path(get_config().backup.folder).expanduser()


def step(job: Job, deadline: float) -> bool:
    """Go on until the deadline; return whether the job is finished.

    Job parameters: `by`, who wanted it. The cursor holds the name, and how often it was begun.
    """
    target = _target(job)
    began = time.monotonic()
    try:
        _count_try(job, target)
        made = _making(job, target).work(deadline)
    except _Cancelled:
        return False
    except GoclawError as error:
        recording.record_failure(target, error.message)
        audit.record(_SERVER, "db.backup", f"job:{job.pk}", outcome=audit.FAILED)
        raise
    if made is None:
        return False
    _finish(job, target, made, time.monotonic() - began)
    return True


def kept(place: Path) -> list[Path]:
    """Backups that a schedule or a press has made, newest first."""
    if not place.is_dir():
        return []
    found = [path for path in place.iterdir() if _NAME.fullmatch(path.name)]
    return sorted((path for path in found if manifest.is_backup(path)), reverse=True)


def prune(place: Path, keep: int, newest: Path) -> list[Path]:
    """Remove the oldest beyond `keep`, never the newest, and what dead jobs have left."""
    others = [path for path in kept(place) if path != newest]
    gone = others[max(keep - 1, 0) :]
    for path in gone:
        # Under another name first: half of a backup is none.
        doomed = path.with_name(f".{path.name}.part")
        path.rename(doomed)
    for path in place.glob(".goclaw-*.part"):
        shutil.rmtree(path, ignore_errors=True)
    return gone


def _target(job: Job) -> Path:
    if "name" not in job.cursor:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        job.cursor = {"name": f"goclaw-{stamp}", "folder": str(folder()), "tries": 0}
        Job.objects.filter(pk=job.pk).update(cursor=job.cursor)
    return Path(str(job.cursor["folder"])) / str(job.cursor["name"])


def _count_try(job: Job, target: Path) -> None:
    if (target.with_name(f".{target.name}.part") / manifest.SUMS).exists():
        return
    if job.cursor["tries"] >= MAX_TRIES:
        raise Unavailable(
            f"The worker was stopped {MAX_TRIES} times before the database was copied. Raise "
            "queue.retry_seconds, or let cron run `goclaw db backup DIR`."
        )
    job.cursor["tries"] += 1
    Job.objects.filter(pk=job.pk).update(cursor=job.cursor)


def _making(job: Job, target: Path) -> Making:
    told = 0.0

    def watch(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told < _TOLD_EVERY:
            return
        told = time.monotonic()
        _tell(job, done, total)

    by = job.params.get("by", SCHEDULE)
    wish = recording.wish(target, secrets=get_config().backup.secrets, made_by=by)
    return Making(wish, watch, resume=True)


def _tell(job: Job, done: int, total: int) -> None:
    job.done, job.total = done // _UNIT, max(total // _UNIT, 1)
    Job.objects.filter(pk=job.pk).update(
        done=job.done, total=job.total, lease_until=timezone.now() + _LEASE
    )
    if Job.objects.filter(pk=job.pk, cancel_requested=True).exists():
        raise _Cancelled("cancelled")


def _finish(job: Job, target: Path, made: Manifest, seconds: float) -> None:
    recording.record_success(target, made, seconds)
    audit.record(_SERVER, "db.backup", f"job:{job.pk}", files=made.files, secrets=made.secrets)
    gone = prune(target.parent, get_config().backup.keep, target)
    job.done = job.total = max(made.bytes // _UNIT, 1)
    Job.objects.filter(pk=job.pk).update(total=job.total)
    job.result = {"path": str(target), "bytes": made.bytes, "removed": len(gone)}
