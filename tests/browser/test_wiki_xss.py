"""Hundreds of texts that try to run a script, through every door, in a real browser without a CSP.

The policy of the site would stop nearly all of them anyway; here the sanitizer stands alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.wiki.making import write
from tests.wiki.xss import attacks
from wiki import rendering, slugs
from wiki.models import WikiPage, WikiRevision
from wiki.rendering import sanitizing
from wiki.rendering.page import _rendered

AT_ONCE = 120
WORD = "lanternfish"
#: Each document in a frame of its own; then what people do with a page, done to every element: any
#: handler runs, any odd link is followed. Nothing is loaded: the frames have no address.
OPEN = """async (documents) => {
  const sung = new Set();
  window.canary = (number) => sung.add(number);
  const touch = (element) => {
    for (const {name} of [...element.attributes]) {
      if (name.startsWith('on')) element.dispatchEvent(new Event(name.slice(2)));
    }
    const odd = /^(?!https?:|mailto:|tel:|about:)/i;
    const to = element.href?.baseVal ?? element.href;
    if (element.matches('a') && to && odd.test(to)) {
      element.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
    }
    if (element.matches('form') && odd.test(element.action)) element.submit();
  };
  const frames = documents.map((text) => {
    const frame = document.createElement('iframe');
    frame.srcdoc = text;
    return frame;
  });
  const loaded = frames.map((frame) => new Promise((done) => frame.addEventListener('load', done)));
  document.body.append(...frames);
  await Promise.race([Promise.all(loaded), new Promise((done) => setTimeout(done, 8000))]);
  for (const frame of frames) {
    try {
      frame.contentDocument?.querySelectorAll('*').forEach(touch);
    } catch {
      // It went somewhere by itself; the canary tells whether by a script.
    }
  }
  await new Promise((done) => setTimeout(done, 300));
  frames.forEach((frame) => frame.remove());
  return [...sung];
}"""


def fired(browser, documents: Iterable[str]) -> set[int]:
    """Open every document, touch everything, return the canaries that sang."""
    held = list(documents)
    context = browser.new_context()
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.dismiss())
    sung: set[int] = set()
    for start in range(0, len(held), AT_ONCE):
        sung |= set(page.evaluate(OPEN, held[start : start + AT_ONCE]))
    context.close()
    return sung


def document(fragment: str) -> str:
    return f"<!doctype html><meta charset=utf-8><title>x</title><body>{fragment}"


def slug_of(target: str) -> str:
    return "-".join(target.split())[:80]


def test_there_are_enough_of_them_and_no_two_are_the_same():
    texts = [attack.text for attack in attacks()]
    assert len(texts) >= 300
    assert len(set(texts)) == len(texts)


@pytest.mark.slow
def test_without_the_sanitizer_the_corpus_bites(browser, monkeypatch):
    monkeypatch.setattr(sanitizing, "clean", lambda html: (html, (), ()))
    raw = [document(_rendered(attack.text, slug_of).html) for attack in attacks()]
    bites = fired(browser, raw)
    assert len(bites) >= 250


@pytest.mark.slow
def test_rendered_text_runs_nothing(browser):
    clean = [document(_rendered(attack.text, slug_of).html) for attack in attacks()]
    assert not fired(browser, clean)
    dressed = [rendering.dress(html, {"x"}, "/base") for html in clean]
    assert not fired(browser, dressed[::7])


@pytest.fixture
def doors(site) -> list[str]:
    """What every door answers about pages that hold these texts, in bodies, titles and comments."""
    client = Client()
    client.force_login(User.objects.get(username="root"))
    _fill(site)
    answers = []

    def get(path: str) -> str:
        response = client.get(path)
        assert response.status_code == 200, path
        answers.append(response.content.decode())
        return answers[-1]

    for attack in attacks()[:: max(1, len(attacks()) // 60)]:
        get(f"/wiki/p/x/{attack.number}")
        answers.append(
            document(client.get(f"/api/memory/wiki/pages/x/{attack.number}").json()["html"])
        )
        answers.append(client.post("/wiki/preview/", {"body": attack.text}).content.decode())
    for path in ("/wiki/", "/wiki/?below=x", "/wiki/recent/", "/wiki/review/", "/wiki/p/all"):
        get(path)
    for view in (
        "diff&from=1&to=2",
        "diff&from=1&to=2&mode=inline&all=1",
        "history",
        "source",
        "edit",
    ):
        get(f"/wiki/p/all?view={view}")
    stale = {"title": "<img src=x onerror=top.canary(1)>", "body": _everything(), "base": "1"}
    answers.append(client.post("/wiki/p/all", stale).content.decode())
    found = get(f"/wiki/search/?q={WORD}")
    assert found.count('class="hit"') >= 20
    feed = client.get("/api/memory/wiki/feed/").content.decode()
    answers.append(document("".join(re.findall(r"(?s)<(?:title|summary)[^>]*>(.*?)</", feed))))
    return answers


def _everything() -> str:
    return "\n\n".join(attack.text for attack in attacks())


def _fill(site) -> None:
    """Rows in bulk for the pages; some through the writer, so that they are found and reviewed."""
    from memory import indexing
    from memory.access import Principal

    bot = Principal(
        name="<img src=x onerror=top.canary(2)>", gateway=True, run_kind="cron", key="k"
    )
    every = attacks()
    heads = WikiPage.objects.bulk_create(
        WikiPage(
            slug=f"x/{a.number}", slug_key=slugs.key(f"x/{a.number}"), revision=1, title=a.title
        )
        for a in every
    )
    WikiRevision.objects.bulk_create(
        WikiRevision(page=head, slug=head.slug, revision=1, title=a.title, body=a.text,
                     comment=a.title, author=a.title[:150])
        for head, a in zip(heads, every, strict=True)
    )  # fmt: skip
    for attack in every[:: max(1, len(every) // 25)]:
        write(bot, f"found/{attack.number}", f"{WORD} {attack.text}", title=attack.title,
              comment=attack.title, tags=(attack.title[:60].strip() or "x",))  # fmt: skip
    write(site.root, "all", "x")
    write(site.root, "all", _everything(), title=every[0].title)
    assert not indexing.index_waiting(float("inf"))


@pytest.mark.slow
def test_nothing_runs_behind_any_door(browser, doors):
    assert len(doors) > 150
    assert not fired(browser, doors)


def test_text_in_an_attribute_of_the_page_cannot_leave_it(site):
    """The editor carries texts in attributes and fields; a quote in them ends nothing."""
    title = "\"><img src=x onerror=top.canary(3)>'"
    write(site.root, "quoted", "body", title=title)
    client = Client()
    client.force_login(User.objects.get(username="root"))
    for view in ("read", "edit", "history"):
        page = client.get(f"/wiki/p/quoted?view={view}").content.decode()
        assert "<img src=x onerror" not in page
        assert escape(title) in page
    assert json.loads(client.get("/api/memory/wiki/pages/quoted").content)["title"] == title
