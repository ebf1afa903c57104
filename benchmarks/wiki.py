"""Reads of a large synthetic wiki: `python -m benchmarks.wiki`.

5,000 pages of 20 revisions; words follow Zipf's law, and as in English every other word is a
function word. Prints queries, CPU and wall milliseconds of each read; on a busy machine trust the
CPU. Vectors are random ones, so that no model's time is in the figures: it comes on top once for
each query that was not asked before.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import store

WORDS, AREAS, SECTIONS, WIDTH = 30_000, 50, 6, 384
#: Content words start where a language's function words end: the commonest is in few pages in ten.
OFFSET = 30
TIMES, QUERIES, BATCH = 30, 30, 250
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


class Text:
    """Draws pages, each with the words of its own."""

    def __init__(self) -> None:
        from memory.stopwords import STOP_WORDS

        self._dice = np.random.default_rng(1)
        self._words = np.array([_word(number) for number in range(WORDS)])
        shares = 1 / (np.arange(WORDS) + OFFSET)
        self._shares = shares / shares.sum()
        self._function = np.array(sorted(STOP_WORDS["en"]))

    def words(self, count: int) -> list[str]:
        """Return content words as they come in a text."""
        drawn = self._dice.choice(self._words, count, p=self._shares)
        return [str(word) for word in drawn]

    def page(self, number: int, pages: int) -> str:
        """Return a page of some 400 words in sections, with links."""
        parts = [f"# {' '.join(self.words(3))}"]
        for section in range(SECTIONS):
            target = slug((number * 7 + section * 31) % pages)
            parts += [f"## {' '.join(self.words(2))}", f"{self._prose()} [[{target}]]"]
        return "\n\n".join(parts)

    def _prose(self) -> str:
        content = self.words(30)
        between = self._dice.choice(self._function, len(content))
        return " ".join(f"{a} {b}" for a, b in zip(between, content, strict=True))


def _word(number: int) -> str:
    base = len(_SYLLABLES)
    return "".join(_SYLLABLES[number // base**place % base] for place in range(3))


def slug(number: int) -> str:
    """Return the slug of a page."""
    return f"area{number % AREAS}/page{number}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--revisions", type=int, default=20)
    given = parser.parse_args()
    store.start()
    use_random_vectors()
    text = Text()
    fill(text, given.pages, given.revisions)
    print(f"{'read':<20}{'queries':>8}{'CPU ms':>9}{'wall ms':>9}{'most':>9}")
    for name, works in reads(text).items():
        queries, spent, passed = measured(works)
        middle = f"{statistics.median(spent):>9.1f}{statistics.median(passed):>9.1f}"
        print(f"{name:<20}{queries:>8}{middle}{max(passed):>9.1f}")


def use_random_vectors() -> None:
    """Serve with a provider that costs nothing: a direction of its own for each text."""
    from memory import providers
    from memory.providers.base import EmbeddingProvider

    class Directions(EmbeddingProvider):
        model = "synthetic"

        def embed_passages(self, texts: Sequence[str]) -> Any:
            return np.stack([self.embed_query(text) for text in texts])

        def embed_query(self, text: str) -> Any:
            dice = np.random.default_rng(zlib.crc32(text.encode()))
            return dice.standard_normal(WIDTH).astype(np.float32)

    providers.use(Directions())


def fill(text: Text, pages: int, revisions: int) -> None:
    """Write pages as saves leave them, with their records, and index those."""
    from django.db import transaction

    from memory import indexing

    for start in range(0, pages, BATCH):
        with transaction.atomic():
            _write(text, range(start, min(start + BATCH, pages)), pages, revisions)
        print(f"  {min(start + BATCH, pages)} pages", file=sys.stderr, flush=True)
    while indexing.index_waiting(time.monotonic() + 60):
        pass


def _write(text: Text, numbers: range, pages: int, revisions: int) -> None:
    from wiki import mirror, rendered
    from wiki.models import WikiPage, WikiRevision

    bodies = [text.page(number, pages) for number in numbers]
    made = [rendered.prepare(body) for body in bodies]
    heads = WikiPage.objects.bulk_create(
        _head(number, revisions, one) for number, one in zip(numbers, made, strict=True)
    )
    pairs = list(zip(heads, bodies, strict=True))
    for number in range(1, revisions):
        WikiRevision.objects.bulk_create(_revision(h, number, f"{b}\n\n{number}") for h, b in pairs)
    newest = WikiRevision.objects.bulk_create(_revision(h, revisions, b) for h, b in pairs)
    for head, revision, one in zip(heads, newest, made, strict=True):
        rendered.keep_links(head, one.links)
        mirror.follow(head, revision)


def _head(number: int, revisions: int, made: Any) -> Any:
    from wiki import slugs
    from wiki.models import WikiPage

    name = slug(number)
    return WikiPage(
        slug=name, slug_key=slugs.key(name), title=f"Page {number}", revision=revisions,
        author="bench", reviewed=revisions, html=made.html, contents=list(made.contents),
        html_version=made.version,
    )  # fmt: skip


def _revision(head: Any, number: int, body: str) -> Any:
    from wiki.models import WikiRevision

    return WikiRevision(
        page=head, slug=head.slug, revision=number, title=head.title, author="bench",
        characters=len(body), body=body,
    )  # fmt: skip


def reads(text: Text) -> dict[str, list[Callable[[], object]]]:
    """Return what is measured: each read with one call, the searches with a query each."""
    from memory.access import Principal
    from wiki import queries, rendered

    who = Principal(name="bench", is_admin=True, door="browser")
    head = slug(7)

    def page() -> str:
        found = queries.page(who, head)
        return rendered.dressed(rendered.stored(found)[0], queries.missing_links(who, found))

    def searches(words: int) -> Iterator[Callable[[], object]]:
        for _ in range(QUERIES):
            query = " ".join(text.words(words))
            yield lambda query=query: queries.search(who, query)  # type: ignore[misc]

    return {
        "page": [page],
        "recent": [lambda: [row.page.title for row in queries.recent(who)[:50]]],
        "tree": [lambda: queries.tree(who)],
        "list": [lambda: [row.tags.all()[:] for row in queries.pages(who)[:50]]],
        "history": [lambda: list(queries.history(who, queries.page(who, head))[:50])],
        "backlinks": [lambda: list(queries.backlinks(who, head)[:50])],
        "search, 1 word": list(searches(1)),
        "search, 3 words": list(searches(3)),
        "search, 6 words": list(searches(6)),
        "search, 12 words": list(searches(12)),
    }


def measured(works: list[Callable[[], object]]) -> tuple[str, list[float], list[float]]:
    """Return the numbers of queries, and CPU and wall milliseconds of `TIMES` calls in turn."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    works[0]()  # what a process reads once
    counts = []
    for work in works:
        with CaptureQueriesContext(connection) as asked:
            work()
        counts.append(len(asked))
    spent, passed = [], []
    for turn in range(TIMES):
        began, clock = time.process_time(), time.perf_counter()
        works[turn % len(works)]()
        spent.append((time.process_time() - began) * 1000)
        passed.append((time.perf_counter() - clock) * 1000)
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least}-{most}", spent, passed


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goclaw_site.settings")
    main()
