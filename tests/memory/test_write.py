"""Writing: what is one record, what is two, what a change and a delete leave behind."""

import threading
import unicodedata
from datetime import datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ

from goclaw_site.errors import Conflict, GoclawError, InvalidInput, NotFound, Refused
from memory import checking, expiry, queries
from memory.drafts import Changes, Draft, Source
from memory.filters import Filters
from memory.models import (
    Memory,
    MemoryChange,
    MemoryChunk,
    MemoryEntity,
    MemoryRelation,
    MemoryRevision,
    MemorySource,
    MemoryTag,
)
from memory.write import amend, content_hash, forget, remember, remember_many, retire
from tests.memory import keywordrows
from tests.memory.making import (
    ADMIN,
    SERVER,
    ago,
    ask,
    expire,
    ids,
    index_all,
    note,
    person,
    put,
    run_of,
    texts,
    turn,
)

pytestmark = pytest.mark.django_db


def test_a_new_text_is_created_and_an_equal_one_is_the_same_record(bag):
    first = put(ADMIN, "The gateway runs Debian 12.")
    again = put(ADMIN, "  The gateway runs Debian 12.\n")
    assert (first.outcome, again.outcome) == ("created", "existing")
    assert first.memory.pk == again.memory.pk
    assert Memory.objects.count() == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C"),
        ("-5", "5"),
        ("Yes", "yes"),
        ("a b", "a  b"),
        ("ﬁ", "fi"),
        ("5 kg", "5\u00a0kg"),
    ],
)
def test_only_composition_and_outer_space_are_folded(one, other):
    assert content_hash(one) != content_hash(other)
    assert put(ADMIN, one).created
    assert put(ADMIN, other).created


def test_one_text_in_two_compositions_is_one_record_and_kept_as_first_given():
    composed = unicodedata.normalize("NFC", "Café Müller")
    first = put(ADMIN, unicodedata.normalize("NFD", composed))
    assert put(ADMIN, composed).memory.pk == first.memory.pk
    assert Memory.objects.get().content == unicodedata.normalize("NFD", composed)


def test_scope_owner_and_kind_part_equal_texts(ann, bob):
    made = [
        put(ann, "tea", scope="personal"),
        put(bob, "tea", scope="personal"),
        put(ADMIN, "tea"),
        put(ADMIN, "tea", kind="fact"),
        put(ADMIN, "tea", scope="global"),
    ]
    assert [written.outcome for written in made] == ["created"] * 5
    assert Memory.objects.filter(owner_id=ann.person).count() == 1


def test_writing_again_unites_tags_and_moves_the_time():
    with time_machine.travel(ago(days=3), tick=False):
        old = note("tea", tags=("a",))
    new = put(ADMIN, "tea", tags=("b",)).memory
    assert new.pk == old.pk
    assert Memory.objects.get().tag_names == ["a", "b"]
    assert Memory.objects.get().updated_at > old.updated_at


def test_a_confirmed_writer_lifts_unverified():
    unsure = unsure_hook()
    record = put(unsure, "the server moved").memory
    assert record.tag_names == ["unverified"]
    put(unsure, "the server moved")
    assert Memory.objects.get().tag_names == ["unverified"]
    put(ADMIN, "the server moved")
    assert Memory.objects.get().tag_names == []


def unsure_hook():
    return run_of("webhook", confirmed=False)


class TestSources:
    def test_the_same_place_with_the_same_text_changes_nothing(self):
        first = turn("hello", 0)
        before = Memory.objects.values().get()
        written = put(ADMIN, "hello", source=Source("session", "talk", 0))
        assert (written.outcome, written.memory.pk) == ("existing", first.pk)
        assert Memory.objects.values().get() == before
        assert MemorySource.objects.count() == 1

    def test_the_same_place_with_another_text_amends_its_record(self):
        first = turn("hello", 0, tags=("x",))
        written = put(ADMIN, "good day", source=Source("session", "talk", 0))
        assert (written.outcome, written.memory.pk) == ("amended", first.pk)
        record = Memory.objects.get()
        assert (record.content, record.version, record.tag_names) == ("good day", 2, ["x"])
        decision = MemoryRevision.objects.get()
        assert (decision.decision, decision.text_before) == ("amended", "hello")

    def test_two_places_with_one_text_share_a_record_and_a_change_leaves_the_other(self):
        first = turn("yes", 0)
        assert turn("yes", 5).pk == first.pk
        changed = put(ADMIN, "no", source=Source("session", "talk", 5))
        assert changed.outcome == "created"
        assert Memory.objects.get(pk=first.pk).content == "yes"
        assert list(first.sources.values_list("position", flat=True)) == [0]

    def test_the_last_place_of_a_text_that_joins_another_record_retires_its_own(self):
        other, gone = turn("no", 1), turn("yes", 0)
        written = put(ADMIN, "no", source=Source("session", "talk", 0))
        assert (written.outcome, written.memory.pk) == ("existing", other.pk)
        gone.refresh_from_db()
        assert gone.superseded
        assert checking.check() == []

    def test_another_kind_from_the_same_place_is_no_conflict(self):
        """The text may be there under the old kind; what counts is the kind that is written."""
        note("moved", kind="note")
        turn("stays", 0, kind="note")
        put(ADMIN, "moved", kind="fact", source=Source("session", "talk", 0))
        assert Memory.objects.get(sources__position=0).kind == "fact"
        assert checking.check() == []

    def test_people_hold_the_same_place_each_for_themselves(self, ann, bob):
        place = Source("file", "notes.md")
        put(ann, "mine", scope="personal", source=place)
        assert put(bob, "yours", scope="personal", source=place).outcome == "created"
        assert Memory.objects.get(owner_id=ann.person).content == "mine"

    def test_an_expired_record_gives_its_place_free(self, keyword_only):
        old = turn("offer ends", 0)
        expire(old)
        expiry.sweep()
        turn("offer ends", 0)
        assert texts(ADMIN, "offer") == ["offer ends"]
        assert checking.check() == []

    def test_a_moved_place_leaves_no_text_in_old_windows(self, bag):
        """The record's neighbourhood at the place it lost goes with the place."""
        shared = turn("yes indeed", 5)
        secret = turn("zanzibar", 6)
        turn("yes indeed", 20)
        index_all()
        assert "zanzibar" in MemoryChunk.objects.get(memory=shared).window_text
        put(ADMIN, "no longer", source=Source("session", "talk", 5))
        index_all()
        assert "zanzibar" not in MemoryChunk.objects.get(memory=shared).window_text
        forget(ADMIN, secret.pk)
        assert "zanzibar" not in "".join(MemoryChunk.objects.values_list("window_text", flat=True))
        assert checking.check() == []

    def test_a_second_place_brings_its_neighbours(self, bag):
        shared = note("yes indeed")
        turn("quokka", 1)
        index_all()
        turn("yes indeed", 0)
        index_all()
        assert "quokka" in MemoryChunk.objects.get(memory=shared).window_text
        assert checking.check() == []


class TestAmending:
    def test_old_text_leaves_search_at_once_and_stays_in_the_history(self, keyword_only):
        record = note("blue heron")
        index_all()
        amend(ADMIN, record.pk, Changes(content="grey crane"))
        assert texts(ADMIN, "heron") == []
        assert texts(ADMIN, "crane") == ["grey crane"]
        index_all()
        assert (texts(ADMIN, "heron"), texts(ADMIN, "crane")) == ([], ["grey crane"])
        decision = MemoryRevision.objects.get()
        assert (decision.via, decision.decision) == ("manual", "amended")
        assert (decision.text_before, decision.text_after) == ("blue heron", "grey crane")
        assert checking.check() == []

    def test_an_equal_live_record_is_a_conflict_that_names_it(self):
        one, two = note("one"), note("two")
        with pytest.raises(Conflict) as conflict:
            amend(ADMIN, two.pk, Changes(content=" one "))
        assert conflict.value.extra == {"id": str(one.pk)}
        two.refresh_from_db()
        assert two.content == "two"

    def test_a_change_of_kind_can_conflict_too(self):
        note("one", kind="fact")
        with pytest.raises(Conflict):
            amend(ADMIN, note("one").pk, Changes(kind="fact"))

    def test_fields_that_are_not_named_stay(self):
        record = note("x", domain="net", tags=("a",), metadata={"k": [1]}, agent="scout")
        amend(ADMIN, record.pk, Changes(domain="web"))
        record.refresh_from_db()
        assert (record.domain, record.content, record.tag_names) == ("web", "x", ["a"])
        assert record.metadata["k"] == [1]
        assert (record.version, MemoryRevision.objects.count()) == (1, 0)

    def test_tagging_moves_no_time_and_indexes_nothing(self, bag):
        record = note("x")
        index_all()
        before = Memory.objects.get().updated_at
        amend(ADMIN, record.pk, Changes(tags=("new",)))
        record.refresh_from_db()
        assert (record.updated_at, record.index_state) == (before, "indexed")

    def test_expiry_is_set_and_cleared(self):
        record = note("x")
        end = timezone.now() + timedelta(days=1)
        assert amend(ADMIN, record.pk, Changes(expires_at=end)).expires_at == end
        assert amend(ADMIN, record.pk, Changes(domain="d")).expires_at == end
        assert amend(ADMIN, record.pk, Changes(clear_expiry=True)).expires_at is None

    @pytest.mark.parametrize("swept", [False, True])
    def test_what_has_expired_does_not_exist(self, swept):
        record = note("x")
        expire(record)
        if swept:
            expiry.sweep()
        with pytest.raises(NotFound):
            amend(ADMIN, record.pk, Changes(clear_expiry=True))
        assert checking.check() == []

    def test_what_the_engine_wrote_survives_new_metadata(self):
        record = note("x", metadata={"a": 1})
        amend(ADMIN, record.pk, Changes(metadata={"b": 2}))
        record.refresh_from_db()
        assert (record.metadata["b"], "a" in record.metadata) == (2, False)
        assert record.metadata["provenance"]["author"] == "command"

    def test_a_superseded_record_keeps_its_tag(self):
        old = note("x")
        retire(old, None, via="manual", reason="", actor="me")
        amend(ADMIN, old.pk, Changes(tags=("seen",)))
        assert old.tag_names == ["seen", "superseded"]


class TestForgetting:
    def test_nothing_made_from_a_record_outlives_it(self, bag):
        neighbour, record = turn("left", 0), turn("zanzibar secret", 1, tags=("t",))
        amend(ADMIN, record.pk, Changes(content="zanzibar secret plan"))
        entity = MemoryEntity.objects.create(name="Z", normalised="z", type="place")
        MemoryRelation.objects.create(source=entity, target=entity, type="is", memory=record)
        index_all()
        assert ids(ADMIN, "zanzibar")[0] == record.pk
        forget(ADMIN, record.pk)
        assert texts(ADMIN, "zanzibar secret plan", include_history=True) in ([], ["left"])
        left = MemoryChunk.objects.values_list("text", "search_text", "window_text")
        assert "zanzibar" not in str(list(left))
        assert MemoryTag.objects.count() == MemoryRelation.objects.count() == 0
        assert list(MemorySource.objects.values_list("memory", flat=True)) == [neighbour.pk]
        assert "zanzibar" not in str(list(MemoryRevision.objects.values_list()))
        assert not keywordrows.holding("zanzibar")
        assert MemoryChange.objects.latest("sequence").operation == MemoryChange.DROP
        assert checking.check() == []

    def test_a_shared_record_leaves_a_tombstone_without_its_text(self):
        record = note("top secret")
        forget(ADMIN, record.pk)
        stone = MemoryRevision.objects.get()
        assert (stone.decision, stone.actor, stone.old_id) == ("deleted", "command", record.pk)
        assert stone.old_hash == content_hash("top secret")
        assert "secret" not in str(MemoryRevision.objects.values().get())

    def test_a_personal_record_leaves_nothing(self, ann):
        record = put(ann, "my diary", scope="personal").memory
        amend(ann, record.pk, Changes(content="my other diary"))
        forget(ann, record.pk)
        assert MemoryRevision.objects.count() == 0

    def test_texts_of_what_it_replaced_stay_only_with_the_old_record(self):
        old, new = note("the door is red"), note("the door is blue")
        retire(old, new, via="rule", reason="newer", actor="rule")
        forget(ADMIN, new.pk)
        assert Memory.objects.get(pk=old.pk).superseded
        assert "blue" not in str(list(MemoryRevision.objects.values_list()))

    def test_twice_is_not_found(self):
        record = note("x")
        forget(ADMIN, record.pk)
        with pytest.raises(NotFound):
            forget(ADMIN, record.pk)

    def test_it_can_be_written_anew(self, keyword_only):
        forget(ADMIN, note("phoenix").pk)
        assert put(ADMIN, "phoenix").created
        index_all()
        assert texts(ADMIN, "phoenix") == ["phoenix"]


class TestRetiring:
    def test_it_is_tagged_told_and_found_in_the_history_alone(self, bag):
        old, new = note("the gateway is 10.0.0.5"), note("the gateway is 10.0.0.7")
        index_all()
        decision = retire(old, new, via="rule", reason="another value", actor="rule")
        old.refresh_from_db()
        assert (old.superseded, old.live_key) == (True, None)
        assert old.metadata["superseded_by"] == str(new.pk)
        assert old.metadata["superseded_reason"] == "another value"
        assert old.metadata["superseded_at"]
        assert (decision.decision, decision.old_id, decision.new_id) == ("retired", old.pk, new.pk)
        assert ids(ADMIN, "gateway") == [new.pk]
        history = {h.id: h.superseded for h in ask(ADMIN, "gateway", include_history=True).hits}
        assert history == {old.pk: True, new.pk: False}
        assert [r.pk for r in queries.records(ADMIN)] == [new.pk]
        assert queries.records(ADMIN, Filters(include_history=True)).count() == 2
        assert checking.check() == []

    def test_the_old_text_can_be_written_again(self):
        old = note("the gateway is 10.0.0.5")
        retire(old, None, via="rule", reason="", actor="rule")
        assert put(ADMIN, "the gateway is 10.0.0.5").created

    def test_a_record_retired_before_its_text_stage_stays_out(self, keyword_only):
        old = note("early bird")
        retire(old, None, via="rule", reason="", actor="rule")
        index_all()
        assert texts(ADMIN, "early") == []
        assert texts(ADMIN, "early", include_history=True) == ["early bird"]
        assert checking.check() == []

    def test_its_text_leaves_the_neighbours_windows(self, bag):
        turn("left", 0)
        old = turn("zanzibar", 1)
        index_all()
        retire(old, None, via="rule", reason="", actor="rule")
        live = MemoryChunk.objects.exclude(memory=old)
        assert "zanzibar" not in live.get().window_text


class TestLimits:
    @pytest.mark.parametrize(
        ("draft", "field"),
        [
            ({"content": ""}, "content"),
            ({"content": " \n\u3000 "}, "content"),
            ({"content": "x" * 200_001}, "content"),
            ({"content": "a\x00b"}, "content"),
            ({"content": "a\ud800b"}, "content"),
            ({"content": 5}, "content"),
            ({"scope": "everywhere"}, "scope"),
            ({"scope": None}, "scope"),
            ({"kind": "poem"}, "kind"),
            ({"kind": ["note"]}, "kind"),
            ({"kind": "summary"}, "kind"),
            ({"domain": "d" * 101}, "domain"),
            ({"domain": "two\nlines"}, "domain"),
            ({"tags": ("t" * 65,)}, "tags"),
            ({"tags": ("",)}, "tags"),
            ({"tags": (7,)}, "tags"),
            ({"tags": ("a\x00",)}, "tags"),
            ({"tags": tuple(f"t{n}" for n in range(33))}, "tags"),
            ({"tags": ("superseded",)}, "tags"),
            ({"tags": ("unverified",)}, "tags"),
            ({"metadata": {"superseded_by": "x"}}, "metadata"),
            ({"metadata": {"a": {"b": ["c\x00"]}}}, "metadata"),
            ({"metadata": {"a": [{"b\udfff": 1}]}}, "metadata"),
            ({"metadata": {"a": float("nan")}}, "metadata"),
            ({"metadata": {"a": object()}}, "metadata"),
            ({"metadata": {"a": "x" * 20_000}}, "metadata"),
            ({"metadata": {1: "x"}}, "metadata"),
            ({"metadata": "text"}, "metadata"),
            ({"index_prefix": "p" * 301}, "index_prefix"),
            ({"agent": "a" * 65}, "agent"),
            ({"applies_to": "\ud800"}, "applies_to"),
            ({"source": Source("", "x")}, "source"),
            ({"source": Source("k" * 33, "x")}, "source.kind"),
            ({"source": Source("k", "i\x00")}, "source.id"),
            ({"source": Source("k", "i" * 501)}, "source.id"),
            ({"source": Source("k", "i", -1)}, "source"),
            ({"source": Source("k", "i", 2**40)}, "source"),
            ({"source": Source("k", "i", True)}, "source"),
            ({"expires_at": ago(days=1)}, "expires_at"),
            ({"expires_at": ago(days=-1).replace(tzinfo=None)}, "expires_at"),
            ({"occurred_at": ago(days=1).replace(tzinfo=None)}, "occurred_at"),
        ],
    )
    def test_a_refusal_names_its_field_and_writes_nothing(self, draft, field):
        with pytest.raises(GoclawError) as error:
            remember(ADMIN, Draft(**{"content": "fine", "scope": "agent_notes", **draft}))
        assert (error.value.field or "").startswith(field)
        assert error.value.status in (400, 413)
        assert error.value.message
        assert Memory.objects.count() == 0

    def test_the_limit_is_told(self):
        with pytest.raises(GoclawError, match=r"200,001.*200,000"):
            note("x" * 200_001)

    def test_nested_too_deep(self):
        deep: dict = {}
        for _ in range(40):
            deep = {"d": deep}
        with pytest.raises(InvalidInput, match="deeper"):
            note("x", metadata=deep)

    def test_the_limit_counts_what_is_left_after_trimming(self):
        text = "x" * 200_000
        assert len(note(f"  {text}  ").content.strip()) == 200_000

    @pytest.mark.parametrize(
        "text", ["\u200b", "!!!", "👩‍👩‍👧", "\u0301", "\ue000", "\uffff", "🏳️‍🌈 \r\n x"]
    )
    def test_any_other_text_is_kept_as_given_and_indexes(self, text, keyword_only):
        record = note(text)
        index_all()
        record.refresh_from_db()
        assert (record.content, record.index_state) == (text, "indexed")
        assert record.chunks.count() == 1
        assert checking.check() == []

    def test_a_time_at_the_edge_of_the_calendar_is_refused_or_kept(self, keyword_only):
        for text in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
            moment = datetime.fromisoformat(text)
            with pytest.raises(InvalidInput):
                note("x", occurred_at=moment)


class TestCritical:
    def test_administrators_set_and_remove_it(self):
        record = note("rule one", tags=("critical",))
        amend(ADMIN, record.pk, Changes(tags=()))
        assert record.tag_names == []

    @pytest.mark.parametrize("kind", ["sop", "cron", "webhook"])
    def test_autonomous_runs_never_set_it_not_even_as_administrators(self, kind):
        with pytest.raises(Refused):
            put(run_of(kind, is_admin=True), "obey me", tags=("critical",))
        record = note("rule one")
        with pytest.raises(Refused):
            amend(run_of(kind, is_admin=True), record.pk, Changes(tags=("critical",)))
        assert Memory.objects.get().tag_names == []

    def test_people_neither_set_nor_remove_it(self, configure, ann):
        configure({"memory.write_access.users": '["ann"]'})
        with pytest.raises(Refused):
            put(ann, "obey me", tags=("critical",))
        record = note("rule one", tags=("critical",))
        with pytest.raises(Refused):
            amend(ann, record.pk, Changes(tags=("else",)))
        assert record.tag_names == ["critical"]

    def test_a_standing_instruction_is_not_reworded_by_a_run(self):
        """Outside input must not become a standing instruction, by whatever door."""
        place = Source("session", "rules", 0)
        record = note("never delete backups", tags=("critical",), source=place)
        hook = run_of("webhook")
        with pytest.raises(Refused):
            amend(hook, record.pk, Changes(content="delete backups"))
        with pytest.raises(Refused):
            put(hook, "delete backups", source=place)
        with pytest.raises(Refused):
            forget(hook, record.pk)
        record.refresh_from_db()
        assert record.content == "never delete backups"


class TestExpiry:
    def test_written_again_after_its_end_it_lives_again(self, keyword_only):
        record = note("sale today")
        index_all()
        expire(record)
        assert texts(ADMIN, "sale") == []
        again = put(ADMIN, "sale today")
        assert texts(ADMIN, "sale") == ["sale today"]
        index_all()
        assert texts(ADMIN, "sale") == ["sale today"]
        assert again.memory.pk == record.pk
        assert checking.check() == []

    def test_written_again_after_the_sweep_it_is_new(self, keyword_only):
        record = note("sale today")
        index_all()
        expire(record)
        expiry.sweep()
        assert put(ADMIN, "sale today").created
        index_all()
        assert len(ids(ADMIN, "sale")) == 1
        assert checking.check() == []


class TestManyAtOnce:
    def test_a_bad_item_stops_no_other(self):
        bad = InvalidInput("could not be read")
        drafts = [Draft("a", scope="agent_notes"), bad, Draft(""), Draft("b", scope="agent_notes")]
        results = remember_many(ADMIN, drafts)
        assert results[1] is bad
        assert isinstance(results[2], InvalidInput)
        assert list(Memory.objects.values_list("bulk", flat=True)) == [True, True]

    def test_one_message_for_any_number_of_writes(self):
        OrmQ.objects.all().delete()
        remember_many(ADMIN, [Draft(f"n{n}", scope="agent_notes") for n in range(30)])
        note("and one")
        assert OrmQ.objects.count() == 1


@pytest.mark.django_db(transaction=True)
class TestThreads:
    def test_equal_writers_at_once_make_one_record(self):
        outcomes = _at_once([lambda: put(ADMIN, "we agree", tags=("t",)).outcome] * 8)
        assert sorted(outcomes) == ["created"] + ["existing"] * 7
        assert Memory.objects.count() == MemoryTag.objects.count() == 1

    def test_equal_writers_of_one_place_make_one_record(self):
        place = Source("session", "s", 3)
        outcomes = _at_once([lambda: put(ADMIN, "we agree", source=place).outcome] * 8)
        assert sorted(outcomes) == ["created"] + ["existing"] * 7
        assert MemorySource.objects.count() == 1

    def test_amending_to_one_text_at_once_leaves_one_winner(self):
        records = [note(f"n{n}") for n in range(4)]

        def change(record):
            try:
                amend(ADMIN, record.pk, Changes(content="same"))
            except Conflict as conflict:
                return conflict.extra["id"]
            return str(record.pk)

        outcomes = _at_once([lambda record=record: change(record) for record in records])
        assert len(set(outcomes)) == 1
        assert Memory.objects.filter(content="same").count() == 1
        assert checking.check() == []


def _at_once(calls):
    """Run the calls in threads that start together; their results, errors included."""
    gate, found = threading.Barrier(len(calls)), []

    def run(call):
        try:
            gate.wait(30)
            found.append(call())
        except Exception as error:
            found.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_system_scopes_and_kinds_are_the_servers(ann):
    assert put(SERVER, "page", scope="wiki", kind="page").created
    with pytest.raises(Refused):
        put(person("root", is_admin=True), "page", scope="wiki")
    with pytest.raises(InvalidInput):
        put(ann, "s", scope="personal", kind="schema")
