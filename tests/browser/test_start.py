"""The first-run page, followed to the letter: a key, a set-up, a light that turns green."""

import asyncio
import json
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agents.served import PASSWORD, serving
from tests.browser.conftest import until
from tests.browser.test_access import SMALL, serious, too_wide

pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("start")) as running:
        yield running


@pytest.fixture
def open_start(served, browser):
    """`open_start()` signs in and opens the page; console errors fail the test."""
    errors: list[str] = []
    contexts = []

    def listen(said):
        if said.type == "error":
            errors.append(said.text)

    def opened(**options):
        context = browser.new_context(base_url=served.url, reduced_motion="reduce", **options)
        contexts.append(context)
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", listen)
        page.goto("/start/")
        page.fill("#id_username", "walker")
        page.fill("#id_password", PASSWORD)
        page.click("button.primary")
        page.wait_for_selector("h1:has-text('Connect an agent')")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not errors


def by_mcp(url, headers):
    """Do what an MCP client does with such a configuration; playwright holds this thread's loop."""
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    async def remember():
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            content = "I drink my coffee black."
            return await client.call_tool("memory_write", {"content": content})

    with ThreadPoolExecutor(1) as pool:
        assert not pool.submit(lambda: asyncio.run(remember())).result(60).is_error


def follow(way, text, tmp_path):
    if way == "claude":
        words = shlex.split(text.replace("\\\n", " "))
        assert words[:6] == ["claude", "mcp", "add", "--transport", "http", "goclaw"]
        name, value = words[words.index("--header") + 1].split(": ", 1)
        by_mcp(words[6], {name: value})
    elif way == "clients":
        server = json.loads(text)["mcpServers"]["goclaw"]
        by_mcp(server["url"], server["headers"])
    elif way == "curl":
        run(["bash", "-c", text])
    else:
        script = tmp_path / "first.py"
        script.write_text(text)
        assert "coffee" in run([sys.executable, str(script)])


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


@pytest.mark.parametrize("way", ["claude", "clients", "curl", "python"])
def test_followed_to_the_letter_the_light_turns_green(open_start, way, tmp_path):
    if way == "curl" and not shutil.which("curl"):
        pytest.skip("curl is not here")
    page = open_start()
    page.click("button:has-text('Make a key')")
    page.wait_for_selector("[data-light=waiting]")
    if not page.is_visible(f"#text-{way}"):
        page.click(f"#setup-{way} summary")
    follow(way, page.inner_text(f"#text-{way}"), tmp_path)
    page.wait_for_selector("[data-light=green]")
    page.wait_for_selector("#first-memory:has-text('coffee')")
    page.click("a:has-text('Open the record')")
    page.wait_for_selector("h1")
    assert "coffee" in page.inner_text("#main")


def test_key_is_shown_once(open_start):
    page = open_start()
    page.click("button:has-text('Make a key')")
    page.wait_for_selector("#key")
    key = page.inner_text("#key")
    assert re.fullmatch(r"gc_[0-9a-f]{10}_\S{32}", key)
    page.goto("/start/")
    assert key not in page.content()
    assert page.is_visible("button:has-text('Make a key')")


def test_set_ups_can_be_copied(open_start):
    page = open_start()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("button:has-text('Make a key')")
    page.click("[data-copy=text-claude]")
    page.wait_for_selector("button:has-text('Copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.inner_text("#text-claude")


def test_it_works_without_javascript(open_start, served):
    page = open_start(java_script_enabled=False)
    page.click("button:has-text('Make a key')")
    key = page.inner_text("#key")
    page.click("a:has-text('Look again')")
    page.wait_for_selector("[data-light=waiting]")
    reply = served.send("GET", "/api/memory/stats/", Authorization=f"Bearer {key}")
    assert reply.status == 200
    page.reload()
    page.wait_for_selector("[data-light=green]")


def test_light_of_another_is_not_found(open_start, served):
    page = open_start()
    prefix = served.keys["ann"].split("_")[1]
    assert served.send("GET", f"/start/light/{prefix}/", "").status == 200  # the login page
    page.goto("/")
    answer = page.context.request.get(f"/start/light/{prefix}/")
    assert answer.status == 404


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_it_reads_well(open_start, width, theme):
    page = open_start(viewport={"width": width, "height": 800}, color_scheme=theme)
    for step in ("before", "after"):
        assert not serious(page), step
        assert not too_wide(page), step
        assert not page.evaluate(SMALL), step
        if step == "before":
            page.click("button:has-text('Make a key')")
            until(page, "!!document.querySelector('#key')")
