"""The graph leg: from entities over facts to other entities, and from those to the episodes that mention them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphmem.model import AsOf, FactMatch
from graphmem.stores.base import Hop, Lean, Reader

DAMPING = 0.5
_DECAY = 0.5
FACTS_READ = 5000
_STEPS = 50
_SETTLED = 1e-9


@dataclass(frozen=True)
class Expansion:
    """Entities reached, nearest first, each by its first way there."""

    hops: tuple[Hop, ...]

    @cached_property
    def by_entity(self) -> Mapping[str, Hop]:
        return {hop.entity: hop for hop in self.hops}

    @property
    def entities(self) -> tuple[str, ...]:
        return tuple(hop.entity for hop in self.hops)

    def path(self, entity: str) -> tuple[str, ...]:
        """The entities on the way from a seed to `entity`, both included; empty if it was not reached."""
        way: list[str] = []
        step = self.by_entity.get(entity)
        while step is not None:
            way.append(step.entity)
            step = self.by_entity.get(step.previous) if step.previous is not None else None
        return tuple(reversed(way))

    def nearness(self) -> dict[str, float]:
        """1 for a seed, half for every hop from one."""
        return {hop.entity: _DECAY**hop.hop for hop in self.hops}


def expand(
    reader: Reader,
    seeds: Sequence[str],
    groups: Sequence[str],
    at: AsOf,
    depth: int,
    limit: int | None = None,
    match: FactMatch | None = None,
) -> Expansion:
    """Breadth first from `seeds`: every hop crosses one fact that holds at `at` and passes `match`, in either direction.

    `depth=0` gives the seeds alone. Without a limit all entities within `depth` hops are reached; with one, the search
    stops when so many are known. Values are reached, not crossed.
    """
    if not seeds or not groups:
        return Expansion(())
    return Expansion(tuple(reader.neighbours(seeds, groups, at, hops=max(depth, 0), limit=limit, match=match)))


def page_rank(reader: Reader, expansion: Expansion, groups: Sequence[str], at: AsOf) -> dict[str, float]:
    """Personalised PageRank over the reached entities and the facts between them, restarting at the seeds.

    Both directions of a fact count alike. The masses sum to 1; damping is 0.5.
    """
    entities = expansion.entities
    if not entities:
        return {}
    place = {entity: row for row, entity in enumerate(entities)}
    facts = reader.facts(groups, at, FactMatch(entities=entities), limit=FACTS_READ)
    ends = np.array([(place[f.source], place[f.target]) for f in facts if f.source in place and f.target in place], dtype=np.int64).reshape(
        -1, 2
    )
    sources, targets = np.concatenate([ends, ends[:, ::-1]]).T
    degree = np.bincount(sources, minlength=len(entities)).astype(np.float64)
    restart = np.array([float(hop.hop == 0) for hop in expansion.hops])
    restart /= restart.sum()
    mass = restart
    for _ in range(_STEPS):
        share = np.divide(mass, degree, out=np.zeros_like(mass), where=degree > 0)
        moved = np.bincount(targets, weights=share[sources], minlength=len(entities)) if len(sources) else np.zeros_like(mass)
        lost = 1.0 - moved.sum()  # the mass of entities without facts starts again
        new = (1 - DAMPING) * restart + DAMPING * (moved + lost * restart)
        if np.abs(new - mass).sum() < _SETTLED:
            break
        mass = new
    return dict(zip(entities, mass.tolist(), strict=True))


def episodes_of(
    reader: Reader, mass: Mapping[str, float], groups: Sequence[str], at: AsOf, limit: int | None = None
) -> list[tuple[str, float, str]]:
    """Episodes that mention these entities: (episode, sum of the masses of those it mentions, the heaviest of them).

    Heaviest first, then by id. `limit` bounds the mentions read, newest first; an entity that many episodes mention
    says little about each: its mass is divided by the root of their number.
    """
    if limit is not None and isinstance(reader, Lean):
        said = set(reader.mentioned(groups, at, tuple(mass), limit)) if mass else set()
    else:
        mentions = reader.mentions(groups, at, entities=tuple(mass), limit=limit) if mass else []
        said = {(m.mention.episode, m.entity) for m in mentions}
    counts: dict[str, int] = {}
    for _, entity in said:
        counts[entity] = counts.get(entity, 0) + 1
    found: dict[str, tuple[float, float, str]] = {}
    for episode, entity in sorted(said):
        part = mass[entity] / counts[entity] ** 0.5
        total, heaviest, through = found.get(episode, (0.0, -1.0, ""))
        found[episode] = (total + part, part, entity) if part > heaviest else (total + part, heaviest, through)
    return sorted(((episode, total, through) for episode, (total, _, through) in found.items()), key=lambda row: (-row[1], row[0]))
