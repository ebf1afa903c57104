"""What runs by the clock."""

from __future__ import annotations

from django.utils import timezone
from django_q.models import Schedule

from goclaw_site.config import get_config

SWEEP = "sys-memory-sweep"
BACKUP = "sys-backup"
CONSOLIDATE = "sys-memory-consolidate"
#: In the configured timezone, which the queue reads cron expressions in.
CONSOLIDATE_AT = "0 3 * * *"


def install() -> None:
    """Write the schedules, each once; names are not unique in the table, so doubles are removed."""
    minutes = max(1, round(get_config().queue.sweep_seconds / 60))
    _put(SWEEP, "memory.jobs.sweep", schedule_type=Schedule.MINUTES, minutes=minutes)
    _put_cron(CONSOLIDATE, "memory.jobs.consolidate", CONSOLIDATE_AT)
    _put_cron(BACKUP, "memory.jobs.back_up", get_config().backup.schedule)


def _put_cron(name: str, function: str, cron: str) -> None:
    """Empty: never. An unchanged one keeps its next time, so that what was missed is caught up."""
    held = Schedule.objects.filter(name=name).order_by("pk").first()
    if not cron:
        Schedule.objects.filter(name=name).delete()
        return
    following = Schedule(schedule_type=Schedule.CRON, cron=cron).calculate_next_run()
    if held is not None and held.cron == cron:
        following = held.next_run
    _put(name, function, schedule_type=Schedule.CRON, cron=cron, next_run=following)


def _put(name: str, function: str, **timing: object) -> None:
    held = Schedule.objects.filter(name=name).order_by("pk")
    if first := held.first():
        held.exclude(pk=first.pk).delete()
    Schedule.objects.update_or_create(
        name=name,
        defaults={"func": function, "repeats": -1, "next_run": timezone.now(), **timing},
    )
