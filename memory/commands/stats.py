"""`memory stats`: counts and the state of the index."""

from __future__ import annotations

from typing import Any

from memory.commands.base import Call, Subcommand
from memory.pages.sentences import waited
from memory.stats import stats


def run(call: Call) -> int:
    """Print the counts."""
    figures = stats(call.principal)
    if call.as_json:
        call.answer(figures)
        return 0
    for line in _lines(figures):
        call.say(line)
    return 0


def _lines(figures: dict[str, Any]) -> list[str]:
    engine = figures.get("engine", {})
    share = f"{figures['embedded_share']:.0%}"
    lines = [
        f"Records     {figures['records']:,}  {_counts(figures['by_scope'])}",
        f"Kinds       {_counts(figures['by_kind'])}",
        f"Tags        {_counts(figures['by_tag'])}",
        f"Chunks      {figures['chunks']:,}, {share} with vectors of {figures['model'] or 'none'}",
        f"Waiting     {figures['pending']:,} to be indexed, {figures['failed']:,} failed",
    ]
    if engine:
        worker = "alive" if engine["worker_alive"] else "no sign of life"
        lines += [
            f"Whole index {engine['all_records']:,} records, {engine['all_chunks']:,} chunks",
            f"Database    {engine['driver']}, {engine['database_bytes'] / 1e6:.1f} MB",
            f"Worker      {worker}; index lag {engine['index_lag_seconds']} s",
            *_backup(engine["backup"]),
            f"Models      {_used(engine['model_calls']['days_30'])} in 30 days",
        ]
    if figures["embeddings_off"]:
        lines.append(f"Keyword only: {figures['embeddings_off']}")
    return lines + ([engine["advice"]] if "advice" in engine else [])


def _backup(held: dict[str, Any]) -> list[str]:
    last, good = held["last"], held["last_good"]
    words = "none yet: goclaw db backup DIR makes one"
    if good:
        words = f"{waited(held['hours'] * 3600)} ago, {good['bytes'] / 1e6:,.1f} MB, {good['path']}"
    failed = [f"            the last try failed: {last['why']}"] if last and not last["ok"] else []
    return [f"Last backup {words}", *failed]


def _used(sums: dict[str, int]) -> str:
    tokens = sums["input_tokens"] + sums["output_tokens"]
    return f"{sums['calls']:,} calls, {sums['failed']:,} of them failed, {tokens:,} tokens"


def _counts(counted: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counted.items()) or "none"


COMMAND = Subcommand("stats", "count records and show the state of the index", run)
