"""The wiki's pages without a browser: counts of queries, statuses, what a failure gives back."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.models import Memory
from tests.memory.making import index_all
from tests.wiki.making import CHIEF, write
from wiki import slugs
from wiki.models import WikiPage, WikiRevision
from wiki.rendering import VERSION

pytestmark = pytest.mark.django_db
SWAP = {"HX-Request": "true"}


@pytest.fixture
def root():
    cache.clear()
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def text(response) -> str:
    return response.content.decode()


def many(count: int, revisions: int = 3) -> None:
    """Pages in bulk, below one section, each with some revisions; every one links to the next."""
    start = WikiPage.objects.count()
    names = [f"ops/part-{n % 7}/page-{n}" for n in range(start, start + count)]
    heads = WikiPage.objects.bulk_create(
        WikiPage(
            slug=name, slug_key=slugs.key(name), revision=revisions, title=name, author="ann",
            html="<p>x</p>", html_version=str(VERSION),
        )
        for name in names
    )  # fmt: skip
    WikiRevision.objects.bulk_create(
        WikiRevision(page=head, slug=head.slug, revision=n, title=head.slug, body=f"text {n}",
                     author="ann", created_at=timezone.now())
        for head in heads
        for n in range(1, revisions + 1)
    )  # fmt: skip


ADDRESSES = (
    "/wiki/", "/wiki/?below=ops", "/wiki/recent/", "/wiki/review/", "/wiki/search/?q=text",
    "/wiki/search/?tag=x", "/wiki/p/ops/one", "/wiki/p/ops/one?view=history",
    "/wiki/p/ops/one?view=diff", "/wiki/p/ops/one?view=links", "/wiki/p/ops/one?view=edit",
)  # fmt: skip


def test_counts_of_queries_do_not_grow(root, agent):
    write(CHIEF, "ops/one", "# One\n\n[[two]] text", tags=("x",))
    write(agent, "ops/one", "# One\n\n[[two]] text, changed", tags=("x",))

    def counted(path: str) -> int:
        root.get(path)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert root.get(path).status_code == 200
        return len(queries)

    many(20)
    write(agent, "w/1", "text [[ops/one]]", tags=("x",))
    few = {path: counted(path) for path in ADDRESSES}
    many(20, revisions=6)
    for n in range(2, 5):
        write(agent, f"w/{n}", "text [[ops/one]]", tags=("x",))
    assert {path: counted(path) for path in ADDRESSES} == few
    assert max(few.values()) <= 20


def test_opening_a_page_renders_no_markdown(root, monkeypatch):
    write(CHIEF, "a", "# A\n\n[[b]]")

    def never(*args):
        raise AssertionError("a page that is stored was rendered again")

    monkeypatch.setattr("wiki.rendered.render", never)
    assert "wiki-link missing" in text(root.get("/wiki/p/a"))


def test_one_spelling_of_a_name_leads_to_the_other(root):
    write(CHIEF, "ops/übersicht", "x")
    assert root.get("/wiki/p/Ops/Übersicht")["Location"] == "/wiki/p/ops/%C3%BCbersicht"


@pytest.mark.parametrize(
    "name", ["edit", "history", "new", "preview", "p/p", "api", "a.b_c-d", "手順"]
)
def test_no_name_of_a_page_meets_a_route(root, name):
    write(CHIEF, name, "# Found\n\nhere it is")
    assert "here it is" in text(root.get(f"/wiki/p/{slugs.encode(name)}"))


@pytest.mark.parametrize("path", ["/wiki/p/a%20b", "/wiki/p/..", "/wiki/p/a//b", "/wiki/p/%2e%2e/x",
                                  "/wiki/p/a?view=nonsense", "/wiki/p/a?view=diff&from=x",
                                  "/wiki/recent/?before=-1", "/wiki/p/" + "x" * 300])  # fmt: skip
def test_addresses_that_make_no_sense_say_so(root, path):
    write(CHIEF, "a", "x")
    response = root.get(path)
    assert response.status_code in (400, 404)
    assert "Request" in text(response) or "No page" in text(response)


def test_a_page_that_is_not_there_offers_to_write_it_and_names_who_links(root):
    write(CHIEF, "a", "# First\n\n[[not there]]")
    response = root.get("/wiki/p/not-there")
    assert response.status_code == 404
    assert "Write this page" in text(response)
    assert "First" in text(response)


def test_a_text_that_is_too_long_comes_back_whole(root):
    write(CHIEF, "a", "x")
    long = "word " * 200_001
    response = root.post("/wiki/p/a", {"body": long, "base": "1", "title": "A"}, headers=SWAP)
    assert response.status_code == 413
    assert "1,000,000" in text(response)
    assert long.strip() in text(response)


def test_a_conflict_answers_409_with_all_three_texts(root):
    write(CHIEF, "a", "base text")
    write(CHIEF, "a", "their text")
    response = root.post("/wiki/p/a", {"body": "my text", "base": "1", "title": "A"}, headers=SWAP)
    assert response.status_code == 409
    for words in ("base text", "their text", "my text"):
        assert words in text(response)


def test_what_was_typed_is_shown_when_the_session_is_gone(client):
    write(CHIEF, "a", "x")
    response = client.post("/wiki/p/a", {"title": "T", "body": "typed for an hour", "base": "1"})
    assert response.status_code == 401
    assert "typed for an hour" in text(response)


def test_a_save_that_changes_nothing_makes_no_revision(root):
    write(CHIEF, "a", "# A\n\nx", title="A")
    response = root.post("/wiki/p/a", {"title": "A", "body": "# A\r\n\r\nx", "base": "1"})
    assert response.status_code == 303
    assert WikiRevision.objects.count() == 1


def test_a_deleted_page_says_so_and_can_be_written_anew(root):
    write(CHIEF, "a", "x")
    root.post("/wiki/delete/", {"slug": "a"})
    assert root.get("/wiki/p/a").status_code == 404
    assert "Bring it back" in text(root.get("/wiki/p/a"))
    assert root.post("/wiki/p/a", {"title": "A", "body": "anew", "base": ""}).status_code == 303
    assert "anew" in text(root.get("/wiki/p/a"))


def test_somebody_who_may_not_edit_is_offered_nothing(configure, root, client):
    configure({"wiki.editors": "role"})
    write(CHIEF, "a", "x [[b]]")
    client.force_login(User.objects.create_user("reader"))
    page = text(client.get("/wiki/p/a"))
    assert not re.search(r'view=edit" data-key|wiki/move|wiki/delete', page)
    assert client.get("/wiki/p/a?view=edit").status_code == 403
    assert client.post("/wiki/p/a", {"body": "no", "base": "1"}, headers=SWAP).status_code == 422
    assert "Write this page" not in text(client.get("/wiki/p/b"))


def test_the_first_page_is_taught(root):
    assert "Write the first page" in text(root.get("/wiki/"))
    moved = root.get("/wiki/new/", {"title": "Payments gateway", "in": "Ops"})
    assert moved["Location"].startswith("/wiki/p/ops/payments-gateway?view=edit")
    assert root.get("/wiki/new/", {"title": "x", "in": "wikijs"}).status_code == 422


def test_a_record_of_the_memory_leads_to_its_page(root):
    write(CHIEF, "ops/a", "# A\n\ntext")
    record = Memory.objects.get(scope="wiki")
    assert 'href="/wiki/p/ops/a"' in text(root.get(f"/memory/{record.pk}/"))


def test_distilling_without_a_model_says_why(root):
    write(CHIEF, "a", "x")
    assert "Distill into pages" in text(root.get("/wiki/"))
    assert root.post("/wiki/distill/").status_code == 303
    assert "Pages cannot be distilled" in text(root.get("/wiki/"))


def test_snippets_are_read_not_markdown(root):
    write(CHIEF, "a", "# Gate &amp; way\n\n## Two\n\n**lantern** [[b]] `code` it's #5", title="A")
    index_all()
    found = re.search(
        r'(?s)class="snippet"[^>]*>(.*?)</p>', text(root.get("/wiki/search/?q=lantern"))
    )
    assert found
    assert "<mark>lantern</mark> b code it&#x27;s #5" in found[1]
    assert "## " not in found[1]


def test_the_navigation_marks_one_place(root):
    for path, place in (("/wiki/", "Wiki"), ("/wiki/review/", "Review"), ("/me/", "My memory")):
        marked = re.findall(r'aria-current="page"><svg.*?</svg>([^<]*)</a>', text(root.get(path)))
        assert marked == [place]
