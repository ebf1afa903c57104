"""The closed lists of words that records are described with."""

from __future__ import annotations

PERSONAL = "personal"
AGENT_NOTES = "agent_notes"
GLOBAL = "global"
AGENT_CONFIG = "agent_config"
WIKI = "wiki"
WIKIJS = "wikijs"
DB_CACHE = "db_cache"

WRITABLE_SCOPES = (PERSONAL, AGENT_NOTES, GLOBAL, AGENT_CONFIG)
SYSTEM_SCOPES = (WIKI, WIKIJS, DB_CACHE)
SCOPES = WRITABLE_SCOPES + SYSTEM_SCOPES
#: What everybody with access may read; `personal` and `agent_config` have rules of their own.
SHARED_SCOPES = (AGENT_NOTES, GLOBAL, *SYSTEM_SCOPES)

KINDS = ("fact", "preference", "note", "guideline", "config")
ENGINE_KINDS = ("summary", "page", "schema")
ALL_KINDS = KINDS + ENGINE_KINDS
LEARNED_KINDS = ("fact", "preference")

CRITICAL = "critical"
SUPERSEDED = "superseded"
UNVERIFIED = "unverified"
#: A merged record one of whose sources has been deleted: it may still tell what that one said.
RESTS_ON_DELETED = "rests_on_deleted"
#: A merged record that was amended before its merge was undone: its sources are live beside it.
MERGE_UNDONE = "merge_undone"
#: Written by the engine alone.
ENGINE_TAGS = (SUPERSEDED, UNVERIFIED, RESTS_ON_DELETED, MERGE_UNDONE)
#: What somebody has to look at; an amendment of the text answers it.
REVIEW_TAGS = (RESTS_ON_DELETED, MERGE_UNDONE)
ENGINE_METADATA_PREFIX = "superseded_"

#: Scopes that stay as good as new: reference text and standing configuration.
UNDECAYED_SCOPES = (WIKI, WIKIJS, DB_CACHE, AGENT_CONFIG)

RUN_KINDS = ("chat", "sop", "cron", "webhook")
AUTONOMOUS_RUNS = ("sop", "cron", "webhook")

PENDING = "pending"
TEXT = "text"
INDEXED = "indexed"
FAILED = "failed"
INDEX_STATES = (PENDING, TEXT, INDEXED, FAILED)

RETIRED = "retired"
KEPT = "kept"
AMENDED = "amended"
DELETED = "deleted"
DECISIONS = (RETIRED, KEPT, AMENDED, DELETED)
VIAS = ("rule", "judge", "consolidation", "revise", "dedupe", "manual", "undo")
