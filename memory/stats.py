"""Counts for operators and callers: how much there is, and how far indexing has come."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from goclaw_site.config import get_config
from memory import providers, readiness
from memory.access import Principal, visible, visible_tokens
from memory.backups import recording
from memory.chunks import HISTORY, REPEAT
from memory.models import Memory, MemoryChunk, MemoryTag
from memory.providers.chat import accounts
from memory.search import backends
from memory.vocabulary import FAILED, PENDING, TEXT


def stats(principal: Principal) -> dict[str, Any]:
    """Return counts over what the caller may see; administrators get the whole index's too."""
    mine = Memory.objects.filter(visible(principal))
    answer = {
        "records": mine.count(),
        "by_scope": _counted(mine, "scope"),
        "by_kind": _counted(mine, "kind"),
        "by_tag": _tags(mine),
        "by_state": _counted(mine, "index_state"),
        "pending": mine.filter(index_state__in=(PENDING, TEXT)).count(),
        "failed": mine.filter(index_state=FAILED).count(),
        "superseded": mine.filter(tags__tag="superseded").count(),
        **_chunks(principal),
    }
    return answer | (_engine() if principal.is_admin else {})


def _counted(records: Any, field: str) -> dict[str, int]:
    rows = records.order_by(field).values_list(field).annotate(n=Count("pk"))
    return dict(rows)


def _tags(records: Any) -> dict[str, int]:
    rows = MemoryTag.objects.filter(memory__in=records.order_by().values("pk"))
    counted = rows.values_list("tag").annotate(n=Count("pk")).order_by("-n", "tag")[:50]
    return dict(counted)


def _chunks(principal: Principal) -> dict[str, Any]:
    tokens = visible_tokens(principal)
    reach = sorted(mark + token for token in tokens for mark in ("", HISTORY, REPEAT))
    provider = providers.current()
    model = provider.model if provider else None
    counted = MemoryChunk.objects.filter(access__in=reach).aggregate(
        chunks=Count("pk"), embedded=Count("pk", filter=Q(embedding_model=model or "-"))
    )
    whole = counted["chunks"]
    share = counted["embedded"] / whole if whole else 0.0
    return {
        "chunks": whole,
        "embedded": counted["embedded"],
        "embedded_share": round(share, 4),
        "model": model,
        "provider": get_config().memory.search.provider,
        "embeddings_off": providers.why_none(),
    }


def _engine() -> dict[str, Any]:
    """What only administrators see: figures over everybody's records, never their text."""
    backend = backends.current()
    chunks = MemoryChunk.objects.count()
    engine = {
        "driver": backend.name,
        "database_bytes": backend.stored_bytes(),
        "all_records": Memory.objects.count(),
        "all_chunks": chunks,
        "all_pending": readiness.waiting_count(),
        "index_lag_seconds": round(readiness.index_lag(), 1),
        "worker_alive": readiness.worker_alive(),
        "backup": _backup(),
        "model_calls": _model_calls(),
    }
    if backend.advised_chunks is not None and chunks > backend.advised_chunks:
        engine["advice"] = f"{chunks:,} chunks: PostgreSQL serves this size better."
    return {"engine": engine, "index_lag_seconds": engine["index_lag_seconds"]}


def _model_calls() -> dict[str, Any]:
    """Return what chat models used today and in 30 days, over all purposes and by purpose."""
    month = timezone.now() - timedelta(days=30)
    return {
        "today": accounts.totals(accounts.today()),
        "days_30": accounts.totals(month),
        "by_purpose_days_30": {row.purpose: row.tokens for row in accounts.used(month)},
    }


def _backup() -> dict[str, Any]:
    """Return the last try and the last good one, with its age in hours; each None before it."""
    held = recording.last()
    age = recording.age_seconds(held["last_good"])
    return {**held, "hours": None if age is None else round(age / 3600, 1)}
