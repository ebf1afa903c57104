"""Pictures of every page for people to look at: light and dark, 1280 and 360 pixels wide.

`make screenshots` writes them to the ignored folder `screenshots/`. It makes a state directory of
its own, fills it, serves it on a free port, and leaves nothing behind but the pictures.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from memory.access import Principal

OUT = Path("screenshots")
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
WIDTHS = (1280, 360)
THEMES = ("light", "dark")
NAME, PASSWORD = "admin", "pictures-only"


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        pass


def main() -> int:
    """Take the pictures."""
    if not Path(CHROMIUM).exists():
        sys.stderr.write(f"{CHROMIUM} is not here (apt install chromium).\n")
        return 1
    with tempfile.TemporaryDirectory() as state:
        os.environ["GOCLAW_STATE_DIR"] = state
        os.environ["DJANGO_SETTINGS_MODULE"] = "goclaw_site.settings"
        _prepare()
        with _server() as address:
            _pictures(address)
    print(f"Pictures are in {OUT}/")
    return 0


def _prepare() -> None:
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    User.objects.create_superuser(NAME, password=PASSWORD)
    from benchmarks import wikipictures
    from benchmarks.screenshotdata import fill

    fill(NAME)
    wikipictures.fill(NAME)


@contextmanager
def _server() -> Iterator[str]:
    from goclaw_site.wsgi import application

    with make_server("127.0.0.1", 0, application, WSGIServer, _Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _pictures(address: str) -> None:
    from playwright.sync_api import sync_playwright

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for theme in THEMES:
            for width in WIDTHS:
                _series(browser, address, theme, width)
        browser.close()


def _series(browser: Browser, address: str, theme: str, width: int) -> None:
    """Take every page at one width in one theme."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if theme == "dark" else "light",
    )
    page = context.new_page()

    def shot(name: str, *, whole: bool = True) -> None:
        page.wait_for_timeout(120)
        page.screenshot(path=OUT / f"{name}-{theme}-{width}.png", full_page=whole)

    page.goto(f"{address}/login/")
    shot("login")
    page.fill("#id_username", NAME)
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    from benchmarks import wikipictures

    only = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, path in {**_pages(), **wikipictures.paths()}.items():
        if name.startswith(only):
            page.goto(address + path)
            shot(name, whole=name not in _LONG)
    if not only:
        _states(page, address, shot)
    if only in ("", "wiki"):
        wikipictures.states(page, address, shot, _person())
    context.close()


def _person() -> Principal:
    from django.contrib.auth.models import User

    from agents.principals import for_browser

    return for_browser(User.objects.get(username=NAME))


_LONG = ("memory", "search", "history", "admin-records")


def _pages() -> dict[str, str]:
    """Return the pages with an address of their own."""
    from memory.models import Memory, MemoryRevision

    amended = Memory.objects.filter(decisions__decision="amended", scope="agent_notes").first()
    long = Memory.objects.filter(tags__tag="runbook").first()
    turn = Memory.objects.filter(sources__position=1).first()
    run = MemoryRevision.objects.filter(via="judge", decision="retired", undone_at=None).first()
    if amended is None or long is None or turn is None or run is None:
        raise RuntimeError("the example data is incomplete")
    return {
        "memory": "/",
        "search": "/?q=payments+gateway+address",
        "history": "/?q=payments+gateway+address&include_history=true&scope=agent_notes",
        "nothing": "/?q=xylophone+zebra&scope=global",
        "record": f"/memory/{amended.pk}/",
        "record-found": f"/memory/{amended.pk}/?q=deploy+window",
        "record-long": f"/memory/{long.pk}/",
        "record-neighbours": f"/memory/{turn.pk}/",
        "add": "/memory/add/",
        "amend": f"/memory/{amended.pk}/amend/",
        "delete": f"/memory/{amended.pk}/delete/",
        "decisions": "/revisions/",
        "decisions-nothing": "/revisions/?via=consolidation",
        "run": f"/revisions/{run.run_id}/",
        "undo": f"/memory/{run.old_id}/restore/",
        "record-retired": f"/memory/{run.old_id}/",
        "changes": "/changes/",
        "mine": "/me/",
        "mine-delete": "/me/delete/",
        "password": "/password/",
        "models": "/models/",
        "models-agent": "/models/agent/",
        "components": "/components/",
        "error-404": "/nowhere/",
        "error-400": "/?colour=red",
        "admin": "/admin/",
        "admin-records": "/admin/memory/memory/",
        "admin-record": f"/admin/memory/memory/{amended.pk}/change/",
    }


def _states(page: Page, address: str, shot: Any) -> None:
    """Take what has no address: an open filter, a dialog, a preview, a failed form, the menu."""
    page.goto(address + "/")
    page.click("#facet-tag > summary")
    shot("facet-open", whole=False)
    page.keyboard.press("Escape")
    page.check(".pick >> nth=0")
    page.check(".pick >> nth=1")
    shot("selected", whole=False)
    page.fill("#bulk-tags", "reviewed")
    page.click("button[value=tag]")
    shot("bulk-preview")
    page.goto(address + "/me/")
    page.click("text=Delete everything")
    page.wait_for_selector("dialog[open]")
    shot("dialog", whole=False)
    page.goto(address + "/memory/add/")
    page.fill("#content", "x")
    page.fill("#tags", "superseded")
    page.click("button:has-text('Remember') >> nth=-1")
    page.wait_for_selector(".problem")
    shot("form-problem")
    if page.viewport_size is not None and page.viewport_size["width"] < 800:
        page.click("[popovertarget=nav]")
        shot("menu", whole=False)


if __name__ == "__main__":
    sys.exit(main())
