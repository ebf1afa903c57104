"""What a page says is found by the one search, and nothing that it no longer says."""

import pytest

from memory.access import Principal
from memory.models import Memory, MemoryRevision
from tests.memory.making import ask, index_all
from tests.wiki.making import write
from wiki import pages, queries

pytestmark = pytest.mark.django_db


def hits(principal: Principal, query: str) -> list[str]:
    index_all()
    return [hit.text for hit in ask(principal, query, scopes=["wiki"]).hits]


def test_a_save_is_found_at_once_and_after_indexing(ann, bob):
    write(ann, "net/gateways", "The gateway of Berlin is pay-gw-01.", title="Gateways")
    assert ask(bob, "gateway Berlin", scopes=["wiki"]).hits, "read your own writes"
    assert hits(bob, "pay-gw-01")
    write(ann, "net/gateways", "The gateway of Paris is core-gw-07.", title="Gateways")
    assert hits(bob, "pay-gw-01") == []
    assert len(hits(bob, "core-gw-07")) == 1
    record = Memory.objects.get(scope="wiki")
    assert record.kind == "page"
    assert record.metadata["slug"] == "net/gateways"
    assert record.metadata["revision"] == 2
    assert not MemoryRevision.objects.exists(), "the history of a page is the wiki's"


def test_title_and_name_are_found_too(ann):
    write(ann, "runbooks/failover", "text", title="Switching over zqbx")
    assert [hit.slug for hit in queries.search(ann, "zqbx").hits] == ["runbooks/failover"]
    write(ann, "runbooks/failover", "text", title="Other")
    index_all()
    assert queries.search(ann, "zqbx").hits == ()


def test_a_deleted_page_is_not_found(ann):
    write(ann, "p", "zqword here")
    pages.delete(ann, "p")
    assert hits(ann, "zqword") == []
    assert not Memory.objects.filter(scope="wiki").exists()
    pages.undelete(ann, "p")
    assert len(hits(ann, "zqword")) == 1


def test_a_moved_page_is_found_under_its_new_name(ann):
    write(ann, "p", "zqword here")
    index_all()
    pages.move(ann, "p", "q")
    index_all()
    assert [hit.slug for hit in queries.search(ann, "zqword").hits] == ["q"]
    assert Memory.objects.filter(scope="wiki").count() == 1


def test_equal_pages_stay_apart(ann):
    for slug in ("a", "b"):
        write(ann, slug, "zqsame text", title="Same")
    index_all()
    assert {hit.slug for hit in queries.search(ann, "zqsame").hits} == {"a", "b"}


@pytest.mark.slow
def test_a_long_page_is_several_records_and_one_hit(ann):
    write(ann, "long", "filler text\n" * 40_000 + "zqend")
    assert Memory.objects.filter(scope="wiki").count() == 3
    assert max(map(len, Memory.objects.values_list("content", flat=True))) <= 200_000
    index_all()
    found = queries.search(ann, "zqend").hits
    assert [hit.slug for hit in found] == ["long"]
    write(ann, "long", "short")
    assert Memory.objects.filter(scope="wiki").count() == 1


def test_the_same_block_twice_is_no_conflict(ann):
    write(ann, "same", "x" * 600_000)
    assert Memory.objects.filter(scope="wiki").count() == 4


def test_tags_of_the_memory_mean_nothing_on_a_page(ann):
    write(ann, "p", "text", tags=("critical", "superseded", "net"))
    assert Memory.objects.get(scope="wiki").tag_names == ["net"]


def test_a_page_that_is_only_retagged_takes_its_record_along(ann):
    write(ann, "p", "text", tags=("a",))
    write(ann, "p", "text", tags=())
    record = Memory.objects.get(scope="wiki")
    assert (record.tag_names, record.metadata["revision"]) == ([], 2)


def test_an_empty_page_is_a_page(ann):
    write(ann, "p", "")
    assert [hit.slug for hit in queries.search(ann, "p").hits] == ["p"]


def test_the_author_stands_in_the_provenance(ann):
    write(ann, "p", "text")
    assert Memory.objects.get().metadata["provenance"]["author"] == "ann"
