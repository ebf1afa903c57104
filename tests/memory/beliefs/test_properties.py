"""Whatever people, rules and runs do in any order: nothing is lost, and a veto holds."""

import contextlib
import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goclaw_site.errors import GoclawError, Refused
from memory import checking, write
from memory.beliefs import revisions, vetoes
from memory.beliefs.retiring import AUTOMATIC
from memory.drafts import Changes
from memory.models import Memory, MemoryRevision
from tests.memory.beliefs.making import fact, fresh, live, merge, retire, retired, undo
from tests.memory.making import ADMIN

pytestmark = [
    pytest.mark.django_db, pytest.mark.usefixtures("keyword_only"), pytest.mark.slow,
]  # fmt: skip

#: Few texts and few records, so that they meet again: one subject with three values, one with two,
#: and two texts that no rule reads.
TEXTS = [
    *(f"the gateway is 10.0.0.{number}" for number in (5, 6, 7)),
    *(f"the printer is at 10.0.1.{number}" for number in (5, 6)),
    "Ann went to the sea", "Bob has been to the sea",
]  # fmt: skip
_WHICH = st.integers(0, 4)
_VIA = st.sampled_from(["rule", "judge", "consolidation", "revise", "dedupe"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(TEXTS)),
        st.tuples(st.just("amend"), _WHICH, st.sampled_from(TEXTS)),
        st.tuples(st.just("delete"), _WHICH),
        st.tuples(st.just("retire"), _WHICH, _WHICH, _VIA),
        st.tuples(st.just("merge"), _WHICH, _WHICH, st.uuids()),
        st.tuples(st.just("undo"), _WHICH),
        st.tuples(st.just("undo run"), _WHICH),
        st.tuples(st.just("by hand"), _WHICH),
    ),
    min_size=1,
    max_size=14,
)
SETTINGS = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Run:
    """Does the steps."""

    def do(self, step: tuple) -> None:
        act, *given = step
        records = list(Memory.objects.order_by("created_at", "pk"))
        if act == "write":
            fact(given[0])
        elif records:
            picked = [records[n % len(records)] if isinstance(n, int) else n for n in given]
            getattr(self, act.replace(" ", "_"))(*picked)

    def amend(self, record: Memory, text: str) -> None:
        write.amend(ADMIN, record.pk, Changes(content=text))

    def delete(self, record: Memory) -> None:
        write.forget(ADMIN, record.pk)

    def retire(self, old: Memory, new: Memory, via: str) -> None:
        retire(old, new, via)

    def merge(self, one: Memory, other: Memory, run: uuid.UUID) -> None:
        merge(one, other, text=f"{one.content} and {other.content}"[:200], run_id=run)

    def undo(self, record: Memory) -> None:
        undo(record)

    def undo_run(self, record: Memory) -> None:
        row = MemoryRevision.objects.filter(old=record).order_by("pk").last()
        if row is not None:
            revisions.undo_run(ADMIN, row.run_id)

    def by_hand(self, record: Memory) -> None:
        write.amend(ADMIN, record.pk, Changes(lift=("superseded",)))


def _undoes(before: set[int]) -> list[MemoryRevision]:
    """The retirements that were taken back, other than by hand, since then."""
    rows = MemoryRevision.objects.filter(decision="retired").exclude(undone_at=None)
    return [
        row for row in rows
        if row.pk not in before and row.new_hash and row.undone_reason != _BY_HAND
    ]  # fmt: skip


_BY_HAND = "the tag was removed by hand"


@given(STEPS)
@SETTINGS
def test_nothing_is_lost_and_a_veto_holds(steps):
    Memory.objects.all().delete()
    MemoryRevision.objects.all().delete()
    vetoes.drop("sagentnotes0")
    run, taken_back = Run(), set()
    for step in steps:
        decided = set(MemoryRevision.objects.values_list("pk", flat=True))
        undone = set(MemoryRevision.objects.exclude(undone_at=None).values_list("pk", flat=True))
        there = set(Memory.objects.values_list("pk", flat=True))
        with contextlib.suppress(GoclawError):
            run.do(step)
        gone = there - set(Memory.objects.values_list("pk", flat=True))
        assert len(gone) == (step[0] == "delete" and bool(there))
        _look(decided, taken_back)
        taken_back |= {vetoes.pair(row.old_hash, row.new_hash) for row in _undoes(undone)}
    assert checking.check() == []
    for pair in sorted(taken_back):
        _try_again(pair)


def _try_again(pair: tuple[str, str]) -> None:
    """Every route is refused, and the rule step too when either text is written anew."""
    held = Memory.objects.filter(content_hash__in=pair, kind="fact", live_key__isnull=False)
    records = list(held)
    if len(records) < 2:
        return
    for old, new in (records, records[::-1]):
        for via in AUTOMATIC:
            with pytest.raises(Refused):
                retire(old, new, via)
    for record, other in (records, records[::-1]):
        write.forget(ADMIN, record.pk)
        fact(record.content)
        assert other.content in live()


def _look(decided: set[int], taken_back: set[tuple[str, str]]) -> None:
    """Every record is live or superseded; no pair that was taken back was decided again."""
    records = Memory.objects.count()
    alive = Memory.objects.exclude(live_key=None).count()
    tagged = Memory.objects.filter(tags__tag="superseded").count()
    assert alive + tagged == records
    newer = MemoryRevision.objects.exclude(pk__in=decided).filter(decision="retired")
    for row in newer.exclude(via="undo"):
        assert vetoes.pair(row.old_hash, row.new_hash) not in taken_back


@given(st.lists(st.sampled_from(TEXTS), min_size=2, max_size=8, unique=True), st.data())
@SETTINGS
def test_undoing_every_run_gives_what_was_written(texts, data):
    """Also after merges, whichever run is undone first in its chain."""
    Memory.objects.all().delete()
    MemoryRevision.objects.all().delete()
    vetoes.drop("sagentnotes0")
    for text in texts:
        fact(text)
    written = set(texts)
    alive = sorted(live())
    if len(alive) > 1 and data.draw(st.booleans()):
        pair = [Memory.objects.get(content=text, live_key__isnull=False) for text in alive[:2]]
        merge(*pair, text="made of two")
    assert live() | retired() >= written
    runs = MemoryRevision.objects.filter(decision="retired").order_by("-pk")
    for run in list(dict.fromkeys(runs.values_list("run_id", flat=True))):
        revisions.undo_run(ADMIN, run)
    assert live() == written
    assert all(fresh(record).metadata.get("superseded_by") is None for record in _made_of(written))
    assert checking.check() == []


def _made_of(texts: set[str]) -> list[Memory]:
    return list(Memory.objects.filter(content__in=texts))
