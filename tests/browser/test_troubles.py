"""What goes wrong in the middle: sessions, tokens, other tabs, the network, two clicks at once."""

import gzip
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session

from memory import indexing, write
from memory.drafts import Changes
from memory.models import Memory, MemoryRevision
from tests.browser.conftest import PASSWORD, put, sign_in, until

STATIC = Path(__file__).parents[2] / "static"


def gateway() -> Memory:
    return Memory.objects.get(content__startswith="The payments gateway address is 10.0.0.7")


def toast(page, text: str) -> None:
    page.wait_for_selector(f".toast:has-text('{text}')")


def test_a_session_that_ends_while_one_types_comes_back_to_the_same_search(filled):
    page = filled.signed_in()
    Session.objects.all().delete()
    page.fill("#q", "otter")
    page.wait_for_selector("#id_username")
    page.fill("#id_username", "root")
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    page.wait_for_selector("#browser")


def test_a_session_that_ends_while_one_writes_loses_nothing(filled):
    page = filled.signed_in()
    page.goto(f"/memory/{gateway().pk}/amend/")
    page.fill("#content", "typed for an hour")
    Session.objects.all().delete()
    page.click("button:has-text('Save')")
    page.wait_for_selector("#id_username")
    page.fill("#id_username", "root")
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    toast(page, "is back")
    assert page.input_value("#content") == "typed for an hour"
    page.click("button:has-text('Save')")
    toast(page, "Saved")


def test_what_others_changed_before_one_signed_in_again_is_not_written_over(filled):
    page = filled.signed_in()
    record = gateway()
    page.goto(f"/memory/{record.pk}/amend/")
    page.fill("#content", "mine")
    Session.objects.all().delete()
    page.click("button:has-text('Save')")
    page.wait_for_selector("#id_username")
    write.amend(filled.root, record.pk, Changes(content="theirs"))
    page.fill("#id_username", "root")
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    toast(page, "is back")
    page.click("button:has-text('Save')")
    page.wait_for_selector("text=Somebody changed this record")
    assert page.input_value("#content") == "mine"


def test_somebody_else_who_signs_in_there_does_not_get_the_text(filled):
    page = filled.signed_in()
    page.goto("/memory/add/")
    page.fill("#content", "root's secret thought")
    Session.objects.all().delete()
    page.click("main button:has-text('Remember')")
    page.wait_for_selector("#id_username")
    page.fill("#id_username", "ann")
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    page.wait_for_selector("#content")
    assert page.input_value("#content") == ""
    assert not page.evaluate("Object.keys(sessionStorage).filter((k) => k.startsWith('draft'))")


def test_signing_in_again_in_another_tab_leaves_the_first_one_working(filled):
    page = filled.signed_in()
    page.goto("/memory/add/")
    page.fill("#content", "from the first tab")
    other = page.context.new_page()
    other.goto("/me/")
    other.click("#account summary")
    other.click("button:has-text('Sign out')")
    other.wait_for_selector("#id_username")
    sign_in(other, "root")
    page.click("main button:has-text('Remember')")
    toast(page, "Remembered")


def test_a_stale_form_shows_both_texts_and_lets_one_decide(filled):
    page = filled.signed_in()
    record = gateway()
    page.goto(f"/memory/{record.pk}/amend/")
    page.fill("#content", "my version")
    write.amend(filled.root, record.pk, Changes(content="their version"))
    page.click("button:has-text('Save')")
    page.wait_for_selector("text=Somebody changed this record")
    assert page.evaluate("document.activeElement.matches('.notice')")
    assert page.input_value("#content") == "my version"
    assert "their version" in page.locator("#form").inner_text()
    page.click("button:has-text('Save mine over it')")
    toast(page, "Saved")


def test_a_problem_is_said_at_its_field_and_takes_the_focus(filled):
    page = filled.signed_in()
    page.goto("/memory/add/")
    page.fill("#content", "kept text")
    page.fill("#tags", "superseded")
    page.click("main button:has-text('Remember')")
    page.wait_for_selector("#tags-problem")
    assert page.evaluate("document.activeElement.id") == "tags"
    assert page.input_value("#content") == "kept text"
    page.fill("#tags", "fine")
    page.keyboard.press("Enter")
    toast(page, "Remembered")


def test_an_offline_server_keeps_the_text_and_the_form_works_afterwards(filled):
    page = filled.signed_in()
    page.goto("/memory/add/")
    page.fill("#content", "written in a tunnel")
    page.context.set_offline(True)
    page.click("main button:has-text('Remember')")
    toast(page, "does not answer")
    assert page.input_value("#content") == "written in a tunnel"
    page.context.set_offline(False)
    page.click("main button:has-text('Remember')")
    toast(page, "Remembered")


@pytest.mark.parametrize(("status", "said"), [(500, "The server failed"), (429, "Too many")])
def test_a_failing_server_is_said_with_what_is_safe(filled, status, said):
    page = filled.signed_in()
    page.goto("/memory/add/")
    page.fill("#content", "still here")
    page.route("**/memory/add/", lambda route: route.fulfill(status=status, body="<h1>x</h1>"))
    page.click("main button:has-text('Remember')")
    toast(page, said)
    toast(page, "what you typed is still here")
    assert page.input_value("#content") == "still here"


def test_two_clicks_write_once(filled):
    page = filled.signed_in()
    page.goto(f"/memory/{gateway().pk}/amend/")
    page.fill("#content", "clicked twice")
    page.locator("button:has-text('Save')").dblclick(no_wait_after=True)
    toast(page, "Saved")
    assert MemoryRevision.objects.filter(decision="amended").count() == 1


def test_back_and_reload_show_whole_pages(filled):
    page = filled.signed_in()
    page.click("#facet-scope summary")
    page.click("#facet-scope a:has-text('Global')")
    until(page, "location.search === '?scope=global'")
    page.reload()
    assert page.locator(".nav").is_visible()
    assert page.locator("#facet-scope.set").count() == 1
    page.go_back()
    until(page, "location.search === ''")
    page.wait_for_selector("#rows .entry:nth-child(5)")
    assert page.locator(".nav").is_visible()
    kept = page.evaluate("[...Object.values(localStorage), ...Object.values(sessionStorage)]")
    assert not [text for text in kept if "gateway" in text]


def test_a_signed_out_person_gets_nothing_back_by_the_back_button(filled):
    page = filled.signed_in()
    page.goto("/me/")
    page.click("#account summary")
    page.click("button:has-text('Sign out')")
    page.wait_for_selector("#id_username")
    page.go_back()
    page.wait_for_selector("#id_username")
    assert "peanuts" not in page.content()


def test_the_record_beside_the_list_survives_a_reload(filled):
    page = filled.signed_in()
    page.locator("#rows .says").nth(3).click()
    until(page, "location.search.startsWith('?record=')")
    said = page.locator("#pane .saying").inner_text()
    page.reload()
    assert page.locator("#pane .saying").inner_text() == said
    assert page.locator(".entry[aria-current]").count() == 1


def test_the_list_goes_on_as_one_scrolls_and_keeps_the_focus(site):
    for number in range(100):
        put(site.root, f"record {number}")
    page = site.signed_in()
    assert page.locator("#rows .entry").count() == 40
    page.locator("#next").scroll_into_view_if_needed()
    until(page, "document.querySelectorAll('#rows .entry').length >= 80")
    page.locator("#next").scroll_into_view_if_needed()
    until(page, "document.querySelectorAll('#rows .entry').length === 100")
    assert page.locator("#next").count() == 0
    ids = page.evaluate("[...document.querySelectorAll('.says')].map((a) => a.id)")
    assert len(set(ids)) == 100


def test_swaps_move_nothing_that_stays(filled):
    page = filled.signed_in()
    spots = (
        "['#q', '#results-title', '#facet-scope', '#pane'].map((s) => "
        "Math.round(document.querySelector(s).getBoundingClientRect().top))"
    )
    before = page.evaluate(spots)
    page.fill("#q", "payments")
    page.wait_for_selector("#rows mark")
    assert page.evaluate(spots) == before
    shifts = page.evaluate("""() => new Promise((done) => new PerformanceObserver((list) =>
      done(list.getEntries().reduce((sum, entry) => sum + entry.value, 0)))
      .observe({type: 'layout-shift', buffered: true}) || setTimeout(() => done(0), 300))""")
    assert shifts < 0.05


def test_the_theme_is_kept_and_does_not_flash(filled):
    page = filled.signed_in(theme="light")
    page.click("[data-theme-choice=dark]")
    page.add_init_script(
        "new MutationObserver(() => { if (document.body && !window.first) "
        "window.first = document.documentElement.dataset.theme || 'none' })"
        ".observe(document, {childList: true, subtree: true})"
    )
    page.reload()
    assert page.evaluate("window.first") == "dark"
    page.goto("/admin/")
    page.wait_for_selector("html.dark")


def test_markup_in_records_runs_nothing(filled):
    assert not indexing.index_waiting(float("inf"))
    page = filled.signed_in()
    page.on("dialog", lambda dialog: filled.errors.append(f"a dialog: {dialog.message}"))
    page.goto("/?q=markup")
    assert "<script>alert" in page.locator("#rows .says").first.inner_text()
    page.goto("/?q=<img src=x onerror=alert(1)>")
    page.wait_for_selector("h1")


def test_what_a_page_weighs():
    def zipped(name: str) -> int:
        return len(gzip.compress((STATIC / name).read_bytes()))

    assert zipped("app.css") < 15_000
    every = ("app.css", "app.js", "theme.js", "icons.svg", "vendor/htmx.min.js")
    assert sum(map(zipped, every)) < 60_000
