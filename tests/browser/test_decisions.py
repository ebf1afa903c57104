"""Facts change: seen, understood, taken back for good, by mouse and by keyboard alone."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from memory import write
from memory.drafts import Draft
from memory.models import Memory
from tests.browser.conftest import put
from tests.browser.test_walks import toast

OLD = "The payments gateway address is 10.0.0.5."
NEW = "The payments gateway address is 10.0.0.7."
FACT = {"scope": "agent_notes", "kind": "fact"}


def serious(page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}]


def live(text: str) -> bool:
    return Memory.objects.filter(content=text, live_key__isnull=False).exists()


def learn(principal, text: str, **fields) -> Memory:
    """Write as an agent does."""
    return write.remember(principal, Draft(text, agent="helper", **{**FACT, **fields})).memory


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_a_retirement_is_seen_undone_and_stays_undone(site, width, theme):
    learn(site.root, OLD)
    learn(site.root, NEW)
    assert not live(OLD)

    page = site.signed_in(width=width, theme=theme)
    page.goto("/changes/")
    assert page.locator(".decision del").inner_text() == "10.0.0.5"
    assert page.locator(".decision ins").inner_text() == "10.0.0.7"
    assert page.locator(".decision:has-text('Why:')").count() == 1
    assert not serious(page)
    page.click(".decision a:has-text('Undo')")
    page.wait_for_selector("dialog[open] h1:has-text('Bring this record back?')")
    assert not serious(page)
    page.fill("#reason", "Two gateways.")
    page.click("dialog button:has-text('Bring it back')")
    toast(page, "Undone. 1 record is live again.")
    assert live(OLD)

    # The newer fact once more, even after it was deleted: the old one stays.
    newer = Memory.objects.get(content=NEW)
    page.goto(f"/memory/{newer.pk}/delete/")
    page.click("button:has-text('Delete record')")
    toast(page, "Deleted")
    learn(site.root, NEW)
    assert live(OLD)
    assert live(NEW)
    page.goto("/revisions/?undone=yes")
    assert "Two gateways." in page.locator(".decision").inner_text()
    assert not serious(page)


def test_by_keyboard_alone(site):
    learn(site.root, OLD)
    learn(site.root, NEW)
    page = site.signed_in()
    page.goto("/revisions/?decision=retired")
    page.focus(".decision a:has-text('Undo')")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open] #reason")
    page.focus("#reason")
    page.keyboard.type("Two gateways.")
    page.keyboard.press("Enter")
    toast(page, "Undone")
    assert live(OLD)


def test_a_person_undoes_what_an_administrator_cannot_see(site):
    learn(site.ann, "I live in Berlin.", scope="personal")
    old = Memory.objects.get()
    new = learn(site.ann, "I live in Paris now, in Belleville.", scope="personal")
    if old.pk not in {row.old_id for row in new.causes.all()}:
        from memory.beliefs.revisions import retire

        retire(old, new, via="judge", reason="moved", actor="judge")
    admin = site.signed_in("root")
    admin.goto("/changes/")
    assert "Berlin" not in admin.locator("#main").inner_text()
    admin.goto(f"/memory/{old.pk}/restore/")
    assert "No such record" in admin.locator("#main").inner_text()

    page = site.signed_in("ann")
    page.goto(f"/memory/{old.pk}/")
    page.click("a:has-text('Bring it back')")
    page.wait_for_selector("dialog[open]")
    page.click("dialog button:has-text('Bring it back')")
    toast(page, "live again")
    assert live("I live in Berlin.")


def test_wrong_in_one_click_and_back_again(site):
    learn(site.root, OLD)
    learn(site.root, NEW)
    page = site.signed_in()
    page.goto("/changes/")
    page.click(f"li:has-text('{NEW}') button:has-text('Wrong')")
    toast(page, "Marked as wrong")
    assert live(OLD)
    assert not live(NEW)
    record = Memory.objects.get(content=NEW)
    page.goto(f"/memory/{record.pk}/")
    page.click("a:has-text('Bring it back')")
    page.click("dialog button:has-text('Bring it back')")
    toast(page, "live again")
    assert live(NEW)


def test_without_scripts(site):
    learn(site.root, OLD)
    learn(site.root, NEW)
    old = Memory.objects.get(content=OLD)
    page = site.signed_in(java_script_enabled=False)
    page.goto("/changes/")
    page.click(".decision a:has-text('Undo')")
    page.fill("#reason", "Both.")
    page.click("button:has-text('Bring it back')")
    page.wait_for_selector("text=live again")
    assert live(old.content)


def test_a_run_is_undone_whole(site):
    import uuid

    from memory.beliefs.revisions import retire

    run = uuid.uuid4()
    for number in range(3):
        old = put(site.root, f"Lamp {number} glows.", kind="fact")
        new = put(site.root, f"Lamp {number} is dark.", kind="fact")
        retire(old, new, via="judge", reason="newer", actor="judge", run_id=run)
    page = site.signed_in(width=360)
    page.goto("/revisions/")
    page.click("a:has-text('One of 3 decisions') >> nth=0")
    page.click("a:has-text('Undo the run')")
    page.wait_for_selector("dialog[open]")
    page.click("dialog button:has-text('Undo the run')")
    toast(page, "3 records are live again")
    assert not serious(page)
