"""The linear score of episodes: features times trained weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources

import numpy as np

from graphmem.search.features import FEATURES, Column


@cache
def trained_weights() -> Mapping[str, float]:
    """The weights that `benchmarks/train_ranker.py` wrote, by feature."""
    written = json.loads(resources.files("graphmem.search").joinpath("weights.json").read_text("utf-8"))
    return {name: float(written["weights"][name]) for name in FEATURES}


def score(matrix: Column, weights: Mapping[str, float] | None = None) -> Column:
    """One number a row: a higher one is the likelier answer. `weights` replace the trained ones."""
    chosen = trained_weights() if weights is None else weights
    return np.asarray(matrix @ np.array([chosen[name] for name in FEATURES]))
