"""Files that other programs read: read back by those programs, at points of both axes, with names of every kind."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import networkx as nx
import pandas as pd
import pytest
import yaml

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import ExportError, InvalidInput, NotFound
from graphmem.export import FORMATS
from graphmem.export.vault import INDEX_BYTES, INDEX_LINES
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel

FILES = ["g.graphml", "g.gexf", "g.cyjs", "g.dot", "g.json", "g.csv", "g.parquet", "g.jsonl", "g.cypher"]
GEXF = "{http://gexf.net/1.3}"


def edges_of(memory: Memory, include: str = "history") -> dict[str, tuple[str, str, str, str | None, str | None]]:
    """What every format must say of the facts, by version uuid."""
    frame = memory.to_pandas(include=include)
    return {r.uuid: (r.source, r.relation, r.target, stamp(r.valid_at), stamp(r.invalid_at)) for r in frame.itertuples()}


def stamp(value: object) -> str | None:
    return None if value is pd.NaT or value is None else pd.Timestamp(value).isoformat()


def test_graphml_read_by_networkx_has_the_same_nodes_edges_names_and_dates(memory: Memory, folder: Path) -> None:
    """Counts, names and all four dates survive."""
    done = memory.export(folder / "g.graphml")
    graph = nx.read_graphml(folder / "g.graphml", force_multigraph=True)
    assert done.counts == {"entities": graph.number_of_nodes(), "facts": graph.number_of_edges()}
    named = nx.get_node_attributes(graph, "name")
    read = {
        k: (named[s], d["relation"], named[t], d.get("valid_at"), d.get("invalid_at")) for s, t, k, d in graph.edges(keys=True, data=True)
    }
    assert read == edges_of(memory)
    assert {d["created_at"] for *_, d in graph.edges(data=True)} == {f.created_at.isoformat() for f in memory.facts(history=True)}


def test_node_link_read_by_networkx_equals_the_graph_in_memory(memory: Memory, folder: Path) -> None:
    """The file and `to_networkx` are one graph."""
    memory.export(folder / "g.json")
    graph = nx.node_link_graph(json.loads((folder / "g.json").read_text()))
    built = memory.to_networkx()
    assert set(graph.nodes) == set(built.nodes)
    assert set(graph.edges) == set(built.edges)
    for *edge, values in graph.edges(keys=True, data=True):
        of_built = built.edges[tuple(edge)]
        assert (values["text"], values["relation"]) == (of_built["text"], of_built["relation"])
        assert values["valid_at"] == (of_built["valid_at"].isoformat() if of_built["valid_at"] else None)


def test_gexf_intervals_are_what_holds_at_that_time(memory: Memory, folder: Path) -> None:
    """At ten instants the edges whose interval holds the instant are the facts of `as_of(valid=...)`."""
    memory.export(folder / "g.gexf")
    edges = ElementTree.parse(folder / "g.gexf").getroot().iter(f"{GEXF}edge")
    spans = {e.get("id"): (e.get("start"), e.get("end")) for e in edges}
    assert len(spans) == len(memory.facts(history=True))
    for month in range(10):
        at = datetime(2021, 4, 30, 23, 59, tzinfo=UTC) + timedelta(days=113 * month)
        shown = {i for i, (start, end) in spans.items() if (not start or start <= iso(at)) and (not end or iso(at) <= end)}
        assert shown == {f.uuid for f in memory.as_of(valid=at).facts()}, at


def test_gexf_plays_the_system_axis_by_choice(memory: Memory, folder: Path) -> None:
    """Then each version is there while it was believed, forgotten ones too."""
    memory.export(folder / "g.gexf", axis="system")
    spans = {e.get("id"): (e.get("start"), e.get("end")) for e in ElementTree.parse(folder / "g.gexf").getroot().iter(f"{GEXF}edge")}
    for day in ("2024-01-01T12:00Z", "2024-02-15T12:00Z", "2024-03-15T12:00Z", "2024-05-15T12:00Z"):
        at = datetime.fromisoformat(day)
        shown = {i for i, (start, end) in spans.items() if (not start or start <= iso(at)) and (not end or iso(at) <= end)}
        assert shown == {f.uuid for f in memory.as_of(system=at).facts(history=True)}, day


def iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")


def test_gexf_is_read_by_networkx(memory: Memory, folder: Path) -> None:
    """With labels, and parallel edges apart."""
    memory.export(folder / "g.gexf")
    graph = nx.read_gexf(folder / "g.gexf", version="1.3")
    assert {d["label"] for _, d in graph.nodes(data=True)} == {e.name for e in memory.entities()}
    assert graph.number_of_edges() == len(memory.facts(history=True))


def test_dot_is_drawn_by_graphviz(hostile: Memory, folder: Path) -> None:
    """Graphviz reads every name as a plain label."""
    dot = shutil.which("dot")
    if dot is None:
        told = "no Graphviz to draw with: install Debian's graphviz"
        pytest.fail(told) if os.environ.get("CI") else pytest.skip(told)
    hostile.export(folder / "g.dot")
    done = subprocess.run([dot, "-Tdot_json", str(folder / "g.dot")], capture_output=True, text=True, check=True)
    drawn = json.loads(done.stdout)
    assert len(drawn["edges"]) == len(hostile.facts(history=True))
    assert any(n["label"] == "</script><script>x()</script>".replace("\\", "\\\\") for n in drawn["objects"])


def test_parquet_is_read_by_pandas_and_duckdb_with_dates_as_dates(memory: Memory, folder: Path) -> None:
    """A folder holds every table; instants are timestamps in UTC; lists are lists."""
    memory.export(folder / "tables", format="parquet")
    assert sorted(p.name for p in (folder / "tables").iterdir()) == [
        "communities.parquet",
        "entities.parquet",
        "episodes.parquet",
        "facts.parquet",
        "members.parquet",
        "mentions.parquet",
    ]
    frame = pd.read_parquet(folder / "tables" / "facts.parquet")
    assert str(frame.valid_at.dtype) == "datetime64[us, UTC]"
    assert {r.uuid: (r.source, r.relation, r.target, stamp(r.valid_at), stamp(r.invalid_at)) for r in frame.itertuples()} == edges_of(
        memory
    )
    counted = duckdb.read_parquet(str(folder / "tables" / "facts.parquet")).filter("expired_at IS NULL AND len(episodes) = 1").count("*")
    assert counted.fetchone() == (len(frame),)
    episodes = pd.read_parquet(folder / "tables" / "episodes.parquet")
    assert list(episodes.text) == [e.text for e in memory.episodes()]
    assert len(pd.read_parquet(folder / "tables" / "mentions.parquet")) == memory.counts()["mentions"]


def test_csv_has_a_header_and_every_row(hostile: Memory, folder: Path) -> None:
    """Read by the standard library: as many rows as facts, every text whole but for what UTF-8 cannot hold."""
    hostile.export(folder / "g.csv")
    with (folder / "g.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [r["uuid"] for r in rows] == [f.uuid for f in sorted(hostile.facts(history=True), key=lambda f: (f.created_at, f.uuid))]
    assert max(len(r["text"]) for r in rows) == 5_000


def test_cytoscape_says_what_does_not_hold(memory: Memory, folder: Path) -> None:
    """Former facts are marked, so that the style can dash them."""
    memory.export(folder / "g.cyjs")
    read = json.loads((folder / "g.cyjs").read_text())
    holding = {e["data"]["id"] for e in read["elements"]["edges"] if e["data"]["holds"]}
    assert holding == {f.uuid for f in memory.facts()}
    assert {n["data"]["id"] for n in read["elements"]["nodes"]} == {e.id for e in memory.entities(type=["Entity", "Value"])}
    assert any(rule["selector"] == "edge[!holds]" for rule in read["style"])


def test_the_vault_links_pages_both_ways_and_keeps_its_index_short(hostile: Memory, folder: Path) -> None:
    """Every link leads to a page, the front matter is YAML, no page lies outside, and the index fits an agent's first read."""
    hostile.export(folder / "vault", format="markdown")
    pages = {
        p.relative_to(folder / "vault").with_suffix("").as_posix(): p.read_text(encoding="utf-8") for p in (folder / "vault").rglob("*.md")
    }
    assert len([p for p in pages if p.startswith("entities/")]) == len(hostile.entities())
    assert len({p.casefold() for p in pages}) == len(pages)
    linked = {link for text in pages.values() for link in re.findall(r"(?<!\\)\[\[([^|\]]+)\|[^\]]*\]\]", text)}
    assert linked
    assert linked <= pages.keys()
    for name, text in pages.items():
        if name != "MEMORY":
            front = yaml.safe_load(text.split("---\n")[1])
            assert front
        assert "<script" not in text
    index = (folder / "vault" / "MEMORY.md").read_bytes()
    assert len(index) <= INDEX_BYTES
    assert index.count(b"\n") <= INDEX_LINES


def test_a_large_vault_has_an_index_that_says_what_it_left_out(memory: Memory, folder: Path) -> None:
    """With more entities than lines."""
    memory.add_facts([{"source": f"Person {n}", "relation": "knows", "target": "Mira"} for n in range(400)])
    memory.export(folder / "vault", format="markdown")
    lines = (folder / "vault" / "MEMORY.md").read_text().splitlines()
    assert len(lines) == INDEX_LINES - 1 or sum(len(x.encode()) + 1 for x in lines) <= INDEX_BYTES
    assert lines[-1].startswith("- and ")
    assert "more in `entities/`" in lines[-1]


@pytest.mark.parametrize("name", FILES)
def test_hostile_names_break_no_format(hostile: Memory, folder: Path, name: str) -> None:
    """Each file is whole, read by its own kind of reader, and the only thing in its folder."""
    hostile.export(folder / name)
    assert [p.name for p in folder.iterdir()] == [name]
    data = (folder / name).read_bytes()
    match name.rpartition(".")[2]:
        case "graphml" | "gexf":
            root = ElementTree.fromstring(data)
            assert len([e for e in root.iter() if e.tag.endswith("}edge")]) == len(hostile.facts(history=True))
        case "json" | "cyjs":
            assert json.loads(data)
        case "jsonl":
            assert all(json.loads(line) for line in data.splitlines())
        case "parquet":
            assert len(pd.read_parquet(folder / name)) == len(hostile.facts(history=True))
        case _:
            assert data.decode("utf-8")


@pytest.mark.parametrize("name", FILES)
def test_an_empty_memory_gives_a_whole_file(folder: Path, name: str) -> None:
    """No nodes, no edges, no error."""
    import graphmem
    from graphmem.embed.hashing import HashingEmbedder
    from graphmem.testing import ScriptedModel

    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder()) as empty:
        done = empty.export(folder / name)
    assert set(done.counts.values()) == {0}
    assert (folder / name).stat().st_size > 0


def test_what_goes_out_can_be_narrowed(memory: Memory, folder: Path) -> None:
    """By point, entity and hops, relation, dates, and to what holds."""
    everything = memory.to_networkx()
    around = memory.to_networkx(entity="Ivo", hops=1)
    assert {around.nodes[n]["name"] for n in around} == {"Ivo", "Mira"}
    assert {d["relation"] for *_, d in memory.to_networkx(relation="lives in").edges(data=True)} == {"LIVES_IN"}
    assert memory.to_networkx(include="holding").number_of_edges() == len(memory.facts())
    assert memory.to_networkx(include="versions").number_of_edges() > everything.number_of_edges()
    early = memory.to_pandas(since="2021-01-01", until="2022-01-01")
    assert list(early.relation) == ["WORKS_AT"]
    past = memory.as_of(system="2024-01-15")
    assert {d["text"] for *_, d in past.to_networkx().edges(data=True)} == {f.text for f in past.facts(history=True)}
    forgotten = memory.to_pandas(include="versions").query("relation == 'WORKS_AT' and source == 'Ivo'")
    assert len(forgotten) == 1
    assert len(forgotten.iloc[0].episodes) == 1


def test_bad_input_says_what_is_allowed_and_writes_nothing(memory: Memory, folder: Path) -> None:
    """Unknown suffix, format, table, axis, entity, group; what the format has no use for; a target that exists; a missing folder."""
    (folder / "there.json").write_text("mine")
    for path, options, told in [
        ("g.xyz", {}, "suffix must be one of"),
        ("g", {}, "suffix must be one of"),
        ("g.json", {"format": "png"}, "must be one of graphml"),
        ("g.csv", {"table": "cats"}, "must be one of facts"),
        ("g.gexf", {"axis": "time"}, "must be one of valid, system"),
        ("g.json", {"include": "all"}, "must be one of holding"),
        ("g.json", {"hops": 0, "entity": "Mira"}, "integer of 1 or more"),
        ("g.json", {"since": "2024", "until": "2023"}, "must be after"),
        *((name, {"table": "entities"}, "for one CSV or Parquet file") for name in ("g.json", "g.graphml", "g.jsonl", "g.cypher")),
        ("g", {"table": "entities", "format": "csv"}, "for one CSV or Parquet file"),
        *((name, {"axis": "system"}, "for GEXF") for name in ("g.json", "g.graphml", "g.html", "g.csv", "g.jsonl")),
        ("g.json", {"hops": 2}, "needs entity="),
        ("g.json", {"format": []}, "must be one of graphml"),
        ("g.csv", {"table": []}, "must be one of facts"),
        ("there.json", {"overwrite": "no"}, "must be True or False"),
        ("g.json", {"progress": 5}, "must be True, False, None"),
        ("n\0.json", {}, "null character"),
        ("n\0/g.json", {}, "null character"),
        ("g.jsonl", {"entity": "Mira"}, "takes whole groups; leave out entity="),
        ("there.json", {}, "exists already"),
        ("missing/g.json", {}, "does not exist"),
    ]:
        with pytest.raises(InvalidInput, match=told):
            memory.export(folder / path, **options)
    with pytest.raises(NotFound):
        memory.export(folder / "g.json", entity="Nobody")
    for path in (f"{'n' * 300}.json", f"{'n' * 300}/g.json"):
        with pytest.raises(ExportError, match=r"(?i)name too long"):
            memory.export(folder / path)
    with pytest.raises(InvalidInput, match="width=5"):
        memory.show(width=5, open_browser=False)  # type: ignore[arg-type]
    for name in ("g.jsonl", "g.cypher"):
        with pytest.raises(NotFound, match="nothing was recorded in group 'mian'; there are 'main'"):
            memory.export(folder / name, group=["main", "mian"])
    for narrowed in (memory.to_networkx, memory.to_pandas, memory.plot_graph):
        with pytest.raises(InvalidInput, match="needs entity="):
            narrowed(hops=5)
    with pytest.raises(TypeError, match="colour"):
        memory.export(folder / "g.json", colour="red")  # type: ignore[call-arg]
    assert [p.name for p in folder.iterdir()] == ["there.json"]
    assert (folder / "there.json").read_text() == "mine"
    memory.export(folder / "there.json", overwrite=True)
    assert json.loads((folder / "there.json").read_text())["nodes"]


def test_a_full_disc_leaves_nothing_behind(memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is named, and neither the file nor its part is there."""
    import graphmem.export.graphml as graphml

    class Full(graphml.XmlWriter):
        def element(self, *args: object, **kwargs: object) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(graphml, "XmlWriter", Full)
    with pytest.raises(ExportError, match="No space left"):
        memory.export(folder / "g.graphml")
    assert list(folder.iterdir()) == []


def test_every_format_is_tried_here() -> None:
    """A format added is a format tested; the page is tested in a browser."""
    assert {s for f in FORMATS for s in f.suffixes} - {".gv", ".html", ".htm"} == {Path(f).suffix for f in FILES}


def test_what_holds_is_told_for_the_point_read(memory: Memory, folder: Path) -> None:
    """What was believed then and ended later is no former fact then; what had ended before is one."""
    past = memory.as_of(system="2024-03-15")
    holding = {f.uuid for f in past.facts()}
    assert any(f.expired_at is not None for f in past.facts())
    for include in ("history", "versions"):
        past.export(folder / "g.cyjs", include=include, overwrite=True)
        edges = json.loads((folder / "g.cyjs").read_text())["elements"]["edges"]
        assert {e["data"]["id"] for e in edges if e["data"]["holds"]} == holding
        past.export(folder / "g.dot", include=include, overwrite=True)
        assert (folder / "g.dot").read_text().count("style=dashed") == len(edges) - len(holding)
    past.export(folder / "vault", format="markdown", include="versions")
    held, former = (folder / "vault" / "entities" / "Mira.md").read_text().split("## Before and after")
    texts = [f.text for f in past.facts() if "Mira" in (f.source, f.target)]
    assert len(re.findall("^- Mira|^- Ivo", held, re.M)) == len(texts)
    assert former.count("Porto") > 0


def test_versions_around_an_entity_are_those_that_were_ever_around_it(clock: FixedClock) -> None:
    """A neighbour of former beliefs counts, with the hops and relations asked; values are not crossed."""
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        first = mem.add_facts([{"source": "Mira", "relation": "likes", "target": "Tea"}])
        mem.add_facts(
            [{"source": "Tea", "relation": "grows in", "target": "Assam"}, {"source": "Mira", "relation": "knows", "target": "Ivo"}]
        )
        clock.advance(days=1)
        mem.forget(episode=first)
        clock.advance(days=1)
        seen = [mem.to_pandas(include="versions", entity="Mira", hops=hops, relation=r).target for hops in (1, 2) for r in (None, "likes")]
        assert [sorted(targets) for targets in seen] == [["Ivo", "Tea"], ["Tea"], ["Assam", "Ivo", "Tea"], ["Tea"]]


def test_a_former_version_cites_all_that_it_cited_in_the_end(clock: FixedClock) -> None:
    """Also episodes that came after it was first believed."""
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        rows = [("Acme", "2022"), ("Acme", "2022"), ("Globex", "2023")]
        told = []
        for target, since in rows:
            told.append(mem.add_facts([{"source": "Mira", "relation": "works_at", "target": target, "valid_at": since}]))
            clock.advance(days=1)
        versions = mem.to_pandas(include="versions")
        former = versions[versions.expired_at.notna()]
        assert sorted(former.iloc[0].episodes) == sorted(r.ids[0] for r in told[:2])


def test_a_narrow_vault_holds_only_the_days_of_its_entities(memory: Memory, folder: Path) -> None:
    """What was said of others stays here, as in the tables."""
    memory.export(folder / "vault", format="markdown", relation="knows")
    memory.export(folder / "episodes.csv", table="episodes", relation="knows")
    days = {p.stem for p in (folder / "vault" / "days").iterdir()}
    assert days == {row["reference_time"][:10] for row in csv.DictReader((folder / "episodes.csv").read_text().splitlines())}
    memory.add_facts([{"source": "Zed", "relation": "likes", "target": "secrets"}], reference_time="2020-01-01")
    memory.export(folder / "vault", format="markdown", relation="knows", overwrite=True)
    assert {p.stem for p in (folder / "vault" / "days").iterdir()} == days


def test_a_folder_is_replaced_whole_or_not_at_all(memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names as long as the file system takes them; a move that fails; the folder one is in."""
    long = folder / ("\u6f22" * 83 + ".dot")
    memory.export(long)
    long.unlink()
    (folder / "vault").mkdir()
    (folder / "vault" / "mine.md").write_text("mine")
    moved = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.suffix == ".part":
            raise OSError(28, "No space left on device")
        return moved(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(ExportError, match="No space left"):
        memory.export(folder / "vault", format="markdown", overwrite=True)
    assert (folder / "vault" / "mine.md").read_text() == "mine"
    monkeypatch.undo()
    monkeypatch.chdir(folder / "vault")
    for around in (".", "..", "../.."):
        with pytest.raises(InvalidInput, match="the present folder"):
            memory.export(around, format="markdown", overwrite=True)
    assert [p.name for p in folder.rglob("*")] == ["vault", "mine.md"]
    memory.export(folder / "vault", format="markdown", overwrite=True)
    assert [p.name for p in folder.iterdir()] == ["vault"]
    assert not (folder / "vault" / "mine.md").exists()


def test_what_was_written_is_counted_as_what_it_is(memory: Memory, folder: Path) -> None:
    """Facts are facts, in a folder of tables or pages too; a table of other things counts its rows."""
    facts, entities = len(memory.to_pandas()), len(memory.to_pandas("entities"))
    for path, name in (("g.csv", None), ("tables", "csv"), ("arrow", "parquet"), ("vault", "markdown"), ("g.graphml", None)):
        assert memory.export(folder / path, format=name).counts == {"entities": entities, "facts": facts}
    for table in ("entities", "episodes", "mentions"):
        assert memory.export(folder / f"{table}.csv", table=table).counts == {table: len(memory.to_pandas(table))}


def test_dot_draws_what_looks_like_a_character_reference_as_it_is_written(folder: Path, clock: FixedClock) -> None:
    """Also other ampersands stay what they are."""
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        mem.add_facts([{"source": "a &lt; b &#65;", "relation": "knows", "target": "AT&T; R&D"}])
        mem.export(folder / "g.dot")
    written = (folder / "g.dot").read_text()
    assert '[label="a &amp;lt; b &amp;#65;"]' in written
    assert '[label="AT&amp;T; R&D"]' in written


def test_gexf_takes_an_end_in_the_first_millisecond_of_the_calendar(folder: Path, clock: FixedClock) -> None:
    """There is no millisecond before it."""
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        mem.add_facts([{"source": "A", "relation": "held", "target": "B", "kind": "ends", "invalid_at": "0001-01-01T00:00:00.000001Z"}])
        mem.export(folder / "g.gexf")
    (edge,) = ElementTree.parse(folder / "g.gexf").iter(f"{GEXF}edge")
    assert edge.get("end") == "0001-01-01T00:00:00.000+00:00"
