"""A Cypher script that makes whole groups, with their history, in a Neo4j: for its shell, its Browser, or a driver; streamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from graphmem.errors import StoreBusy
from graphmem.export.selection import Cut
from graphmem.model import Head
from graphmem.stores.histories import HistoryReader
from graphmem.stores.neo4j.script import group_script, prologue

_ABOUT = """\
// Written by graphmem: a memory for an empty Neo4j (5.26 or newer), or one that has no such group.
// Run it with `cypher-shell -f FILE`; run again it changes nothing, stopped midway it goes on.
// Each statement ends with a semicolon at the end of a line. Then: graphmem.open("neo4j://...").
"""


def write_script(cut: Cut, path: Path, unchanged: Callable[[Mapping[str, Head]], bool]) -> None:
    """The cut's groups, whole, whatever its selection.

    Raises `StoreBusy` where somebody wrote to a group meanwhile, in a store whose reads are of no one moment.
    """
    reader = cast(HistoryReader, cut.reader)  # every store's reader is one
    heads = {group: reader.head(group) for group in cut.groups}
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(_ABOUT)
        out.writelines(f"{statement};\n" for statement in prologue())
        for group, head in heads.items():
            out.writelines(f"{statement};\n" for statement in group_script(reader, group, head, cut.tally.add))
    if not unchanged(heads):
        raise StoreBusy(f"{', '.join(cut.groups)}: was written to meanwhile; export it again")
