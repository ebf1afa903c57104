"""Agents' edits are live at once, and wait for a person's eye."""

import pytest

from goclaw_site.errors import Conflict, InvalidInput, NotFound
from tests.wiki.making import CHIEF, write
from wiki import pages, queries, review
from wiki.models import WikiPage, WikiRevision

pytestmark = pytest.mark.django_db


def body(slug: str) -> str:
    page = WikiPage.objects.get(slug=slug)
    return WikiRevision.objects.get(page=page, revision=page.revision).body


def queue(principal) -> list[str]:
    return [page.slug for page in queries.review_queue(principal)]


def test_an_agents_edit_is_live_and_waits(ann, agent):
    write(ann, "p", "by ann")
    saved = write(agent, "p", "by bot")
    assert (saved.page.waits, saved.page.reviewed, body("p")) == (True, 1, "by bot")
    assert queue(ann) == ["p"]
    assert review.last_reviewed(saved.page).body == "by ann"


def test_a_persons_edit_does_not_wait(ann):
    assert not write(ann, "p", "text").page.waits
    assert queue(ann) == []


def test_accepting_marks_it_and_what_came_before(ann, bob, agent):
    write(ann, "p", "1")
    write(agent, "p", "2")
    write(agent, "p", "3")
    write(agent, "p", "4")
    assert review.decide(bob, "p", 3, "accept").settled == 2
    page = WikiPage.objects.get(slug="p")
    assert (page.waits, page.reviewed) == (True, 3)
    review.decide(bob, "p", 4, "accept")
    assert queue(ann) == []
    assert set(WikiRevision.objects.exclude(reviewed_by="").values_list("reviewed_by", flat=True)) \
        == {"bob"}  # fmt: skip
    with pytest.raises(Conflict, match="Nothing"):
        review.decide(bob, "p", 4, "accept")


def test_rejecting_brings_the_reviewed_text_back_as_a_revision(ann, agent):
    write(ann, "p", "by ann", title="Hers", tags=("x",))
    write(agent, "p", "bot 1", title="Its")
    write(agent, "p", "bot 2", title="Its")
    decided = review.decide(ann, "p", 3, "reject")
    assert (decided.revision, decided.settled, body("p")) == (4, 2, "by ann")
    page = WikiPage.objects.get(slug="p")
    assert (page.title, page.waits, page.reviewed) == ("Hers", False, 4)
    assert WikiRevision.objects.filter(rejected=True).count() == 2
    assert [tag.tag for tag in page.tags.all()] == ["x"]


def test_rejecting_keeps_what_people_wrote_since(ann, bob, agent):
    write(ann, "p", "one\ntwo\nthree\nfour\nfive\n")
    write(agent, "p", "ONE\ntwo\nthree\nfour\nfive\n")
    write(bob, "p", "ONE\ntwo\nthree\nfour\nFIVE\n")
    assert queue(ann) == ["p"], "a person's edit on top reviews nothing"
    review.decide(ann, "p", 2, "reject")
    assert body("p") == "one\ntwo\nthree\nfour\nFIVE\n"
    assert queue(ann) == []


def test_where_people_built_on_it_rejecting_is_a_conflict(ann, agent):
    write(ann, "p", "one\n")
    write(agent, "p", "two\n")
    write(ann, "p", "two and more\n")
    with pytest.raises(Conflict, match="by hand"):
        review.decide(ann, "p", 2, "reject")
    assert (body("p"), queue(ann)) == ("two and more\n", ["p"]), "nothing is half done"


def test_rejecting_a_page_that_an_agent_made_deletes_it(ann, agent):
    write(agent, "p", "text")
    review.decide(ann, "p", 1, "reject")
    assert WikiPage.objects.get(slug="p").deleted
    assert queue(ann) == []
    assert pages.undelete(ann, "p").revision.body == "text"


def test_an_agents_page_that_people_edited_is_not_deleted(ann, agent):
    write(agent, "p", "text\n")
    write(ann, "p", "text\nand hers\n")
    with pytest.raises(Conflict):
        review.decide(ann, "p", 1, "reject")


def test_a_deletion_with_a_key_waits_and_can_be_rejected(ann):
    keyed = CHIEF.__class__(name="root", is_admin=True, key="k", person=1)
    write(ann, "p", "text")
    pages.delete(keyed, "p")
    assert queue(ann) == ["p"]
    review.decide(ann, "p", 2, "reject")
    assert body("p") == "text"


def test_a_person_who_deletes_a_page_has_seen_it(ann, agent):
    write(agent, "p", "text")
    pages.delete(ann, "p")
    assert queue(ann) == []


def test_a_page_stays_in_the_queue_when_it_moves(ann, agent):
    write(ann, "p", "1")
    write(agent, "p", "2")
    pages.move(ann, "p", "q")
    assert queue(ann) == ["q"]
    review.decide(ann, "q", 2, "reject")
    assert body("q") == "1"


def test_many_are_accepted_and_one_that_fails_stops_none(ann, agent):
    for slug in ("a", "b"):
        write(agent, slug, slug)
    results = review.accept_many(ann, [("a", 1), ("nothing", 1), ("b", 1)])
    assert isinstance(results[1], NotFound)
    assert queue(ann) == []


def test_a_decision_is_one_of_two(ann, agent):
    write(agent, "p", "1")
    with pytest.raises(InvalidInput, match="accept, reject"):
        review.decide(ann, "p", 1, "maybe")
