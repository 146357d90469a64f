"""Communities: versions, memberships, and facts as the edges to find them by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any

from graphmem.errors import StoreError
from graphmem.model import AsOf, CommunityMatch, CommunityVersion, MemberVersion, Ties
from graphmem.stores.codec import (
    OPEN_END,
    OPEN_START,
    decode_mapping,
    encode_mapping,
    from_micros,
    interval,
    raw_or_none,
    raw_text,
    raw_texts,
    safe_or_none,
    safe_text,
    text_list,
    texts,
    to_micros,
)
from graphmem.stores.matching import community_matches
from graphmem.stores.sqlite.graph import GraphReads
from graphmem.stores.sqlite.rows import Params, Values
from graphmem.stores.sqlite.session import Session, id_list, instants


class CommunityReads(GraphReads):
    """The part of a reader that speaks of communities."""

    def communities(self, groups: Sequence[str], at: AsOf, match: CommunityMatch | None = None) -> list[CommunityVersion]:
        grps, named = self._scope(groups)
        system = instants(at)["system"]
        if match is not None and match.uuids is not None:
            found = self.session.rows("communities_by_uuid", ids=id_list(match.uuids), grps=grps, system=system)
        elif match is not None and match.ids is not None:
            found = self.session.rows("communities_by_id", ids=id_list(match.ids), grps=grps, system=system)
        else:
            found = self.session.rows("communities_in_groups", grps=grps, system=system)
        return [version for row in found if community_matches(version := _community(row, named), match)]

    def members(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        level: int | None = None,
    ) -> list[MemberVersion]:
        grps, _ = self._scope(groups)
        system = instants(at)["system"]
        if entities is not None:
            found = self.session.rows("members_of_entities", ids=id_list(entities), grps=grps, system=system)
        elif communities is not None:
            found = self.session.rows("members_of_communities", ids=id_list(communities), grps=grps, system=system)
        else:
            found = self.session.rows("members_in_groups", grps=grps, system=system, level=level)
        members = [_member(row) for row in found]
        if entities is not None and communities is not None:
            members = [m for m in members if m.community in communities]
        return members if level is None else [m for m in members if m.level == level]

    def community_sizes(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        level: int | None = None,
        limit: int | None = None,
    ) -> list[tuple[str, int]]:
        grps, _ = self._scope(groups)
        params: Params = {"grps": grps, "system": instants(at)["system"], "level": level, "count": -1 if limit is None else limit}
        if communities is None:
            found: Sequence[Any] = self.session.rows("sizes_in_groups", **params)
        else:
            found = self.session.rows("sizes_of_communities", ids=id_list(communities), **params)
        return [(raw_text(community), members) for community, members in found]

    def community_history(self, group: str) -> tuple[list[CommunityVersion], list[MemberVersion]]:
        grp = self._group_row(group)
        versions = [_community(row, {grp: group}) for row in self.session.rows("communities_ever", grp=grp)]
        return versions, [_member(row) for row in self.session.rows("members_ever", grp=grp)]

    def community_versions(self, group: str, uuids: Sequence[str]) -> list[CommunityVersion]:
        grp = self._group_row(group)
        return [_community(row, {grp: group}) for row in self.session.rows("communities_ever_by_uuid", grp=grp, ids=id_list(uuids))]

    def ties(self, group: str, at: AsOf, entities: Sequence[str] | None = None) -> Ties:
        params = {"grp": self._group_row(group), **instants(at)}
        if entities is not None:
            return _ties(self.session.row("ties_of_entities", ids=id_list(entities), **params))
        [(is_large,)] = self.session.rows("group_is_large", grp=params["grp"])
        return _ties(self.session.row("ties_in_group" if is_large else "ties_in_small_group", **params))


def change_members(
    session: Session, grp: int, owners: Mapping[str, int], ended: Sequence[MemberVersion], added: Sequence[MemberVersion], at: datetime
) -> None:
    """See `CommunityWrites`; `owners` are the row numbers of the entities."""
    now = to_micros(at)
    closed: list[Values] = [(now, owners[m.entity], m.level, OPEN_END) for m in ended if m.entity in owners]
    if session.many("end_member", closed):
        session.run("drop_unborn_members", grp=grp, at=now)
    if missing := [m.entity for m in added if m.entity not in owners]:
        raise StoreError(f"a member needs its entity: there is no {missing[0]}")
    # In the order of the table, so that its pages are filled one after the other.
    placed = sorted(((owners[m.entity], m.level, m.community) for m in added), key=itemgetter(0))
    names = {m.community: encode_basestring(safe_text(m.community)) for m in added}
    listed = ",".join([f"[{owner},{level},{names[community]}]" for owner, level, community in placed])
    session.run("add_members", rows=f"[{listed}]", grp=grp, created_at=now, expired_at=OPEN_END)


def community_params(version: CommunityVersion, grp: int, at: datetime, changed: int) -> Values:
    """The parameters of `add_community`."""
    return (
        safe_text(version.uuid),
        safe_text(version.id),
        grp,
        version.level,
        safe_or_none(version.parent),
        safe_text(version.name),
        safe_text(version.summary),
        text_list(version.facts),
        encode_mapping(version.attributes),
        to_micros(at),
        OPEN_END,
        changed,
    )


def _community(row: Sequence[Any], groups: Mapping[int, str]) -> CommunityVersion:
    uuid, identity, grp, level, name, summary, created_at, expired_at, parent, facts, attributes = row
    return CommunityVersion(
        uuid=raw_text(uuid),
        id=raw_text(identity),
        group=groups[grp],
        level=level,
        name=raw_text(name),
        summary=raw_text(summary),
        system=interval(created_at, expired_at),
        parent=raw_or_none(parent),
        facts=texts(facts),
        attributes=decode_mapping(attributes),
    )


def _member(row: Sequence[Any]) -> MemberVersion:
    community, level, entity, created_at, expired_at = row
    return MemberVersion(raw_text(community), level, raw_text(entity), interval(created_at, expired_at))


def _ties(row: Any) -> Ties:
    """The columns, each from one JSON text: a hundred thousand rows as objects would cost more than reading them."""
    facts, sources, targets, begun, citations = map(json.loads, row)
    moments = {b: None if b == OPEN_START else from_micros(b) for b in set(begun)}
    return Ties(raw_texts(facts), raw_texts(sources), raw_texts(targets), [moments[b] for b in begun], citations)
