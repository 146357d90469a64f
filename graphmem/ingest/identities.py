"""Who is who, said by hand: what an operation on entities is to be, decided on what the memory knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphmem import names
from graphmem.belief.identity import active_operations
from graphmem.belief.slices import Kin, load_kin
from graphmem.errors import InvalidInput, NotFound
from graphmem.ingest.kinds import compatible
from graphmem.ingest.named import listed, near_names
from graphmem.ingest.operating import Act, settled_ontology
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, EntityVersion, EpisodeMatch, Operation, OperationKind, Warn
from graphmem.runtime import content_id
from graphmem.stores.base import Reader

NOW = AsOf()


class Named(Protocol):
    """What has the id of an entity or an episode."""

    @property
    def id(self) -> str: ...


Who = str | Named
"""An entity, or the id, name or other name of one."""


@dataclass(frozen=True)
class Meant:
    """The entity that somebody means, and which of the ids that were merged into it: those that the name given was said of."""

    entity: EntityVersion
    ids: tuple[str, ...]
    kin: Kin

    @property
    def id(self) -> str:
        """The one id meant, else that of the whole."""
        return self.ids[0] if len(self.ids) == 1 else self.entity.id


def meant(reader: Reader, group: str, who: Who, argument: str) -> Meant:
    """Whom `who` means, now. Raises `NotFound` for nobody, `InvalidInput` for several, for a value, for one of another group."""
    text = who if isinstance(who, str) else getattr(who, "id", None)
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput(argument, who, "must be an entity, or the id or name of one")
    kin = load_kin(reader, group, [text])
    found = reader.entities([group], NOW, EntityMatch(ids=(kin.identity.canonical(text),)))
    is_id = bool(found)
    if not is_id:
        named = reader.entities([group], NOW, EntityMatch(names=(text,)))
        found = [e for e in named if e.type != VALUE_TYPE] or named
    if not found:
        raise _unknown(reader, group, text, argument)
    if len(found) > 1:
        raise InvalidInput(argument, text, f"several entities share the name; give one of the ids: {listed(found)}")
    if found[0].type == VALUE_TYPE:
        raise InvalidInput(argument, text, "is a value: it is what it says, and nobody else; only entities have an identity")
    if is_id:
        return Meant(found[0], (text,), kin)
    kin = load_kin(reader, group, [found[0].id])
    return Meant(found[0], _spoken_of(reader, kin, found[0], text), kin)


def _unknown(reader: Reader, group: str, text: str, argument: str) -> InvalidInput | NotFound:
    """The error for what is no entity of the group: it says where it is, or what is near."""
    others = [g for g in reader.groups() if g != group]
    elsewhere = reader.entities(others, NOW, EntityMatch(ids=(text,))) if others else []
    if elsewhere:
        return InvalidInput(argument, text, f"is of group {elsewhere[0].group!r}, not of {group!r}; nothing crosses from one to another")
    known = near_names(reader, [group], NOW, text)
    hint = f"; near names: {', '.join(known)}" if known else ""
    return NotFound(f"{argument}: no entity has the id or name {text!r} in group {group!r}{hint}")


def _own_names(reader: Reader, kin: Kin, entity: EntityVersion) -> dict[str, list[str]]:
    """Each id that was merged into an entity → its names: what it was told by first, or called by hand, before the others."""
    own: dict[str, list[str]] = {}
    for mention in reader.mention_records(entity.group, sorted(kin.members)):
        member = kin.identity.at(mention.entity, mention.episode)
        if kin.identity.canonical(member) == entity.id:
            own.setdefault(member, []).append(mention.name)
    for operation in active_operations(kin.entries):
        if operation.kind in (OperationKind.RENAME, OperationKind.ALIAS) and operation.targets[0] in own:
            told = own[operation.targets[0]]
            told.insert(0 if operation.kind is OperationKind.RENAME else len(told), str(operation.values["name"]))
    return own


def _spoken_of(reader: Reader, kin: Kin, entity: EntityVersion, name: str) -> tuple[str, ...]:
    """Of the ids merged into an entity those that first had that name, else those that have it at all."""
    if len(kin.identity.members(entity.id)) == 1:
        return (entity.id,)
    key, own = names.key(name), _own_names(reader, kin, entity)
    first = [member for member, told in own.items() if names.key(told[0]) == key]
    return tuple(sorted(first or [member for member, told in own.items() if key in {names.key(n) for n in told}]))


def one_merged(reader: Reader, entity: EntityVersion, named: str) -> tuple[str, str]:
    """Id and name of the one merged into an entity that a name or id means; those of the whole where that is open."""
    kin = load_kin(reader, entity.group, [entity.id])
    if len(kin.identity.members(entity.id)) == 1:
        return entity.id, entity.name
    own = _own_names(reader, kin, entity)
    ids = (named,) if named in own else _spoken_of(reader, kin, entity, named)
    return (ids[0], own[ids[0]][0]) if len(ids) == 1 else (entity.id, entity.name)


# ------------------------------------------------------------------------------------------------ plans


def merging(reader: Reader, group: str, one: Who, other: Who) -> Act:
    """Make one entity of two."""
    a, b = meant(reader, group, one, "entity"), meant(reader, group, other, "other")
    if a.entity.id == b.entity.id:
        raise InvalidInput("other", b.id, f"is {a.entity.name} ({a.entity.id}) already; merge takes two entities")
    kin = load_kin(reader, group, [a.id, b.id])
    both = {a.entity.id, b.entity.id}
    for bar in (o for o in active_operations(kin.entries) if o.kind is OperationKind.DISTINCT):
        if {kin.identity.canonical(t) for t in bar.targets} == both:
            raise InvalidInput("other", b.id, f"was said to be distinct from {a.entity.name} by operation {bar.id}; undo that first")
    warnings = []
    if not compatible(a.entity.type, b.entity.type, settled_ontology(reader, group)):
        told = f"{a.entity.name} is of type {a.entity.type}, {b.entity.name} of type {b.entity.type}; the first said counts"
        warnings.append(Warn("types_differ", [a.entity.type, b.entity.type], told))
    return Act(OperationKind.MERGE, (a.id, b.id), warnings=tuple(warnings))


def keeping_apart(reader: Reader, group: str, one: Who, other: Who) -> Act:
    """Bar all that makes one entity of two."""
    a, b = meant(reader, group, one, "entity"), meant(reader, group, other, "other")
    if a.entity.id != b.entity.id:
        return Act(OperationKind.DISTINCT, (a.id, b.id))
    ours, theirs = {*a.ids}, {*b.ids}
    if len(ours) == 1 < len(theirs):
        theirs -= ours
    elif len(theirs) == 1 < len(ours):
        ours -= theirs
    if len(ours) == len(theirs) == 1 and ours != theirs:
        return Act(OperationKind.DISTINCT, (*ours, *theirs))
    kin = load_kin(reader, group, [a.entity.id])
    if len(kin.identity.members(a.entity.id)) == 1:
        told = f"is {a.entity.name} ({a.entity.id}), as is the other: one entity from the beginning; split takes episodes out of it"
        raise InvalidInput("other", b.id, told)
    merged = ", ".join(f"{member} ({told[0]})" for member, told in _own_names(reader, kin, a.entity).items())
    raise InvalidInput("other", b.id, f"does not say which of those merged into {a.entity.name} is meant; give two of the ids: {merged}")


def splitting(reader: Reader, group: str, who: Who, episodes: str | Named | Iterable[str | Named]) -> Act:
    """Give what some episodes say of an entity to a new one."""
    of = meant(reader, group, who, "entity")
    wanted = _episodes(reader, group, episodes)
    mentions = reader.mentions([group], NOW, entities=[of.entity.id])
    telling = {m.mention.episode for m in mentions}
    silent = [e for e in wanted if e not in telling]
    if silent:
        raise InvalidInput(
            "episodes", silent, f"do not mention {of.entity.name} ({of.entity.id}); `episodes(entity=...)` lists those that do"
        )
    if telling == set(wanted):
        raise InvalidInput("episodes", wanted, f"are all that mention {of.entity.name} ({of.entity.id}): leave at least one to it")
    kin = load_kin(reader, group, [of.entity.id])
    taken: set[str] = set()
    for record in reader.records(group, wanted):
        told = {m.entity for m in record.mentions} | {e for link in record.links for e in link}
        told |= {e for a in record.assertions for e in (a.source, a.target)}
        known = {kin.identity.at(e, record.episode.id) for e in told}
        taken |= {e for e in known if kin.identity.canonical(e) == of.entity.id}
    ids = sorted(taken)
    new = content_id("en", group, "split", ids, wanted)
    values: dict[str, object] = {"entity": new}
    if len(ids) > 1:
        values["of"] = len(ids)
    return Act(OperationKind.SPLIT, (*ids, *wanted, new), values)


def _episodes(reader: Reader, group: str, episodes: str | Named | Iterable[str | Named]) -> list[str]:
    """The ids of these episodes, sorted, each once; all of them are visible."""
    given = [episodes] if isinstance(episodes, str) or hasattr(episodes, "id") else episodes
    if not isinstance(given, Iterable):
        raise InvalidInput("episodes", episodes, "must be episodes, or ids of episodes")
    ids = [e if isinstance(e, str) else getattr(e, "id", None) for e in given]
    if not ids or not all(isinstance(i, str) for i in ids):
        raise InvalidInput("episodes", episodes, "must be at least one episode, or id of an episode")
    wanted = sorted({str(i) for i in ids})
    visible = {e.id for e in reader.episodes([group], NOW, EpisodeMatch(ids=tuple(wanted)), bodies=False)}
    if hidden := [i for i in wanted if i not in visible]:
        raise NotFound(f"no visible episode {', '.join(map(repr, hidden))} in group {group!r}; `episodes()` lists them")
    return wanted


def naming(reader: Reader, group: str, who: Who, name: object, kind: OperationKind) -> Act:
    """Give an entity a name (`RENAME`) or one more name (`ALIAS`)."""
    if not isinstance(name, str) or not names.is_nameable(name):
        raise InvalidInput("name", name, f"must show something besides punctuation, in at most {names.MAX_NAME} characters")
    of, shown = meant(reader, group, who, "entity"), names.clean(name)
    others = [e for e in reader.entities([group], NOW, EntityMatch(names=(shown,))) if e.id != of.entity.id and e.type != VALUE_TYPE]
    told = f"also a name of {listed(others)}; if they are one, merge them"
    return Act(kind, (of.id,), {"name": shown}, (Warn("name_taken", shown, told),) if others else ())


def barred(operations: Sequence[Operation]) -> list[tuple[str, str]]:
    """The pairs of ids that are said to be distinct, of all operations of a group."""
    return [(o.targets[0], o.targets[1]) for o in active_operations(operations) if o.kind is OperationKind.DISTINCT]
