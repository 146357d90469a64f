"""Finding communities: quality beside networkx's Louvain, the same answer whatever the order of rows, and every kind of graph."""

from __future__ import annotations

import random
import time
from functools import cache
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import nmi

from graphmem.communities.detect import ALGORITHMS, Leiden, default_algorithm, detect, detector, modularity, resolutions
from graphmem.communities.graph import Graph
from graphmem.errors import InvalidInput, MissingExtra

MARGIN = 0.005
OPTIMISERS = ("leiden", "louvain")
MIXING = (0.1, 0.2, 0.3, 0.4, 0.5)
Rows = list[tuple[str, str, float]]


def name(n: object) -> str:
    return f"n{int(str(n)):04d}"


def rows_of(linked: nx.Graph) -> Rows:
    return [(name(a), name(b), 1.0) for a, b in linked.edges() if a != b]


def karate() -> tuple[nx.Graph, list[int]]:
    linked = nx.karate_club_graph()
    return linked, [int(linked.nodes[n]["club"] != "Mr. Hi") for n in linked]


def planted(groups: int, p_in: float, p_out: float) -> tuple[nx.Graph, list[int]]:
    return nx.planted_partition_graph(groups, 25, p_in, p_out, seed=3), [n // 25 for n in range(25 * groups)]


def lfr(mixing: float) -> tuple[nx.Graph, list[int]]:
    linked = nx.LFR_benchmark_graph(500, 3, 1.5, mixing, average_degree=12, max_degree=50, min_community=20, max_community=60, seed=10)
    homes = {frozenset(linked.nodes[n]["community"]) for n in linked}
    truth = {n: home for home, members in enumerate(sorted(homes, key=min)) for n in members}
    return linked, [truth[n] for n in range(linked.number_of_nodes())]


@cache
def graphs() -> dict[str, tuple[Graph, list[int], float, float]]:
    """Name → graph, truth, and the means of modularity and NMI over five seeds of networkx's Louvain."""
    made = {"karate": karate(), "planted-8": planted(8, 0.4, 0.03), "planted-20": planted(20, 0.3, 0.01)}
    made |= {f"lfr-{mixing}": lfr(mixing) for mixing in MIXING}
    known = {}
    for which, (linked, truth) in made.items():
        plain = nx.Graph()
        plain.add_nodes_from(sorted(linked))
        plain.add_edges_from(sorted((min(e), max(e)) for e in linked.edges() if e[0] != e[1]))
        reference = [nx.community.louvain_communities(plain, seed=seed) for seed in range(5)]
        labels = [{n: label for label, members in enumerate(found) for n in members} for found in reference]
        quality = float(np.mean([nx.community.modularity(plain, found) for found in reference]))
        agreement = float(np.mean([nmi(truth, [found[n] for n in sorted(plain)]) for found in labels]))
        known[which] = (Graph.of(rows_of(linked), map(name, linked)), truth, quality, agreement)
    return known


@pytest.mark.parametrize("which", ["karate", "planted-8", "planted-20", *(f"lfr-{m}" for m in MIXING)])
@pytest.mark.parametrize("algorithm", OPTIMISERS)
def test_modularity_is_that_of_networkx_louvain(algorithm: str, which: str) -> None:
    """At least the mean of five seeds of networkx's Louvain, less .005."""
    graph, _, quality, _ = graphs()[which]
    assert modularity(graph, detect(graph, detector(algorithm))[0]) >= quality - MARGIN


@pytest.mark.parametrize("which", ["karate", "planted-8", "planted-20", *(f"lfr-{m}" for m in MIXING)])
def test_leiden_agrees_with_the_truth(which: str) -> None:
    """NMI to the planted communities is at least the mean of five seeds of networkx's Louvain, less .005."""
    graph, truth, _, agreement = graphs()[which]
    assert nmi(truth, detect(graph, Leiden())[0]) >= agreement - MARGIN


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_order_of_rows_changes_nothing(algorithm: str) -> None:
    """Twenty shuffles of the rows, ends swapped and parallel facts apart, give one answer on every level."""
    weights = (0.1, 0.2, 0.7, 1.0)
    rows = [(a, b, weights[n % 4]) for n, (a, b, _) in enumerate(2 * rows_of(planted(6, 0.3, 0.02)[0]))]
    first = None
    for seed in range(20):
        shuffled = rows.copy()
        random.Random(seed).shuffle(shuffled)
        graph = Graph.of([(b, a, w) if n % 2 else (a, b, w) for n, (a, b, w) in enumerate(shuffled)])
        found = (graph.nodes, detect(graph, detector(algorithm), (1.0, 1.0), seed=4))
        first = first or found
        assert found == first


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([("a", "b", 1.0)] * 2, id="two entities, two facts"),
        pytest.param([("hub", leaf, 1.0) for leaf in "abcde"] * 2, id="hub of five leaves, two facts each"),
        pytest.param([("hub", name(n), 1.0) for n in range(2_000)], id="hub of two thousand"),
    ],
)
def test_what_hangs_others_returns(algorithm: str, rows: Rows) -> None:
    """Stars and pairs with parallel facts, on which synchronous label propagation swings for ever, are one community."""
    graph = Graph.of(rows)
    begun = time.process_time()
    assert set(detect(graph, detector(algorithm))[0]) == {0}
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_multigraphs_return(algorithm: str) -> None:
    """Three hundred small random multigraphs: each returns soon, and every node has one label on every level."""
    for seed in range(300):
        rng = random.Random(seed)
        nodes = [name(n) for n in range(rng.randint(1, 12))]
        rows = [(rng.choice(nodes), rng.choice(nodes), rng.choice((0.5, 1.0, 3.0))) for _ in range(rng.randint(0, 30))]
        graph = Graph.of(rows, nodes)
        begun = time.process_time()
        levels = detect(graph, detector(algorithm), (1.0, 2.0), seed)
        assert time.process_time() - begun < 1
        assert all(len(labels) == len(nodes) and set(labels) == set(range(max(labels) + 1)) for labels in levels)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_parts_without_a_link_stay_apart(algorithm: str) -> None:
    """Communities never span two components; what has no edge is a community of its own; the largest comes first."""
    triangles = [(a, b, 1.0) for t in ("abc", "xyz", "pqr") for a in t for b in t if a < b]
    graph = Graph.of([*triangles, ("x", "w", 1.0)], ["alone", "single"])
    labels = dict(zip(graph.nodes, detect(graph, detector(algorithm))[0], strict=True))
    together = [{n for n in labels if labels[n] == label} for label in sorted(set(labels.values()))]
    assert together == [set("wxyz"), set("abc"), set("pqr"), {"alone"}, {"single"}]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_empty_graph_has_no_communities(algorithm: str) -> None:
    """Without nodes there is nothing to label, on any level."""
    assert detect(Graph.of([]), detector(algorithm), (1.0, 1.0)) == [[], []]
    assert modularity(Graph.of([]), []) == 0.0


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.sampled_from((0.5, 1.0, 2.0))), max_size=120),
    st.lists(st.sampled_from((0.5, 1.0, 2.0)), min_size=1, max_size=3),
)
def test_levels_nest(rows: list[tuple[int, int, float]], resolution: list[float]) -> None:
    """Whoever shares a community on a finer level shares one on every coarser level."""
    graph = Graph.of([(name(a), name(b), w) for a, b, w in rows])
    levels = detect(graph, detector("louvain"), resolution)
    assert len(levels) == len(resolution)
    for coarse, fine in pairwise(levels):
        assert len({*zip(fine, coarse, strict=True)}) == len(set(fine))


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=30), st.data())
def test_modularity_is_that_of_networkx(rows: list[tuple[int, int, int]], data: st.DataObject) -> None:
    """Newman's measure, as networkx computes it, at any resolution."""
    graph = Graph.of([(name(a), name(b), float(w)) for a, b, w in rows])
    if not graph.total:
        return
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(graph.nodes), max_size=len(graph.nodes)))
    linked = nx.Graph()
    linked.add_nodes_from(range(len(graph.nodes)))
    linked.add_weighted_edges_from(zip(graph.source, graph.target, graph.weight, strict=True))
    parts = [{n for n, label in enumerate(labels) if label == one} for one in set(labels)]
    assert modularity(graph, labels, 1.5) == pytest.approx(nx.community.modularity(linked, parts, resolution=1.5))


def test_a_higher_resolution_gives_smaller_communities() -> None:
    """The resolution means the same to Louvain and Leiden: more and smaller communities as it rises."""
    graph = graphs()["lfr-0.3"][0]
    for algorithm in OPTIMISERS:
        counts = [len(set(detect(graph, detector(algorithm), (r,))[0])) for r in (0.2, 1.0, 5.0)]
        assert counts == sorted(set(counts))


def test_an_unknown_algorithm_is_named() -> None:
    """The error lists the algorithms there are."""
    with pytest.raises(InvalidInput, match=r"algorithm='infomap'.*'leiden', 'louvain', 'label_propagation'"):
        detector("infomap")


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf"), 1e308, [1.0, 2e6], (), (1.0, 0), "high", True, None, [True]])
def test_a_resolution_is_a_positive_number(wrong: object) -> None:
    """Anything else is refused, and shown."""
    with pytest.raises(InvalidInput, match="above 0"):
        resolutions(wrong)


def test_another_algorithm_can_be_plugged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes one is registered by its name, also for a replay of the log; what it labels wrongly is refused."""

    class Halves:
        name = "halves"

        def partition(self, graph: Graph, resolution: float, seed: int) -> list[int]:
            return [int(n >= len(graph.nodes) // 2) for n in range(len(graph.nodes))][: int(resolution)]

    graph = Graph.of([(name(n), name(n + 1), 1.0) for n in range(9)])
    with pytest.raises(InvalidInput, match=r"ALGORITHMS"):
        detector("halves")
    with pytest.raises(InvalidInput, match=r"must be the name of one"):
        detector(Halves())  # type: ignore[arg-type]
    monkeypatch.setitem(ALGORITHMS, "halves", Halves)
    assert detect(graph, detector("halves"), (10.0,)) == [[0] * 5 + [1] * 5]
    with pytest.raises(InvalidInput, match=r"halves.*each of 10 nodes"):
        detect(graph, Halves(), (9.0,))


def test_without_leiden_louvain_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where graspologic-native is missing, asking for Leiden by name says how to install it."""
    assert default_algorithm() == "leiden"
    monkeypatch.setattr("graphmem.communities.detect.find_spec", lambda module: None)
    assert default_algorithm() == "louvain"
    with pytest.raises(MissingExtra, match=r"graphmem\[communities\]"):
        detector("leiden")
