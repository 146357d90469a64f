"""The formats by name and by suffix, and writing one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from graphmem.errors import InvalidInput
from graphmem.export.cypher import write_script
from graphmem.export.dot import write_dot
from graphmem.export.gexf import write_gexf
from graphmem.export.graphml import write_graphml
from graphmem.export.jsons import write_cytoscape, write_node_link
from graphmem.export.logfile import write_log
from graphmem.export.selection import Axis, Cut
from graphmem.export.tables import TABLES, write_csv, write_parquet
from graphmem.export.targets import file_target, folder_target
from graphmem.export.vault import write_vault
from graphmem.export.viewer.page import write_page
from graphmem.model import Head
from graphmem.shown import Record


@dataclass(frozen=True, slots=True)
class Options:
    """What some formats ask besides: the axis that a timeline plays, the table that one file holds, the zone of days, now, and
    whether logs of groups still end there."""

    axis: Axis
    table: str
    zone: tzinfo
    now: datetime
    unchanged: Callable[[Mapping[str, Head]], bool]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its suffixes, how a file of it is written, how a folder, and, where it holds whole groups, which no selection
    narrows, what of them is counted."""

    name: str
    suffixes: tuple[str, ...]
    file: Callable[[Cut, Path, Options], None] | None
    folder: Callable[[Cut, Path, Options], None] | None = None
    whole: tuple[str, ...] = ()

    def makes_file(self, path: Path) -> bool:
        """Whether it writes one file there: a format that has folders too does so where the path has one of its suffixes."""
        return self.file is not None and (self.folder is None or path.suffix.lower() in self.suffixes)


def _tables(write: Callable[[Cut, Path, str], None], suffix: str, cut: Cut, folder: Path, options: Options) -> None:
    for name in TABLES:
        write(cut, folder / f"{name}{suffix}", name)


FORMATS = (
    Format("graphml", (".graphml",), lambda cut, path, options: write_graphml(cut, path)),
    Format("gexf", (".gexf",), lambda cut, path, options: write_gexf(cut, path, options.axis)),
    Format("cytoscape", (".cyjs",), lambda cut, path, options: write_cytoscape(cut, path)),
    Format("dot", (".dot", ".gv"), lambda cut, path, options: write_dot(cut, path)),
    Format("node-link", (".json",), lambda cut, path, options: write_node_link(cut, path)),
    Format("csv", (".csv",), lambda cut, path, options: write_csv(cut, path, options.table), partial(_tables, write_csv, ".csv")),
    Format(
        "parquet",
        (".parquet",),
        lambda cut, path, options: write_parquet(cut, path, options.table),
        partial(_tables, write_parquet, ".parquet"),
    ),
    Format("markdown", (), None, lambda cut, folder, options: write_vault(cut, folder, options.zone)),
    Format("html", (".html", ".htm"), lambda cut, path, options: write_page(cut, path, options.now)),
    Format(
        "cypher",
        (".cypher",),
        lambda cut, path, options: write_script(cut, path, options.unchanged),
        whole=("entries", "entities", "facts"),
    ),
    Format("log", (".jsonl",), lambda cut, path, options: write_log(cut, path), whole=("entries",)),
)
_BY_NAME: Mapping[str, Format] = {f.name: f for f in FORMATS}
_BY_SUFFIX: Mapping[str, Format] = {suffix: f for f in FORMATS for suffix in f.suffixes}


@dataclass(frozen=True, slots=True)
class Exported(Record):
    """What was written: where, in which format, and how many entities and facts there are in it; entries of a log, rows
    of a table that holds other things than facts."""

    path: Path
    format: str
    counts: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        told = ", ".join(f"{n:,} {what}" for what, n in self.counts.items())
        return f"<{self.format} {str(self.path)!r}: {told}>"

    def to_dict(self) -> dict[str, object]:
        return {"path": str(self.path), "format": self.format, "counts": dict(self.counts)}


def chosen_format(path: Path, name: str | None) -> Format:
    """The format of that name, or of the path's suffix. Raises `InvalidInput` listing what there is."""
    if name is not None:
        if not isinstance(name, str) or name not in _BY_NAME:
            raise InvalidInput("format", name, f"must be one of {', '.join(_BY_NAME)}")
        return _BY_NAME[name]
    if path.suffix.lower() not in _BY_SUFFIX:
        known = ", ".join(_BY_SUFFIX)
        raise InvalidInput("path", str(path), f"its suffix must be one of {known}; or pass format= ({', '.join(_BY_NAME)})")
    return _BY_SUFFIX[path.suffix.lower()]


def write(cut: Cut, path: Path, chosen: Format, options: Options, overwrite: bool) -> None:
    """Write a file, or a folder where the format has one and `path` has none of its suffixes."""
    if chosen.file is not None and chosen.makes_file(path):
        with file_target(path, overwrite) as part:
            chosen.file(cut, part, options)
    elif chosen.folder is not None:
        with folder_target(path, overwrite) as part:
            chosen.folder(cut, part, options)
