"""What passes a filter, stated once, on values: as-of points, fact, entity and episode matches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from graphmem import names
from graphmem.interval import Interval
from graphmem.model import AsOf, CommunityMatch, CommunityVersion, EntityMatch, EntityVersion, Episode, EpisodeMatch, FactMatch, FactVersion


def believed(system: Interval, at: datetime | None) -> bool:
    """Whether a row with this system interval is believed at `at`; None is the last instant."""
    return system.end is None if at is None else at in system


def fact_passes(version: FactVersion, at: AsOf) -> bool:
    """Both axes."""
    return believed(version.system, at.system) and (at.valid is None or at.valid in version.valid)


def _one_of(value: str | None, allowed: Collection[str] | None) -> bool:
    return allowed is None or value in allowed


def fact_matches(version: FactVersion, match: FactMatch | None) -> bool:
    """Every given condition holds."""
    return match is None or (
        _one_of(version.uuid, match.uuids)
        and _one_of(version.fact_id, match.fact_ids)
        and (match.entities is None or version.source in match.entities or version.target in match.entities)
        and _one_of(version.source, match.sources)
        and _one_of(version.target, match.targets)
        and _one_of(version.relation, match.relations)
        and (match.valid_overlaps is None or version.valid.overlaps(match.valid_overlaps))
    )


def name_keys(version: EntityVersion) -> set[str]:
    """The keys of an entity's name and aliases."""
    return {names.key(n) for n in (version.name, *version.aliases)}


def entity_matches(version: EntityVersion, match: EntityMatch | None) -> bool:
    """Every given condition holds; `names` must be keys already (`with_name_keys`)."""
    return match is None or (
        _one_of(version.id, match.ids)
        and _one_of(version.type, match.types)
        and (match.names is None or not name_keys(version).isdisjoint(match.names))
    )


def with_name_keys(match: EntityMatch | None) -> EntityMatch | None:
    """The match with its names as keys."""
    if match is None or match.names is None:
        return match
    return EntityMatch(ids=match.ids, names=tuple({names.key(n) for n in match.names}), types=match.types)


def community_matches(version: CommunityVersion, match: CommunityMatch | None) -> bool:
    """Every given condition holds."""
    return match is None or (
        _one_of(version.id, match.ids) and _one_of(version.uuid, match.uuids) and (match.levels is None or version.level in match.levels)
    )


def episode_matches(episode: Episode, match: EpisodeMatch | None) -> bool:
    """Every given condition holds, `entities` apart: that one needs the mentions."""
    return match is None or (
        _one_of(episode.id, match.ids)
        and _one_of(episode.key, match.keys)
        and _one_of(episode.kind, match.kinds)
        and _one_of(episode.session, match.sessions)
        and _one_of(episode.actor, match.actors)
        and _one_of(episode.source, match.sources)
        and (match.reference is None or episode.reference_time in match.reference)
    )


def has_attributes(attributes: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    """Whether all of the values wanted are there."""
    return all(name in attributes and attributes[name] == value for name, value in wanted.items())
