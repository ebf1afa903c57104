"""Which model serves what: the configuration, the page, Gemini, the agent's own."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

from goclaw_site.config import state_dir, vault
from goclaw_site.errors import ConfigError, ProviderError, Refused
from memory import access, audit
from memory.models import AuditEvent, EngineState, ModelCall
from memory.providers import chat, trials
from memory.providers.chat import choosing, circuit, saved
from memory.providers.chat.choices import KINDS, Choice
from tests.contract.chatting import model_serving, status
from tests.memory.making import ADMIN, GATEWAY

pytestmark = pytest.mark.django_db

KEY = "sk-canary-1029384756abcdef"
OURS = Choice("openai", "small", "http://127.0.0.1:9/v1", KEY)


@pytest.fixture(autouse=True)
def _own_vault(tmp_path, monkeypatch, no_model):
    """A state directory of its own, and nothing made before."""
    monkeypatch.setenv("GOCLAW_STATE_DIR", str(tmp_path))
    chat.reset()
    yield
    chat.reset()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("memory.providers.patience.pause", lambda seconds: None)
    with model_serving() as served:
        yield served


def agent(**more):
    return {"ai.agent.provider": "anthropic", "ai.agent.model": "big", **more}


def test_without_any_choice_there_is_none():
    assert chat.background() is chat.agent_model() is None
    assert "page Models" in chat.why_none()


@pytest.mark.parametrize("kind", KINDS)
def test_every_provider_that_can_be_named_can_be_made(configure, kind):
    configure({"ai.agent.provider": kind, "ai.agent.model": "m", "ai.agent.api_key": KEY})
    provider = chat.agent_model()
    assert provider is not None
    assert (provider.kind, provider.model) == (kind, "m")
    assert KEY not in repr(choosing.chosen("agent"))
    assert chat.agent_model() is provider


def test_background_is_the_agents_where_nothing_else_is_set(configure):
    configure(agent())
    assert choosing.chosen("background").origin == "agent"
    assert chat.background() is chat.agent_model()


def test_gemini_serves_the_background_where_it_has_a_key(configure):
    configure(agent(**{"ai.gemini.api_key": KEY}))
    background = chat.background()
    assert background is not None
    assert background.host == "generativelanguage.googleapis.com"
    assert chat.agent_model().kind == "anthropic"  # type: ignore[union-attr]


def test_its_own_setting_comes_before_gemini(configure):
    configure(
        agent(
            **{
                "ai.gemini.api_key": KEY,
                "ai.background.provider": "ollama",
                "ai.background.model": "q",
            }
        )
    )
    background = chat.background()
    assert background is not None
    assert background.host == "127.0.0.1:11434"


def test_asking_what_serves_is_one_query(django_assert_num_queries):
    saved.save(ADMIN, "agent", OURS)
    with django_assert_num_queries(1):
        assert chat.background() is not None


def test_none_turns_a_role_off(configure):
    configure(agent(**{"ai.background.provider": "none"}))
    saved.save(ADMIN, "background", OURS)
    assert chat.background() is None
    assert "ai.background.provider" in chat.why_none()
    assert chat.agent_model() is not None


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"ai.agent.provider": "anthropic"}, "model is needed"),
        ({"ai.agent.model": "big"}, "provider is needed"),
        ({"ai.agent.provider": "nobody", "ai.agent.model": "m"}, "ai.agent.provider"),
        (agent(**{"ai.agent.base_url": "ftp://x"}), "base_url"),
        (agent(**{"ai.agent.base_url": "http://me:pw@x"}), "base_url"),
        (agent(**{"ai.agent.timeout_seconds": "0"}), "timeout_seconds"),
    ],
)
def test_half_a_setting_is_refused_at_the_start(configure, keys, words):
    with pytest.raises(ConfigError, match=words):
        configure(keys)


def test_a_key_from_the_vault(configure):
    vault().set("MY_KEY", KEY)
    configure(agent(**{"ai.agent.api_key": "${secret:MY_KEY}"}))
    found = choosing.chosen("agent")
    assert found.choice is not None
    assert found.choice.key == KEY
    assert KEY not in repr(found)


class TestOnThePage:
    def test_it_serves_from_the_next_use_on(self):
        saved.save(ADMIN, "agent", OURS)
        one, other = chat.agent_model(), chat.background()
        assert one is other is not None
        assert (one.model, one.host) == ("small", "127.0.0.1:9")
        saved.save(ADMIN, "agent", Choice("openai", "large", OURS.base_url, KEY))
        assert chat.agent_model().model == "large"  # type: ignore[union-attr]

    def test_the_key_is_in_the_vault_alone(self):
        saved.save(ADMIN, "agent", OURS)
        assert choosing.chosen("agent").choice == OURS
        assert KEY not in json.dumps(list(EngineState.objects.values("key", "value")))
        assert KEY not in str(list(AuditEvent.objects.values()))
        assert [entry.name for entry in vault().names()] == [saved.read("agent").secret]  # type: ignore[union-attr]
        for file in state_dir().rglob("*"):
            assert not file.is_file() or KEY.encode() not in file.read_bytes()

    def test_a_new_choice_takes_the_old_key_out(self):
        saved.save(ADMIN, "agent", OURS)
        saved.save(ADMIN, "agent", Choice("ollama", "q", "http://127.0.0.1:11434/v1"))
        assert vault().names() == []
        assert choosing.chosen("agent").choice.key == ""  # type: ignore[union-attr]

    def test_clearing_leaves_nothing(self):
        saved.save(ADMIN, "agent", OURS)
        assert saved.clear(ADMIN, "agent")
        assert not saved.clear(ADMIN, "agent")
        assert (chat.agent_model(), vault().names()) == (None, [])
        actions = [event.action for event in audit.events(ADMIN)]
        assert actions == ["model.clear", "model.set"]

    def test_the_configuration_comes_first(self, configure):
        saved.save(ADMIN, "agent", OURS)
        configure(agent())
        assert choosing.chosen("agent").origin == "configured"
        assert chat.agent_model().model == "big"  # type: ignore[union-attr]

    def test_a_key_that_is_gone_is_told_and_breaks_nothing(self):
        saved.save(ADMIN, "agent", OURS)
        vault().remove(saved.read("agent").secret)  # type: ignore[union-attr]
        assert chat.agent_model() is chat.background() is None
        assert "not in the vault" in chat.why_none()

    def test_a_vault_that_cannot_be_opened_is_told_and_breaks_nothing(self):
        saved.save(ADMIN, "agent", OURS)
        vault().file.write_text("{}")
        saved._opened.clear()
        assert chat.agent_model() is None
        assert chat.why_none("agent")

    @pytest.mark.parametrize("changed", [{"secret": "OTHER"}, {"base_url": "http://evil.test/v1"}])
    def test_a_row_from_elsewhere_sends_no_secret_away(self, changed):
        vault().set("OTHER", f"{OURS.base_url} of-somebody-else")
        saved.save(ADMIN, "agent", OURS)
        row = EngineState.read("chat_model_agent")
        EngineState.record("chat_model_agent", {**row, **changed})
        assert chat.agent_model() is None
        assert "another address" in chat.why_none("agent")
        saved.clear(ADMIN, "agent")
        assert "OTHER" in [entry.name for entry in vault().names()]

    @pytest.mark.parametrize(
        "value", [5, [], {}, {"kind": "gone"}, {"kind": []}, {"kind": "openai"}, "text"]
    )
    def test_a_row_of_another_version_is_no_choice(self, value):
        EngineState.record("chat_model_agent", value)
        assert chat.agent_model() is None

    @pytest.mark.parametrize("who", [GATEWAY, access.Principal(person=1, name="ann")])
    def test_only_administrators_choose(self, who):
        with pytest.raises(Refused):
            saved.save(who, "agent", OURS)
        with pytest.raises(Refused):
            saved.clear(who, "agent")
        assert (saved.read("agent"), vault().names()) == (None, [])


@pytest.mark.slow
def test_looking_at_the_models_loads_no_sdk(tmp_path):
    """They take seconds and tens of megabytes, which a process that calls no model must not pay."""
    script = (
        "import sys, django; django.setup()\n"
        "from django.core.management import call_command\n"
        "call_command('migrate', verbosity=0)\n"
        "from memory import readiness\n"
        "from memory.providers import chat\n"
        "assert chat.background() and chat.agent_model()\n"
        "from memory.pages import modelwords\n"
        "assert readiness.report()['models'] == {'agent': 'ok', 'background': 'ok'}\n"
        "assert modelwords.overview()['parts'][0].served == 'big'\n"
        "print({'anthropic', 'openai'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={
            **os.environ,
            "GOCLAW_STATE_DIR": str(tmp_path / "other"),
            "DJANGO_SETTINGS_MODULE": "goclaw_site.settings",
            "GOCLAW_MEMORY__SEARCH__PROVIDER": "none",
            "GOCLAW_AI__AGENT__PROVIDER": "anthropic",
            "GOCLAW_AI__AGENT__MODEL": "big",
        },
        cwd=settings.ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.stdout.strip() == "set()", done.stderr


class TestTrials:
    def test_what_came_back(self, server):
        saved.save(ADMIN, "agent", Choice("openai", "small", f"{server.address}/v1", KEY))
        server.script(["  ready\x00 \n"])
        trial = trials.role("agent")
        assert (trial.ok, trial.said, trial.model) == (True, "ready", "small")
        assert ModelCall.objects.get().purpose == "trial"

    def test_what_went_wrong(self, server):
        saved.save(ADMIN, "agent", Choice("openai", "small", f"{server.address}/v1", KEY))
        server.fault = status(401)
        trial = trials.role("agent")
        assert (trial.ok, trial.kind, trial.configured) == (False, "key", True)
        assert "does not accept the key" in trial.words
        assert KEY not in str(trial)

    def test_a_success_closes_the_circuit_and_a_failure_does_not_open_it(self, server):
        choice = Choice("openai", "small", f"{server.address}/v1", KEY)
        provider = choosing.make(choice)
        for _ in range(circuit.THRESHOLD):
            circuit.failed(provider, chat.CallFailed("it", "slow", "is slow"))
        assert circuit.state(provider).open
        assert trials.model(provider, "agent").ok
        assert not circuit.state(provider).open
        server.fault = status(401)
        for _ in range(circuit.THRESHOLD):
            trials.model(choosing.fresh(choice), "agent")
        assert not circuit.state(provider).open

    def test_a_role_without_a_model_is_off_and_no_failure(self, configure):
        configure({"memory.search.provider": "none"})
        found = trials.everything()
        assert [trial.part for trial in found] == ["embeddings", "agent", "background"]
        assert {(trial.ok, trial.configured) for trial in found} == {(True, False)}
        assert all(trial.words for trial in found)

    def test_a_lost_key_is_a_failure(self):
        saved.save(ADMIN, "agent", OURS)
        vault().remove(saved.read("agent").secret)  # type: ignore[union-attr]
        assert not trials.role("agent").ok

    def test_embeddings(self, configure, bag):
        configure({"memory.search.provider": "openai"})
        trial = trials.embeddings()
        assert (trial.ok, trial.model, trial.said) == (True, "bag", "48 dimensions")
        bag.before = _fails
        trial = trials.embeddings()
        assert (trial.ok, trial.words) == (False, "It is down.")


def _fails(texts):
    raise ProviderError("It is down.")


def test_providers_kept_are_few(configure):
    for number in range(20):
        choosing.make(Choice("scripted", str(number), "http://127.0.0.1:9"))
    assert len(choosing._made) <= 4
