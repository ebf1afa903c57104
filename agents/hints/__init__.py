"""Auto-learn: what to do about a failing tool call. Nothing is stored."""

from agents.hints.matching import family_of, hint
from agents.hints.types import FAMILIES, MAX_ERROR, Advice, Pattern

__all__ = ["FAMILIES", "MAX_ERROR", "Advice", "Pattern", "family_of", "hint"]
