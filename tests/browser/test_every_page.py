"""Every page of the navigation: accessible, and no wider than the window."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from memory.pages.shell import KNOWLEDGE, OPERATE

#: Not ours to judge: Django's admin and the viewer of the API's schema.
THEIRS = ("admin:index", "api-docs")


def serious(page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}]


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (360, "light")])
def test_is_accessible_and_fits(filled, width, theme):
    page = filled.signed_in(width=width, theme=theme)
    page.goto("/")
    links = page.locator("#nav li a").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    entries = [*KNOWLEDGE, *OPERATE]
    assert len(links) == len(entries)
    for entry, link in zip(entries, links, strict=True):
        if entry.name in THEIRS:
            continue
        answer = page.goto(link)
        assert answer.status == 200, entry.name
        assert not serious(page), entry.name
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, entry.name
