"""The wiki's stories in a real browser: with the mouse, and with the keyboard alone."""

import gzip
from pathlib import Path

import pytest

from tests.browser.conftest import until
from tests.browser.test_access import SMALL, serious, too_wide
from tests.browser.test_walks import tab_to, toast
from tests.browser.wikis import PASTE, PNG, agent, body, saved
from tests.wiki.making import write
from wiki import pages
from wiki.models import WikiAttachment, WikiPage


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_with_the_mouse(wiki, width, theme):
    page = wiki.signed_in(width=width, theme=theme)
    page.goto("/wiki/p/ops/gateway")

    # A red link opens the editor; the preview follows what is typed; a picture is pasted.
    page.click(".prose a.missing")
    page.wait_for_selector("#body")
    assert page.input_value("#title") == "Otter"
    page.fill("#body", "# Otter team\n\nThey own the [[ops/gateway]].\n")
    if width == 360:
        page.click("#toggle-preview")
    page.wait_for_selector("#preview h1:has-text('Otter team')")
    page.evaluate("() => { const b = document.querySelector('#body'); b.focus(); "
                  "b.setSelectionRange(b.value.length, b.value.length) }")  # fmt: skip
    page.evaluate(PASTE, PNG)
    page.wait_for_selector(".upload .alt")
    page.fill(".upload .alt", "The rack in March")
    picture = WikiAttachment.objects.get()
    page.wait_for_selector(f"#preview img[src='/media/{picture.pk}'][alt='The rack in March']")
    page.fill("#title", "Otter team")
    page.fill("#comment", "From the red link")
    page.click("button:has-text('Save')")
    toast(page, "Created")
    page.wait_for_selector("h1:has-text('Otter team')")
    assert f"![The rack in March](/media/{picture.pk})" in body("ops/otter")
    assert page.evaluate("document.querySelector('.prose img').naturalWidth") == 1
    assert not page.evaluate("Object.keys(localStorage).filter((k) => k.startsWith('wiki-draft'))")

    # The link is no longer red.
    page.goto("/wiki/p/ops/gateway")
    assert page.locator(".prose a.missing").count() == 0

    # Edit twice, look at the history, compare any two, restore.
    for line in ("Changed once.", "Changed twice."):
        page.click("a:has-text('Edit') >> nth=0 >> visible=true")
        page.wait_for_selector("#body")
        page.fill("#body", f"# Gateway\n\n{line}\n")
        page.click("button:has-text('Save')")
        saved(page)
    page.click(".tabs a:has-text('History')")
    page.check("input[name=from][value='1']")
    page.check("input[name=to][value='3']")
    page.click("button:has-text('Compare')")
    page.wait_for_selector(".difftable")
    assert (
        "Changed twice."
        in page.locator(".difftable .added, .difftable .changed").first.inner_text()
    )
    page.click(".switch a:has-text('In one column')")
    page.wait_for_selector(".difftable.inline")
    page.click("button:has-text('Restore #1')")
    toast(page, "Restored revision 1")
    assert "Owned by" in body("ops/gateway")

    # Move; the old name leads to the new one.
    page.click("#more summary")
    page.click("#more a:has-text('Move')")
    page.wait_for_selector("dialog[open]")
    page.fill("#to", "ops/payments gateway")
    page.click("dialog button:has-text('Move page')")
    page.wait_for_selector(".notice.bad:has-text('space')")
    page.fill("#to", "ops/payments-gateway")
    page.click("button:has-text('Move page')")
    toast(page, "Moved")
    page.goto("/wiki/p/ops/gateway")
    until(page, "location.pathname === '/wiki/p/ops/payments-gateway'")

    # Delete and bring back.
    page.click("#more summary")
    page.click("#more a:has-text('Delete')")
    page.wait_for_selector("dialog[open] >> text=It can be brought back")
    page.click("dialog button:has-text('Delete page')")
    toast(page, "Deleted")
    page.wait_for_selector("h2:has-text('This page was deleted')")
    page.click("button:has-text('Bring it back')")
    toast(page, "is back")

    # Search, and the way from a hit to the page.
    page.fill("#q", "otter")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit .says")
    page.click(".hit .says:has-text('Otter team')")
    page.wait_for_selector("h1:has-text('Otter team')")

    # Printed, only the page itself is left.
    page.emulate_media(media="print")
    for hidden in (".nav", ".top", ".tabs", ".section", ".page-actions"):
        assert not page.locator(hidden).first.is_visible(), hidden
    assert page.locator(".prose").is_visible()


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (360, "light")])
def test_with_the_keyboard_alone(wiki, width, theme):
    page = wiki.signed_in(width=width, theme=theme)
    page.goto("/wiki/p/ops/gateway")
    page.wait_for_load_state("load")

    # From the red link into the editor; Tab indents, Escape and Tab leave; Ctrl-S saves.
    tab_to(page, ".prose a.missing")
    page.keyboard.press("Enter")
    page.wait_for_selector("#body")
    page.wait_for_load_state("load")
    tab_to(page, "#body")
    page.keyboard.type("- one\ntwo\n\n")
    page.keyboard.press("Tab")
    page.keyboard.type("code")
    assert page.input_value("#body") == "- one\n- two\n    code"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "body"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "body"
    tab_to(page, "#comment")
    page.keyboard.type("by keyboard")
    page.keyboard.press("Control+s")
    toast(page, "Created")

    # `e` edits, the tabs lead to the history, two radios choose, Enter compares.
    page.wait_for_load_state("load")
    page.keyboard.press("e")
    page.wait_for_selector("#body")
    page.wait_for_load_state("load")
    tab_to(page, "#body")
    page.keyboard.press("Control+a")
    page.keyboard.type("another text")
    page.keyboard.press("Control+b")
    assert page.input_value("#body") == "another text**text**"
    page.keyboard.press("Control+s")
    saved(page)
    tab_to(page, ".tabs a[href*=history]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".revisions")
    tab_to(page, "input[name=from]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".difftable")
    tab_to(page, "form[action*=restore] button")
    page.keyboard.press("Enter")
    toast(page, "Restored revision 1")

    # The menu, the dialog, and the way back out of it.
    tab_to(page, "#more summary")
    page.keyboard.press("Enter")
    tab_to(page, "#more a[href*=delete]")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:not([open])", state="attached")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    tab_to(page, "dialog button.destroy")
    page.keyboard.press("Enter")
    toast(page, "Deleted")
    tab_to(page, "form[action*=undelete] button")
    page.keyboard.press("Enter")
    toast(page, "is back")

    page.keyboard.press("/")
    page.keyboard.type("gateway")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit .says")
    tab_to(page, ".hit .says")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Gateway')")


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_review(wiki, verb):
    write(agent(), "ops/gateway", body("ops/gateway") + "\nAn agent was here.\n")
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway")
    page.wait_for_selector(".notice:has-text('not yet reviewed')")
    page.goto("/wiki/review/")
    assert "An agent was here." in page.locator(".difftable .added").last.inner_text()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('[data-item]')")
    page.keyboard.press("a" if verb == "accept" else "r")
    toast(page, "Accepted" if verb == "accept" else "Rejected")
    page.wait_for_selector("h2:has-text('Nothing waits for you')")
    assert ("An agent was here." in body("ops/gateway")) == (verb == "accept")


def test_several_edits_are_accepted_at_once(wiki):
    for name in ("a", "b", "c"):
        write(agent(), name, f"# {name}\n")
    page = wiki.signed_in()
    page.goto("/wiki/review/")
    page.click("label.pick >> nth=0")
    page.click("button:has-text('All shown')")
    assert page.inner_text("[data-picked]") == "3 selected"
    page.click("button:has-text('Accept picked')")
    toast(page, "Accepted 3 edits")
    assert not WikiPage.objects.filter(waits=True).exists()


def test_without_javascript(wiki):
    page = wiki.signed_in(java_script_enabled=False)
    page.goto("/wiki/")
    page.click("a:has-text('New page')")
    page.fill("#title", "Plain page")
    page.click("button:has-text('Start writing')")
    page.fill("#body", "# Plain page\n\nwithout scripts\n")
    page.click("button[name=preview]")
    assert "without scripts" in page.inner_text("#preview")
    page.click("button.primary:has-text('Save')")
    page.wait_for_selector(".prose:has-text('without scripts')")
    page.click(".tabs a:has-text('Edit')")
    page.fill("#body", "mine\n")
    write(wiki.ann, "plain-page", "theirs\n")
    page.click("button.primary:has-text('Save')")
    page.wait_for_selector("h1:has-text('Two edits at once')")
    page.fill("#body", "both\n")
    page.click("button:has-text('Save this text')")
    page.wait_for_selector(".prose:has-text('both')")
    page.click(".tabs a:has-text('Files')")
    page.set_input_files("#file", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"hello"})
    page.click("button:has-text('Upload')")
    page.wait_for_selector(".file:has-text('a.txt')")


def test_the_tree_opens_a_level_at_a_time_in_a_large_wiki(wiki, monkeypatch):
    monkeypatch.setattr("wiki.browser.listing.UNFOLDED", 1)
    write(wiki.root, "ops/runbooks/night", "# Night\n")
    page = wiki.signed_in()
    page.goto("/wiki/")
    page.click("#tree summary")
    page.click("#tree .inner summary")
    page.wait_for_selector("#tree a:has-text('Night')")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_every_page_can_be_used_by_everybody(wiki, width, theme):
    write(
        wiki.root,
        "ops/gateway",
        "# G\n\n## A\n\n## B\n\n## C\n\n```py\ndef x(): 'y' # z\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n"
        "- [x] t\n",
    )
    write(agent(), "ops/gateway", body("ops/gateway") + "more [[ops/gone]]\n")
    write(wiki.root, "gone", "x")
    pages.delete(wiki.root, "gone")
    page = wiki.signed_in(width=width, theme=theme)
    wrong = {}
    one = "/wiki/p/ops/gateway"
    for path in (
        "/wiki/", one, f"{one}?view=edit", f"{one}?view=history", f"{one}?view=diff",
        f"{one}?view=diff&mode=inline&from=1", f"{one}?view=files", f"{one}?view=links",
        f"{one}?view=source", f"{one}?revision=1", "/wiki/p/gone", "/wiki/p/never", "/wiki/new/",
        "/wiki/recent/", "/wiki/review/", "/wiki/search/?q=gateway", "/wiki/search/?q=zebra",
        "/wiki/move/?slug=ops/gateway", "/wiki/delete/?slug=ops/gateway",
    ):  # fmt: skip
        page.goto(path)
        problems = serious(page) + (["wider than the window"] if too_wide(page) else [])
        problems += [f"small: {html}" for html in page.evaluate(SMALL)]
        if problems:
            wrong[path] = problems
    assert not wrong


ADDED = ("wiki.css", "wiki.js", "wikiedit.js")


def test_what_the_wiki_adds_to_a_page():
    static = Path(__file__).parents[2] / "static"
    sizes = [
        len(gzip.compress((static / name).read_bytes()))
        for name in ("wiki.css", "wiki.js", "wikiedit.js")
    ]
    assert sum(sizes) < 16_000
