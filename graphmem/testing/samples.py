"""Small rows for tests of stores, and short ways to ask for them: everything not said is a plain default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.errors import GraphmemError
from graphmem.interval import Interval
from graphmem.model import (
    EMPTY,
    AsOf,
    Assertion,
    CitationVersion,
    EntityVersion,
    Episode,
    EpisodeKind,
    EpisodeRecord,
    FactKey,
    FactMatch,
    FactVersion,
    Mention,
    MentionVersion,
)
from graphmem.stores.base import Found, Kind, Reader, Writer

GROUP = "main"
NOW = AsOf()
_FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def day(n: int) -> datetime:
    """The n-th day of the sample calendar; days order instants of both axes."""
    return _FIRST + timedelta(days=n)


def assertion(
    id: str,
    episode: str,
    source: str,
    target: str,
    *,
    relation: str = "knows",
    position: int = 0,
    same_as: str | None = None,
    excludes: tuple[str, ...] = (),
) -> Assertion:
    """A statement that holds."""
    return Assertion(id, episode, position, source, relation, target, f"{source} {relation} {target}", same_as=same_as, excludes=excludes)


def record(
    id: str,
    seq: int,
    *,
    group: str = GROUP,
    body: str = "body",
    at: int | None = None,
    session: str | None = None,
    assertions: Sequence[Assertion] = (),
    entities: Sequence[str] = (),
    links: tuple[tuple[str, str], ...] = (),
) -> EpisodeRecord:
    """An episode said and recorded on day `at` (default `seq`), mentioning `entities`."""
    moment = day(seq if at is None else at)
    episode = Episode(id, group, EpisodeKind.TEXT, body, moment, f"key-{id}", seq, day(seq), session=session)
    mentions = tuple(Mention(id, i, e, e.title()) for i, e in enumerate(entities))
    return EpisodeRecord(episode, tuple(assertions), mentions, links)


def fact(
    uuid: str,
    source: str,
    target: str,
    *,
    group: str = GROUP,
    relation: str = "knows",
    fact_id: str | None = None,
    valid: tuple[int | None, int | None] = (None, None),
    system: tuple[int, int | None] = (0, None),
) -> FactVersion:
    """A fact version, its intervals in days."""
    return FactVersion(
        uuid=uuid,
        fact_id=fact_id or f"fact-{uuid}",
        group=group,
        relation=relation,
        source=source,
        target=target,
        text=f"{source} {relation} {target}",
        valid=_days(*valid),
        system=_days(*system),
    )


def entity(
    uuid: str,
    id: str,
    *,
    name: str | None = None,
    group: str = GROUP,
    type: str = "Entity",
    aliases: tuple[str, ...] = (),
    attributes: Mapping[str, object] = EMPTY,
    system: tuple[int, int | None] = (0, None),
) -> EntityVersion:
    """An entity version, its interval in days."""
    return EntityVersion(uuid, id, group, name or id.title(), type, aliases, attributes, _days(*system))


def add_episode(writer: Writer, given: EpisodeRecord, words: str = "words") -> None:
    """Append an episode and make it visible, with its mentions under the entities recorded."""
    episode = given.episode
    moment = day(given.seq)
    writer.append_episode(given)
    writer.show_episodes(episode.group, [episode.id], moment, {episode.id: words})
    writer.change_mentions(episode.group, [], [MentionVersion(m, m.entity, Interval(moment)) for m in given.mentions], moment)


def add_facts(writer: Writer, *versions: FactVersion) -> None:
    """Insert facts, indexed by the words of their text."""
    writer.add_facts(versions, [v.text for v in versions])


def add_entities(writer: Writer, *versions: EntityVersion) -> None:
    """Insert entity versions, indexed by the words of their name."""
    writer.add_entities(versions, [v.name.lower() for v in versions])


def citation(of: FactVersion, episode: str, by: str) -> CitationVersion:
    """A citation of a fact's period."""
    return CitationVersion(of.fact_id, of.valid.start, episode, by)


def key_of(version: FactVersion) -> tuple[str, FactKey]:
    """The key row of an assertion that speaks of this fact."""
    return version.fact_id, FactKey(version.relation, version.source, version.target)


def unit(*values: float) -> Vectors:
    """A unit vector as one row."""
    vector = np.asarray([values], dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def put(writer: Writer, kind: Kind, owner: str, *rows: Vectors) -> None:
    """Keep vectors, a piece each."""
    writer.put_vectors(kind, [owner] * len(rows), list(range(len(rows))), np.concatenate(rows))


@contextmanager
def raising(error: type[GraphmemError]) -> Iterator[None]:
    """Fails unless the block raises `error`."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


def uuids(reader: Reader, at: AsOf = NOW, match: FactMatch | None = None, groups: Sequence[str] = (GROUP,)) -> list[str]:
    """The fact versions that pass, by uuid."""
    return [v.uuid for v in reader.facts(groups, at, match)]


def ids(found: Sequence[Found]) -> list[str]:
    """What was found, in order."""
    return [f.id for f in found]


def _days(start: int | None, end: int | None) -> Interval:
    return Interval(None if start is None else day(start), None if end is None else day(end))
