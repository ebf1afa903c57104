"""Identities: exact, one person each, confirmed, linked and merged with all that hangs on them."""

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents import identities, people
from agents.contexts import Speaker
from agents.models import Identity
from agents.principals import for_browser
from goclaw_site.errors import Conflict, InvalidInput, NotFound, Refused
from memory import checking, queries
from memory.access import Principal, access_token
from memory.drafts import Changes, Draft, Source
from memory.models import (
    AuditEvent,
    Memory,
    MemoryChange,
    MemoryChunk,
    MemoryRevision,
    MemorySource,
)
from memory.write import amend, remember, retire
from tests.agents.speaking import ANN, Gateway, tags_of
from tests.api.callers import caller, gateway, index_all, user
from tests.memory import keywordrows

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Principal:
    return for_browser(user("boss", is_superuser=True))


def known(channel: str = "discord", external_id: str = "1001", name: str = "Ann") -> Identity:
    found = identities.resolve(Speaker(channel, external_id, name))
    assert found is not None
    return found


def chat_of(identity: Identity) -> Principal:
    return Principal(person=identity.person_id, name=identity.person.username, gateway=True)


def test_an_unknown_identity_becomes_a_person_without_login():
    identity = known()
    person = identity.person
    assert not person.has_usable_password()
    assert (person.is_staff, person.is_superuser, person.groups.count()) == (False, False, 0)
    assert person.first_name == "Ann"
    assert not identity.confirmed
    assert known() == identity
    assert User.objects.count() == 1


TRICKY = [
    ("discord", "Ann"),
    ("discord", "ann"),
    ("Discord", "ann"),
    ("discord", "ann "),
    ("discord", " ann"),
    ("discorda", "nn"),
    ("discord", "a\u0301nn"),
    ("discord", "\u00e1nn"),
    (
        "discord",
        "29:1bSnHZ7Js2STWrgk6ScEErLk1Lp2zQuD5H2qQ960rtvstKp8tKLl-3r8b6DoW0QxZimuTxk_kupZ1DBMpvIQQUAZL-PNj0EORDvRZXy8kvWk",
    ),
    ("discord", "a/b?c#d%20e&f=g"),
    ("discord", "'; DROP TABLE identities; --"),
    ("discord", '{"json": "id"}'),
    ("discord", "名前🦀"),
    ("discord", "\u202eevil"),
    ("discord", "a\nb"),
    ("discord", "ſ"),
    ("discord", "s"),
    ("discord", "ß"),
    ("discord", "ss"),
    ('["discord", "ann"]', "x"),
]


def test_ids_are_compared_exactly_as_given():
    made = {known(*pair).person_id for pair in TRICKY}
    assert len(made) == len(TRICKY)
    assert {known(*pair).person_id for pair in TRICKY} == made
    assert set(Identity.objects.values_list("channel", "external_id")) == set(TRICKY)


texts = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=40
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=st.tuples(texts, texts), second=st.tuples(texts, texts))
def test_two_pairs_are_one_person_only_when_they_are_equal(first, second):
    same = known(*first).person_id == known(*second).person_id
    assert same is (first == second)


def test_nobody_chooses_the_username_of_somebody_else(configure):
    """`memory.write_access.users` lists names."""
    user("admin", is_superuser=True)
    names = {known("discord", "admin").person.username, known("admin", "admin").person.username}
    assert not names & {"admin", "discord"}
    assert len(names) == 2


def test_names_follow_the_channel(db):
    known(name="Ann")
    assert known(name="Ann B.").display_name == "Ann B."
    assert known(name="").display_name == "Ann B."
    assert Identity.objects.get().display_name == "Ann B."


def test_confirming_lifts_unverified_and_is_noted(boss):
    gate = Gateway(gateway().key, on_behalf_of=ANN)
    memory_id = gate.wrote("ann likes tea", scope="personal")
    identity = Identity.objects.get()
    assert tags_of(gate, memory_id) == ["unverified"]
    identities.confirm(boss, identity.pk)
    assert tags_of(gate, memory_id) == []
    assert tags_of(gate, gate.wrote("ann likes milk", scope="personal")) == []
    event = AuditEvent.objects.get(action="identity.confirm")
    assert (event.actor, event.subject) == ("boss", f"identity:{identity.pk}")
    assert event.facts == {"person": identity.person_id, "lifted": 1}


def test_a_doubted_session_opens_no_confirmed_persons_memory(boss):
    gate = Gateway(gateway().key, on_behalf_of=ANN)
    gate.wrote("ann likes tea", scope="personal")
    identities.confirm(boss, Identity.objects.get().pk)
    doubted = gate.saying(confirmed=False)
    assert doubted.listed() == []
    assert doubted.found("tea") == []
    assert len(gate.listed()) == 1


def test_linking_joins_the_channels_person_to_the_one_with_a_login(boss):
    gate = Gateway(gateway().key, on_behalf_of=ANN)
    memory_id = gate.wrote("ann likes tea", scope="personal")
    ann = caller("ann")
    assert ann.user is not None
    before = Identity.objects.get().person_id
    identities.link(boss, Identity.objects.get().pk, ann.user)
    assert ann.listed() == gate.listed() == [memory_id]
    assert tags_of(ann, memory_id) == []
    assert not User.objects.filter(pk=before).exists()
    assert Identity.objects.get().confirmed


def test_rights_come_with_a_confirmed_identity_alone(boss):
    gate = Gateway(gateway().key, on_behalf_of=ANN)
    assert gate.write("x", scope="agent_notes").status_code == 403
    admin = user("ann", groups=("admin",))
    identities.link(boss, known().pk, admin)
    assert gate.write("x", scope="agent_notes").status_code == 201
    assert gate.saying(confirmed=False).write("y", scope="agent_notes").status_code == 403
    assert gate.saying(confirmed=True).write("y", scope="agent_notes").status_code == 201
    Identity.objects.update(confirmed_at=None)
    assert gate.saying(confirmed=True).write("z", scope="agent_notes").status_code == 403


def test_a_listed_name_counts_for_a_known_person_alone(boss, configure):
    configure({"memory.write_access.users": '["ann"]'})
    gate = Gateway(gateway().key, on_behalf_of=ANN)
    identities.link(boss, known().pk, user("ann"))
    assert gate.write("x", scope="global").status_code == 201
    assert gate.saying(confirmed=False).write("y", scope="global").status_code == 403
    Identity.objects.update(confirmed_at=None)
    assert gate.saying(confirmed=True).write("z", scope="global").status_code == 403


def test_linking_a_second_identity_of_a_person_moves_it_alone(boss):
    first, second = known("discord", "1"), known("teams", "1")
    identities.merge(boss, second.person, first.person)
    assert User.objects.exclude(username="boss").count() == 1
    remember(chat_of(known("discord", "1")), Draft("of both", scope="personal"))
    other = user("bob")
    identities.link(boss, second.pk, other)
    assert Memory.objects.get().owner_id == first.person_id
    assert known("teams", "1").person_id == other.pk
    assert known("discord", "1").person_id == first.person_id


def test_merging_moves_everything_and_leaves_nothing(boss):
    ann, bob = user("ann"), known("teams", "b").person
    anns, bobs = Principal(person=ann.pk, name="ann"), Principal(person=bob.pk, name="bob")
    place = Source("session", "talk", 1)
    same = Draft("the tea is green", kind="fact", scope="personal", tags=("x",), source=place)
    twin = remember(
        anns, Draft("the tea is green", kind="fact", scope="personal", tags=("y",), source=place)
    )
    gone = remember(bobs, same).memory.pk
    moved = remember(bobs, Draft("the milk is cold", source=Source("session", "talk", 2))).memory
    old = remember(bobs, Draft("the milk is warm")).memory
    retire(old, moved, via="manual", reason="test", actor="test")
    amend(bobs, moved.pk, Changes(content="the milk is cold now"))
    index_all()
    before, after = access_token("personal", bob.pk), access_token("personal", ann.pk)
    result = identities.merge(boss, bob, ann)
    assert (result.records, result.united) == (2, 1)
    assert not Memory.objects.filter(pk=gone).exists()
    assert {row.pk for row in queries.records(anns)} == {twin.memory.pk, moved.pk}
    assert sorted(Memory.objects.get(pk=twin.memory.pk).tag_names) == ["x", "y"]
    for model in (MemoryChunk, MemorySource, MemoryRevision):
        held = set(model.objects.values_list("access", flat=True))
        assert held <= {after, "h" + after, ""}, (model, before)
    assert queries.decisions(anns).count() == 2
    assert not User.objects.filter(username=bob.username).exists()
    index_all()
    assert not checking.check()
    assert remember(anns, Draft("the milk is cold now")).outcome == "existing"
    event = AuditEvent.objects.get(action="person.merge")
    assert event.facts == {"into": ann.pk, "moved": 2, "united": 1, "identities": 1}


def test_after_a_merge_search_finds_it_by_the_new_owner(boss):
    bob, ann = known("teams", "b"), caller("ann")
    assert ann.user is not None
    for number in range(3):
        source = Source("session", "talk", number)
        remember(chat_of(bob), Draft(f"zebra number {number}", source=source))
    index_all()
    assert keywordrows.holding("zebra") == 3
    identities.merge(boss, bob.person, ann.user)
    assert len(ann.found("zebra")) == 3
    assert not MemoryChunk.objects.exclude(access=access_token("personal", ann.user.pk)).exists()


def test_vectors_follow_a_merge(boss):
    bob, ann = known("teams", "b"), user("ann")
    remember(chat_of(bob), Draft("zebra"))
    index_all()
    MemoryChunk.objects.update(embedding_model="bag")
    MemoryChange.objects.all().delete()
    identities.merge(boss, bob.person, ann)
    assert list(MemoryChange.objects.values_list("operation", flat=True)) == ["put"]


def test_a_merge_during_indexing_leaves_no_old_token(boss):
    bob, ann = known("teams", "b"), user("ann")
    written = remember(chat_of(bob), Draft("zebra")).memory
    identities.merge(boss, bob.person, ann)
    assert Memory.objects.get(pk=written.pk).version == written.version + 1


def test_merging_is_for_administrators_and_has_a_direction(boss):
    ann, bob = user("ann"), user("bob")
    plain = for_browser(ann)
    for act in (
        lambda: identities.merge(plain, bob, ann),
        lambda: identities.link(plain, known().pk, ann),
        lambda: identities.confirm(plain, known().pk),
    ):
        with pytest.raises(Refused):
            act()
    with pytest.raises(InvalidInput):
        identities.merge(boss, ann, ann)
    root = User.objects.get(username="boss")
    with pytest.raises(InvalidInput):
        identities.merge(boss, root, ann)
    other_root = user("root2", is_superuser=True)
    with pytest.raises(Conflict):
        identities.merge(boss, other_root, ann)
    with pytest.raises(NotFound):
        identities.confirm(boss, 10_000)


def test_roles_and_keys_do_not_move(boss):
    source, target = caller("src", groups=("admin",)), user("dst")
    assert source.user is not None
    identities.merge(boss, source.user, target)
    assert not target.groups.exists()
    assert source.get("/api/memory/").status_code == 401


def test_a_deactivated_person_is_refused_at_the_gateway(boss):
    gate = Gateway(gateway().key, on_behalf_of=ANN)
    gate.wrote("x", scope="personal")
    people.set_active(boss, Identity.objects.get().person, False)
    assert gate.get("/api/memory/").status_code == 403
    assert gate.write("y", scope="personal").status_code == 403
