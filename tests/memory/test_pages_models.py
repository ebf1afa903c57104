"""The page about models: what is set, tried, kept and refused, in words and without the key."""

import json
import logging
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from goclaw_site.config import vault
from memory import jobs
from memory.models import AuditEvent, EngineState, ModelCall
from memory.pages import modelwords
from memory.providers import chat
from memory.providers.chat import choosing, circuit, features, saved
from memory.providers.chat.choices import Choice
from memory.providers.failures import KINDS as FAILURES
from tests.contract import chatting
from tests.contract.chatting import model_serving, raw, status
from tests.memory.making import ADMIN
from tests.models import failure

pytestmark = pytest.mark.django_db

KEY = "sk-canary-aabbccddeeff00112233"


@pytest.fixture(autouse=True)
def _own_vault(tmp_path, monkeypatch, keyword_only, no_model):
    monkeypatch.setenv("GOCLAW_STATE_DIR", str(tmp_path))
    monkeypatch.setattr("memory.providers.patience.pause", lambda seconds: None)
    chat.reset()
    yield
    chat.reset()


@pytest.fixture
def server():
    with model_serving() as served:
        yield served


@pytest.fixture
def boss() -> Client:
    return _client("root", is_superuser=True, is_staff=True)


def _client(name: str, **fields) -> Client:
    client = Client()
    client.force_login(User.objects.create_user(name, **fields))
    return client


def _typed(server, **more) -> dict[str, str]:
    typed = {"kind": "openai", "model": "small", "base_url": f"{server.address}/v1", "key": KEY}
    return {**typed, "act": "save", **more}


def page(client: Client, path: str = "/models/", code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def post(client: Client, data, role="agent", code=200) -> str:
    answer = client.post(f"/models/{role}/", data)
    assert answer.status_code == code, answer.content.decode()
    assert KEY not in answer.content.decode()
    return answer.content.decode()


def _chips(shown: str) -> list[str]:
    part = shown.partition("What needs a chat model")[2].partition("Tokens used")[0]
    return re.findall(r"</svg>([a-z ]+)</span>", part)


def test_what_is_off_and_what_works_without_a_model(boss, monkeypatch, scripted_model, no_model):
    monkeypatch.setattr(jobs, "STEPS", {"belief_revision": lambda job, deadline: True})
    shown = page(boss)
    later = ["not yet in this version"] * (len(features.FEATURES) - 1)
    assert _chips(shown) == ["off", *later]
    scripted_model([])
    assert _chips(page(boss)) == ["on", *later]
    assert "No chat model is set" in shown
    assert "Judging replacements" in shown
    assert "rules still retire what plainly contradicts" in shown


def test_it_is_for_administrators(client):
    ann = _client("ann")
    for path in ("/models/", "/models/agent/", "/models/agent/clear/"):
        assert ann.get(path).status_code == 403
        assert client.get(path).status_code == 302
    for path in ("/models/agent/", "/models/agent/clear/", "/models/agent/try/"):
        assert ann.post(path, {"kind": "ollama", "model": "x"}).status_code == 403
    assert saved.read("agent") is None


def test_a_model_is_tried_and_kept(boss, server):
    post(boss, _typed(server), code=303)
    kept = choosing.chosen("agent").choice
    assert kept == Choice("openai", "small", f"{server.address}/v1", KEY)
    assert len(server.requests) == 1
    shown = page(boss)
    assert "small serves from the next call on" in shown
    assert "Chosen here by root" in shown
    assert KEY not in shown + page(boss, "/models/agent/")
    assert KEY not in json.dumps(list(EngineState.objects.values("key", "value")))
    assert KEY not in str(list(AuditEvent.objects.values()))


def test_only_trying_keeps_nothing_and_says_what_came_back(boss, server):
    server.script(["<b>ready</b>"])
    shown = post(boss, _typed(server, act="try"))
    assert "small answers." in shown
    assert "&lt;b&gt;ready&lt;/b&gt;" in shown
    assert 'value="small"' in shown
    assert (saved.read("agent"), vault().names()) == (None, [])


FAULTS = {
    "wrong key": (status(401), "key", "does not accept the key"),
    "unknown model": (status(404), "model", "does not know this model"),
    "wrong path": (chatting.nowhere, "base_url", "not that of the API"),
    "no API": (raw(b"<html>hello</html>", "text/html"), "base_url", "nonsense"),
    "elsewhere": (status(302, headers={"Location": "/x"}), "base_url", "redirects"),
    "hangs up": (chatting.hangs_up, "base_url", "cannot be reached"),
    "busy": (status(429), "form", "too often"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_failure_stands_at_its_field_and_keeps_what_was_typed(boss, server, name, caplog):
    caplog.set_level(logging.DEBUG)
    server.fault, field, words = FAULTS[name]
    shown = post(boss, _typed(server), code=422)
    assert words in shown
    if field != "form":
        assert f'id="{field}-problem"' in shown
    assert 'value="small"' in shown
    assert f'value="{server.address}/v1"' in shown
    assert "Save without trying" in shown
    assert KEY not in caplog.text + page(boss)
    assert (saved.read("agent"), vault().names()) == (None, [])


def test_nobody_listens(boss, server):
    shown = post(boss, _typed(server, base_url="http://127.0.0.1:9/v1"), code=422)
    assert "cannot be reached" in shown
    assert 'id="base_url-problem"' in shown


def test_it_can_be_kept_although_the_trial_failed(boss, server):
    server.fault = status(503)
    post(boss, _typed(server, act="keep"), code=303)
    assert choosing.chosen("agent").choice is not None
    assert server.requests == []


BAD = [
    ({"kind": ""}, "kind"),
    ({"kind": "nobody"}, "kind"),
    ({"model": ""}, "model"),
    ({"model": "x" * 121}, "model"),
    ({"model": "a\nb"}, "model"),
    ({"base_url": "ftp://127.0.0.1"}, "base_url"),
    ({"base_url": "127.0.0.1:8000"}, "base_url"),
    ({"base_url": "http://"}, "base_url"),
    ({"base_url": "http://[::1"}, "base_url"),
    ({"base_url": "http://127.0.0.1:99999"}, "base_url"),
    ({"base_url": "http://127.0.0.1:x"}, "base_url"),
    ({"base_url": "http://me:pw@127.0.0.1"}, "base_url"),
    ({"base_url": "http://127.0.0.1/?key=1"}, "base_url"),
    ({"base_url": "http://127.0.0.1/#x"}, "base_url"),
    ({"base_url": "http://127.0.0.1/ x"}, "base_url"),
    ({"base_url": "http://127.0.0.1/\r\nHost: x"}, "base_url"),
    ({"base_url": "http://169.254.169.254/v1"}, "base_url"),
    ({"base_url": "http://[fe80::1]/v1"}, "base_url"),
    ({"base_url": "http://" + "x" * 400}, "base_url"),
    ({"key": "schlüssel"}, "key"),
    ({"key": "two words"}, "key"),
    ({"key": "a\nb"}, "key"),
    ({"key": "x" * 401}, "key"),
    ({"kind": "anthropic", "key": ""}, "key"),
    ({"kind": "gemini", "key": ""}, "key"),
]


@pytest.mark.parametrize(("wrong", "field"), BAD, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("act", ["save", "try", "keep"])
def test_what_cannot_be_is_refused_at_its_field_before_any_call(boss, server, wrong, field, act):
    shown = post(boss, _typed(server, act=act) | wrong, code=422)
    assert f'id="{field}-problem"' in shown
    assert server.requests == []
    assert (saved.read("agent"), vault().names()) == (None, [])


def test_the_kept_key_is_used_again_for_the_same_address_alone(boss, server):
    post(boss, _typed(server), code=303)
    post(boss, _typed(server, model="large", key=""), code=303)
    assert choosing.chosen("agent").choice == Choice("openai", "large", f"{server.address}/v1", KEY)
    elsewhere = server.address.replace("127.0.0.1", "localhost")
    post(boss, _typed(server, base_url=f"{elsewhere}/v1", key=""), code=303)
    assert KEY in server.headers[1]["authorization"]
    assert KEY not in server.headers[2]["authorization"]
    assert choosing.chosen("agent").choice.key == ""  # type: ignore[union-attr]


def test_turning_it_off_asks_first(boss, server):
    post(boss, _typed(server), code=303)
    assert "Turn off" in page(boss, "/models/agent/clear/")
    assert saved.read("agent") is not None
    assert boss.post("/models/agent/clear/").status_code == 303
    assert (saved.read("agent"), vault().names()) == (None, [])
    assert boss.post("/models/agent/clear/").status_code == 303


def test_the_configuration_comes_first_and_the_page_says_so(boss, server, configure):
    configure({"ai.agent.provider": "ollama", "ai.agent.model": "q"})
    assert "Set in the configuration" in page(boss)
    shown = page(boss, "/models/agent/")
    assert "The configuration decides" in shown
    assert "<form" not in shown.partition('id="main"')[2].partition("</main>")[0]
    assert boss.post("/models/agent/", _typed(server)).status_code == 409
    assert boss.post("/models/agent/clear/").status_code == 409
    assert saved.read("agent") is None


def test_an_unknown_role_is_not_found(boss):
    for path in ("/models/nobody/", "/models/nobody/clear/"):
        page(boss, path, 404)
    assert boss.post("/models/nobody/try/").status_code == 404


def test_a_rest_is_shown_and_ended_by_trying(boss, server):
    saved.save(ADMIN, "agent", Choice("openai", "small", f"{server.address}/v1", KEY))
    provider = chat.agent_model()
    assert provider is not None
    for _ in range(circuit.THRESHOLD):
        circuit.failed(provider, failure("busy"))
    shown = page(boss)
    assert "Left alone" in shown
    assert "said that it is asked too often, 3 times in a row" in shown
    server.fault = status(503)
    boss.post("/models/agent/try/")
    assert circuit.state(provider).open
    server.fault = None
    boss.post("/models/agent/try/")
    assert not circuit.state(provider).open
    assert "answered in" in page(boss)


def test_trying_the_embeddings(boss):
    assert boss.post("/models/embeddings/try/").status_code == 303
    assert "memory.search.provider" in page(boss)


def test_use_and_failures_in_words(boss, scripted_model):
    model = scripted_model([*[failure("slow")] * 3, "well"])
    words = [chat.Message(chat.USER, "x")]
    with pytest.raises(chat.CallFailed):
        chat.complete(model, words, purpose="belief_revision")
    chat.complete(model, words, purpose="belief_revision")
    shown = page(boss)
    assert "Judging replacements" in shown
    assert "script did not answer in time" in shown
    assert "110" in shown


def test_every_kind_of_failure_has_words():
    assert set(FAILURES) - {"resting"} == set(modelwords._FAILURE_WORDS)


def test_the_number_of_queries_does_not_grow(boss, django_assert_max_num_queries):
    for number in range(200):
        ModelCall.objects.create(
            purpose=f"p{number % 7}", provider="x", model="m", outcome="failed"
        )
    page(boss)
    with django_assert_max_num_queries(30):
        page(boss)
