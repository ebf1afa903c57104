"""Retiring, merging and taking back: what holds on every route."""

import uuid

import pytest

from goclaw_site.errors import Conflict, InvalidInput, NotFound, Refused
from memory import checking, queries
from memory.beliefs import revisions
from memory.drafts import Changes, Draft
from memory.filters import Filters
from memory.models import AuditEvent, MemoryRevision, MemoryTag, MemoryVeto
from memory.write import amend, forget, remember
from tests.memory.beliefs.making import (
    RUN,
    fact,
    fresh,
    live,
    merge,
    mine,
    retire,
    retired,
    undo,
)
from tests.memory.making import ADMIN, ago, ask, expire, ids, index_all, put, run_of

pytestmark = pytest.mark.django_db
AUTOMATIC = ("rule", "judge", "consolidation", "revise", "dedupe")


@pytest.fixture(autouse=True)
def _clean(db, keyword_only):
    """Whatever a test does, the parts agree afterwards."""
    yield
    assert checking.check() == []


class TestRefusals:
    @pytest.mark.parametrize("via", AUTOMATIC)
    def test_critical_records_are_left_to_people(self, via):
        old, new = fact("door: red", tags=("critical",)), fact("door: any")
        with pytest.raises(Refused, match="critical"):
            retire(old, new, via)
        assert live() == {"door: red", "door: any"}

    @pytest.mark.parametrize("via", AUTOMATIC)
    @pytest.mark.parametrize("unsure", [0, 1])
    def test_unverified_records_take_no_part_on_either_side(self, via, unsure):
        pair = [fact("one"), fact("two")]
        MemoryTag.objects.create(memory=pair[unsure], tag="unverified")
        with pytest.raises(Refused, match="unverified"):
            retire(*pair, via)

    def test_nothing_crosses_a_scope_or_an_owner(self, ann, bob):
        shared, hers, his = fact("one"), mine("two", ann), mine("three", bob)
        for old, new in ((shared, hers), (hers, shared), (hers, his)):
            with pytest.raises(Refused, match="two scopes or two people"):
                retire(old, new)
            with pytest.raises(Refused, match="two scopes or two people"):
                merge(old, new)

    @pytest.mark.parametrize("via", AUTOMATIC)
    def test_a_vetoed_pair_is_refused_on_every_route_and_either_way(self, via):
        old, new = fact("one"), fact("two")
        retire(old, new)
        undo(old)
        for pair in ((old, new), (new, old)):
            with pytest.raises(Refused, match="took this back"):
                retire(*pair, via)

    def test_what_was_read_must_still_hold(self):
        old, new = fact("one"), fact("two")
        amend(ADMIN, new.pk, Changes(content="another"))
        with pytest.raises(Conflict, match="changed meanwhile"):
            revisions.retire(old, new, via="judge", reason="", actor="judge")
        forget(ADMIN, new.pk)
        with pytest.raises(NotFound):
            revisions.retire(old, new, via="judge", reason="", actor="judge")
        retire(old, None, "manual")
        with pytest.raises(Conflict, match="retired or has expired"):
            retire(old, fact("three"))
        assert MemoryRevision.objects.filter(decision="retired").count() == 1

    def test_a_record_does_not_retire_itself(self):
        one = fact("one")
        with pytest.raises(Refused):
            retire(one, one)


class TestUndo:
    def test_the_record_is_live_again_in_search_and_marked_in_the_decision(self):
        old, new = fact("a red lantern"), fact("a blue lantern")
        index_all()
        retire(old, new)
        assert ids(ADMIN, "lantern") == [new.pk]
        marks = {hit.id: hit.superseded for hit in ask(ADMIN, "lantern", include_history=True).hits}
        assert marks == {old.pk: True, new.pk: False}
        assert undo(old, reason="both hold").restored == [old.pk]
        assert set(ids(ADMIN, "lantern")) == {old.pk, new.pk}
        back = fresh(old)
        assert not back.superseded
        assert back.live_key
        assert not [name for name in back.metadata if name.startswith("superseded_")]
        row = MemoryRevision.objects.get(decision="retired")
        assert (row.undone_by, row.undone_reason) == ("command", "both hold")
        assert row.undone_at
        assert AuditEvent.objects.filter(action="undo").count() == 1

    def test_twice_changes_nothing_and_says_so(self):
        old, new = fact("one"), fact("two")
        retire(old, new)
        undo(old)
        before = list(MemoryRevision.objects.values())
        again = undo(old)
        assert (again.already, again.changed) == ([old.pk], False)
        assert list(MemoryRevision.objects.values()) == before

    def test_what_was_never_retired_or_is_not_there(self, ann):
        with pytest.raises(Conflict, match="never retired"):
            undo(fact("one"))
        with pytest.raises(NotFound):
            revisions.undo_record(ADMIN, uuid.uuid4())
        with pytest.raises(NotFound):
            revisions.undo_run(ADMIN, uuid.uuid4())
        with pytest.raises(InvalidInput):
            undo(fact("two"), reason="\x00")

    def test_half_undone_is_finished(self):
        old, new = fact("one"), fact("two")
        retire(old, new)
        MemoryRevision.objects.update(undone_at=ago(days=1), undone_by="somebody")
        assert undo(old).restored == [old.pk]

    def test_chains_come_undone_one_link_at_a_time(self):
        one, two, three = fact("one"), fact("two"), fact("three")
        retire(one, two)
        retire(two, three)
        undo(two)
        assert (live(), retired()) == ({"two", "three"}, {"one"})
        undo(one)
        assert live() == {"one", "two", "three"}

    def test_the_newest_decision_counts(self):
        one, two, three = fact("one"), fact("two"), fact("three")
        retire(one, two)
        undo(one)
        retire(one, three)
        assert undo(one).restored == [one.pk]
        assert MemoryVeto.objects.count() == 2

    def test_a_text_written_anew_meanwhile_stays_the_live_one(self):
        old, new = fact("one", tags=("mine",)), fact("two")
        retire(old, new)
        anew = fact("one", tags=("yours",))
        done = undo(old)
        assert (done.restored, done.doubles) == ([], [(old.pk, anew.pk)])
        assert fresh(anew).tag_names == ["mine", "yours"]
        assert fresh(old).metadata["superseded_by"] == str(anew.pk)
        assert live() == {"one", "two"}
        assert MemoryVeto.objects.count() == 1

    def test_an_expired_record_does_not_come_back(self):
        old, new = fact("one"), fact("two")
        decision = retire(old, new)
        expire(old)
        done = revisions.undo_run(ADMIN, decision.run_id)
        assert (done.restored, done.gone) == ([], [old.pk])
        assert live() == {"two"}

    def test_a_text_amended_while_it_was_retired_is_indexed_before_it_is_found(self):
        old, new = fact("a red lantern"), fact("a blue lantern")
        index_all()
        retire(old, new)
        amend(ADMIN, old.pk, Changes(content="a green lantern"))
        undo(old)
        assert "red" not in str([hit.text for hit in ask(ADMIN, "lantern").hits])
        index_all()
        assert set(ids(ADMIN, "lantern")) == {old.pk, new.pk}

    def test_only_administrators_undo_what_is_shared(self, ann):
        old, new = fact("one"), fact("two")
        decision = retire(old, new)
        for act in (
            lambda: undo(old, ann),
            lambda: undo(old, run_of("cron", is_admin=True)),
            lambda: revisions.undo_run(ann, decision.run_id),
        ):
            with pytest.raises(Refused, match="administrators"):
                act()

    def test_only_the_owner_undoes_what_is_personal(self, ann, bob):
        old, new = mine("one", ann), mine("two", ann)
        decision = retire(old, new)
        for somebody in (bob, ADMIN):
            with pytest.raises(NotFound):
                undo(old, somebody)
            with pytest.raises(NotFound):
                revisions.undo_run(somebody, decision.run_id)
        assert undo(old, ann).restored == [old.pk]

    def test_a_run_over_several_people_is_undone_by_each_for_themselves(self, ann, bob):
        pairs = [(fact("one"), fact("two"))] + [
            (mine("one", who), mine("two", who)) for who in (ann, bob)
        ]
        for old, new in pairs:
            retire(old, new, run_id=RUN)
        assert revisions.undo_run(ADMIN, RUN).restored == [pairs[0][0].pk]
        assert revisions.undo_run(ann, RUN).restored == [pairs[1][0].pk]
        again = revisions.undo_run(ann, RUN)
        assert (again.restored, again.already) == ([], [pairs[1][0].pk])
        assert fresh(pairs[2][0]).superseded

    def test_a_large_run_is_undone_in_few_statements(self, django_assert_max_num_queries):
        new = fact("the newest")
        for number in range(60):
            retire(fact(f"old {number}"), new, "dedupe", run_id=RUN)
        with django_assert_max_num_queries(60):
            assert len(revisions.undo_run(ADMIN, RUN).restored) == 60
        assert len(live()) == 61


class TestAsOf:
    def test_it_follows_retirement_and_undo(self):
        old, new = fact("one"), fact("two")
        retire(old, new)
        row = MemoryRevision.objects.get()
        for record, days in ((old, 9), (new, 9)):
            type(record).objects.filter(pk=record.pk).update(created_at=ago(days=days))
        undo(old)
        MemoryRevision.objects.filter(pk=row.pk).update(
            created_at=ago(days=6), undone_at=ago(days=3)
        )

        def at(days):
            moment = ago(days=days)
            return {r.content for r in queries.records(ADMIN, Filters(as_of=moment))}

        assert at(10) == set()
        assert at(8) == {"one", "two"}
        assert at(5) == {"two"}
        assert at(2) == {"one", "two"}


class TestMerge:
    def test_one_record_takes_the_place_of_several(self):
        one, two = fact("one"), fact("two")
        merged = merge(one, two)
        assert (live(), retired()) == ({"both"}, {"one", "two"})
        rows = MemoryRevision.objects.filter(decision="retired")
        assert {(r.text_before, r.text_after, r.merged, r.run_id) for r in rows} == {
            ("one", "both", True, RUN), ("two", "both", True, RUN),
        }  # fmt: skip
        assert fresh(one).metadata["superseded_by"] == str(merged.memory.pk)

    @pytest.mark.parametrize("way", ["record", "run"])
    def test_undoing_it_restores_every_source_and_retires_what_was_made(self, way):
        one, two, three = fact("one"), fact("two"), fact("three")
        merged = merge(one, two, three).memory
        done = undo(two) if way == "record" else revisions.undo_run(ADMIN, RUN)
        assert set(done.restored) == {one.pk, two.pk, three.pk}
        assert done.retired == [merged.pk]
        assert live() == {"one", "two", "three"}
        row = MemoryRevision.objects.get(old_id=merged.pk)
        assert (row.via, row.decision, row.new_id) == ("undo", "retired", None)
        for pair in ((one, two), (one, three), (two, three)):
            with pytest.raises(Refused, match="took this"):
                merge(*pair, text="again")
        with pytest.raises(Refused):
            merge(one, fact("four"), text="both")

    def test_what_was_amended_since_stays_with_a_flag(self):
        one, two = fact("one"), fact("two")
        merged = merge(one, two).memory
        amend(ADMIN, merged.pk, Changes(content="both and more"))
        assert undo(one).flagged == [merged.pk]
        assert live() == {"one", "two", "both and more"}
        assert fresh(merged).tag_names == ["merge_undone"]
        amend(ADMIN, merged.pk, Changes(content="something of its own"))
        assert fresh(merged).tag_names == []

    def test_a_merge_of_a_merge_comes_undone_link_by_link(self):
        one, two, three = fact("one"), fact("two"), fact("three")
        first = merge(one, two).memory
        merge(first, three, text="all", run_id=uuid.uuid4())
        undo(first)
        assert live() == {"both", "three"}
        undo(one)
        assert live() == {"one", "two", "three"}

    def test_the_text_of_a_source_retires_the_others_in_its_favour(self):
        one, two = fact("one"), fact("two")
        assert merge(one, two, text="one").memory.pk == one.pk
        assert live() == {"one"}
        assert undo(two).retired == []
        assert live() == {"one", "two"}

    def test_one_that_may_not_leaves_nothing_behind(self):
        one, two = fact("one"), fact("two", tags=("critical",))
        with pytest.raises(Refused):
            merge(one, two)
        with pytest.raises(InvalidInput):
            merge(one, one)
        assert live() == {"one", "two"}
        assert not MemoryRevision.objects.exists()

    def test_a_personal_merge_stays_with_its_owner(self, ann):
        merged = merge(mine("one", ann), mine("two", ann), principal=ann)
        assert merged.memory.owner_id == ann.person
        with pytest.raises(NotFound):
            undo(merged.revisions[0].old)
        assert undo(merged.revisions[0].old, ann).retired == [merged.memory.pk]

    def test_a_deleted_source_flags_what_rests_on_it_and_leaves_no_text(self):
        one, two, three = fact("zebra"), fact("two"), fact("three")
        merged = merge(one, two, text="zebra and two").memory
        on_top = merge(merged, three, text="zebra, two and three", run_id=uuid.uuid4()).memory
        forget(ADMIN, one.pk)
        assert fresh(on_top).tag_names == ["rests_on_deleted"]
        assert fresh(merged).tag_names == ["rests_on_deleted", "superseded"]
        assert "zebra" not in str(list(MemoryRevision.objects.filter(old=two).values_list()))
        amend(ADMIN, on_top.pk, Changes(content="two and three"))
        assert fresh(on_top).tag_names == []

    def test_a_deleted_source_does_not_come_back_and_the_rest_does(self):
        one, two = fact("one"), fact("two")
        merge(one, two)
        forget(ADMIN, one.pk)
        assert undo(two).restored == [two.pk]
        assert live() == {"two"}


class TestDeletedTexts:
    def test_reasons_that_may_quote_a_record_go_with_it(self):
        old, new = fact("one"), fact("two")
        retire(old, new, "judge", reason="'two' replaces 'one'")
        forget(ADMIN, new.pk)
        assert "two" not in str(list(MemoryRevision.objects.values_list()))
        assert fresh(old).metadata["superseded_reason"] == ""
        assert undo(old).restored == [old.pk]


class TestByHand:
    def test_an_administrator_takes_the_tag_off_and_no_veto_is_kept(self):
        old, new = fact("one"), fact("two")
        retire(old, new)
        amend(ADMIN, old.pk, Changes(tags=("seen",), lift=("superseded",)))
        assert live() == {"one", "two"}
        assert fresh(old).tag_names == ["seen"]
        assert not MemoryVeto.objects.exists()
        row = MemoryRevision.objects.get(decision="retired")
        assert (row.undone_by, row.undone_reason) == ("command", "the tag was removed by hand")
        retire(old, new)

    def test_nobody_else_does(self, ann):
        old, new = mine("one", ann), mine("two", ann)
        retire(old, new)
        amend(ann, old.pk, Changes(tags=(), lift=("superseded",)))
        assert fresh(old).tag_names == ["superseded"]

    def test_an_equal_live_record_is_a_conflict(self):
        old, new = fact("one"), fact("two")
        retire(old, new)
        anew = fact("one")
        with pytest.raises(Conflict) as caught:
            amend(ADMIN, old.pk, Changes(lift=("superseded",)))
        assert caught.value.extra == {"id": str(anew.pk)}

    def test_text_and_tag_change_at_once(self):
        old, new = fact("a red lantern"), fact("a blue lantern")
        index_all()
        retire(old, new)
        amend(ADMIN, old.pk, Changes(content="a old lantern", lift=("superseded",)))
        assert live() == {"a old lantern", "a blue lantern"}
        index_all()
        assert set(ids(ADMIN, "lantern")) == {old.pk, new.pk}


class TestAmendments:
    def test_an_undone_amendment_is_marked(self):
        record = fact("one")
        amend(ADMIN, record.pk, Changes(content="two"))
        row = MemoryRevision.objects.get()
        assert revisions.undo_amendment(ADMIN, record.pk, row.pk).content == "one"
        row.refresh_from_db()
        assert row.undone_by == "command"

    def test_by_its_run(self):
        record = fact("one")
        amend(ADMIN, record.pk, Changes(content="two"))
        run = MemoryRevision.objects.get().run_id
        assert revisions.undo_run(ADMIN, run).amended == [record.pk]
        assert revisions.undo_run(ADMIN, run).changed is False
        assert live() == {"one"}

    def test_a_text_changed_again_since_stays(self):
        record = fact("one")
        amend(ADMIN, record.pk, Changes(content="two"))
        run = MemoryRevision.objects.get().run_id
        amend(ADMIN, record.pk, Changes(content="three"))
        assert revisions.undo_run(ADMIN, run).gone == [record.pk]
        assert live() == {"three"}


def test_a_merge_is_written_with_its_draft(ann):
    draft = Draft("both", scope="agent_notes", kind="fact", tags=("x",), domain="network")
    pair = [fact("one"), fact("two")]
    made = revisions.merge(ADMIN, pair, draft, via="dedupe", reason="", run_id=RUN).memory
    assert (made.tag_names, made.domain) == (["x"], "network")
    assert remember(ADMIN, draft).outcome == "existing"
    assert put(ann, "x", scope="personal").created
