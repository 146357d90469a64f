"""Communities in what goes out: tables, attributes of nodes, pages of a vault; at points of both axes, and of a part."""

from __future__ import annotations

import csv
import json
import re
from datetime import datetime
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
import yaml

from graphmem.export.vault import INDEX_BYTES, INDEX_LINES
from graphmem.memory import Memory
from graphmem.testing import FixedClock

CIRCLES = (("Ana", "Ben", "Cleo", "Dora"), ("Xan", "Yara", "Zoe", "Wim"))


@pytest.fixture
def circles(memory: Memory, clock: FixedClock) -> Memory:
    """Two circles of friends, joined by one acquaintance, with their communities built."""
    rows = [{"source": a, "relation": "knows", "target": b} for circle in CIRCLES for a in circle for b in circle if a < b]
    clock.set(datetime.fromisoformat("2024-07-01T09:00Z"))
    memory.add_facts([*rows, {"source": "Ana", "relation": "met", "target": "Xan"}], reference_time="2024-07-01T09:00Z")
    clock.set(datetime.fromisoformat("2024-07-02T09:00Z"))
    memory.build_communities()
    clock.set(datetime.fromisoformat("2024-08-01T09:00Z"))
    return memory


def homes(memory: Memory) -> dict[str, str]:
    """Entity → community, as the view tells it."""
    return {member.id: item.id for item in memory.communities(min_size=1) for member in item.members}


def test_tables_hold_communities_and_their_members(circles: Memory, folder: Path) -> None:
    """In a folder, in a file of their own, and in memory: as many as the view lists, on every level."""
    listed = circles.communities(level=None, min_size=1)
    frame = circles.to_pandas("communities")
    told = {(r.id, r.level): (r.name, r.summary, r.size, list(r.facts)) for r in frame.itertuples()}
    assert told == {(c.id, c.level): (c.name, c.summary, c.size, list(c.facts)) for c in listed}
    assert set(frame.created_at) == {pd.Timestamp("2024-07-02T09:00Z")}
    assert not frame.computed.any()
    done = circles.export(folder / "members.csv", table="members")
    with (folder / "members.csv").open(newline="") as lines:
        rows = {(r["community"], int(r["level"]), r["entity"], r["name"]) for r in csv.DictReader(lines)}
    assert rows == {(c.id, c.level, m.id, m.name) for c in listed for m in c.members}
    assert done.counts == {"members": len(rows)}
    circles.export(folder / "all", format="parquet")
    assert len(pd.read_parquet(folder / "all" / "members.parquet")) == len(rows)
    assert len(pd.read_parquet(folder / "all" / "communities.parquet")) == len(listed)


def test_nodes_say_which_community_they_are_in(circles: Memory, folder: Path) -> None:
    """GraphML, GEXF, node-link, Cytoscape and networkx: id and name of the community on the coarsest level; none of a value."""
    for name in ("g.graphml", "g.gexf", "g.json", "g.cyjs"):
        circles.export(folder / name)
    named = {c.id: c.name for c in circles.communities(min_size=1)}
    graphs = (
        nx.read_graphml(folder / "g.graphml", force_multigraph=True),
        nx.read_gexf(folder / "g.gexf", version="1.3"),
        nx.node_link_graph(json.loads((folder / "g.json").read_text())),
        circles.to_networkx(),
    )
    for graph in graphs:
        said = {n: (d["community"], d["community_name"]) for n, d in graph.nodes(data=True) if d.get("community")}
        assert said == {entity: (home, named[home]) for entity, home in homes(circles).items()}
    nodes = json.loads((folder / "g.cyjs").read_text())["elements"]["nodes"]
    assert {n["data"]["id"]: n["data"]["community"] for n in nodes if n["data"]["community"]} == homes(circles)


def test_the_vault_has_a_page_for_each_community(circles: Memory, folder: Path) -> None:
    """With its members as links, a link back from each, and a line in the index."""
    circles.export(folder / "vault", format="markdown")
    listed = circles.communities(level=None, min_size=1)
    pages = {p.stem: p.read_text() for p in (folder / "vault" / "communities").iterdir()}
    by_id = {yaml.safe_load(text.split("---\n")[1])["id"]: (name, text) for name, text in pages.items()}
    assert by_id.keys() == {c.id for c in listed}
    for community in listed:
        name, text = by_id[community.id]
        assert re.findall(r"\[\[entities/([^|]+)\|", text) == [m.name for m in community.members]
        for member in community.members:
            assert f"[[communities/{name}|" in (folder / "vault" / "entities" / f"{member.name}.md").read_text()
    index = (folder / "vault" / "MEMORY.md").read_text()
    assert len(re.findall(r"\[\[communities/", index)) == len(circles.communities(min_size=1))


def test_many_communities_leave_room_for_entities_in_the_index(circles: Memory, folder: Path) -> None:
    """They take a quarter of it at most, and the index says how many it left out of both."""
    pairs = [{"source": f"Left {n}", "relation": "knows", "target": f"Right {n}"} for n in range(150)]
    circles.add_facts(pairs)
    circles.build_communities()
    circles.export(folder / "vault", format="markdown")
    text = (folder / "vault" / "MEMORY.md").read_text()
    assert text.count("\n") <= INDEX_LINES
    assert len(text.encode()) <= INDEX_BYTES
    assert re.search(r"- and \d+ more in `communities/`", text)
    assert re.search(r"- and \d+ more in `entities/`\n$", text)
    assert 20 <= text.count("[[communities/") <= 50 < text.count("[[entities/")


def test_a_view_of_a_valid_time_tells_the_communities_of_that_time(circles: Memory) -> None:
    """Computed, as the view says; before anything was built there are none."""
    past = circles.as_of(valid="2023-08-01")
    frame = past.to_pandas("communities")
    assert frame.computed.all()
    assert set(frame.id) == {c.id for c in past.communities(level=None, min_size=1)}
    assert len(circles.as_of(system="2024-05-15").to_pandas("members")) == 0


def test_a_part_tells_of_its_communities_only_what_is_in_it(circles: Memory, folder: Path) -> None:
    """Members that are nodes, a name made of theirs, no summary: nothing of who or what is outside."""
    frame = circles.to_pandas("members", entity="Zoe", hops=1)
    assert set(frame.name) == set(CIRCLES[1])
    part = circles.to_pandas("communities", entity="Zoe", relation="knows")
    assert list(part[part.level == 0].summary) == [""]
    assert all(name in CIRCLES[1] for told in part.name for name in told.split(", "))
