"""The admin: no address shows a word of a personal record, and writes go through the engine."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import NoReverseMatch, reverse

from goclaw_site.admin import GoclawAdmin
from memory import write
from memory.access import Principal
from memory.drafts import Changes, Draft, Source
from memory.models import (
    Memory,
    MemoryChunk,
    MemoryEntity,
    MemoryRelation,
    MemoryRevision,
    MemoryTag,
)
from tests.memory.making import index_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("keyword_only")]
VIEWS = ("change", "delete", "history")
#: Every word below is in a personal record or in something made from one.
SECRETS = (
    "zyzzyvapeanut", "zyzzyvaolder", "zyzzyvatag", "zyzzyvadomain", "zyzzyvameta", "zyzzyvasource",
    "zyzzyvaprefix", "zyzzyvareason", "zyzzyvaerror", "zyzzyvaentity", "zyzzyvarelation",
    "zyzzyvaagent", "zyzzyvaalias",
)  # fmt: skip


@pytest.fixture
def root():
    user = User.objects.create_superuser("root", password="x")
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ops(root):
    user = User.objects.get(username="root")
    return Principal(person=user.pk, name="root", is_admin=True)


@pytest.fixture
def personal() -> Memory:
    """A record of ann with a word in everything that can hold one."""
    user = User.objects.create_user("ann")
    ann = Principal(person=user.pk, name="ann")
    draft = Draft(
        "zyzzyvaolder", domain="zyzzyvadomain", tags=("zyzzyvatag",), agent="zyzzyvaagent",
        metadata={"k": "zyzzyvameta"}, source=Source("file", "zyzzyvasource"),
        index_prefix="zyzzyvaprefix",
    )  # fmt: skip
    record = write.remember(ann, draft).memory
    record = write.amend(ann, record.pk, Changes(content="zyzzyvapeanut allergy"))
    index_all()
    other = write.remember(ann, Draft("another zyzzyvapeanut")).memory
    write.retire(other, record, via="judge", reason="zyzzyvareason", actor="ann")
    Memory.objects.filter(pk=record.pk).update(last_error="zyzzyvaerror")
    _relate(record)
    return record


def _relate(record: Memory) -> None:
    known = MemoryEntity.objects.create(
        name="gateway", normalised="gateway", type="host", aliases=["zyzzyvaalias"]
    )
    hidden = MemoryEntity.objects.create(name="zyzzyvaentity", normalised="z", type="host")
    MemoryRelation.objects.create(
        source=known, target=hidden, type="zyzzyvarelation", memory=record
    )
    shared = write.remember(Principal(is_admin=True), Draft("x", scope="agent_notes")).memory
    MemoryRelation.objects.create(source=known, target=known, type="is", memory=shared)


def addresses() -> list[str]:
    """Every address of the admin, with every row of every table."""
    found = ["/admin/"]
    for model in admin.site._registry:
        meta = model._meta
        name = f"admin:{meta.app_label}_{meta.model_name}"
        shelf = reverse(f"{name}_changelist")
        found += [shelf, reverse(f"{name}_add"), f"{shelf}?q=zyzzyva"]
        for row in model._default_manager.all():
            found += [reverse(f"{name}_{view}", args=[row.pk]) for view in VIEWS]
        relations = [field.name for field in meta.fields if field.is_relation]
        where = f"app_label={meta.app_label}&model_name={meta.model_name}"
        found += [f"/admin/autocomplete/?{where}&field_name={n}&term=" for n in relations]
    return found


def test_no_address_shows_a_word_of_a_personal_record(root, personal):
    for path in addresses():
        page = root.get(path).content.decode()
        shown = [word for word in SECRETS if word in page]
        assert not shown, path


def test_deleting_many_shows_no_word_either_and_deletes_none(root, personal):
    for model in (Memory, MemoryTag, MemoryChunk, MemoryRevision, MemoryRelation):
        path = reverse(f"admin:memory_{model._meta.model_name}_changelist")
        picked = [str(pk) for pk in model._default_manager.values_list("pk", flat=True)]
        data = {"action": "delete_selected", "_selected_action": picked}
        for more in ({}, {"post": "yes"}):
            page = root.post(path, {**data, **more}, follow=True).content.decode()
            assert not [word for word in SECRETS if word in page]
    assert Memory.objects.filter(pk=personal.pk).exists()
    assert personal.tags.exists()


def test_posting_to_a_personal_record_changes_nothing(root, personal):
    path = reverse("admin:memory_memory_change", args=[personal.pk])
    page = root.post(path, {"content": "taken", "kind": "fact"}).content.decode()
    assert not [word for word in SECRETS if word in page]
    root.post(reverse("admin:memory_memory_delete", args=[personal.pk]), {"post": "yes"})
    personal.refresh_from_db()
    assert personal.content == "zyzzyvapeanut allergy"


def test_the_owner_size_and_dates_of_a_personal_record_are_shown(root, personal):
    page = root.get(reverse("admin:memory_memory_change", args=[personal.pk])).content.decode()
    assert "ann" in page
    assert "21" in page
    assert str(personal.pk) in page


@pytest.mark.parametrize(
    "lookup",
    ["content__startswith=z", "content__contains=z", "domain=zyzzyvadomain", "tags__tag=zyzzyvatag",
     "metadata__k=zyzzyvameta", "decisions__text_before__startswith=z", "owner__password__gt=a",
     "chunks__text__contains=z", "last_error__startswith=z", "content_hash__startswith=a"],
)  # fmt: skip
def test_the_address_cannot_ask_what_a_hidden_text_holds(root, personal, lookup):
    path = reverse("admin:memory_memory_changelist")
    assert root.get(f"{path}?{lookup}").status_code in (302, 400)


@pytest.mark.parametrize("order", ["o=1", "o=-6", "o=99"])
def test_the_address_cannot_sort_by_it_either(root, personal, order):
    page = root.get(reverse("admin:memory_memory_changelist") + f"?{order}")
    assert page.status_code == 200


def test_every_table_is_registered_on_our_base():
    from django.apps import apps

    ours = {"memory", "agents", "django_q"}
    left_out = {"Task"}  # the base of django-q's two views on one table
    for model in apps.get_models():
        if model._meta.app_label in ours and model.__name__ not in left_out:
            assert model in admin.site._registry, model
    assert {User, Group} <= set(admin.site._registry)
    for model, site in admin.site._registry.items():
        assert isinstance(site, GoclawAdmin), model


def test_saving_and_deleting_go_through_the_engine(root):
    add = reverse("admin:memory_memory_add")
    data = {"scope": "agent_notes", "kind": "fact", "content": "from the admin", "tags": "a, b"}
    root.post(add, {**data, "domain": "d", "expires_at_0": "", "expires_at_1": ""})
    record = Memory.objects.get()
    assert record.metadata["provenance"]["author"] == "root"
    assert record.tag_names == ["a", "b"]
    assert record.live_key
    change = reverse("admin:memory_memory_change", args=[record.pk])
    root.post(change, {**data, "content": "amended there", "expires_at_0": "", "expires_at_1": ""})
    record.refresh_from_db()
    assert (record.content, record.version) == ("amended there", 2)
    assert MemoryRevision.objects.get().text_before == "from the admin"
    root.post(reverse("admin:memory_memory_delete", args=[record.pk]), {"post": "yes"})
    assert not Memory.objects.exists()
    assert MemoryRevision.objects.filter(decision="deleted").exists()


def test_what_the_engine_refuses_is_said_at_the_field(root, ops):
    record = write.remember(ops, Draft("one", scope="agent_notes")).memory
    write.remember(ops, Draft("two", scope="agent_notes"))
    change = reverse("admin:memory_memory_change", args=[record.pk])
    data = {"content": "one", "kind": "note", "expires_at_0": "", "expires_at_1": ""}
    page = root.post(change, {**data, "tags": "superseded"}).content.decode()
    assert "set by the server alone" in page
    page = root.post(change, {**data, "content": "two"}, follow=True).content.decode()
    assert "An equal record is there already" in page


def test_many_selected_records_leave_their_tombstones(root, ops):
    made = [write.remember(ops, Draft(f"r{n}", scope="agent_notes")).memory for n in range(3)]
    data = {"action": "delete_selected", "_selected_action": [str(r.pk) for r in made]}
    root.post(reverse("admin:memory_memory_changelist"), {**data, "post": "yes"})
    assert MemoryRevision.objects.filter(decision="deleted").count() == 3


def test_tables_of_the_engine_are_read_only(root, personal):
    own = {"memory", "user", "group"}
    for model, site in admin.site._registry.items():
        if model._meta.model_name in own:
            continue
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert root.get(reverse(f"{name}_add")).status_code == 403
        row = site.model._default_manager.first()
        if row is not None:
            path = reverse(f"{name}_delete", args=[row.pk])
            assert root.post(path, {"post": "yes"}).status_code == 403


def test_people_without_the_right_are_sent_to_our_login_page(client):
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/login/")
    with pytest.raises(NoReverseMatch):
        reverse("admin:nothing")


def test_the_number_of_queries_of_a_list_does_not_grow(root, ops, django_assert_max_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def queries() -> int:
        path = reverse("admin:memory_memory_changelist")
        root.get(path)
        with CaptureQueriesContext(connection) as caught:
            root.get(path)
        return len(caught)

    for number in range(6):
        write.remember(ops, Draft(f"r{number}", scope="agent_notes"))
    few = queries()
    for number in range(6, 12):
        write.remember(ops, Draft(f"r{number}", scope="personal"))
    assert queries() == few
