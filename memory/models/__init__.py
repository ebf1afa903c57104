"""The tables of the engine."""

from memory.models.audit import AuditEvent
from memory.models.belief import MemoryBelief, MemorySubject, MemoryVeto
from memory.models.chunk import MemoryChange, MemoryChunk
from memory.models.engine import EngineState
from memory.models.graph import MemoryEntity, MemoryRelation
from memory.models.job import Job
from memory.models.modelcall import ModelCall, ModelCircuit
from memory.models.record import Memory, MemoryOutline, MemorySource, MemoryTag
from memory.models.revision import MemoryRevision

__all__ = [
    "AuditEvent",
    "EngineState",
    "Job",
    "Memory",
    "MemoryBelief",
    "MemoryChange",
    "MemoryChunk",
    "MemoryEntity",
    "MemoryOutline",
    "MemoryRelation",
    "MemoryRevision",
    "MemorySource",
    "MemorySubject",
    "MemoryTag",
    "MemoryVeto",
    "ModelCall",
    "ModelCircuit",
]
