"""People, identities, keys and the audit trail in the browser, wide and narrow."""

import pytest
from django.contrib.auth.models import User

from agents import identities
from agents.contexts import Speaker
from agents.models import ApiKey, Identity
from memory.models import AuditEvent
from tests.browser.conftest import PASSWORD
from tests.browser.test_access import SMALL, too_wide

WINDOWS = [(1280, "light"), (360, "dark")]


def somebody(name: str = "Bea", external_id: str = "1002") -> Identity:
    made = identities.resolve(Speaker("discord", external_id, name))
    assert made is not None
    return made


@pytest.mark.parametrize(("width", "theme"), WINDOWS)
def test_from_the_invitation_to_the_first_key(site, width, theme):
    boss = site.signed_in(width=width, theme=theme)
    boss.goto("/people/")
    boss.fill("#username", "new.colleague")
    boss.get_by_label("editor").check()
    boss.click("button:has-text('Invite')")
    boss.wait_for_selector("h1:has-text('A link for new.colleague')")
    link = boss.locator("#link").inner_text()

    page = site.window(width=width, theme=theme)
    page.goto(link)
    page.wait_for_selector("h1:has-text('Set your password')")
    page.fill("#id_new_password1", "short")
    page.fill("#id_new_password2", "short")
    page.click("button:has-text('Set the password')")
    page.wait_for_selector(".problem")
    page.fill("#id_new_password1", PASSWORD)
    page.fill("#id_new_password2", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Sign in')")
    page.fill("#id_username", "new.colleague")
    page.fill("#id_password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#main h1")

    page.goto("/keys/")
    page.fill("#label", "my laptop")
    page.click("button:has-text('Make a key')")
    page.wait_for_selector("h1:has-text('The key is made')")
    assert page.locator("#key").inner_text().startswith("gc_")
    page.click("a:has-text('Done')")
    page.click("button:has-text('Rotate')")
    page.wait_for_selector("h1:has-text('The key is made')")
    page.click("a:has-text('Done')")
    page.click("a:has-text('Revoke')")
    page.click("button:has-text('Revoke the key')")
    page.wait_for_selector(".toast:has-text('revoked')")
    assert ApiKey.objects.filter(revoked_at=None).count() == 0
    assert page.goto("/people/").status == 403


@pytest.mark.parametrize(("width", "theme"), WINDOWS)
def test_an_identity_is_linked_and_a_person_deactivated(site, width, theme):
    first, second = somebody(), somebody("Cy", "1003")
    page = site.signed_in(width=width, theme=theme)
    page.goto("/identities/")
    page.get_by_role("button", name="Confirm Cy of discord").click()
    page.wait_for_selector(".toast:has-text('Confirmed')")
    page.fill(f"#person-{first.pk}", "nobody")
    page.get_by_role("button", name="Link Bea of discord").click()
    page.wait_for_selector("[role=alert]:has-text('no person of that name')")
    page.fill(f"#person-{first.pk}", "ann")
    page.keyboard.press("Enter")
    page.wait_for_selector(".toast:has-text('Linked to ann')")
    assert Identity.objects.get(pk=first.pk).person.username == "ann"
    assert Identity.objects.get(pk=second.pk).confirmed

    page.goto("/people/")
    page.get_by_role("link", name="ann", exact=True).click()
    page.wait_for_selector("h1:has-text('ann')")
    page.click("button:has-text('Deactivate')")
    page.wait_for_selector(".toast:has-text('Deactivated')")
    assert not User.objects.get(username="ann").is_active
    page.click("a:has-text('Delete ann')")
    page.get_by_label("Delete them").check()
    page.click("button:has-text('Delete the person')")
    page.wait_for_selector(".toast:has-text('deleted')")
    assert not User.objects.filter(username="ann").exists()

    page.goto("/audit/?action=person.delete")
    assert page.locator("tbody tr").count() == 1
    assert AuditEvent.objects.filter(action="identity.link").count() == 1


def _pages(site) -> list[str]:
    identity = somebody()
    return [
        "/keys/", "/people/", f"/people/{identity.person_id}/",
        f"/people/{identity.person_id}/delete/", "/identities/", "/audit/", "/audit/?since=x",
    ]  # fmt: skip


def test_pages_are_accessible_and_fit_a_phone(site):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = site.signed_in(width=360)
    for path in _pages(site):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(path)
            found = axe.run(page).response["violations"]
            serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
            assert serious == [], (path, scheme)
        assert not too_wide(page), path
        assert page.evaluate(SMALL) == [], path


def test_nothing_needs_javascript(site):
    page = site.signed_in(java_script_enabled=False)
    page.goto("/keys/")
    page.fill("#label", "plain")
    page.click("button:has-text('Make a key')")
    page.wait_for_selector("#key")
    assert ApiKey.objects.get().label == "plain"
