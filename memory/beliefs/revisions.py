"""The door to belief revision for everything above: retire, merge, keep, undo."""

from memory.beliefs.disowning import Disowned, disown
from memory.beliefs.merging import Merged, merge
from memory.beliefs.restoring import lift
from memory.beliefs.retiring import keep, refusal, retire
from memory.beliefs.undoing import Undone, undo_amendment, undo_record, undo_run

__all__ = [
    "Disowned",
    "Merged",
    "Undone",
    "disown",
    "keep",
    "lift",
    "merge",
    "refusal",
    "retire",
    "undo_amendment",
    "undo_record",
    "undo_run",
]
