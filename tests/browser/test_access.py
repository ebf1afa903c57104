"""Every page in both themes and at both widths: axe, no sideways scroll, large enough targets."""

import pytest

from memory import write
from memory.drafts import Changes
from memory.models import Memory

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def paths() -> list[str]:
    gateway = Memory.objects.get(content="The payments gateway address is 10.0.0.7.")
    old = Memory.objects.get(live_key=None)
    long = Memory.objects.get(tags__tag="long")
    return [
        "/", "/?q=payments+gateway&include_history=true", "/?q=xylophone&scope=global",
        f"/memory/{gateway.pk}/?q=gateway", f"/memory/{old.pk}/", f"/memory/{long.pk}/",
        "/memory/add/", f"/memory/{gateway.pk}/amend/", f"/memory/{gateway.pk}/delete/",
        "/me/", "/me/delete/", "/password/", "/components/", "/nowhere/", "/?colour=red",
    ]  # fmt: skip


def serious(page) -> list[str]:
    found = axe.Axe().run(page, options=RULES).response["violations"]
    return [
        f"{row['id']}: {row['nodes'][0]['html'][:120]} ({len(row['nodes'])}): "
        f"{row['nodes'][0].get('failureSummary', '')[:160]}"
        for row in found
        if row["impact"] in ("serious", "critical")
    ]


def too_wide(page):
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


SMALL = """() => [...document.querySelectorAll('a, button, input, select, summary, textarea')]
  .filter((e) => e.checkVisibility() && !e.closest('.visually-hidden') && !e.matches('.skip'))
  .filter((e) => !e.matches('p a, span a, dd a, li a, h2 a, .notice a') && e.type !== 'hidden')
  .filter((e) => !e.disabled)
  .map((e) => (e.matches('.choice input, .pick input, .picks input') ? e.closest('label') : e))
  .filter((e) => e.getBoundingClientRect().height < 24 || e.getBoundingClientRect().width < 24)
  .map((e) => e.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark"), (360, "light")])
def test_every_page(filled, width, theme):
    record = Memory.objects.get(content="The payments gateway address is 10.0.0.7.")
    write.amend(filled.root, record.pk, Changes(content=record.content + " Really."))
    write.amend(filled.root, record.pk, Changes(content=record.content))
    page = filled.signed_in(width=width, theme=theme)
    wrong = {}
    for path in paths():
        page.goto(path)
        # One pass of contrast for each theme is enough: the narrow light one looks at the layout.
        problems = serious(page) if (width, theme) != (360, "light") else []
        problems += ["wider than the window"] if too_wide(page) else []
        problems += [f"small: {html}" for html in page.evaluate(SMALL)]
        if problems:
            wrong[path] = problems
    assert not wrong


def test_the_login_page_and_open_menus(filled):
    page = filled.window(theme="dark")
    page.goto("/login/")
    assert not serious(page)
    page = filled.signed_in(width=360, theme="dark")
    page.click("#facet-tag summary")
    assert not serious(page)
    assert not too_wide(page)
    page.keyboard.press("Escape")
    page.click("[popovertarget=nav]")
    assert not serious(page)
    page.goto("/me/")
    page.click("a:has-text('Delete everything')")
    page.wait_for_selector("dialog[open]")
    assert not serious(page)


def test_400_percent_zoom_of_a_wide_window(filled):
    page = filled.signed_in(width=320)
    for path in ("/", "/?q=payments", "/memory/add/", "/me/", "/components/"):
        page.goto(path)
        assert not too_wide(page), path
