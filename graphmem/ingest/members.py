"""Which of the ids that were merged into one entity a name belongs to, so that what is said under it stays with it if they come apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphmem import names
from graphmem.belief.identity import active_operations
from graphmem.belief.slices import load_kin
from graphmem.ingest.found import FoundEntity
from graphmem.model import EntityVersion, OperationKind
from graphmem.stores.base import Reader


def told_of(
    reader: Reader, group: str, found: Sequence[FoundEntity], ids: Sequence[str], known: Mapping[str, EntityVersion]
) -> tuple[str, ...]:
    """For each found entity, of which `ids` are the entities meant, the id to record: that of the one merged into it which alone
    had the name before.
    """
    open_ = {i for i in ids if i in known and known[i].aliases}  # whoever was merged has other names
    if not open_:
        return tuple(ids)
    kin = load_kin(reader, group, open_)
    if not any(o.kind is OperationKind.MERGE for o in active_operations(kin.entries)):
        return tuple(ids)  # what texts alone made one comes apart with them
    identity = kin.identity
    merged = {i: sorted(identity.members(i)) for i in open_ if len(identity.members(i)) > 1}
    if not merged:
        return tuple(ids)
    versions: dict[str, list[EntityVersion]] = {}
    for version in reader.entity_versions(group, sorted({m for members in merged.values() for m in members})):
        versions.setdefault(version.id, []).append(version)
    return tuple(_member(e.name, i, merged[i], versions) if i in merged else i for e, i in zip(found, ids, strict=True))


def _member(name: str, entity: str, members: Sequence[str], versions: Mapping[str, Sequence[EntityVersion]]) -> str:
    key, had = names.key(name), []
    for member in members:
        last = versions.get(member, [])[-1:]
        if member == entity or not last or last[0].system.end is None or key not in _keys(last[0]):
            continue
        before = [v for v in versions.get(entity, ()) if v.system.start is None or v.system.start < last[0].system.end]
        if not before or key not in _keys(before[-1]):
            had.append(member)
    return had[0] if len(had) == 1 else entity


def _keys(version: EntityVersion) -> set[str]:
    return {names.key(n) for n in (version.name, *version.aliases)}
