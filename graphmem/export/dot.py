"""DOT, as Graphviz draws it; streamed."""

from __future__ import annotations

import re
from pathlib import Path

from graphmem.export.plaintext import xml_text
from graphmem.export.selection import Cut
from graphmem.model import VALUE_TYPE
from graphmem.results import shorten

_LONGEST = 60
_ENTITY = re.compile(r"&(?=#?\w+;)")  # what Graphviz would draw as another character


def write_dot(cut: Cut, path: Path) -> None:
    """Entities as boxes, values plain, facts as arrows labelled with relation and period; what does not hold is dashed."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write('digraph graphmem {\n  graph [charset="UTF-8"];\n  node [shape=box, style=rounded];\n')
        for entity in cut.entities.values():
            shape = ", shape=plaintext" if entity.type == VALUE_TYPE else ""
            out.write(f"  {_quoted(entity.id)} [label={_quoted(shorten(entity.name, _LONGEST))}{shape}];\n")
        for fact in cut.facts():
            style = "" if cut.holds(fact) else ", style=dashed, color=gray60, fontcolor=gray40"
            label = _quoted(f"{fact.relation} ({fact.period})")
            out.write(f"  {_quoted(fact.source_id)} -> {_quoted(fact.target_id)} [label={label}, tooltip={_quoted(fact.text)}{style}];\n")
        out.write("}\n")


def _quoted(text: str) -> str:
    """A quoted string whose every character is meant as it is: no escapes, no HTML, no new lines."""
    line = " ".join(xml_text(text).split()).replace("\\", "\\\\").replace('"', '\\"')
    line = _ENTITY.sub("&amp;", line)
    return f'"{line}"'
