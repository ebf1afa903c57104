"""Planted faults between pages and what the search knows of them: found, and put right."""

from __future__ import annotations

import pytest

from memory import checking, repairing
from memory.models import Memory, MemorySource
from tests.memory.making import index_all
from tests.wiki.making import CHIEF, write
from wiki import pages
from wiki.models import WikiPage, WikiRevision

pytestmark = pytest.mark.django_db


def found() -> set[str]:
    return {finding.name for finding in checking.check()}


@pytest.fixture
def page(ann) -> WikiPage:
    write(ann, "other", "text")
    write(ann, "gone", "text")
    pages.delete(ann, "gone")
    made = write(ann, "p", "text " * 60_000).page
    index_all()
    assert found() == set()
    return made


def _lost_record(page: WikiPage) -> None:
    MemorySource.objects.filter(source_id=str(page.pk), position=0).delete()
    Memory.objects.filter(sources=None).delete()


def _other_text(page: WikiPage) -> None:
    WikiRevision.objects.filter(page=page).update(body="written past the one writer")


def _stray(page: WikiPage) -> None:
    WikiPage.objects.filter(pk=page.pk).update(deleted=True)


def _headless(page: WikiPage) -> None:
    WikiPage.objects.filter(slug="gone").update(revision=9)


FAULTS = {
    "wiki_mirror": [_lost_record, _other_text],
    "wiki_strays": [_stray],
    "wiki_heads": [_headless],
}


@pytest.mark.parametrize(("rule", "plant"), [(r, p) for r, ps in FAULTS.items() for p in ps])
def test_a_planted_fault_is_found_and_put_right(rule, plant, page):
    plant(page)
    assert rule in found()
    repairing.repair(CHIEF)
    index_all()
    assert found() == ({rule} if rule in repairing.WHY_NOT else set())


def test_every_rule_of_the_wiki_has_its_fault():
    ours = {name for name in checking.RULES if name.startswith("wiki_")}
    assert ours == set(FAULTS)
