"""A fresh state directory, filled by the product's own write and indexed by its own worker."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from memory.access import Principal
    from memory.drafts import Draft

OUT = Path(__file__).resolve().parent / "out"


def start(environment: dict[str, str] | None = None) -> None:
    """Point the product at a new empty state directory and make its tables. Call once."""
    os.environ["GOCLAW_STATE_DIR"] = tempfile.mkdtemp(prefix="goclaw-bench-")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goclaw_site.settings")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.update(environment or {})
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


@dataclass(frozen=True)
class Corpus:
    """One person's records, and which labels each of them stands for.

    Equal texts are one record, so a record may stand for several labels.
    """

    name: str
    principal: Principal
    labels: dict[uuid.UUID, tuple[str, ...]]

    def ranking(self, records: Iterable[uuid.UUID]) -> list[str]:
        """Return the labels of records in order."""
        return [label for record in records for label in self.labels[record]]


def fill(name: str, drafts: Sequence[tuple[str, Draft]]) -> Corpus:
    """Write labelled drafts as one new person's records and index them."""
    from django.contrib.auth.models import User

    from memory import indexing, write
    from memory.access import Principal

    person = User.objects.create(username=f"bench {name}"[:150])
    principal = Principal(person=person.pk, name=person.username)
    labels: dict[uuid.UUID, tuple[str, ...]] = {}
    for label, draft in drafts:
        record = write.remember(principal, draft, bulk=True).memory.pk
        labels[record] = (*labels.get(record, ()), label)
    started = time.monotonic()
    while indexing.index_waiting(time.monotonic() + 60):
        pass
    seconds = time.monotonic() - started
    print(f"  {name}: {len(labels)} records indexed in {seconds:.0f} s", file=sys.stderr)
    return Corpus(name, principal, labels)


@contextmanager
def keyword_only() -> Iterator[None]:
    """Answer searches without the provider, as a server without embeddings does."""
    from memory import providers

    held = providers.current()
    providers.use(None)
    try:
        yield
    finally:
        providers.use(held)


def cached_vectors(path: Path) -> None:
    """Keep the provider's vectors in a file, so that a second run of the benchmark is short.

    The vectors are the provider's own; only the time to make them is saved.
    """
    from memory import providers

    provider = providers.current()
    if provider is None:
        return
    store = _Vectors(path, provider.model)
    provider.embed_passages = store.wrapped("p", provider.embed_passages)  # type: ignore[assignment, method-assign]
    one = provider.embed_query
    many = store.wrapped("q", lambda texts: np.vstack([one(text) for text in texts]))
    provider.embed_query = lambda text: many([text])[0]  # type: ignore[method-assign]


class _Vectors:
    """Vectors by model, kind and text."""

    def __init__(self, path: Path, model: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._model = model
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (k TEXT PRIMARY KEY, v BLOB)")

    def wrapped(
        self, kind: str, make: Callable[[Sequence[str]], np.ndarray]
    ) -> Callable[[Sequence[str]], np.ndarray]:
        """Return `make` with the file before it."""

        def fetch(texts: Sequence[str]) -> np.ndarray:
            keys = [self._key(kind, text) for text in texts]
            held = {key: row for key in keys if (row := self._get(key)) is not None}
            missing = [text for key, text in zip(keys, texts, strict=True) if key not in held]
            if missing:
                made = iter(make(missing))
                held |= {key: next(made) for key in keys if key not in held}
                self._put({key: held[key] for key in keys})
            return np.vstack([held[key] for key in keys])

        return fetch

    def _key(self, kind: str, text: str) -> str:
        return hashlib.sha256(f"{self._model}\0{kind}\0{text}".encode()).hexdigest()

    def _get(self, key: str) -> np.ndarray | None:
        row = self._db.execute("SELECT v FROM vectors WHERE k = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def _put(self, rows: dict[str, np.ndarray]) -> None:
        values = [(key, np.asarray(v, np.float32).tobytes()) for key, v in rows.items()]
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", values)
        self._db.commit()
