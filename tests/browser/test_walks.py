"""The stories, by mouse and by keyboard alone, wide and narrow, light and dark."""

import pytest

from memory.models import Memory, MemoryRevision
from tests.browser.conftest import PASSWORD, until

WINDOWS = [(1280, "light"), (360, "dark")]
KEYBOARDS = [(1280, "dark"), (360, "light")]
GATEWAY = "The payments gateway address is 10.0.0.7."


def toast(page, text: str) -> None:
    page.wait_for_selector(f".toast:has-text('{text}')")


@pytest.mark.parametrize(("width", "theme"), WINDOWS)
def test_with_the_mouse(filled, width, theme):
    page = filled.window(width=width, theme=theme)
    page.goto("/")
    page.fill("#id_username", "root")
    page.fill("#id_password", PASSWORD)
    page.click("button:has-text('Sign in')")

    page.wait_for_selector("#rows")
    page.wait_for_load_state("load")

    # Search as one types, and understand why.
    page.click("#q")
    page.keyboard.type("payments gateway", delay=15)
    page.wait_for_selector("#rows .entry mark")
    assert "q=payments%20gateway" in page.url
    assert page.locator("#rows .says").first.inner_text() == GATEWAY
    assert "Matched 2 of 2 words" in page.locator("#rows .entry").first.inner_text()
    page.locator("#rows .says").first.click()
    if width == 360:
        page.wait_for_selector("h1:has-text('Record')")
    page.wait_for_selector(".record h2:has-text('Why it was found') >> visible=true")

    # Amend, look at the change, undo it.
    page.click(".record a:has-text('Amend') >> visible=true")
    page.fill("#content", "The payments gateway address is 10.0.0.9.")
    page.click("button:has-text('Save')")
    toast(page, "Saved")
    assert page.locator(".diff ins").inner_text() == "10.0.0.9"
    page.click(".timeline button:has-text('Undo')")
    toast(page, "Undone")
    assert Memory.objects.filter(content=GATEWAY, live_key__isnull=False).exists()

    # Tag several after looking at what would happen.
    page.goto("/?scope=agent_notes")
    for box in range(2):
        page.locator(".pick input").nth(box).check()
    assert page.locator("[data-picked]").inner_text() == "2 selected"
    page.fill("#bulk-tags", "reviewed")
    page.click("button:has-text('Add tag')")
    page.wait_for_selector("h1:has-text('Tag 2 records?')")
    page.click("button:has-text('Add the tag')")
    toast(page, "Tagged 2 records")
    assert Memory.objects.filter(tags__tag="reviewed").count() == 2

    # Delete one, after being told what that means; not at the first click.
    page.goto("/?domain=people")
    page.locator("#rows .says").first.click()
    page.click(".record a:has-text('Delete') >> visible=true")
    page.wait_for_selector("dialog[open] >> text=There is no way back")
    page.click("dialog a:has-text('Keep it')")
    assert Memory.objects.filter(domain="people").exists()
    page.click(".record a:has-text('Delete') >> visible=true")
    page.click("dialog button:has-text('Delete record')")
    toast(page, "Deleted")
    assert not Memory.objects.filter(domain="people").exists()

    # My memory: see, export, delete everything.
    if width == 360:
        page.click("[popovertarget=nav]")
    page.click(".nav a:has-text('My memory')")
    page.wait_for_selector("h1:has-text('My memory')")
    assert page.locator("#rows .entry").count() == 2
    with page.expect_download() as download:
        page.click("a:has-text('Export')")
    assert "peanuts" in open(download.value.path()).read()  # noqa: PTH123, SIM115
    page.click("a:has-text('Delete everything')")
    page.check("dialog input[name=sure]")
    page.click("dialog button:has-text('Delete everything')")
    toast(page, "Deleted 2 records of yours")
    page.wait_for_selector("text=Nothing about you yet")


def tab_to(page, selector: str, presses: int = 70) -> None:
    """Press Tab until what has the focus matches; a person without a mouse has no other way."""
    for _ in range(presses):
        if page.evaluate("s => !!document.activeElement.closest(s)", selector):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            hidden = page.evaluate("document.activeElement.matches('.choice input')")
            assert outline != "none" or hidden, f"no visible focus on {selector}"
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached with the keyboard")


@pytest.mark.parametrize(("width", "theme"), KEYBOARDS)
def test_with_the_keyboard_alone(filled, width, theme):
    page = filled.window(width=width, theme=theme)
    page.goto("/")
    page.keyboard.type("root")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#rows")
    page.wait_for_load_state("load")

    # The slash goes to the search, typing searches, Tab reaches the results.
    page.keyboard.press("/")
    page.keyboard.type("payments gateway")
    page.wait_for_selector("#rows .entry mark")
    assert page.evaluate("document.activeElement.id") == "q"
    until(page, "document.querySelector('#announce').textContent.includes('for pay')")
    tab_to(page, ".says")
    page.keyboard.press("Enter")
    page.wait_for_selector(".record h2:has-text('Why it was found') >> visible=true")

    # Amend and undo.
    tab_to(page, "a[href$='/amend/']", 160)
    page.keyboard.press("Enter")
    page.wait_for_selector("#content")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Control+a")
    page.keyboard.type("The payments gateway address is 10.0.0.9.")
    tab_to(page, "#form button")
    page.keyboard.press("Enter")
    toast(page, "Saved")
    tab_to(page, "form[action*='/undo/'] button")
    page.keyboard.press("Enter")
    toast(page, "Undone")
    assert MemoryRevision.objects.filter(decision="amended").count() == 2

    # Filter by a menu; Escape closes it and keeps the place.
    page.goto("/")
    tab_to(page, "#facet-scope summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('#facet-scope summary')")
    page.keyboard.press("Enter")
    tab_to(page, "#facet-scope a")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    until(page, "location.search === '?scope=agent_notes'")
    page.wait_for_selector("#facet-scope.set")
    until(page, "document.activeElement.closest('#facet-scope')")

    # Tag two.
    tab_to(page, ".pick input")
    page.keyboard.press("Space")
    tab_to(page, ".pick input:not(:checked)")
    page.keyboard.press("Space")
    tab_to(page, "#bulk-tags")
    page.keyboard.type("reviewed")
    tab_to(page, "button[value=tag]")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Tag 2 records?')")
    tab_to(page, "button[name=confirmed]")
    page.keyboard.press("Enter")
    toast(page, "Tagged 2 records")

    # Delete; the dialog holds the focus, and gives it back.
    page.goto("/?domain=people")
    if width == 360:
        tab_to(page, ".says")
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('Record')")
    tab_to(page, "a[href$='/delete/']")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")
    assert page.evaluate("document.activeElement.matches('a[href$=\"/delete/\"]')")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    tab_to(page, "dialog button.destroy")
    page.keyboard.press("Enter")
    toast(page, "Deleted")

    # My memory.
    page.goto("/")
    if width == 360:
        tab_to(page, "[popovertarget=nav]")
        page.keyboard.press("Enter")
    tab_to(page, ".nav a[href='/me/']")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('My memory')")
    tab_to(page, "a[href='/me/delete/']")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    tab_to(page, "dialog input[name=sure]")
    page.keyboard.press("Space")
    tab_to(page, "dialog button.destroy")
    page.keyboard.press("Enter")
    toast(page, "Deleted 2 records of yours")


def test_without_javascript(filled):
    page = filled.signed_in(java_script_enabled=False)
    page.fill("#q", "payments")
    page.keyboard.press("Enter")
    page.locator("#rows .says").first.click()
    page.wait_for_selector("h2:has-text('Why it was found')")
    page.locator(".record a:has-text('Amend')").first.click()
    page.fill("#content", "changed without a script")
    page.click("button:has-text('Save')")
    page.wait_for_selector("text=changed without a script")
    page.locator("a:has-text('Delete')").first.click()
    page.click("button:has-text('Delete record')")
    toast(page, "Deleted")
    page.click("a:has-text('Remember')")
    page.fill("#content", "written without a script")
    page.click("main button:has-text('Remember')")
    toast(page, "Remembered")
    page.goto("/")
    page.click("#facet-scope summary")
    page.click("#facet-scope a:has-text('Global')")
    assert page.url.endswith("/?scope=global")
    assert not page.locator(".switch").is_visible()
