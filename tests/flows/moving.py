"""One installation made, moved and looked at, each step in a process and a database of its own.

`python -m tests.flows.moving STEP FOLDER [COUNT]`: `make` fills the database of the configuration,
`look` writes `dump.json` and `answers.json` into FOLDER. Moving itself is `goclaw db export` and
`goclaw db import`.
"""

import json
import os
import random
import sys
from pathlib import Path

QUERIES = 200
PEOPLE = 5
TOPICS = (
    "gateway", "router", "printer", "invoice", "heron", "turbine", "vault", "ledger", "harbour",
    "copper", "signal", "orchard", "engine", "cinema", "glacier", "violin", "bakery", "compass",
)  # fmt: skip
WORDS = [f"{topic}{end}" for topic in TOPICS for end in ("", "s", "-a", "-b", ".prod", "42", "x9")]


def make(folder: Path, count: int) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from tests.memory.making import BagProvider, serve

    call_command("migrate", verbosity=0)
    bag = serve(BagProvider())
    people = [User.objects.create_user(f"person{n}") for n in range(PEOPLE)]
    dice = random.Random(1)
    for start in range(0, count, 500):
        _fill(bag, dice, people, start, min(500, count - start))


def _fill(bag, dice, people, start, count) -> None:
    from memory import write
    from memory.models import Memory, MemoryTag
    from memory.vocabulary import INDEXED

    records = []
    for number in range(start, start + count):
        text = _text(dice, number)
        owner = dice.choice([None] * 5 + [person.pk for person in people])
        scope, digest = "agent_notes" if owner is None else "personal", write.content_hash(text)
        key = write.live_key(scope, owner, "note", digest)
        record = Memory(scope=scope, owner_id=owner, content=text, content_hash=digest)
        record.live_key, record.index_state, record.metadata = key, INDEXED, {"n": number}
        records.append(record)
    Memory.objects.bulk_create(records)
    MemoryTag.objects.bulk_create(MemoryTag(memory=record, tag="moved") for record in records[::7])
    _index(bag, records)


def _index(bag, records) -> None:
    from memory import chunks
    from memory.models import MemoryChange, MemoryChunk

    rows = []
    for record in records:
        (piece,) = chunks.cut(record, 1600, 320)
        vector = bag.passages([piece.text])[0]
        rows.append(chunks._row(record, piece, "", bag.model, vector))
    chunks.log([row.pk for row in MemoryChunk.objects.bulk_create(rows)], MemoryChange.PUT)


def _text(dice: random.Random, number: int) -> str:
    words = [dice.choice(WORDS) for _ in range(dice.randint(5, 25))]
    return f"Record {number} says: {' '.join(words)}. 漢字 ñandú 🦤"


def look(folder: Path) -> None:
    from memory import checking
    from tests import canonical

    (folder / "dump.json").write_text(json.dumps(canonical.dump()))
    (folder / "answers.json").write_text(json.dumps(answers()))
    print(json.dumps([f"{found.name}: {found.words}" for found in checking.check()]))


def answers() -> list[list[str]]:
    """Return the results of fixed queries, each asked by one of the people."""
    from django.contrib.auth.models import User

    from memory.access import Principal
    from tests.memory.making import BagProvider, ids, serve

    serve(BagProvider())
    people = [Principal(person=user.pk, name=user.username) for user in
              User.objects.filter(username__startswith="person").order_by("pk")]  # fmt: skip
    dice = random.Random(2)
    found = []
    for number in range(QUERIES):
        query = " ".join(dice.choice(WORDS) for _ in range(dice.randint(1, 6)))
        found.append([str(pk) for pk in ids(people[number % PEOPLE], query, limit=6)])
    return found


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "goclaw_site.settings"
    from goclaw_site import embeddedpostgres

    with embeddedpostgres.at_hand():
        import django

        django.setup()
        if sys.argv[1] == "make":
            make(Path(sys.argv[2]), int(sys.argv[3]))
        else:
            look(Path(sys.argv[2]))
