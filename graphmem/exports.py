"""The part of a view that takes a memory elsewhere: files, tables, graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from graphmem.checks import check_known, flag, path_of, positive
from graphmem.errors import InvalidInput, MissingExtra, NotFound
from graphmem.export.formats import Exported, Format, Options, chosen_format, write
from graphmem.export.networks import to_igraph, to_networkx
from graphmem.export.selection import Axis, Cut, Include, Selection
from graphmem.export.tables import ARROW_LINE, TABLES, arrow
from graphmem.export.viewer.frame import Frame, in_notebook
from graphmem.export.viewer.page import page
from graphmem.instants import Instant, read_stretch
from graphmem.logs import logged
from graphmem.model import AsOf, EntityVersion, Head
from graphmem.progress import Progress, reporting
from graphmem.scope import Group, Scope
from graphmem.stores.base import Capability, Reader

if TYPE_CHECKING:
    import networkx
    import pandas
    import pyarrow

E = TypeVar("E", Axis, Include)


class Cutting(TypedDict, total=False):
    """Which part of a memory goes out.

    `include`: "history" (the default: all valid times, as believed at the point read), "holding" (what holds at the point) or
    "versions" (all that was ever believed until then). `entity` (name or id) with `hops` (1) stays around it; `relation` keeps
    facts of that relation or these; `since` and `until` keep facts whose valid time overlaps [since, until).
    """

    include: str
    entity: str | None
    hops: int | None
    relation: str | Sequence[str] | None
    since: Instant | None
    until: Instant | None
    group: Group


class Exports:
    """What every view can write and hand over. All of it reads at the view's point on both axes."""

    _scope: Scope

    def _named(self, reader: Reader, groups: tuple[str, ...], name: str) -> list[EntityVersion]:
        raise NotImplementedError

    @logged
    def export(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        overwrite: bool = False,
        axis: str | None = None,
        table: str | None = None,
        progress: Progress | bool | None = None,
        **cutting: Unpack[Cutting],
    ) -> Exported:
        """Write a file or folder that other programs read; the format is that of the suffix, or the one named.

        "graphml" (.graphml), "gexf" (.gexf: Gephi's timeline plays `axis`, "valid", the default, or "system"), "cytoscape" (.cyjs),
        "dot" (.dot, .gv), "node-link" (.json), "csv" and "parquet" (a suffix: one `table`: facts, the default, entities, episodes,
        mentions, communities or members; a folder: all of them), "markdown" (a folder of linked pages), "log" (.jsonl: the whole log of
        the groups, which `load` reads back), "cypher" (.cypher: a script that makes the groups, with their history, in Neo4j).
        `Cutting` says which part, but for the last two. Dates are ISO 8601 in UTC, periods half-open.

        It is written under another name and moved when it is whole. Raises `InvalidInput` for an unknown suffix or a target
        that exists (unless `overwrite`) and for an argument that the format takes no regard of, `NotFound` for a log or script of a
        group that has none, `ExportError` where it cannot be written, `MissingExtra` with the line that
        installs what is missing.
        """
        target, replaces = path_of("path", path), flag("overwrite", overwrite)
        chosen = chosen_format(target, format)
        if chosen.whole:
            self._check_whole(chosen.name, cutting)
        played, one = _axis(axis, chosen), _only_table(table, chosen, target)
        plays_beliefs = chosen.name == "html" or (chosen.name == "gexf" and played is Axis.SYSTEM)
        with self._cut(cutting, Include.VERSIONS if plays_beliefs else Include.HISTORY) as cut:
            if chosen.whole and cutting.get("group") is not None:
                _check_logs(cut)
            options = Options(played, one or "facts", self._scope.zone, self._scope.now(), self._unchanged)
            watched = None if chosen.whole else one or "facts"
            total = None if watched is None else cut.reader.counts(cut.groups, cut.at).get(watched)
            with reporting(progress, total, "writing") as report:

                def told(what: str, count: int) -> None:
                    if what == (watched or what):
                        report(count if watched else cut.tally.counts.total(), total)

                cut.tally.told = told
                write(cut, target, chosen, options, replaces)
            counted = cut.tally.counts
            if kinds := chosen.whole or ((one,) if one not in (None, "facts") else ()):
                return Exported(target, chosen.name, {kind: counted[kind] for kind in kinds})
            return Exported(target, chosen.name, {"entities": len(cut.entities), "facts": counted["facts"]})

    @logged
    def show(self, *, width: str = "100%", height: int = 600, open_browser: bool | None = None, **cutting: Unpack[Cutting]) -> Frame:
        """The viewer's page: in a notebook a frame of its own, `width` by `height` pixels; from a script it opens in the browser.

        `open_browser` overrides that. The page of a script lies in the temporary folder.
        """
        with self._cut(cutting, Include.VERSIONS) as cut:
            opens = flag("open_browser", open_browser) if open_browser is not None else not in_notebook()
            frame = Frame(page(cut, self._scope.now()), width, positive("height", height))
        if opens:
            frame.open()
        return frame

    @logged
    def to_networkx(self, **cutting: Unpack[Cutting]) -> networkx.MultiDiGraph[str]:
        """A directed multigraph of networkx: nodes by entity id, edges by version uuid, all four dates as `datetime`s (UTC)."""
        with self._cut(cutting) as cut:
            return to_networkx(cut)

    @logged
    def to_igraph(self, **cutting: Unpack[Cutting]) -> Any:
        """A directed `igraph.Graph`, where igraph is installed: `name` is the entity id, `label` its name."""
        with self._cut(cutting) as cut:
            return to_igraph(cut)

    @logged
    def to_arrow(self, table: str = "facts", **cutting: Unpack[Cutting]) -> pyarrow.Table:
        """One of the tables facts, entities, episodes, mentions, communities, and members of these; instants are timestamps in UTC,
        microseconds."""
        with self._cut(cutting) as cut:
            return arrow(cut, _table(table))

    @logged
    def to_pandas(self, table: str = "facts", **cutting: Unpack[Cutting]) -> pandas.DataFrame:
        """As `to_arrow`, a `pandas.DataFrame`: instants are `datetime64[us, UTC]`, an open one is `NaT`."""
        try:
            import pandas  # noqa: F401 - without it pyarrow's own message would name no extra
        except ImportError as error:
            raise MissingExtra(f"this needs pandas: {ARROW_LINE}") from error
        return self.to_arrow(table, **cutting).to_pandas()

    def _check_whole(self, format: str, cutting: Cutting) -> None:
        """A log and a script hold whole groups, or what they make would be no memory."""
        narrowed = [f"{name}=" for name in sorted(set(cutting) - {"group"})]
        if self._scope.at != AsOf():
            narrowed.append("as_of()")
        if narrowed:
            raise InvalidInput(
                "format", format, f"takes whole groups; leave out {', '.join(narrowed)}, or write a part in another format, such as graphml"
            )

    def _unchanged(self, heads: Mapping[str, Head]) -> bool:
        """Whether the logs of these groups still end there, or what was read is a snapshot of them anyway."""
        if Capability.SNAPSHOT_READS in self._scope.store.capabilities:
            return True
        with self._scope.store.read() as later:
            return all(later.head(group) == head for group, head in heads.items())

    @contextmanager
    def _cut(self, cutting: Cutting, include: Include = Include.HISTORY) -> Iterator[Cut]:
        """What was asked for, at one snapshot; `include` counts where the caller says nothing."""
        check_known(cutting, Cutting)
        groups, point = self._scope.reads(cutting.get("group")), self._scope.point()
        included = _one_of(Include, "include", cutting.get("include", include.value))
        with self._scope.store.read() as reader:
            entity = cutting.get("entity")
            selection = Selection(
                included,
                tuple(e.id for e in self._named(reader, groups, entity)) if entity is not None else None,
                _hops(cutting),
                self._scope.relation_names(reader, groups, cutting.get("relation")),
                read_stretch(cutting.get("since"), cutting.get("until"), self._scope.zone),
            )
            yield Cut(reader, groups, point, selection, self._scope.at)


def _only_table(name: str | None, chosen: Format, target: Path) -> str | None:
    """The table of a file that holds one; None: the format has no tables, or the target holds all of them."""
    holds_one = chosen.folder is not None and chosen.makes_file(target)
    if name is not None and not holds_one:
        raise InvalidInput("table", name, "is for one CSV or Parquet file; leave it out, or write to a path that ends in .csv or .parquet")
    return _table("facts" if name is None else name) if holds_one else None


def _axis(name: str | None, chosen: Format) -> Axis:
    axis = Axis.VALID if name is None else _one_of(Axis, "axis", name)
    if name is not None and chosen.name != "gexf":
        raise InvalidInput("axis", name, f"is for GEXF, whose timeline plays one; leave it out for {chosen.name}")
    return axis


def _hops(cutting: Cutting) -> int:
    hops = cutting.get("hops")
    if hops is None:
        return 1
    if cutting.get("entity") is None:
        raise InvalidInput("hops", hops, "needs entity=, the entity to stay around")
    return positive("hops", hops)


def _check_logs(cut: Cut) -> None:
    """A backup of a group that nothing was recorded in would be an empty one."""
    empty = [group for group in cut.groups if not cut.reader.head(group).seq]
    if empty:
        raise NotFound(
            f"nothing was recorded in group {', '.join(map(repr, empty))}; there are {', '.join(map(repr, cut.reader.groups())) or 'none'}"
        )


def _table(name: str) -> str:
    if not isinstance(name, str) or name not in TABLES:
        raise InvalidInput("table", name, f"must be one of {', '.join(TABLES)}")
    return name


def _one_of(kind: type[E], argument: str, value: str) -> E:
    try:
        return kind(value)
    except ValueError as error:
        raise InvalidInput(argument, value, f"must be one of {', '.join(k.value for k in kind)}") from error
