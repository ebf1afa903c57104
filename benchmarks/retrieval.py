"""`make bench-retrieval`: evidence recall of the product's own write and search, with baselines.

Reads BENCH_DATA (by default ../shared/data), prints one table and writes it to
benchmarks/out/retrieval.json: a list of {"set", "unit", "metric", "system", "value", "n"}. Systems:
`goclaw` is the default provider at default settings, `keyword` the same without vectors, `vector`
cosines alone, `fts5_baseline` plain FTS5, `goclaw_fallback` the model for machines without AVX2.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import crossval, sets, store
from benchmarks.datasets import LANGUAGES, load_jsquad, load_locomo, load_xquad
from benchmarks.table import Table

DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FALLBACK_MODEL = "use-multilingual-3"
MAIN, FALLBACK = "goclaw", "goclaw_fallback"


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="bench-retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, default=_data())
    parser.add_argument("--set", action="append", help="locomo, pairs, jsquad, xquad-zh …")
    parser.add_argument("--most", type=int, default=0, help="questions a set, for a quick look")
    parser.add_argument("--cached", action="store_true", help="keep vectors in benchmarks/out")
    parser.add_argument("--cross-validate", action="store_true", help="choose the constants anew")
    parser.add_argument("--no-fallback", action="store_true", help="leave the fallback's rows out")
    parser.add_argument("--system", default=MAIN, help=argparse.SUPPRESS)
    return parser.parse_args(given)


def _data() -> Path:
    return Path(os.environ.get("BENCH_DATA") or DEFAULT_DATA)


def main(given: Sequence[str] | None = None) -> int:
    """Measure what is there; a missing folder is said and is no failure."""
    options = arguments(given)
    if not options.data.is_dir():
        print(f"No evaluation data: {options.data} is not there. BENCH_DATA names its folder.")
        return 0
    started = time.monotonic()
    fallback = options.system == FALLBACK
    store.start({"GOCLAW_MEMORY__SEARCH__MODEL": FALLBACK_MODEL} if fallback else None)
    if options.cached:
        store.cached_vectors(store.OUT / "vectors.sqlite")
    if options.cross_validate:
        return crossval.run(load_locomo(options.data), options.most)
    table = Table()
    _measure(table, options)
    table.save(_file(options.system))
    if not fallback:
        if not options.no_fallback:
            _measure_fallback(table, given)
        table.show()
        table.save(_file(MAIN))
    print(f"{options.system}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


def _file(system: str) -> Path:
    return store.OUT / ("retrieval.json" if system == MAIN else f"{system}.json")


def _measure_fallback(table: Table, given: Sequence[str] | None) -> None:
    """Run the same with the other bundled model, in a process of its own."""
    again = list(sys.argv[1:] if given is None else given)
    command = [sys.executable, "-m", "benchmarks.retrieval", *again, "--system", FALLBACK]
    if subprocess.run(command, check=False).returncode == 0:  # noqa: S603  ourselves
        table.load(_file(FALLBACK))


def _measure(table: Table, options: argparse.Namespace) -> None:
    every = ["locomo", "pairs", "jsquad", *(f"xquad-{name}" for name in LANGUAGES)]
    wanted = set(options.set or every)
    data, most, system = options.data, options.most, options.system
    if "locomo" in wanted and (data / "locomo10.json").exists():
        conversations = load_locomo(data)
        corpora = sets.fill(conversations)
        for measured in (sets.locomo, sets.recent, sets.negatives):
            measured(table, conversations, corpora, most, system)
    if "pairs" in wanted:
        sets.pairs(table, system)
    for language in LANGUAGES:
        if f"xquad-{language}" in wanted and (data / f"xquad.{language}.json").exists():
            sets.passages(table, load_xquad(data, language), most, system)
    if "jsquad" in wanted and (data / "jsquad_valid.json").exists():
        sets.passages(table, load_jsquad(data), most, system)


if __name__ == "__main__":
    raise SystemExit(main())
