"""A real browser against the live server; every console error and broken policy fails the test."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone

from memory import indexing, jobs, providers, write
from memory.access import Principal
from memory.drafts import Draft
from memory.models import Memory
from memory.search import matrix

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
PASSWORD = "correct horse battery"
#: What the browser itself says about answers that a test provokes.
EXPECTED = (
    "the server responded with a status of",
    "net::ERR_INTERNET_DISCONNECTED",
    "Response Status Error Code",
    "htmx:",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and say why they are skipped where there is no browser."""
    here = Path(__file__).parent
    missing = pytest.mark.skip(reason=f"{CHROMIUM} is not here (apt install chromium)")
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not Path(CHROMIUM).exists():
                item.add_marker(missing)


@pytest.fixture(scope="package")
def browser() -> Iterator:
    """One browser for this folder, gone before other tests want a loop of their own."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with pytest.MonkeyPatch.context() as patch, sync_api.sync_playwright() as playwright:
        # Playwright runs a loop in this thread, and Django takes that for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(autouse=True)
def _small_server(transactional_db, configure, settings) -> Iterator[None]:
    """Search by keyword, quick passwords, and a worker that was seen a moment ago."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    configure({"memory.search.provider": "none"})
    cache.clear()
    providers.reset()
    matrix.forget_all()
    jobs.seen()
    yield
    providers.reset()
    matrix.forget_all()


@dataclass
class Site:
    """The server with two people and some records, and windows into it."""

    address: str
    browser: Any
    errors: list[str]
    root: Principal
    ann: Principal

    def window(self, width: int = 1280, theme: str = "light", **options):
        """Open a window of this width in this theme."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=theme,
            base_url=self.address,
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        return page

    def _listen(self, message) -> None:
        if message.type == "error" and not any(word in message.text for word in EXPECTED):
            self.errors.append(message.text)

    def signed_in(self, name: str = "root", **options):
        """Open a window in which this person is signed in."""
        page = self.window(**options)
        sign_in(page, name)
        return page


def sign_in(page, name: str, path: str = "/login/") -> None:
    page.goto(path)
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    page.wait_for_selector("#main h1")


def until(page, truth: str, seconds: float = 10.0) -> None:
    """Wait for a JavaScript expression; playwright's own way needs an eval that we forbid."""
    end = time.monotonic() + seconds
    while not _holds(page, truth):
        assert time.monotonic() < end, f"it never came true: {truth}"
        page.wait_for_timeout(30)


def _holds(page, truth: str) -> bool:
    from playwright.sync_api import Error

    try:
        return bool(page.evaluate(truth))
    except Error as error:
        if "navigation" not in str(error):
            raise
        return False


@pytest.fixture
def site(live_server, browser) -> Iterator[Site]:
    root = _person("root", is_superuser=True, is_staff=True)
    ann = _person("ann")
    errors: list[str] = []
    yield Site(live_server.url, browser, errors, root, ann)
    for context in browser.contexts:
        context.close()
    assert not errors


def _person(name: str, **fields) -> Principal:
    user = User.objects.create_user(name, **fields)
    # The real hasher takes longer than everything else in these tests.
    from django.contrib.auth.hashers import make_password

    user.password = make_password(PASSWORD)
    user.save()
    return Principal(person=user.pk, name=name, is_admin=user.is_superuser, door="browser")


def put(principal: Principal, content: str, scope: str = "agent_notes", **fields) -> Memory:
    return write.remember(principal, Draft(content, scope=scope, **fields)).memory


@pytest.fixture
def filled(site: Site) -> Site:
    """The site with records of every kind, indexed."""
    note = {"scope": "agent_notes", "kind": "fact", "domain": "network"}
    # The second one takes the place of the first, by rule.
    put(site.root, "The payments gateway address is 10.0.0.5.", **note)
    put(site.root, "The payments gateway address is 10.0.0.7.", tags=("payments",), **note)
    put(site.root, "Drain the queue before a restart.", kind="guideline", tags=("critical",))
    put(
        site.root, "Otter team owns billing.", domain="people",
        occurred_at=timezone.now() - timedelta(days=41),
    )  # fmt: skip
    put(site.root, "عقد الاستضافة 🗓️", "global")
    put(site.root, "<script>alert('markup')</script> & <b>more</b>", "global", tags=("<i>",))
    put(site.root, "long " * 20_000, "global", tags=("long",))
    put(site.root, "My reports come in the morning.", "personal", kind="preference")
    put(site.root, "I am allergic to peanuts.", "personal", kind="fact")
    assert not indexing.index_waiting(float("inf"))
    return site


@pytest.fixture
def wiki(site: Site) -> Site:
    """The site with a page that links to one that is not there."""
    from tests.wiki.making import write as save

    save(site.root, "ops/gateway", "# Gateway\n\nOwned by [[ops/otter]].\n\nTwo.\n\nThree.\n")
    return site
