"""Reads: the tree, lists, links, tags; few queries, however many pages."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from goclaw_site.errors import NotFound
from tests.wiki.making import write
from wiki import pages, queries

pytestmark = pytest.mark.django_db


def test_the_tree_names_pages_and_the_places_between(ann):
    for slug in ("team", "team/a", "ops/x/deep", "ops/y"):
        write(ann, slug, "text", title=slug.upper())
    pages.delete(ann, "ops/y")
    ops, team = queries.tree(ann)
    assert (ops.slug, ops.exists, ops.size, ops.below[0].name) == ("ops", False, 1, "x")
    assert (team.title, team.exists, team.below[0].slug) == ("TEAM", True, "team/a")
    assert [branch.slug for branch in queries.tree(ann, "ops/x")] == ["ops/x/deep"]


def test_lists_are_narrowed(ann, agent):
    write(ann, "team/a", "text", tags=("net",))
    write(ann, "team/b", "text")
    write(agent, "ops/c", "text", tags=("net",))
    slugs = lambda **wanted: {page.slug for page in queries.pages(ann, **wanted)}  # noqa: E731
    assert slugs() == {"team/a", "team/b", "ops/c"}
    assert slugs(prefix="Team/") == {"team/a", "team/b"}
    assert slugs(tags=["net"]) == {"team/a", "ops/c"}
    assert slugs(waiting=True) == {"ops/c"}
    assert queries.tags(ann) == [("net", 2)]


def test_links_are_known_both_ways(ann):
    write(ann, "a", "see [[b]], [[C c|see]] and [[gone#part]]")
    write(ann, "b", "text")
    assert [page.slug for page in queries.backlinks(ann, "b")] == ["a"]
    head = queries.page(ann, "a")
    assert queries.missing_links(ann, head) == {"c-c", "gone"}
    assert queries.missing(ann, ["b", "x", "gone"]) == {"x", "gone"}
    pages.move(ann, "b", "d")
    assert "b" not in queries.missing_links(ann, head), "the old name leads on"
    write(ann, "a", "nothing")
    assert list(queries.backlinks(ann, "b")) == []


@pytest.mark.parametrize("slug", ["nothing", "..", "a b", "", "x" * 300, "a\x00b", "wikijs/../x"])
def test_what_names_no_page_is_not_found(ann, slug):
    with pytest.raises(NotFound):
        queries.page(ann, slug)


def test_recent_changes_tell_every_save(ann, agent):
    write(ann, "a", "1")
    write(agent, "a", "2")
    pages.delete(ann, "a")
    rows = [(row.slug, row.revision, row.author_kind) for row in queries.recent(ann)]
    assert rows == [("a", 3, "human"), ("a", 2, "agent"), ("a", 1, "human")]


READS = {
    "page": lambda who: queries.page(who, "p0"),
    "tree": queries.tree,
    "list": lambda who: [page.tags.all() for page in queries.pages(who)[:20]],
    "recent": lambda who: [row.page.title for row in queries.recent(who)[:20]],
    "queue": lambda who: list(queries.review_queue(who)[:20]),
    "backlinks": lambda who: list(queries.backlinks(who, "p0")[:20]),
    "search": lambda who: queries.search(who, "common words"),
    "tags": queries.tags,
}


@pytest.mark.parametrize("read", READS)
def test_reads_take_as_many_queries_for_twice_the_pages(ann, read):
    def counted() -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            READS[read](ann)
        return len(asked)

    def fill(start: int) -> None:
        for number in range(start, start + 8):
            write(ann, f"p{number}", f"common words {number} [[p0]]", tags=("t", f"t{number}"))
            write(ann, f"p{number}", f"common words {number} again [[p0]]", tags=("t",))

    fill(0)
    counted()
    before = counted()
    fill(8)
    assert counted() == before
