"""Setting a chat model in the browser: tried, refused in words, kept, turned off."""

import pytest

from goclaw_site.config import vault
from memory.models import ModelCall
from memory.providers import chat
from memory.providers.chat import choosing, saved
from memory.providers.chat.choices import Choice
from tests.browser.test_access import SMALL, too_wide
from tests.contract.chatting import ModelServer, model_serving, status

WINDOWS = [(1280, "light"), (360, "dark")]
KEY = "sk-canary-0f1e2d3c4b5a6978"


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("GOCLAW_STATE_DIR", str(tmp_path))
    monkeypatch.setattr("memory.providers.patience.pause", lambda seconds: None)
    chat.reset()
    with model_serving() as served:
        yield served
    chat.reset()


def fill(page, server: ModelServer, model: str = "small") -> None:
    page.select_option("#kind", "openai")
    page.fill("#model", model)
    page.fill("#base_url", f"{server.address}/v1")
    page.fill("#key", KEY)


@pytest.mark.parametrize(("width", "theme"), WINDOWS)
def test_a_model_is_set_tried_and_turned_off(site, server, width, theme):
    page = site.signed_in(width=width, theme=theme)
    page.goto("/models/")
    page.wait_for_selector("text=No chat model is set")
    page.click("a:has-text('Set a model')")
    page.wait_for_selector("h1:has-text('Agent model')")
    fill(page, server)
    server.fault = status(401)
    page.click("button:has-text('Try and save')")
    page.wait_for_selector("#key-problem:has-text('does not accept the key')")
    assert page.input_value("#model") == "small"
    assert page.input_value("#key") == ""
    assert page.evaluate("document.activeElement.id") == "key"

    server.fault = None
    server.script(["ready", "ready", "ready"])
    page.fill("#key", KEY)
    page.click("button:has-text('Only try')")
    page.wait_for_selector(".notice.ok:has-text('small answers')")
    assert choosing.chosen("agent").choice is None
    page.fill("#key", KEY)
    page.click("button:has-text('Try and save')")
    page.wait_for_selector(".toast:has-text('serves from the next call on')")
    assert chat.background() is not None
    assert KEY not in page.content()

    page.get_by_role("button", name="Try it: Agent").click()
    page.wait_for_selector(".toast:has-text('and said: ready')")
    assert ModelCall.objects.count() == 4
    page.get_by_role("link", name="Change: Agent").click()
    page.click("a:has-text('Turn this model off')")
    page.click("button:has-text('Turn it off')")
    page.wait_for_selector(".toast:has-text('The model is off')")
    assert vault().names() == []


def test_pages_are_accessible_and_fit_a_phone(site, server):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = site.signed_in(width=360)

    def look(path: str) -> None:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(path)
            found = axe.run(page).response["violations"]
            serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
            assert serious == [], (path, scheme)
        assert not too_wide(page), path
        assert page.evaluate(SMALL) == [], path

    look("/models/")
    saved.save(site.root, "agent", Choice("openai", "m" * 100, f"{server.address}/v1", KEY))
    ModelCall.objects.create(purpose="judge", provider="x", model="m" * 100, outcome="failed")
    for path in ("/models/", "/models/agent/", "/models/background/", "/models/agent/clear/"):
        look(path)


def test_nothing_needs_javascript(site, server):
    page = site.signed_in(java_script_enabled=False)
    page.goto("/models/agent/")
    fill(page, server)
    server.fault = status(404)
    page.click("button:has-text('Try and save')")
    page.wait_for_selector("#model-problem")
    server.fault = None
    page.fill("#key", KEY)
    page.click("button:has-text('Try and save')")
    page.wait_for_selector("h1:has-text('Models')")
    assert choosing.chosen("agent").choice is not None
