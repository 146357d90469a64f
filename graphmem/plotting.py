"""The part of a view that draws pictures with matplotlib."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Unpack

from graphmem.checks import flag
from graphmem.errors import InvalidInput, NotFound
from graphmem.export import plots
from graphmem.export.selection import Cut, Include, Selection
from graphmem.exports import Cutting, Exports
from graphmem.logs import logged
from graphmem.model import AsOf, FactMatch
from graphmem.results import FactItem, Hit, TimelineEntry
from graphmem.scope import Group

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plots(Exports):
    """Pictures at the view's point. Each returns its `matplotlib` axes and draws on `ax` if it is given."""

    @logged
    def plot_timeline(self, entity: str, *, history: bool = True, ax: Axes | None = None, group: Group = None) -> Axes:
        """The facts of an entity over valid time, a bar each; the dotted line is the valid time of the view.

        Without `history` only those that hold there. Raises `NotFound` for an unknown name.
        """
        include = Include.HISTORY if flag("history", history) else Include.HOLDING
        with self._cut({"entity": entity, "include": include.value, "group": group}) as cut:
            (named, *_) = self._named(cut.reader, cut.groups, entity)
            facts = [f for f in cut.facts() if named.id in (f.source_id, f.target_id)]
            return plots.timeline(facts, named.name, self._valid(cut), ax)

    @logged
    def plot_two_axes(self, fact: str | FactItem | Hit | TimelineEntry, *, ax: Axes | None = None, group: Group = None) -> Axes:
        """What was believed when of what holds when: every version of a fact (an item, a hit, an entry of a timeline, a uuid or a
        fact id) and of those of the same source and relation, as rectangles on both axes.

        Raises `NotFound` if there is no such fact, `InvalidInput` for what is none.
        """
        named = _fact(fact)
        with self._cut({"include": Include.VERSIONS.value, "group": group}) as cut:
            fact_id, uuid = named
            found = cut.ever(FactMatch(fact_ids=(fact_id,))) or cut.ever(FactMatch(uuids=(uuid,)))
            if not found:
                raise NotFound(f"no fact {uuid!r} was believed in {', '.join(cut.groups)} until this point; `facts()` lists them")
            told_of = Selection(Include.VERSIONS, sources=(found[0].source,), relations=(found[0].relation,))
            rows = list(replace(cut, selection=told_of).facts())
            return plots.two_axes(rows, f"{rows[0].source} {found[0].relation}", self._valid(cut), ax)

    @logged
    def plot_graph(self, *, ax: Axes | None = None, **cutting: Unpack[Cutting]) -> Axes:
        """The facts that hold at the point, and the entities that they join, coloured by community; `Cutting` says which part."""
        with self._cut({"include": Include.HOLDING.value, **cutting}) as cut:
            facts = list(cut.facts())
            joined = {end for fact in facts for end in (fact.source_id, fact.target_id)}
            return plots.graph([e for e in cut.entities.values() if e.id in joined], facts, cut.homes, ax)

    @logged
    def plot_activity(self, *, ax: Axes | None = None, group: Group = None) -> Axes:
        """How much was said when, by whom: visible episodes by reference time."""
        groups, point = self._scope.reads(group), self._scope.point()
        with self._scope.store.read() as reader:
            episodes = reader.episodes(groups, AsOf(None, point.system), bodies=False)
        return plots.activity(episodes, self._scope.zone, ax)

    def _valid(self, cut: Cut) -> datetime:
        return cut.at.valid or self._scope.now()


def _fact(given: object) -> tuple[str, str]:
    """The fact's id and the version's, of what names or holds one; a name may be either."""
    held = given.fact if isinstance(given, TimelineEntry) else given.item if isinstance(given, Hit) else given
    if isinstance(held, FactItem):
        return held.id, held.uuid
    if not isinstance(held, str):
        raise InvalidInput("fact", given, "must be a fact, its id or uuid, a hit or an entry of a timeline that is one")
    return held, held
