"""Shapes that come in and go out: types here, limits in `memory.drafts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory import deduping
from memory.drafts import Changes, Draft, Source
from memory.models import AuditEvent, Job, Memory, MemoryChunk, MemoryRevision
from memory.vocabulary import ENGINE_TAGS


class Text(serializers.CharField):
    """A string as it was sent: nothing trimmed, and no number taken for one."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("allow_blank", True)
        super().__init__(trim_whitespace=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """NUL and surrogates are left to `memory.drafts`, which names field and limit."""
        if data is serializers.empty or data is None:
            return super().run_validation(data)
        if not isinstance(data, str):
            raise serializers.ValidationError("Not a valid string.", code="invalid")
        return data


class Anything(serializers.DictField):
    """A JSON object with any values."""


class SourceSerializer(serializers.Serializer[Any]):
    """A place that content was read from."""

    kind = Text(default="api")
    id = Text()
    position = serializers.IntegerField(default=0)


class DraftSerializer(serializers.Serializer[Any]):
    """A record to be written."""

    content = Text(help_text="1 to 200,000 characters.")
    scope = Text(default="personal", help_text="personal, agent_notes, global or agent_config.")
    kind = Text(default="note", help_text="fact, preference, note, guideline or config.")
    domain = Text(default="")
    tags = serializers.ListField(child=Text(), default=list)
    metadata = Anything(default=dict)
    source = SourceSerializer(required=False, allow_null=True)  # type: ignore[assignment]
    index_prefix = Text(default="", help_text="Speaker and date, indexed before the text.")
    agent = Text(required=False, allow_null=True)
    applies_to = Text(required=False, allow_null=True)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    occurred_at = serializers.DateTimeField(required=False, allow_null=True)


class ChangesSerializer(serializers.Serializer[Any]):
    """What an amendment sets; a field that is not sent stays as it is."""

    content = Text(required=False)
    kind = Text(required=False)
    domain = Text(required=False)
    tags = serializers.ListField(child=Text(), required=False)
    metadata = Anything(required=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)


@extend_schema_field(DraftSerializer)
class BulkItem(serializers.JSONField):
    """Any JSON: a bad item is its own error and stops no other."""


class BulkSerializer(serializers.Serializer[Any]):
    """Up to 500 writes."""

    items = serializers.ListField(child=BulkItem(allow_null=True), allow_empty=False)


class SearchSerializer(serializers.Serializer[Any]):
    """A search; see docs/engine.md for what the numbers mean."""

    query = Text()
    scope = Text(required=False)
    scopes = serializers.ListField(child=Text(), required=False)
    kind = Text(required=False)
    kinds = serializers.ListField(child=Text(), required=False)
    tag = Text(required=False)
    tags = serializers.ListField(child=Text(), required=False)
    domain = Text(required=False)
    agent = Text(required=False)
    source = Text(required=False)  # type: ignore[assignment]  # the base class has an attribute
    since = Text(required=False)
    until = Text(required=False)
    include_history = serializers.BooleanField(required=False)
    as_of = Text(required=False, help_text="What was believed at that time.")
    max_results = serializers.IntegerField(required=False)
    min_score = serializers.FloatField(required=False)


class ReindexSerializer(serializers.Serializer[Any]):
    """Which records to index anew."""

    missing = serializers.BooleanField(default=False)


class ConsolidateSerializer(serializers.Serializer[Any]):
    """Whether to look only."""

    dry_run = serializers.BooleanField(default=False)


class DedupeSerializer(serializers.Serializer[Any]):
    """How close two notes must be to be one, and whether to look only."""

    ratio = serializers.FloatField(default=deduping.RATIO, help_text="0.5 to 1.")
    dry_run = serializers.BooleanField(default=False)


class CatalogSerializer(serializers.Serializer[Any]):
    """A catalog as it was exported, and how to import it."""

    format = serializers.CharField()
    version = serializers.IntegerField()
    records = serializers.ListField(child=BulkItem(allow_null=True))
    dry_run = serializers.BooleanField(default=False)
    skip_bad = serializers.BooleanField(default=False)


def draft_of(values: dict[str, Any]) -> Draft:
    """Return the draft of validated values."""
    source = values.pop("source", None)
    tags = tuple(values.pop("tags", ()))
    return Draft(**values, tags=tags, source=Source(**source) if source else None)


def changes_of(values: dict[str, Any], held: Sequence[str] = ()) -> Changes:
    """Return the changes of validated values; a null expiry takes the expiry away.

    `held` are the record's tags: those of the engine may be sent back as they were read, and one
    that is left out is asked to be taken off.
    """
    clear = "expires_at" in values and values["expires_at"] is None
    tags = values.pop("tags", None)
    if tags is None:
        return Changes(**values, clear_expiry=clear)
    engine = [tag for tag in held if tag in ENGINE_TAGS]
    return Changes(
        **values,
        tags=tuple(tag for tag in tags if tag not in engine),
        clear_expiry=clear,
        lift=tuple(tag for tag in engine if tag not in tags),
    )


class RecordSerializer(serializers.ModelSerializer[Memory]):
    """A record in a list."""

    tags = serializers.ListField(source="tag_names", child=serializers.CharField())
    superseded = serializers.BooleanField()
    owner = serializers.IntegerField(source="owner_id", allow_null=True)
    sources = serializers.SerializerMethodField()

    class Meta:
        model = Memory
        fields = (
            "id",
            "scope",
            "owner",
            "agent",
            "applies_to",
            "kind",
            "domain",
            "content",
            "index_prefix",
            "tags",
            "metadata",
            "superseded",
            "sources",
            "version",
            "index_state",
            "last_error",
            "expires_at",
            "occurred_at",
            "created_at",
            "updated_at",
        )

    @extend_schema_field(SourceSerializer(many=True))
    def get_sources(self, record: Memory) -> list[dict[str, Any]]:
        """The places that say this."""
        return [
            {"kind": row.kind, "id": row.source_id, "position": row.position}
            for row in record.sources.all()
        ]


class ChunkSerializer(serializers.ModelSerializer[MemoryChunk]):
    """The state of one chunk."""

    embedded = serializers.SerializerMethodField()

    class Meta:
        model = MemoryChunk
        fields = ("position", "start", "end", "heading", "embedded", "embedding_model")

    def get_embedded(self, chunk: MemoryChunk) -> bool:
        """Whether it has a vector."""
        return bool(chunk.embedding_model)


class RevisionSerializer(serializers.ModelSerializer[MemoryRevision]):
    """One decision."""

    old = serializers.UUIDField(source="old_id")
    new = serializers.UUIDField(source="new_id", allow_null=True)

    class Meta:
        model = MemoryRevision
        fields = (
            "id",
            "run_id",
            "old",
            "new",
            "via",
            "decision",
            "reason",
            "actor",
            "text_before",
            "text_after",
            "created_at",
            "undone_at",
            "undone_by",
            "undone_reason",
        )


class RecordDetailSerializer(RecordSerializer):
    """A record with its chunks and its history."""

    chunks = serializers.SerializerMethodField()
    provenance = serializers.SerializerMethodField()
    revisions = serializers.SerializerMethodField()

    class Meta(RecordSerializer.Meta):
        fields = (*RecordSerializer.Meta.fields, "chunks", "provenance", "revisions")  # type: ignore[assignment]

    @extend_schema_field(ChunkSerializer(many=True))
    def get_chunks(self, record: Memory) -> Any:
        """The chunks' states, in order."""
        rows = record.chunks.order_by("position").defer("embedding", "text", "search_text")
        return ChunkSerializer(rows, many=True).data

    @extend_schema_field(Anything())
    def get_provenance(self, record: Memory) -> dict[str, Any]:
        """Who wrote it, through which door."""
        return dict(record.metadata.get("provenance", {}))

    @extend_schema_field(RevisionSerializer(many=True))
    def get_revisions(self, record: Memory) -> Any:
        """The decisions about it, newest first."""
        rows = MemoryRevision.objects.filter(old_id=record.pk, access=record.access)
        return RevisionSerializer(rows, many=True).data


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job."""

    class Meta:
        model = Job
        fields = (
            "id",
            "kind",
            "state",
            "done",
            "total",
            "result",
            "error",
            "created_at",
            "finished_at",
        )


class AuditSerializer(serializers.ModelSerializer[AuditEvent]):
    """One event of the audit trail."""

    facts = Anything()

    class Meta:
        model = AuditEvent
        fields = (
            "id",
            "at",
            "actor",
            "person",
            "key",
            "agent",
            "run_kind",
            "door",
            "action",
            "subject",
            "outcome",
            "facts",
            "request_id",
        )
