"""Records: what was written, by whom, for whom."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from memory.access import access_token
from memory.vocabulary import ALL_KINDS, INDEX_STATES, PENDING, SCOPES, SUPERSEDED


def choices(words: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return Django choices whose labels are the words themselves."""
    return [(word, word.replace("_", " ")) for word in words]


class Memory(models.Model):
    """One record. Written by `memory.write` alone.

    A record is live while `live_key` is set: the unique hash of scope, owner, kind and content that
    holds duplicates off on every driver. It is null once the record is superseded or has expired.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    scope = models.CharField(max_length=16, choices=choices(SCOPES))
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    agent = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001  null: no agent
    applies_to = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001  null: all
    kind = models.CharField(max_length=16, choices=choices(ALL_KINDS), default="note")
    domain = models.CharField(max_length=100, blank=True, default="")
    content = models.TextField()
    index_prefix = models.CharField(max_length=300, blank=True, default="")
    metadata = models.JSONField(default=dict, blank=True)
    content_hash = models.CharField(max_length=64)
    live_key = models.CharField(max_length=64, null=True, unique=True)  # noqa: DJ001  null: not live
    version = models.PositiveIntegerField(default=1)
    bulk = models.BooleanField(default=False)
    index_state = models.CharField(max_length=8, choices=choices(INDEX_STATES), default=PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True, default="")
    expires_at = models.DateTimeField(null=True, blank=True)
    occurred_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "memories"
        verbose_name = "record"
        ordering = ("-updated_at", "-id")
        indexes = [
            models.Index(fields=["-updated_at", "-id"], name="memories_newest"),
            models.Index(fields=["scope", "-updated_at", "-id"], name="memories_scope_newest"),
            models.Index(fields=["owner", "-updated_at", "-id"], name="memories_owner_newest"),
            models.Index(fields=["scope", "owner", "kind", "content_hash"], name="memories_same"),
            models.Index(fields=["created_at"], name="memories_created"),
            models.Index(
                fields=["index_state", "bulk", "created_at"],
                name="memories_waiting",
                condition=~models.Q(index_state="indexed"),
            ),
            models.Index(
                fields=["expires_at"],
                name="memories_expiring",
                condition=models.Q(expires_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.kind} {self.id}"

    @property
    def access(self) -> str:
        """The token that stands for scope and owner in every index."""
        return access_token(self.scope, self.owner_id)

    @property
    def superseded(self) -> bool:
        """Whether a newer record took this one's place."""
        return SUPERSEDED in self.tag_names

    @property
    def tag_names(self) -> list[str]:
        """The tags in order; one query unless prefetched."""
        return sorted(tag.tag for tag in self.tags.all())


class MemoryOutline(models.Model):
    """What a record shares with others that may say the same, of the text with this hash."""

    memory = models.OneToOneField(
        Memory, on_delete=models.CASCADE, primary_key=True, related_name="outlined"
    )
    content_hash = models.CharField(max_length=64)
    outline = models.CharField(max_length=40, db_index=True)

    class Meta:
        db_table = "memory_outlines"

    def __str__(self) -> str:
        return f"{self.memory_id} {self.outline}"


class MemoryTag(models.Model):
    """One tag on one record."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="tags")
    tag = models.CharField(max_length=64)

    class Meta:
        db_table = "memory_tags"
        constraints = [
            models.UniqueConstraint(fields=["memory", "tag"], name="memory_tags_once"),
        ]
        indexes = [models.Index(fields=["tag", "memory"], name="memory_tags_by_tag")]

    def __str__(self) -> str:
        return self.tag


class MemorySource(models.Model):
    """A place that a record was read from: a session's turn, a page, a part of a file.

    `access` is the record's token: two people may hold the same place without sharing a record.
    """

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="sources")
    access = models.CharField(max_length=40)
    kind = models.CharField(max_length=32)
    source_id = models.CharField(max_length=500)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "memory_sources"
        constraints = [
            models.UniqueConstraint(
                fields=["access", "kind", "source_id", "position"], name="memory_sources_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}:{self.source_id}#{self.position}"
