"""What is to be hidden: the episodes, assertions and mentions that a caller means, listed under the lock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from graphmem.belief.entities import MENTIONS
from graphmem.belief.ledger import Outcome
from graphmem.belief.slices import load_kin
from graphmem.errors import InvalidInput, NotFound
from graphmem.ingest.behind import NOW, NamedFact, about, behind, forgotten
from graphmem.ingest.operating import Act
from graphmem.model import Assertion, EntityVersion, EpisodeMatch, FactMatch, FactVersion, OperationKind, Warn
from graphmem.search.gate import Gate, pushed_down
from graphmem.search.hits import Filters
from graphmem.stores.base import Reader


def episodes(reader: Reader, group: str, ids: Sequence[str]) -> Act:
    """Forget these episodes; raises `NotFound` for an unknown one, `InvalidInput` for one that is forgotten already."""
    visible = {e.id for e in reader.episodes([group], NOW, EpisodeMatch(ids=tuple(ids)), bodies=False)}
    for one in (i for i in ids if i not in visible):
        by = forgotten(reader, group, [one]).get(one)
        if by is not None:
            raise InvalidInput("episode", one, f"is forgotten already, by {by.id}; restore({by.id!r}) brings it back")
        raise NotFound(f"no visible episode {one!r} in group {group!r}; `episodes()` lists them, group= names another group")
    return Act(OperationKind.FORGET, tuple(ids))


def matching(reader: Reader, group: str, match: EpisodeMatch, filters: Filters | None = None) -> Act:
    """Forget the visible episodes that match and have the attributes asked for; raises `NotFound` if there are none."""
    found = reader.episodes([group], NOW, match, bodies=False)
    if filters is not None and filters.attributes:
        found = Gate(reader, (group,), NOW, filters).episodes([e.id for e in found])
    if not found:
        raise NotFound(f"no visible episode of group {group!r} is meant; `episodes()` lists them, group= names another group")
    return Act(OperationKind.FORGET, tuple(e.id for e in found))


def where(reader: Reader, group: str, filters: Filters) -> Act:
    """Forget the episodes that pass; with conditions of facts, what these episodes say of the facts that pass."""
    said = pushed_down(filters).episodes
    if filters.relations is None and filters.types is None and filters.valid is None:
        if said is None and not filters.attributes:
            raise InvalidInput("where", filters, "must ask for something; Filters(reference=Interval()) is every episode")
        return matching(reader, group, said or EpisodeMatch(), filters)
    believed = reader.facts([group], NOW, FactMatch(relations=filters.relations, valid_overlaps=filters.valid))
    passing = Gate(reader, (group,), NOW, filters).facts([v.uuid for v in believed])
    told = _told(reader, group, passing)
    if said is not None and told:
        match = EpisodeMatch(
            tuple({a.episode for a in told}), sessions=said.sessions, actors=said.actors, sources=said.sources, reference=said.reference
        )
        meant = {e.id for e in reader.episodes([group], NOW, match, bodies=False)}
        told = [a for a in told if a.episode in meant]
    if not told:
        raise NotFound(f"no fact of group {group!r} that an episode tells is meant; `facts()` lists them, group= names another group")
    return Act(OperationKind.FORGET, tuple(a.id for a in told), check=_Left(group, passing))


def facts(reader: Reader, group: str, named: Sequence[NamedFact]) -> Act:
    """Forget the assertions behind these facts; raises as `behind` does."""
    found = [b for name in named for b in behind(reader, group, name)]
    told = dict.fromkeys(i for b in found for i in b.told)
    return Act(OperationKind.FORGET, tuple(told), check=_Left(group, [b.version for b in found]))


def entity(reader: Reader, group: str, version: EntityVersion) -> Act:
    """Forget the mentions of an entity, and every assertion about it, whatever it was merged with included.

    Those that are forgotten already, too: what did that may be undone, and the entity is not to come back with it.
    """
    kin = load_kin(reader, group, [version.id])
    concerned = [a.id for a in about(reader, group, kin, version.id)]
    mentions: dict[str, list[list[object]]] = defaultdict(list)
    for mention in reader.mention_records(group, sorted(kin.members)):
        if kin.identity.canonical(kin.identity.at(mention.entity, mention.episode)) == version.id:
            mentions[mention.entity].append([mention.episode, mention.position])
    return Act(OperationKind.FORGET, (*concerned, *sorted(mentions)), {MENTIONS: dict(mentions)} if mentions else {})


def _told(reader: Reader, group: str, versions: Sequence[FactVersion]) -> list[Assertion]:
    """The assertions that versions believed now rest on."""
    meant = {(v.fact_id, v.valid.start) for v in versions}
    rows = reader.citations([group], NOW, facts=sorted({v.fact_id for v in versions})) if versions else []
    by = sorted({c.by for c in rows if (c.fact_id, c.valid_at) in meant})
    return reader.assertions(group, ids=by) if by else []


class _Left:
    """Looks afterwards for what is believed all the same, of the time of the versions that were to go."""

    def __init__(self, group: str, versions: Sequence[FactVersion]) -> None:
        self._group, self._versions = group, versions

    def __call__(self, reader: Reader, outcome: Outcome) -> list[Warn]:
        asked = FactMatch(fact_ids=tuple(sorted({v.fact_id for v in self._versions})))
        left = reader.facts([self._group], NOW, asked)
        still = [v for v in left if any(v.fact_id == o.fact_id and v.valid.overlaps(o.valid) for o in self._versions)]
        return [Warn("still_believed", v.text, f"{v.uuid}: it was said elsewhere or by hand, too") for v in still]
