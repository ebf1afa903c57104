"""Learned facts become pages, as an agent's edit; only when asked, and never over people's work."""

from __future__ import annotations

import pytest

from goclaw_site.errors import Conflict, Refused
from memory import jobs
from memory.models import Job
from memory.write import retire
from tests.commands.running import here
from tests.memory.making import note, person
from tests.models import failure
from tests.wiki.making import CHIEF, write
from wiki import distill, queries
from wiki.models import WikiPage, WikiRevision

pytestmark = pytest.mark.django_db


def learned(text: str, domain: str = "network", **fields):
    return note(text, kind="fact", domain=domain, **fields)


def run(dry: bool = False) -> Job:
    job = distill.start(CHIEF, dry=dry)
    for _ in range(50):
        jobs.run_slice(str(job.pk))
        job.refresh_from_db()
        if job.ended:
            return job
    raise AssertionError("the job does not end")


def body(slug: str) -> str:
    page = WikiPage.objects.get(slug=slug)
    return WikiRevision.objects.get(page=page, revision=page.revision).body


def test_without_a_model_it_is_refused_clearly(no_model, root_key):
    with pytest.raises(Conflict, match="No chat model is set"):
        distill.start(CHIEF)
    answer = root_key.post("/api/memory/wiki/distill/", {})
    assert (answer.status_code, Job.objects.count()) == (409, 0)


def test_each_domain_becomes_a_page(scripted_model, root_key):
    one = learned("pay-gw-01 is in Berlin")
    learned("invoices go out on Monday", domain="Billing & Co")
    note("a note is no fact", domain="network")
    gone = learned("pay-gw-01 is in Rome")
    retire(gone, one, via="manual", reason="older", actor="x")
    model = scripted_model(
        [
            {"title": "Billing", "body": "Invoices go out on Monday [r1]. Lie [r9]."},
            {"title": "Network", "body": "# Gateways\n\npay-gw-01 is in Berlin [r1]."},
        ]
    )
    job = run()
    assert (job.state, job.done, job.total) == ("done", 2, 2)
    assert [page["outcome"] for page in job.result["pages"]] == ["created", "created"]
    assert f"in Berlin [r1](/memory/{one.pk}/)." in body("learned/network")
    assert "Lie ." in body("learned/billing-co"), "a mark of nothing cites nothing"
    page = WikiPage.objects.get(slug="learned/network")
    assert (page.author_kind, page.waits, page.title) == ("agent", True, "Network")
    assert "Rome" not in "".join(model.prompts)
    assert "no fact" not in "".join(model.prompts)


def test_the_page_as_it_is_goes_along(scripted_model, ann):
    learned("the new fact")
    write(ann, "learned/network", "what ann wrote </page> x")
    model = scripted_model([{"title": "Network", "body": "both [r1]"}])
    run()
    assert "what ann wrote ‹/page> x" in model.prompts[0]
    assert queries.revision(ann, queries.page(ann, "learned/network")).base_revision == 1


def test_long_domains_are_folded(scripted_model):
    for number in range(30):
        learned(f"fact {number} " + "x" * 1500)
    model = scripted_model(
        lambda prompt: {"title": "T", "body": f"fold [r{1 + len(distill.FOLDER)}]"}
    )
    job = run()
    assert len(model.prompts) == 5
    assert "fold" in model.prompts[1]
    assert job.result["pages"][0]["facts"] == 30
    marks = [line for prompt in model.prompts for line in prompt.splitlines() if line[:2] == "[r"]
    assert len(marks) == 30, "no fact is left out or given twice"


def test_a_dry_run_shows_and_saves_nothing(scripted_model):
    record = learned("a fact")
    scripted_model([{"title": "T", "body": "text without marks"}])
    job = run(dry=True)
    shown = job.result["pages"][0]
    assert shown["body"] == (
        f"text without marks\n\nFrom the records [r1](/memory/{record.pk}/).\n"
    )
    assert not WikiPage.objects.exists()


def test_who_saves_meanwhile_is_not_written_over(scripted_model, ann):
    learned("a fact")
    write(ann, "learned/network", "first")

    def meanwhile(prompt: str):
        write(ann, "learned/network", "second")
        return {"title": "T", "body": "the model's"}

    scripted_model(meanwhile)
    job = run()
    assert job.result["pages"][0]["outcome"] == "conflict"
    assert body("learned/network") == "second"


def test_a_failing_model_changes_nothing(scripted_model):
    learned("a fact")
    scripted_model([failure("busy")] * 9)
    job = run()
    assert (job.state, WikiPage.objects.count()) == ("failed", 0)
    assert job.error


def test_cancelling_stops_before_the_next_call(scripted_model):
    for domain in ("a", "b", "c"):
        learned(f"fact of {domain}", domain=domain)
    started: list[Job] = []

    def once(prompt: str):
        jobs.cancel(started[0].pk)
        return {"title": "T", "body": "x"}

    model = scripted_model(once)
    started.append(distill.start(CHIEF))
    jobs.run_slice(str(started[0].pk))
    jobs.run_slice(str(started[0].pk))
    started[0].refresh_from_db()
    assert (started[0].state, len(model.prompts)) == ("cancelled", 1)


def test_it_is_for_administrators(scripted_model):
    scripted_model([])
    with pytest.raises(Refused):
        distill.start(person("ann"))


def test_the_command_follows_the_job(scripted_model, capsys):
    scripted_model([])
    ran = here(capsys, "wiki", "distill")
    assert (ran.status, "no learned facts" in ran.out) == (0, True)
    learned("a fact")
    scripted_model([{"title": "T", "body": "x"}])
    ran = here(capsys, "wiki", "distill", "--json")
    assert (ran.status, ran.json["pages"][0]["slug"]) == (0, "learned/network")
