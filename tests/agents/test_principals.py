"""The builders of principals."""

import pytest
from django.contrib.auth.models import AnonymousUser

from agents import keys, principals
from goclaw_site.errors import InvalidInput, Unauthorized
from tests.api.callers import user


def test_visitor_is_nobody(db):
    nobody = principals.for_browser(AnonymousUser())
    assert (nobody.person, nobody.is_admin, nobody.read_only) == (None, False, True)


@pytest.mark.parametrize(
    ("fields", "administrator"),
    [({}, False), ({"is_staff": True}, False), ({"is_superuser": True}, True)],
)
def test_superusers_are_administrators(db, fields, administrator):
    assert principals.for_browser(user("ann", **fields)).is_admin is administrator


def test_group_admin_makes_an_administrator(db):
    assert principals.for_browser(user("ann", groups=("admin",))).is_admin
    assert not principals.for_browser(user("bob", groups=("admins", "editor"))).is_admin


def test_roles_are_groups(db):
    assert principals.for_browser(user("ann", groups=("a", "b"))).roles == {"a", "b"}


def test_command_without_a_name_is_an_administrator_without_a_person(db):
    operator = principals.for_command(None, None)
    assert (operator.is_admin, operator.person, operator.reads_of) == (True, None, None)


def test_command_with_a_name_writes_as_the_person_and_reads_nothing_personal(db):
    ann = user("ann")
    named = principals.for_command("ann", None)
    assert (named.person, named.owner, named.reads_of) == (ann.pk, ann.pk, None)


def test_command_with_the_key_of_the_person_reads_everything_of_theirs(db):
    ann = user("ann")
    key = keys.create(ann).text
    assert principals.for_command("ann", key).reads_of == ann.pk
    assert principals.for_command(None, key).reads_of == ann.pk


def test_key_of_another_is_no_proof(db):
    user("ann")
    key = keys.create(user("bob")).text
    gate = keys.create(None, gateway=True).text
    for wrong in (key, gate):
        with pytest.raises(InvalidInput):
            principals.for_command("ann", wrong)
    with pytest.raises(Unauthorized):
        principals.for_command("ann", "gc_0000000000_x")


@pytest.mark.parametrize("name", ["nobody", "ANN", "ann ", "", "\x00", "\ud800"])
def test_unknown_names_are_said(db, name):
    user("ann")
    if name:
        with pytest.raises(InvalidInput):
            principals.for_command(name, None)
