"""A canary in a neighbour that the caller may not read never moves a rank."""

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import expiry
from memory.access import Principal
from memory.drafts import Changes, Draft, Source
from memory.models import Memory
from memory.write import amend, erase, forget, remember, retire
from tests.memory.making import ADMIN, BagProvider, ask, index_all, serve

pytestmark = pytest.mark.django_db

CANARY = "zanzibar"
WORDS = ("amber", "basalt", "cedar", "delta")
SCOPES = ("personal", "agent_notes", "global")
FATES = ("live", "deleted", "retired", "expired", "amended")

#: One turn of the talk: its scope, whose it is, its words, what becomes of it, and whether the
#: canary stood in it. Only what is mine or shared, and live, may ever carry weight.
turns = st.lists(
    st.tuples(
        st.sampled_from(SCOPES),
        st.booleans(),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
        st.sampled_from(FATES),
    ),
    min_size=2,
    max_size=7,
)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(turns=turns, words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True))
def test_a_canary_that_is_not_theirs_to_read_moves_no_rank(ann, bob, turns, words):
    serve(BagProvider())
    query = " ".join([CANARY, *words])
    _empty()
    _talk(ann, bob, turns, with_canaries=True)
    seen = _ranks(ann, query)
    _empty()
    _talk(ann, bob, turns, with_canaries=False)
    assert seen == _ranks(ann, query)


def test_the_property_can_fail(ann, bob):
    """A canary that is hers to read does move ranks: the property above is not an empty one."""
    serve(BagProvider())
    ranks = []
    for canary in (CANARY, ""):
        _empty()
        _say(ann, "personal", 0, f"amber first {canary}")
        _say(ann, "personal", 1, "amber second")
        index_all()
        ranks.append(_ranks(ann, f"{CANARY} amber"))
    assert ranks[0] != ranks[1]


def _talk(ann: Principal, bob: Principal, turns: list, *, with_canaries: bool) -> None:
    """Play the talk; without canaries, what ann may not read was never said."""
    for position, (scope, mine, words, fate) in enumerate(turns):
        hers = mine or scope != "personal"
        if not with_canaries and not (hers and fate in ("live", "amended")):
            continue
        text = f"{' '.join(words)} turn{position}"
        canary = with_canaries and not (hers and fate == "live")
        record = _say(ann if mine else bob, scope, position, f"{text} {CANARY}" if canary else text)
        _befall(record, fate, text, ann if mine else bob)
    index_all()


def _say(who: Principal, scope: str, position: int, text: str) -> Memory:
    writer = who if scope == "personal" else ADMIN
    draft = Draft(text, scope=scope, source=Source("talk", "s", position))
    record = remember(writer, draft).memory
    index_all()
    return record


def _befall(record: Memory, fate: str, text: str, owner: Principal) -> None:
    writer = owner if record.scope == "personal" else ADMIN
    if fate == "deleted":
        forget(writer, record.pk)
    elif fate == "retired":
        retire(record, None, via="manual", reason="", actor="test")
    elif fate == "amended":
        amend(writer, record.pk, Changes(content=f"{text} now"))
    elif fate == "expired":
        past = timezone.now() - timedelta(minutes=1)
        Memory.objects.filter(pk=record.pk).update(expires_at=past)
        expiry.sweep()


def _ranks(who: Principal, query: str) -> list[tuple[str, float]]:
    hits = ask(who, query, limit=20, min_score=0.0).hits
    return sorted((hit.text, round(hit.score, 4)) for hit in hits)


def _empty() -> None:
    for record in Memory.objects.all():
        erase([record], "test")
