"""Saving, history, moving: nothing is lost, and nothing is made twice."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from goclaw_site.errors import Conflict, InvalidInput, NotFound, Refused, TooLarge
from memory.access import Principal
from memory.models import AuditEvent
from tests.memory.making import person
from tests.wiki.making import CHIEF, edit, write
from wiki import pages, queries, rendered, review
from wiki.edits import MAX_BODY, StaleBase
from wiki.models import WikiLink, WikiPage, WikiRevision

pytestmark = pytest.mark.django_db


def texts(slug: str) -> list[tuple[int, str]]:
    rows = WikiRevision.objects.filter(slug=slug).order_by("revision")
    return list(rows.values_list("revision", "body"))


def test_a_page_is_made_and_edited(ann, bob):
    made = write(ann, "Team/On-Call", "first\r\n", title="On call", tags=("b", "a", "b"))
    assert (made.outcome, made.page.slug, made.revision.revision) == ("created", "team/on-call", 1)
    assert (made.revision.body, made.revision.tags) == ("first\n", ["a", "b"])
    saved = write(bob, "team/on-call", "second", comment="better", tags=("c",))
    assert (saved.outcome, saved.revision.revision, saved.revision.base_revision) == ("saved", 2, 1)
    page = queries.page(ann, "TEAM/on-call")
    assert (page.title, page.author, page.author_kind) == ("on call", "bob", "human")
    assert [tag.tag for tag in page.tags.all()] == ["c"]
    events = AuditEvent.objects.filter(action="wiki.save", subject=f"page:{page.pk}")
    assert events.count() == 2


def test_the_title_is_the_first_heading_or_the_name(ann):
    assert write(ann, "a/data-model", "# Data: the model #\n").page.title == "Data: the model"
    assert write(ann, "a/plain-name", "text").page.title == "plain name"


def test_saving_what_is_there_makes_no_revision(ann, bob):
    write(ann, "p", "text", title="T")
    assert write(bob, "p", "text\n".rstrip(), title="T").outcome == "unchanged"
    write(ann, "p", "newer", title="T")
    late = pages.save(bob, "p", edit("text", 1, title="T"))
    assert late.outcome == "unchanged", "bob changed nothing, so ann's text stays"
    assert texts("p") == [(1, "text"), (2, "newer")]


def test_a_stale_base_loses_nothing(ann, bob):
    write(ann, "p", "one\ntwo\nthree\nfour\nfive\n")
    write(ann, "p", "ONE\ntwo\nthree\nfour\nfive\n")
    with pytest.raises(StaleBase) as refused:
        pages.save(bob, "p", edit("one\ntwo\nthree\nfour\nFIVE\n", 1))
    told = refused.value.as_dict()
    assert (told["mine"], told["theirs"]) == (
        "one\ntwo\nthree\nfour\nFIVE\n", "ONE\ntwo\nthree\nfour\nfive\n"
    )  # fmt: skip
    assert told["base"] == "one\ntwo\nthree\nfour\nfive\n"
    assert told["merged"] == "ONE\ntwo\nthree\nfour\nFIVE\n"
    assert (told["revision"], told["code"], refused.value.status) == (2, "conflict", 409)
    assert len(texts("p")) == 2


def test_edits_of_the_same_line_are_not_merged(ann, bob):
    write(ann, "p", "one\n")
    write(ann, "p", "hers\n")
    with pytest.raises(StaleBase) as refused:
        pages.save(bob, "p", edit("his\n", 1))
    assert refused.value.extra["merged"] is None
    assert "ann saved this page" in refused.value.message


def test_a_new_page_where_one_stands_is_a_conflict(ann, bob):
    write(ann, "p", "hers")
    with pytest.raises(StaleBase) as refused:
        pages.save(bob, "p", edit("his"))
    assert refused.value.extra["theirs"] == "hers"
    with pytest.raises(StaleBase):
        pages.save(bob, "p", edit("his", 7))


def test_a_page_that_never_was_saved_leaves_no_trace(ann):
    with pytest.raises(TooLarge, match="1,000,001 characters; the limit is 1,000,000"):
        write(ann, "p", "x" * (MAX_BODY + 1))
    for bad in ({"title": "x" * 201}, {"tags": ("",)}, {"tags": tuple("abcdefghij" * 4)},
                {"comment": "two\nlines"}, {"title": "a\x00"}):  # fmt: skip
        with pytest.raises(InvalidInput):
            write(ann, "p", "text", **bad)
    with pytest.raises(InvalidInput):
        write(ann, "p", "lone \ud800")
    assert not WikiPage.objects.exists()


@pytest.mark.slow
def test_the_largest_body_is_saved_and_found(ann):
    body = "word " * (MAX_BODY // 5)
    assert len(write(ann, "p", body).revision.body) == MAX_BODY


def test_restoring_is_a_revision(ann, bob):
    write(ann, "p", "first", title="A", tags=("x",))
    write(ann, "p", "second", title="B")
    saved = pages.restore(bob, "p", 1)
    assert (saved.revision.revision, saved.revision.body, saved.page.title) == (3, "first", "A")
    assert saved.revision.tags == ["x"]
    assert pages.restore(bob, "p", 1).outcome == "unchanged"
    with pytest.raises(NotFound, match="Revision 9"):
        pages.restore(bob, "p", 9)


def test_deleting_is_a_revision_and_can_be_undone(ann, bob):
    write(ann, "p", "text", tags=("x",))
    deleted = pages.delete(ann, "p", "gone")
    assert (deleted.revision, deleted.deleted, deleted.body) == (2, True, "")
    with pytest.raises(NotFound):
        queries.live_page(bob, "p")
    with pytest.raises(NotFound):
        pages.delete(ann, "p")
    assert list(queries.pages(bob)) == []
    assert pages.undelete(bob, "p").revision.body == "text"
    with pytest.raises(Conflict, match="not deleted"):
        pages.undelete(bob, "p")


def test_deleting_under_an_editor_keeps_their_text(ann, bob):
    write(ann, "p", "text")
    pages.delete(ann, "p")
    with pytest.raises(StaleBase, match="deleted while you wrote") as refused:
        pages.save(bob, "p", edit("mine", 1))
    assert refused.value.extra["mine"] == "mine"
    assert pages.save(bob, "p", edit("mine")).revision.revision == 3


def test_moving_keeps_history_and_leads_on(ann, bob):
    write(ann, "old", "first")
    write(ann, "old", "second")
    write(bob, "linking", "see [[old]]")
    page = pages.move(ann, "old", "New/Home")
    assert (page.slug, page.revision) == ("new/home", 3)
    assert [row[0] for row in texts("new/home")] == [1, 2, 3]
    assert queries.live_page(bob, "old").pk == page.pk
    assert [found.slug for found in queries.backlinks(bob, "old")] == ["linking"]
    assert texts("linking") == [(1, "see [[old]]")], "no other page's text is rewritten"
    with pytest.raises(StaleBase, match="moved to 'new/home'"):
        pages.save(bob, "old", edit("late", 2))


def test_chains_are_flattened_and_old_names_are_free(ann):
    write(ann, "a", "text")
    pages.move(ann, "a", "b")
    pages.move(ann, "b", "c")
    assert WikiPage.objects.get(slug="a").moved_to == "c"
    assert WikiPage.objects.get(slug="b").moved_to == "c"
    assert write(ann, "a", "another").outcome == "created"
    assert queries.live_page(ann, "a").author == "ann"
    assert queries.live_page(ann, "b").slug == "c"


def test_moving_back_and_onto_deleted_pages_keeps_every_text(ann):
    write(ann, "a", "a1")
    pages.move(ann, "a", "b")
    pages.move(ann, "b", "a")
    write(ann, "gone", "g1")
    pages.delete(ann, "gone")
    page = pages.move(ann, "a", "gone")
    rows = texts("gone")
    assert rows[-1] == (page.revision, "a1")
    assert len({number for number, _ in rows}) == len(rows)
    assert {"a1", "g1"} <= {body for _, body in rows}
    assert pages.restore(ann, "gone", 1).revision.body == "g1"
    assert WikiPage.objects.filter(moved_to="").count() == 1
    assert set(WikiPage.objects.exclude(moved_to="").values_list("moved_to", flat=True)) == {"gone"}


def test_a_move_onto_a_page_is_refused(ann):
    write(ann, "a", "1")
    write(ann, "b", "2")
    with pytest.raises(Conflict, match="already"):
        pages.move(ann, "a", "b")
    with pytest.raises(Conflict):
        pages.move(ann, "a", "A")
    with pytest.raises(InvalidInput):
        pages.move(ann, "a", "wikijs/x")
    with pytest.raises(NotFound):
        pages.move(ann, "nothing", "c")


def test_a_title_gives_free_names(ann):
    assert pages.create(ann, edit("1", title="My page")).page.slug == "my-page"
    assert pages.create(ann, edit("2", title="My page")).page.slug == "my-page-2"


def test_a_page_of_another_renderer_is_rendered_again(ann):
    page = write(ann, "p", "# Top\n\n[[q]]").page
    WikiPage.objects.update(html_version="0", html="old", contents=[])
    WikiLink.objects.all().delete()
    html, contents = rendered.stored(queries.page(ann, "p"))
    assert "Top" in html
    assert contents[0]["text"] == "Top"
    assert WikiPage.objects.get(pk=page.pk).html == html
    assert WikiLink.objects.count() == 1


def test_opening_a_page_takes_two_queries(ann, django_assert_num_queries):
    write(ann, "p", "# Top\n\n[[q]]")
    with django_assert_num_queries(2):
        page = queries.page(ann, "p")
        rendered.dressed(rendered.stored(page)[0], queries.missing_links(ann, page))


WRITERS = {
    "an administrator's key": Principal(person=1, name="root", is_admin=True, key="k"),
    "a cron run": Principal(gateway=True, run_kind="cron", key="k"),
    "an SOP": Principal(gateway=True, run_kind="sop", key="k"),
    "a terminal": Principal(name="command", is_admin=True, door="command"),
}
REFUSED = {
    "a webhook run": (Principal(gateway=True, run_kind="webhook", key="k"), "outside input"),
    "a person's key": (Principal(person=1, name="ann", key="k"), "administrator's chat"),
    "a gateway": (Principal(gateway=True, key="k"), "administrator's chat"),
    "an administrator nobody confirmed": (
        Principal(person=1, is_admin=True, gateway=True, key="k", known=False), "administrator's"
    ),
    "a key that reads": (Principal(person=1, is_admin=True, key="k", read_only=True), "only read"),
    "nobody": (Principal(door="browser"), "login"),
}  # fmt: skip


@pytest.mark.parametrize("who", WRITERS)
def test_who_may_write(who):
    kind = "human" if who == "a terminal" else "agent"
    assert write(WRITERS[who], "p", "text").page.author_kind == kind


@pytest.mark.parametrize("who", REFUSED)
def test_who_may_not_write_is_told_why(who):
    principal, reason = REFUSED[who]
    with pytest.raises(Refused, match=reason):
        write(principal, "p", "text")
    assert not WikiPage.objects.exists()


def test_editors_may_be_a_role(configure, ann):
    configure({"wiki.editors": "role"})
    with pytest.raises(Refused, match="role 'editor'"):
        write(ann, "p", "text")
    write(person("eve", roles=frozenset({"editor"}), door="browser"), "p", "text")
    write(CHIEF, "q", "text")


def test_deleting_and_moving_with_a_key_needs_an_administrators(ann, agent):
    write(ann, "p", "text")
    with pytest.raises(Refused, match="administrator"):
        pages.delete(agent, "p")
    with pytest.raises(Refused):
        pages.move(agent, "p", "q")
    with pytest.raises(Refused):
        review.decide(agent, "p", 1, "accept")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_many_savers_at_once_lose_nothing():
    """Every save is a revision, or a conflict that carries the text."""
    write(CHIEF, "p", "start")
    kept: list[str] = []
    back: list[str] = []
    faults: list[BaseException] = []

    def saver(name: int) -> None:
        try:
            for turn in range(25):
                text = f"{name}:{turn}"
                base = WikiPage.objects.get(slug="p").revision
                try:
                    pages.save(CHIEF, "p", edit(text, base))
                    kept.append(text)
                except StaleBase as error:
                    back.append(str(error.extra["mine"]))
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=saver, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    rows = texts("p")
    assert sorted(kept) == sorted(body for _, body in rows[1:])
    assert len(kept) + len(back) == 200
    assert [number for number, _ in rows] == list(range(1, len(kept) + 2))
