"""The editor when things go wrong, and when two people write at once: nothing typed is lost."""

import pytest
from django.contrib.sessions.models import Session

from tests.browser.conftest import PASSWORD, until
from tests.browser.test_walks import toast
from tests.browser.wikis import PNG, body, saved
from tests.wiki.making import write
from wiki.models import WikiAttachment


def edit_while(page, site, mine: str, theirs: str) -> None:
    """Change the page in the editor while somebody else saves it."""
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.fill("#body", mine)
    write(site.ann, "ops/gateway", theirs)
    page.click("button:has-text('Save')")
    page.wait_for_selector("h1:has-text('Two edits at once')")


def test_two_people_at_once_whose_edits_fit(wiki):
    page = wiki.signed_in()
    was = body("ops/gateway")
    edit_while(page, wiki, was + "\nMine.\n", was.replace("Gateway", "The gateway"))
    assert page.evaluate("document.activeElement.matches('.notice.warn')")
    assert "both fit into one text" in page.inner_text("#form")
    assert "Mine." in page.locator(".difftable .added").first.inner_text() or "Mine." in (
        page.locator(".difftable").first.inner_text()
    )
    page.click("button:has-text('Save the merged text')")
    saved(page)
    assert body("ops/gateway").startswith("# The gateway")
    assert body("ops/gateway").rstrip().endswith("Mine.")


def test_two_people_at_once_on_the_same_line(wiki):
    page = wiki.signed_in()
    edit_while(page, wiki, "# Gateway\n\nmine\n", "# Gateway\n\ntheirs\n")
    text = page.input_value("#body")
    assert "<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> theirs" in text.replace("\n\n", "\n")
    assert page.input_value("#text-mine") == "# Gateway\n\nmine\n"
    assert page.input_value("#text-theirs") == "# Gateway\n\ntheirs\n"
    assert "Owned by" in page.input_value("#text-base")
    page.click("button:has-text('Start from theirs')")
    assert page.input_value("#body") == "# Gateway\n\ntheirs\n"
    page.fill("#body", "# Gateway\n\nmine and theirs\n")
    page.click("button:has-text('Save this text')")
    saved(page)
    assert "mine and theirs" in body("ops/gateway")


def test_a_session_that_ends_while_one_writes_loses_nothing(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.fill("#body", "typed for an hour")
    Session.objects.all().delete()
    page.click("button:has-text('Save')")
    page.wait_for_selector("#id_username")
    page.fill("#id_username", "root")
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    toast(page, "is back")
    assert page.input_value("#body") == "typed for an hour"
    page.wait_for_selector("#preview:has-text('typed for an hour')")
    page.click("button:has-text('Save')")
    saved(page)
    assert body("ops/gateway").strip() == "typed for an hour"


def test_a_session_that_ends_while_one_types_interrupts_nobody(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    Session.objects.all().delete()
    page.click("#body")
    page.keyboard.type("still typing ")
    page.wait_for_selector("#draft-state:has-text('You are signed out')")
    page.keyboard.type("and going on")
    assert "still typing and going on" in page.input_value("#body")
    assert "view=edit" in page.url
    page.once("dialog", lambda dialog: dialog.accept())


def test_what_others_saved_before_one_signed_in_again_is_not_written_over(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.fill("#body", "mine")
    Session.objects.all().delete()
    page.click("button:has-text('Save')")
    page.wait_for_selector("#id_username")
    write(wiki.ann, "ops/gateway", "theirs")
    page.fill("#id_username", "root")
    page.fill("#id_password", PASSWORD)
    page.click("button.primary")
    toast(page, "is back")
    page.click("button:has-text('Save')")
    page.wait_for_selector("h1:has-text('Two edits at once')")
    assert body("ops/gateway") == "theirs"
    assert page.input_value("#text-mine") == "mine"


def test_a_draft_is_offered_after_a_crash_and_gone_after_a_save(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.fill("#body", "not yet saved")
    page.wait_for_selector("#draft-state:has-text('Draft kept')")
    context = page.context
    page.close(run_before_unload=False)

    page = context.new_page()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.wait_for_selector("#draft-offer:visible")
    assert "Owned by" in page.input_value("#body")
    page.click("button:has-text('Go on with the draft')")
    assert page.input_value("#body") == "not yet saved"
    page.click("button:has-text('Save')")
    saved(page)
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.wait_for_selector("#body")
    assert not page.locator("#draft-offer").is_visible()


def test_a_draft_of_an_older_revision_is_merged_not_written_over(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.fill("#body", body("ops/gateway") + "\nMine.\n")
    page.wait_for_selector("#draft-state:has-text('Draft kept')")
    context = page.context
    page.close(run_before_unload=False)
    write(wiki.ann, "ops/gateway", body("ops/gateway").replace("Gateway", "The gateway"))

    page = context.new_page()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.click("button:has-text('Go on with the draft')")
    page.click("button:has-text('Save')")
    page.wait_for_selector("h1:has-text('Two edits at once')")
    page.click("button:has-text('Save the merged text')")
    saved(page)
    assert body("ops/gateway").startswith("# The gateway")
    assert "Mine." in body("ops/gateway")


def test_leaving_with_unsaved_text_is_asked_first(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.click("#body")
    page.keyboard.type("something ")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.click("a:has-text('Cancel')")
    page.wait_for_selector(".prose")
    assert asked == ["beforeunload"]


@pytest.mark.parametrize("status", [500, 429])
def test_a_failing_server_never_says_saved(wiki, status):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.fill("#body", "still here")
    page.route("**/wiki/p/ops/gateway*", lambda route: route.fulfill(status=status, body="<h1>x"))
    page.click("button:has-text('Save')")
    toast(page, "what you typed is still here")
    assert page.input_value("#body") == "still here"
    assert page.locator(".toast.success").count() == 0
    page.unroute_all()
    page.click("button:has-text('Save')")
    saved(page)


def test_offline_keeps_the_text(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.fill("#body", "written in a tunnel")
    page.context.set_offline(True)
    page.click("button:has-text('Save')")
    toast(page, "does not answer")
    page.context.set_offline(False)
    assert page.input_value("#body") == "written in a tunnel"
    page.click("button:has-text('Save')")
    saved(page)


DROP = """(data) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const carrier = new DataTransfer();
  carrier.items.add(new File([bytes], 'rack_c.png', {type: 'image/png'}));
  carrier.items.add(new File(['a,b'], 'load.csv', {type: 'text/csv'}));
  document.querySelector('#body').dispatchEvent(
    new DragEvent('drop', {dataTransfer: carrier, bubbles: true, cancelable: true}));
}"""


def test_files_are_dropped_a_picture_below_and_others_in_the_line(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/files?view=edit")
    page.fill("#body", "Before")
    page.evaluate(DROP, PNG)
    until(page, "document.querySelectorAll('#uploads progress').length === 0")
    picture = WikiAttachment.objects.get(name="rack_c.png")
    table = WikiAttachment.objects.get(name="load.csv")
    text = f"Before\n\n![rack c](/media/{picture.pk}) [load](/media/{table.pk})"
    assert page.input_value("#body") == text
    page.click("button:has-text('Save')")
    page.wait_for_selector(".toast:has-text('Created')")
    page.click(".tabs a:has-text('Files')")
    assert page.locator(".file").count() == 2


def test_a_file_that_is_refused_says_why_and_leaves_no_mark(wiki):
    page = wiki.signed_in()
    page.goto("/wiki/p/ops/gateway?view=edit")
    page.set_input_files(
        "#pick-file", {"name": "empty.png", "mimeType": "image/png", "buffer": b""}
    )
    page.wait_for_selector(".upload.failed")
    assert "Uploading" not in page.input_value("#body")
