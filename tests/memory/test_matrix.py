"""The process's matrix of vectors follows the database, whoever changes it."""

import threading

import numpy as np
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memory.drafts import Changes
from memory.models import MemoryChange, MemoryChunk
from memory.search import matrix
from memory.vectors import SCALE_BYTES, pack, unit, unpack, unpack_levels
from memory.write import amend, forget, retire
from tests.memory.making import ADMIN, BagProvider, index_all, note, person, put, serve

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.sqlite("PostgreSQL compares vectors itself and keeps no matrix"),
]

finite = st.floats(-1e3, 1e3, width=32)
vectors = arrays(np.float32, st.integers(1, 40), elements=finite)


class TestPacking:
    @given(vectors)
    def test_the_error_is_at_most_half_a_level(self, vector):
        back = unpack(pack(vector))
        level = float(np.max(np.abs(vector))) / 127
        assert back.shape == vector.shape
        assert np.max(np.abs(back - vector)) <= level * 0.5 * 1.001 + 1e-30

    @given(vectors)
    def test_packing_again_changes_nothing(self, vector):
        once = pack(vector)
        assert len(once) == SCALE_BYTES + len(vector)
        assert np.allclose(unpack(pack(unpack(once))), unpack(once), rtol=1e-3, atol=1e-6)

    @given(arrays(np.float32, st.tuples(st.integers(1, 6), st.just(9)), elements=finite))
    def test_many_at_once_are_as_one_by_one(self, rows):
        levels, scales = unpack_levels([pack(row) for row in rows], 9)
        back = levels.astype(np.float32) * scales[:, None]
        assert np.allclose(back, [unpack(pack(row)) for row in rows])

    @given(arrays(np.float32, st.tuples(st.integers(1, 6), st.just(9)), elements=finite))
    def test_unit_rows_are_of_length_one_or_zero(self, rows):
        rows = np.where(np.abs(rows) < 1e-6, 0, rows)
        lengths = np.linalg.norm(unit(rows).astype(np.float64), axis=1)
        assert all(abs(length - 1) < 1e-3 or length < 1e-3 for length in lengths)

    def test_another_dimension_is_refused(self):
        with pytest.raises(ValueError, match="9 dimensions, not 8"):
            unpack_levels([pack(np.ones(9, np.float32))], 8)

    @given(st.lists(st.sampled_from([0.1, 0.5, 0.9]), min_size=1), st.integers(1, 10))
    def test_the_best_are_the_largest_in_order(self, values, limit):
        found = matrix.best(np.array(values, np.float32), limit)
        assert len(found) == min(limit, len(values))
        taken = [values[at] for at in found]
        assert taken == sorted(values, reverse=True)[:limit]


def held() -> dict[int, str]:
    """Return what the matrix holds: chunk ids and their tokens."""
    rows = matrix.matrix_of("bag")
    seen = rows.snapshot()
    names = {code: token for token, code in rows._codes.items()}
    pairs = zip(seen.ids, seen.codes, strict=True)
    return {int(pk): names[int(code)] for pk, code in pairs if code != matrix._DEAD}


def wanted() -> dict[int, str]:
    rows = MemoryChunk.objects.filter(embedding_model="bag").exclude(access="")
    return dict(rows.values_list("pk", "access"))


def test_it_follows_every_kind_of_change(bag):
    assert held() == {}
    records = [note(f"note {number}") for number in range(6)]
    index_all()
    assert held() == wanted() != {}
    retire(records[0], None, via="manual", reason="", actor="me")
    forget(ADMIN, records[1].pk)
    amend(ADMIN, records[2].pk, Changes(content="changed"))
    assert held() == wanted()
    index_all()
    assert held() == wanted()
    assert "hsagentnotes0" in held().values()
    put(person("ann"), "mine", scope="personal")
    index_all()
    assert held() == wanted()
    assert len(held()) == 6


def test_it_is_filled_once_and_then_follows(bag, monkeypatch):
    note("one")
    index_all()
    held()
    monkeypatch.setattr(matrix.Matrix, "_rebuild", lambda self, latest: pytest.fail("rebuilt"))
    note("two")
    index_all()
    assert held() == wanted()
    held()


def test_a_pruned_log_means_a_rebuild(bag):
    note("one")
    index_all()
    held()
    for number in range(3):
        note(f"later {number}")
    index_all()
    MemoryChange.objects.filter(
        sequence__lt=MemoryChange.objects.latest("sequence").sequence
    ).delete()
    assert held() == wanted()


def test_a_wholly_pruned_log_means_a_rebuild_and_then_rest(bag, monkeypatch):
    note("one")
    index_all()
    held()
    forget(ADMIN, note("two").pk)
    note("three")
    index_all()
    MemoryChange.objects.all().delete()
    assert held() == wanted()
    monkeypatch.setattr(matrix.Matrix, "_rebuild", lambda self, latest: pytest.fail("rebuilt"))
    assert held() == wanted()


def test_many_dead_rows_are_given_back(bag, monkeypatch):
    bag.batch_size = 400
    records = [note(f"n {number}") for number in range(30)]
    index_all()
    held()
    rows = matrix.matrix_of("bag")
    monkeypatch.setattr(rows, "_dead", 1000)
    for record in records[:20]:
        forget(ADMIN, record.pk)
    assert held() == wanted()
    assert rows._count == 10


def test_a_search_on_an_old_snapshot_is_not_disturbed(bag):
    record = note("one")
    index_all()
    rows = matrix.matrix_of("bag")
    before = rows.snapshot()
    codes = before.codes.copy()
    forget(ADMIN, record.pk)
    note("two")
    index_all()
    rows.snapshot()
    assert (before.codes == codes).all()
    assert len(before.ids) == 1


def test_each_model_has_its_own():
    serve(BagProvider("one", 48))
    note("alpha")
    index_all()
    serve(BagProvider("two", 32))
    note("beta")
    index_all()
    assert matrix.matrix_of("one").snapshot().levels.shape == (1, 48)
    assert matrix.matrix_of("two").snapshot().levels.shape == (1, 32)
    assert matrix.matrix_of("three").snapshot().levels.shape[0] == 0


@pytest.mark.django_db(transaction=True)
def test_what_another_connection_commits_is_seen(bag):
    note("one")
    index_all()
    assert len(held()) == 1

    def elsewhere():
        note("two")
        index_all()
        connection.close()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(60)
    assert held() == wanted()
    assert len(held()) == 2


@pytest.mark.django_db(transaction=True)
def test_threads_share_it_while_it_grows(bag):
    wrong: list[object] = []
    done = threading.Event()

    def read():
        try:
            while not done.is_set():
                seen = matrix.matrix_of("bag").snapshot()
                alive = seen.ids[seen.codes != matrix._DEAD]
                if len(alive) != len(set(alive)):
                    wrong.append(sorted(alive))
        except Exception as error:
            wrong.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    records = [note(f"note {number}") for number in range(25)]
    index_all()
    for record in records[::2]:
        forget(ADMIN, record.pk)
    done.set()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert held() == wanted()
