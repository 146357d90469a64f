"""How fast a memory goes into Neo4j, as a ratio to bare UNWINDs of equal rows on the same server, into the same indexes.

    python -m benchmarks.neo4j_bulk                   2,000 entities, 10,000 facts
    python -m benchmarks.neo4j_bulk --entities 20000  100,000 facts

It starts a server of its own from Maven's jars, or takes an empty one: GRAPHMEM_NEO4J_URI, _USER and _PASSWORD. Seconds are those of
the clock, since the work is the server's; the ratio is of two loads in one run. The bare load knows what the other has to find out:
it gets the very rows, ready made, and writes them in the largest batches that the other used, without a lock, counts of words, a
mark to go on from, reading back, or what Graphiti's clients see beside them.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import graphmem
from benchmarks.graphs import Graph
from benchmarks.measure import Figure, table
from graphmem.ingest import copying
from graphmem.stores.neo4j import Neo4jStore, bulk
from graphmem.stores.neo4j.rows import unpacked
from graphmem.stores.neo4j.transaction import Transaction
from graphmem.testing import neo4j as jars

NODES = {
    "episodes": "GraphmemEpisode",
    "assertions": "GraphmemAssertion",
    "mentions": "GraphmemMention",
    "visible": "Episodic",
    "versions": "GraphmemEntity",
    "citations": "GraphmemCitation",
}
PIECES = {"load_episodes": "GraphmemEpisodePiece", "load_entities": "GraphmemEntityPiece"}
CREATE = "UNWIND $rows AS row CREATE (n:{}) SET n = row"
PIECE = (
    "UNWIND $rows AS x CREATE (n:{} {{group_id: $group, owner: x.owner, piece: x.piece, halves: x.halves}}) "
    "WITH n, x CALL db.create.setNodeVectorProperty(n, 'embedding', x.vector)"
)
SHOWN = "UNWIND $rows AS x MERGE (n:Entity {group_id: $group, uuid: x.row.uuid}) SET n += x.row"
NAMED = (
    "UNWIND $rows AS x MATCH (m:GraphmemMention {group_id: $group, episode: x.episode}) WHERE m.position = x.position "
    "MERGE (e:Entity {group_id: $group, uuid: x.row.entity}) CREATE (m)-[r:GRAPHMEM_NAMED]->(e) SET r = x.row"
)
FACTS = (
    "UNWIND $rows AS x MATCH (s:Entity {group_id: $group, uuid: x.source}) MATCH (t:Entity {group_id: $group, uuid: x.target}) "
    "CREATE (s)-[r:RELATES_TO]->(t) SET r = x.row WITH r, x CALL db.create.setRelationshipVectorProperty(r, 'fact_embedding', x.vector)"
)
WIPE = "MATCH (n) WHERE NOT n:GraphmemStore CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS"
COUNT = "RETURN COUNT { MATCH (n) } + COUNT { MATCH ()-[r]->() } AS rows"


@contextmanager
def kept(path: Path) -> Iterator[None]:
    """The rows of each batch that is loaded inside the block, in a file."""
    write = Transaction.write

    def noted(self: Transaction, name: str, /, **params: Any) -> Any:
        if name.startswith("load_"):
            pickle.dump((name, params["group"], {k: _without_vectors(v) for k, v in params["rows"].items()}), out)
        return write(self, name, **params)

    with path.open("wb") as out, patch.object(Transaction, "write", noted):
        yield


def _without_vectors(rows: list[Any]) -> list[Any]:
    """Vectors can be made again from their bytes."""
    return [{k: v for k, v in row.items() if k != "vector"} if isinstance(row, dict) else row for row in rows]


def _with_vector(row: Mapping[str, Any]) -> dict[str, Any]:
    halves = row["halves"] if "halves" in row else row["row"]["gm_halves"]
    return {**row, "vector": bulk.floats(unpacked(halves))}


def bare(store: Neo4jStore, path: Path) -> float:
    """Seconds that the server needs for the same rows, each list by the plainest statement."""
    spent = 0.0
    with path.open("rb") as kept_rows, store._connection.session() as session:
        while True:
            try:
                name, group, rows = pickle.load(kept_rows)
            except EOFError:
                return spent
            asked = [(CREATE.format(label), rows[what]) for what, label in NODES.items() if what in rows]
            if name in PIECES:
                asked.append((PIECE.format(PIECES[name]), [_with_vector(row) for row in rows["pieces"]]))
            for what, statement in (("shown", SHOWN), ("named", NAMED)):
                asked += [(statement, rows[what])] if what in rows else []
            if name == "load_facts":
                asked.append((FACTS, [_with_vector(row) for row in rows["facts"]]))
            began = time.perf_counter()
            for statement, listed in asked:
                if listed:
                    session.run(statement, rows=listed, group=group).consume()
            spent += time.perf_counter() - began


def figures(uri: str, auth: tuple[str, str], graph: Path, facts: int) -> list[Figure]:
    """Copy the file to the server, then write its rows again barely."""
    store = Neo4jStore.open(uri, auth)

    def wiped() -> None:
        with store._connection.session() as session:
            session.run(WIPE).consume()

    def counted() -> int:
        with store._connection.session() as session:
            return int(session.run(COUNT).single(strict=True)["rows"])

    rows = graph.with_suffix(".rows")
    wiped()
    marks: dict[str, float] = {}

    def difference(self: Any, reader: Any, group: str) -> None:
        marks["written"] = time.perf_counter()

    with kept(rows), patch.object(copying._Copying, "_difference", difference):
        began = time.perf_counter()
        graphmem.copy(graph, uri, auth=auth, progress=False)
        loaded = marks["written"] - began
    total = counted()
    began = time.perf_counter()
    graphmem.copy(graph, uri, auth=auth, progress=False)  # whole already: only compares
    compared = time.perf_counter() - began
    wiped()
    plain = bare(store, rows)
    barely = counted()
    store.close()
    return [
        Figure(f"rows of {facts:,} facts (nodes and relationships)", total),
        Figure("rows of the bare load", barely),
        Figure("rows a second", total / loaded, "rows/s"),
        Figure("rows a second, bare UNWIND", barely / plain, "rows/s"),
        Figure("seconds a row, to bare UNWIND", (loaded / total) / (plain / barely), "x", "<= 2"),
        Figure("reading back and comparing, to loading", compared / loaded, "x"),
    ]


def main(entities: int) -> None:
    """Measure and print."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        graph = Graph(Path(folder) / "graph.db")
        graph.grow(entities)
        uri = os.environ.get("GRAPHMEM_NEO4J_URI")
        if uri:
            auth = (os.environ.get("GRAPHMEM_NEO4J_USER") or "neo4j", os.environ["GRAPHMEM_NEO4J_PASSWORD"])
        else:
            running = stack.enter_context(jars.server(heap="1500m"))
            uri, auth = running.uri, running.auth
        print(table("Loading into Neo4j", figures(uri, auth, graph.path, graph.facts)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=2_000)
    main(parser.parse_args().entities)
