"""What chat models are used for, and what works without one."""

from __future__ import annotations

from dataclasses import dataclass

from memory.providers.chat.asking import TRIAL
from memory.providers.chat.choosing import AGENT, BACKGROUND


@dataclass(frozen=True)
class Feature:
    """One use of a model. `name` is the purpose that its calls are accounted for under.

    `without` says what works without a model, and follows "Without it, ". A version that has none
    of the jobs does not have the feature yet.
    """

    name: str
    title: str
    role: str
    does: str
    without: str
    #: Kinds of jobs that do it; a purpose of one of these names is the feature's too.
    jobs: tuple[str, ...] = ()


FEATURES: tuple[Feature, ...] = (
    Feature(
        "belief_revision",
        "Judging replacements",
        BACKGROUND,
        "Decides whether a newer record fully replaces an older one that reads alike.",
        "rules still retire what plainly contradicts; everything else is kept.",
        jobs=("belief_revision", "revise"),
    ),
    Feature(
        "consolidation",
        "Merging what says the same",
        BACKGROUND,
        "Writes one record from several that say the same in different words, each night.",
        "near-duplicates still merge; the rest stays as it is.",
        jobs=("memory_consolidate", "consolidate"),
    ),
    Feature(
        "extraction",
        "Facts from conversations",
        BACKGROUND,
        "Finds facts and preferences in what people tell an agent.",
        "agents and people write what is to be remembered themselves.",
        jobs=("fact_extraction", "extract"),
    ),
    Feature(
        "distill",
        "Distilling into the wiki",
        BACKGROUND,
        "Drafts wiki pages from records, for people to review.",
        "people and agents write pages themselves.",
        jobs=("wiki_distill", "distill"),
    ),
    Feature(
        "graph",
        "Meanings in the graph",
        BACKGROUND,
        "Says what connects people, hosts and projects.",
        "the graph shows what stands next to what.",
        jobs=("graph_meanings",),
    ),
    Feature(
        "chat",
        "Chat in the console",
        AGENT,
        "Answers people in the browser from memory and wiki.",
        "agents connect by MCP and the API, and search finds what is known.",
        jobs=("chat",),
    ),
)
#: Purposes that are no feature.
_OTHERS = {TRIAL: "Trying a model"}


def title(purpose: str) -> str:
    """Return the words for a purpose."""
    titles = {name: one.title for one in FEATURES for name in (one.name, *one.jobs)} | _OTHERS
    return titles.get(purpose, purpose.replace("_", " ").capitalize())
