"""Communities: versions, memberships, and facts as the edges to find them by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from graphmem.errors import StoreError
from graphmem.interval import FIRST, Interval
from graphmem.model import AsOf, CommunityMatch, CommunityVersion, MemberVersion, Ties
from graphmem.stores.codec import (
    OPEN_START,
    decode_mapping,
    encode_mapping,
    from_micros,
    raw_or_none,
    raw_text,
    safe_or_none,
    safe_text,
    text_list,
    texts,
    to_micros,
)
from graphmem.stores.matching import community_matches
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.graph import ALL, GraphReads
from graphmem.stores.neo4j.session import Row, ids
from graphmem.stores.neo4j.together import Ask
from graphmem.stores.neo4j.transaction import Transaction


class CommunityReads(GraphReads):
    """The part of a reader that speaks of communities."""

    def communities(self, groups: Sequence[str], at: AsOf, match: CommunityMatch | None = None) -> list[CommunityVersion]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        match = match or CommunityMatch()
        if match.uuids is not None:
            by_uuid = self._by_id("communities_by_uuid", (tuple(groups), at.system), match.uuids, itemgetter("uuid"), scopes=scopes)
            versions = (_community(row, self._pin_of(row)) for row in by_uuid)
            return sorted((v for v in versions if community_matches(v, match)), key=lambda v: (v.level, v.id))
        levels = None if match.levels is None else list(match.levels)
        statement = "communities_in_groups" if match.ids is None else "communities_by_id"
        found = self._found(statement, scopes=scopes, ids=ids(match.ids), levels=levels)
        return sorted((_community(row, self._pin_of(row)) for row in found), key=lambda v: (v.level, v.id))

    def members(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        level: int | None = None,
    ) -> list[MemberVersion]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        if entities is not None:
            params: dict[str, Any] = {"entities": ids(entities), "communities": ids(communities)}
            found = self._found("members_of_entities", scopes=scopes, level=level, **params)
        elif communities is not None:
            found = self._found("members_of_communities", scopes=scopes, level=level, communities=ids(communities))
        else:
            found = self._found("members_in_groups", scopes=scopes, level=level)
        members = (_member(row, self._pin_of(row)) for row in found)
        return sorted(members, key=lambda m: (m.level, m.community, m.entity))

    def community_sizes(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        level: int | None = None,
        limit: int | None = None,
    ) -> list[tuple[str, int]]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        ask = largest_ask(scopes, level, limit) if communities is None else sizes_ask(scopes, communities, level, limit)
        found: Sequence[Any] = self._found(ask.name, **ask.params)
        return [(raw_text(community), members) for community, members in found]

    def community_versions(self, group: str, uuids: Sequence[str]) -> list[CommunityVersion]:
        pin = self._pin(group)
        found = self._found("communities_ever_by_uuid", group=safe_text(group), pin=pin, ids=ids(uuids))
        return sorted((_community(row, pin) for row in found), key=lambda v: (v.system.start or FIRST, v.uuid))

    def community_history(self, group: str) -> tuple[list[CommunityVersion], list[MemberVersion]]:
        pin = self._pin(group)
        params = {"group": safe_text(group), "pin": pin}
        versions = [_community(row, pin) for row in self._found("communities_ever", **params)]
        members = [_member(row, pin) for row in self._found("members_ever", **params)]
        return (
            sorted(versions, key=lambda v: (v.system.start or FIRST, v.uuid)),
            sorted(members, key=lambda m: (m.system.start or FIRST, m.level, m.entity)),
        )

    def ties(self, group: str, at: AsOf, entities: Sequence[str] | None = None) -> Ties:
        scopes = self._scopes([group], at)
        if not scopes:
            return Ties.of()
        if entities is None:
            found: Sequence[Any] = self._found("ties_in_groups", scopes=scopes)
        else:
            found = self._found("ties_of_entities", scopes=scopes, entities=ids(entities))
        return Ties.of(
            (raw_text(uuid), raw_text(source), raw_text(target), None if since == OPEN_START else from_micros(since), max(citations, 1))
            for uuid, source, target, since, citations in found
        )


def largest_ask(scopes: Any, level: int | None, limit: int | None) -> Ask:
    """The largest communities of a level."""
    return Ask("sizes_in_groups", {"scopes": scopes, "level": level, "limit": ALL if limit is None else limit})


def sizes_ask(scopes: Any, communities: Sequence[str], level: int | None, limit: int | None) -> Ask:
    """How large these are."""
    params = {"scopes": scopes, "ids": ids(communities), "level": level, "limit": ALL if limit is None else limit}
    return Ask("sizes_of_communities", params)


def index_communities(transaction: Transaction, group: str, change: int, words: Mapping[str, str]) -> None:
    """See `CommunityWrites`."""
    texts = [{"uuid": safe_text(uuid), **rows.words_params(group, text)} for uuid, text in words.items()]
    found = Counter(token for x in texts for token in set(x["words"].split(" ")) if token)
    listed = {
        "texts": texts,
        "words": [{"token": token, "rows": count} for token, count in sorted(found.items())],
        "counters": {"rows": len(texts), "words": sum(len(x["words"].split()) for x in texts)},
    }
    done = transaction.write("index_communities", group=safe_text(group), change=change, rows=listed)[0]
    if done["indexed"] < len(texts):
        raise StoreError(f"an index row needs its owner: one of {sorted(words)[:9]} is not there")


def put_vectors(transaction: Transaction, group: str, change: int, vectors: Sequence[rows.Params]) -> None:
    """Keep a vector each of these versions."""
    params = {"group": safe_text(group), "change": change, "open": rows.NEVER, "rows": {"vectors": list(vectors)}}
    done = transaction.write("put_community_vectors", **params)[0]
    if done["kept"] < len(vectors):
        raise StoreError(f"a vector needs its owner: one of {sorted(raw_text(x['owner']) for x in vectors)[:9]} is not there")


def change_communities(
    transaction: Transaction, group: str, change: int, ended: Sequence[str], added: Sequence[CommunityVersion], at: datetime
) -> None:
    """See `CommunityWrites`."""
    listed = {"ended": ids(ended), "added": [community_params(version, Interval(at), change) for version in added]}
    transaction.write("change_communities", **_common(group, change, at), rows=listed)


def change_members(
    transaction: Transaction, group: str, change: int, ended: Sequence[MemberVersion], added: Sequence[MemberVersion], at: datetime
) -> None:
    """See `CommunityWrites`."""
    listed = {
        "ended": [{"level": m.level, "entity": safe_text(m.entity)} for m in ended],
        "added": [member_params(m, group, Interval(at), change) for m in added],
    }
    done = transaction.write("change_members", **_common(group, change, at), rows=listed)[0]
    if done["added"] < len(added):
        raise StoreError(f"a member needs its entity: one of {sorted({m.entity for m in added})[:9]} is not there")


def _common(group: str, change: int, at: datetime) -> dict[str, Any]:
    return {"group": safe_text(group), "change": change, "open": rows.NEVER, "at": to_micros(at), "moment": rows.utc(at)}


def community_params(version: CommunityVersion, system: Interval, change: int) -> rows.Params:
    """The properties of a community version's node, stored so during `system`."""
    return {
        "uuid": safe_text(version.uuid),
        "id": safe_text(version.id),
        "group_id": safe_text(version.group),
        "level": version.level,
        "parent": safe_or_none(version.parent),
        "name": safe_text(version.name),
        "summary": safe_text(version.summary),
        "facts": text_list(version.facts),
        "attributes": encode_mapping(version.attributes),
        **rows.system_params(system, change),
    }


def shown_community(version: CommunityVersion, begun: datetime) -> rows.Params:
    """The node that Graphiti's clients know; `change_communities` writes it likewise."""
    return {
        "uuid": safe_text(version.id),
        "group_id": safe_text(version.group),
        "name": safe_text(version.name),
        "summary": safe_text(version.summary),
        "created_at": rows.utc(begun),
    }


def member_params(member: MemberVersion, group: str, system: Interval, change: int) -> rows.Params:
    """The properties of a membership's node, stored so during `system`."""
    return {
        "group_id": safe_text(group),
        "community": safe_text(member.community),
        "level": member.level,
        "entity": safe_text(member.entity),
        **rows.system_params(system, change),
    }


def _community(row: Row, pin: int) -> CommunityVersion:
    return CommunityVersion(
        uuid=raw_text(row["uuid"]),
        id=raw_text(row["id"]),
        group=raw_text(row["group_id"]),
        level=row["level"],
        name=raw_text(row["name"]),
        summary=raw_text(row["summary"]),
        system=rows.system(row, pin),
        parent=raw_or_none(row.get("parent")),
        facts=texts(row["facts"]),
        attributes=decode_mapping(row["attributes"]),
    )


def _member(row: Row, pin: int) -> MemberVersion:
    return MemberVersion(raw_text(row["community"]), row["level"], raw_text(row["entity"]), rows.system(row, pin))
