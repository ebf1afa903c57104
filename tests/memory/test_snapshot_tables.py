"""Every table is carried by snapshots, or left out for a reason, in an order that works."""

import pytest
from django.contrib.auth.models import Group, Permission

from memory.models import MemoryTag
from memory.snapshots.tables import CARRIED, LEFT_OUT, model_of, unlisted
from tests import canonical
from tests.memory.making import index_all, note, person, put


def test_no_table_is_forgotten():
    assert unlisted() == [], "name them in memory/snapshots/tables.py"
    assert not set(CARRIED) & set(LEFT_OUT)
    assert all(LEFT_OUT.values())


def test_what_a_row_refers_to_is_written_before_it():
    for place, label in enumerate(CARRIED):
        for field in model_of(label)._meta.fields:
            if field.related_model is not None:
                assert field.related_model._meta.label in CARRIED[: place + 1], (label, field.name)


@pytest.fixture
def filled(bag, db):
    put(person("ann"), "ann's own", scope="personal")
    note("shared and 共有", tags=("x",))
    index_all()


def test_a_dump_is_equal_to_itself_and_holds_everything(filled, tmp_path):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "Memory.md").write_text("a line")
    one, other = canonical.dump(tmp_path), canonical.dump(tmp_path)
    assert one == other
    assert canonical.differences(one, other) == []
    assert len(one["memory.Memory"]) == 2
    assert len(one["memory.MemoryChunk"]) == 2
    assert list(one["files"]) == ["workspace/Memory.md"]


def test_every_change_shows(filled, tmp_path):
    before = canonical.dump(tmp_path)
    changes = {
        "memory.MemoryTag": lambda: MemoryTag.objects.update(tag="y"),
        "auth.User": lambda: person("bob"),
        "permissions": lambda: Group.objects.create(name="g").permissions.add(
            Permission.objects.all()[0]
        ),
        "files": lambda: (tmp_path / "media").mkdir() or (tmp_path / "media/1").write_bytes(b"1"),
    }
    for name, change in changes.items():
        change()
        after = canonical.dump(tmp_path)
        assert any(line.startswith(name) for line in canonical.differences(before, after)), name
        before = after
