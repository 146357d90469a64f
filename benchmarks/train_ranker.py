"""Train the weights of the episode score, and say what they reach on conversations they were not trained on.

    GRAPHMEM_DATA=/path/to/data python benchmarks/train_ranker.py --write

A listwise softmax over the candidates of each question: the evidence turns share the probability. Convex, so there is
one answer. Sets are weighted alike. Held-out figures leave out one conversation (or a fifth of the set) at a time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the folder of this file would hide the driver neo4j

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import SETS, data_folder
from benchmarks.remember import KeptEmbedder, remembered
from graphmem.search.features import FEATURES
from graphmem.search.rank import score, trained_weights

CANDIDATES = 120
PENALTY = 1e-3
FOLDS = 5
STEPS = 50
# Chats of two people name few entities but themselves: nothing to learn it from, and at this weight it costs them nothing.
FIXED = {"graph": 1.0}
Vector = NDArray[np.float64]
WEIGHTS = Path(__file__).resolve().parent.parent / "graphmem" / "search" / "weights.json"


@dataclass(frozen=True)
class Example:
    """A question's candidates: features, which of them are evidence, how many evidence turns there are in all, its fold."""

    matrix: NDArray[np.float64]
    gold: NDArray[np.bool_]
    evidence: int
    fold: int
    name: str


def examples(name: str, embedder: KeptEmbedder, conversations: int | None) -> list[Example]:
    """Every question of a set, asked through the public API."""
    out = []
    for number, conversation in enumerate(islice(SETS[name](data_folder()), conversations)):
        with remembered(conversation, embedder) as memory:
            for question in conversation.questions:
                hits = memory.rated(question, CANDIDATES)
                matrix = np.array([[rated[f] for f in FEATURES] for _, rated in hits])
                gold = np.array([key in question.evidence for key, _ in hits])
                out.append(Example(matrix, gold, len(question.evidence), number % FOLDS, name))
        print(f"{name}: {conversation.name}", file=sys.stderr)
    return out


def trained(chosen: list[Example]) -> dict[str, float]:
    """The weights that make the evidence likeliest, sets weighted alike, by Newton's method."""
    usable = [e for e in chosen if e.gold.any()]
    sizes = Counter(e.name for e in usable)
    weights = np.array([FIXED.get(name, trained_weights()[name]) for name in FEATURES])
    free = np.array([row for row, name in enumerate(FEATURES) if name not in FIXED])
    loss, gradient, curvature = _loss(usable, sizes, weights)
    for _ in range(STEPS):
        step, length = np.zeros_like(weights), 1.0
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        while length > 1e-6 and _loss(usable, sizes, weights - length * step)[0] > loss:
            length /= 2
        before = loss
        weights = weights - length * step
        loss, gradient, curvature = _loss(usable, sizes, weights)
        if before - loss < 1e-9:
            break
    return {name: round(float(w), 3) for name, w in zip(FEATURES, weights, strict=True)}


def _loss(usable: list[Example], sizes: Mapping[str, int], weights: Vector) -> tuple[float, Vector, Vector]:
    """Negative mean log likelihood and penalty, with first and second derivatives."""
    total = PENALTY * float(weights @ weights)
    gradient, curvature = 2 * PENALTY * weights, 2 * PENALTY * np.eye(len(weights))
    for example in usable:
        share = 1 / (len(sizes) * sizes[example.name])
        values = example.matrix @ weights
        values -= values.max()
        likely = np.exp(values)
        norm = likely.sum()
        likely /= norm
        target = example.gold / example.gold.sum()
        mean = likely @ example.matrix
        total -= share * float(target @ values - np.log(norm))
        gradient += share * (mean - target @ example.matrix)
        curvature += share * ((example.matrix.T * likely) @ example.matrix - np.outer(mean, mean))
    return total, gradient, curvature


def recall(chosen: list[Example], weights: dict[str, float], k: int = 10) -> float:
    """Mean share of the evidence among the first `k`."""
    shares = [e.gold[np.argsort(-score(e.matrix, weights), kind="stable")[:k]].sum() / e.evidence for e in chosen]
    return float(np.mean(shares)) if shares else 0.0


def held_out(all_examples: list[Example]) -> dict[str, float]:
    """Recall of each set by weights that did not see the question's fold."""
    per_fold: dict[str, list[tuple[float, int]]] = {}
    for fold in range(FOLDS):
        weights = trained([e for e in all_examples if e.fold != fold])
        for name in sorted({e.name for e in all_examples}):
            left_out = [e for e in all_examples if e.fold == fold and e.name == name]
            per_fold.setdefault(name, []).append((recall(left_out, weights), len(left_out)))
    return {name: round(sum(r * n for r, n in rows) / max(sum(n for _, n in rows), 1), 4) for name, rows in per_fold.items()}


def main() -> None:
    """Gather, train, report; `--write` replaces the weights of the package."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=sorted(SETS), default=["locomo", "longmemeval-pooled", "beam"])
    parser.add_argument("--conversations", type=int, default=None, help="only the first so many of each set")
    parser.add_argument("--vectors", type=Path, default=Path.home() / ".cache" / "graphmem" / "benchmarks", help="folder of kept vectors")
    parser.add_argument("--write", action="store_true")
    wanted = parser.parse_args()
    embedder = KeptEmbedder(wanted.vectors)
    gathered = [e for name in wanted.sets for e in examples(name, embedder, wanted.conversations)]
    weights = trained(gathered)
    report = {
        "weights": weights,
        "trained_on": {name: sum(e.name == name for e in gathered) for name in wanted.sets},
        "held_out_recall_at_10": held_out(gathered),
    }
    print(json.dumps(report, indent=1))
    if wanted.write:
        WEIGHTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
