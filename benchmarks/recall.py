"""Evidence recall: which share of the turns that hold the answer is among the first ten found.

    GRAPHMEM_DATA=/path/to/data python benchmarks/recall.py --set locomo

Ingests every conversation through the public API, offline, with the local embedder, and asks every question with
`search(kinds=("episode",))`. Figures are means over questions of the share of evidence turns found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from itertools import islice
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the folder of this file would hide the driver neo4j

from rich.console import Console
from rich.table import Table

from benchmarks.datasets import SETS, data_folder
from benchmarks.remember import KeptEmbedder, remembered


def main() -> None:
    """Measure one set and print a table by category."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=sorted(SETS), default="locomo")
    parser.add_argument("--conversations", type=int, default=None, help="only the first so many")
    parser.add_argument("--k", type=int, default=10, help="how many hits count")
    parser.add_argument("--vectors", type=Path, default=Path.home() / ".cache" / "graphmem" / "benchmarks", help="folder of kept vectors")
    wanted = parser.parse_args()
    embedder = KeptEmbedder(wanted.vectors)
    scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
    ingesting = asking = 0.0
    turns = 0
    for conversation in islice(SETS[wanted.set](data_folder()), wanted.conversations):
        begun = time.process_time()
        with remembered(conversation, embedder) as memory:
            turns += len(conversation.turns)
            ingested = time.process_time()
            for question in conversation.questions:
                found = memory.found(question, wanted.k)
                ranks = [rank for rank, key in enumerate(found, 1) if key in question.evidence]
                scores[question.category].append((len(ranks) / len(question.evidence), 1 / ranks[0] if ranks else 0.0))
            ingesting, asking = ingesting + ingested - begun, asking + time.process_time() - ingested
        print(f"{conversation.name}: {len(conversation.turns)} turns, {len(conversation.questions)} questions", file=sys.stderr)
    _print(scores, wanted.k, f"{wanted.set}: {turns} turns, {1000 * ingesting / max(turns, 1):.1f} CPU ms each to ingest", asking)


def _print(scores: dict[str, list[tuple[float, float]]], k: int, title: str, asking: float) -> None:
    every = [pair for pairs in scores.values() for pair in pairs]
    table = Table(title=f"{title}; {1000 * asking / max(len(every), 1):.1f} CPU ms a question")
    for column in ("category", "questions", f"recall@{k}", f"MRR@{k}"):
        table.add_column(column, justify="left" if column == "category" else "right")
    for name, pairs in [*sorted(scores.items()), ("all", every)]:
        recall, reciprocal = (sum(column) / max(len(pairs), 1) for column in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
        table.add_row(name, str(len(pairs)), f"{recall:.3f}", f"{reciprocal:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
