"""The BM25 formula, written once so that every store scores alike, on numbers and on arrays."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75

Number = TypeVar("Number", float, NDArray[np.float64])


def rarity(rows: int, containing: int) -> float:
    """How telling a term is: `ln(1 + (N - n + .5) / (n + .5))`, never negative."""
    return math.log(1.0 + (rows - containing + 0.5) / (containing + 0.5))


def weight(frequency: Number, length: Number, mean: float) -> Number:
    """How much a term counts in a row of `length` words that holds it `frequency` times."""
    return frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * (length / mean)))
