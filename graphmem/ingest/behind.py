"""What stands behind a fact: the versions that a caller's name for it means, and what each rests on, listed under the lock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.belief.entities import Hidden
from graphmem.belief.identity import active_operations
from graphmem.belief.slices import Kin, operations_on
from graphmem.errors import InvalidInput, NotFound
from graphmem.model import AsOf, Assertion, FactMatch, FactVersion, Operation, OperationKind
from graphmem.runtime import MICROSECOND
from graphmem.search.locate import versions_named
from graphmem.stores.base import Reader

NOW = AsOf()
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NamedFact:
    """A caller's name for a fact: a version uuid or a fact id, and an instant at which it was believed, where that is known."""

    name: str
    believed: datetime | None = None


@dataclass(frozen=True, slots=True)
class Behind:
    """A version, the assertions it rests on that are not forgotten, and the users' operations beside them."""

    version: FactVersion
    assertions: tuple[Assertion, ...]
    operations: tuple[Operation, ...]

    @property
    def told(self) -> tuple[str, ...]:
        """The ids of the assertions; raises `InvalidInput` where users alone said it."""
        if not self.assertions:
            ids = ", ".join(o.id for o in self.operations)
            raise InvalidInput("fact", self.version.text, f"rests on what was said by hand alone; undo({ids!r}) takes that back")
        return tuple(a.id for a in self.assertions)

    @property
    def spoken(self) -> tuple[str, ...]:
        """As `told`; where users alone said it, the assertions of the fact that they spoke of."""
        return tuple(a.id for a in self.assertions) or tuple(dict.fromkeys(t for o in self.operations for t in o.targets))


def behind(reader: Reader, group: str, named: NamedFact) -> list[Behind]:
    """What stands behind each version that is meant, by valid start, unknown first.

    A uuid means that version, a fact id all versions believed now; of those believed no more, what they rested on when they
    were last believed. Raises `NotFound` for an unknown name, `InvalidInput` where everything behind it is forgotten.
    """
    versions = _versions(reader, group, named)
    if not versions:
        raise NotFound(f"no fact has the id or uuid {named.name!r} in group {group!r}; `facts()` lists them, group= names another group")
    found = [_behind(reader, group, version) for version in versions]
    if kept := [b for b in found if b.assertions or b.operations]:
        return kept
    rested = _cited(reader, group, versions[-1])
    hiding = forgotten(reader, group, [*(a.id for a in rested), *(a.episode for a in rested)])
    by = next(iter(hiding.values()), None)
    advice = f"by {by.id}; restore({by.id!r}) brings it back" if by is not None else "or taken back"
    raise InvalidInput("fact", versions[-1].text, f"is forgotten already, {advice}")


def about(reader: Reader, group: str, kin: Kin, entity: str) -> list[Assertion]:
    """The assertions about an entity of `kin`, as they were corrected and whatever was merged into it; forgotten ones too.

    Also those that speak of no fact: what is said of an entity and itself.
    """
    operations = {o.id: o for o in kin.entries if isinstance(o, Operation)}
    corrected = {t for o in operations.values() if o.kind is OperationKind.CORRECT for t in o.targets}
    found = [*reader.assertions(group, entities=sorted(kin.members)), *reader.assertions(group, ids=sorted(corrected))]
    assertions = {a.id: a for a in found}
    operations_on(reader, group, assertions, operations)
    hidden = Hidden(active_operations(operations.values()), kin.identity)
    return [a for a in assertions.values() if entity in hidden.ends(a)]


def one_of(found: Sequence[Behind]) -> Behind:
    """The only version meant; raises `InvalidInput` with the uuids where there are several."""
    if len(found) == 1:
        return found[0]
    raise InvalidInput("fact", found[0].version.fact_id, f"has several periods; give the uuid of one: {_listed(found)}")


def begun_by(found: Sequence[Behind], at: datetime) -> Behind:
    """The last version that begins before `at`; raises `InvalidInput` if none does."""
    begun = [b for b in found if b.version.valid.start is None or b.version.valid.start < at]
    if not begun:
        raise InvalidInput("at", at.isoformat(), f"must be after the fact begins: {_listed(found)}")
    return begun[-1]


def forgotten(reader: Reader, group: str, ids: Iterable[str]) -> dict[str, Operation]:
    """Of these episodes and assertions those that are forgotten now, each with the operation that first did it."""
    asked, known = list(dict.fromkeys(ids)), dict[str, Operation]()
    operations_on(reader, group, asked, known)
    hiding: dict[str, Operation] = {}
    for operation in active_operations(known.values()):
        if operation.kind is OperationKind.FORGET:
            for target in operation.targets:
                hiding.setdefault(target, operation)
    return {i: hiding[i] for i in asked if i in hiding}


def shown(reader: Reader, group: str, assertions: Sequence[Assertion]) -> list[Assertion]:
    """Those that are not forgotten, neither themselves nor with their episodes."""
    gone = forgotten(reader, group, [i for a in assertions for i in (a.id, a.episode)])
    return [a for a in assertions if a.id not in gone and a.episode not in gone]


def _versions(reader: Reader, group: str, named: NamedFact) -> list[FactVersion]:
    points = [NOW, *([AsOf(None, named.believed)] if named.believed is not None else [])]
    for point in points:
        for match in (FactMatch(uuids=(named.name,)), FactMatch(fact_ids=(named.name,))):
            if found := reader.facts([group], point, match):
                return found
    former = versions_named(reader, group, named.name)
    last = [v for v in former if v.system.end == former[-1].system.end] if former else []
    return sorted(last, key=lambda v: (v.valid.start is not None, v.valid.start, v.uuid))


def _cited(reader: Reader, group: str, version: FactVersion) -> list[Assertion]:
    return reader.assertions(group, ids=_by(reader, group, version))


def _by(reader: Reader, group: str, version: FactVersion) -> list[str]:
    """The assertions and operations that a version rests on, or rested on when it was last believed."""
    last = version.system.end - MICROSECOND if version.system.end is not None else None
    rows = reader.citations([group], AsOf(None, last), facts=[version.fact_id])
    return list(dict.fromkeys(c.by for c in rows if c.valid_at == version.valid.start))


def _behind(reader: Reader, group: str, version: FactVersion) -> Behind:
    by = _by(reader, group, version)
    operations = reader.operations(group, ids=by) if by else []
    known = {o.id: o for o in operations}
    operations_on(reader, group, list(known), known)
    standing = {o.id for o in active_operations(known.values())}
    assertions = reader.assertions(group, ids=by) if by else []
    return Behind(version, tuple(shown(reader, group, assertions)), tuple(o for o in operations if o.id in standing))


def _listed(found: Sequence[Behind]) -> str:
    listed = [f"{b.version.uuid} ({b.version.start.shown(b.version.valid.start) or 'unknown'})" for b in found[:_SHOWN]]
    return ", ".join(listed) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
