"""Features agree with what stores compute, and stay in range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from graphmem.model import AsOf
from graphmem.search.features import FEATURES, Statistics, bm25, dates_said, scaled
from graphmem.search.words import words
from graphmem.stores.base import Kind

if TYPE_CHECKING:
    from tests.search.conftest import World


def test_bm25_of_candidates_is_that_of_the_store(town: World) -> None:
    """The same numbers, repeated words included."""
    town.turn("Lisbon Lisbon Lisbon, nothing but Lisbon!", "Mira")
    reader, terms = town.read(), words("Mira moved to Lisbon")
    found = {f.id: f.score for f in reader.text_search(Kind.EPISODE, terms, ("main",), AsOf(), 100)}
    texts = reader.words(Kind.EPISODE, list(found))
    statistics = Statistics(*reader.word_statistics(Kind.EPISODE, terms))
    own = bm25([texts[i] for i in found], terms, statistics).sum(axis=1)
    assert own == pytest.approx(list(found.values()), rel=1e-6)


def test_scaling_reaches_from_zero_to_one() -> None:
    """Equal values are all zero; nothing stays nothing."""
    assert scaled(np.array([2.0, 4.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    assert scaled(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert scaled(np.array([])).tolist() == []


def test_features_are_small_numbers(town: World) -> None:
    """No feature can drown the others."""
    for query in ("Where did Mira move to in March 2024?", "who works at Globex", "how many pears 2 3", "東京"):
        for hit in town.search(query, kinds=(Kind.EPISODE,)).hits:
            assert all(0 <= hit.features[name] <= 2.5 for name in FEATURES)


def test_dates_said_are_resolved_against_the_turn(town: World) -> None:
    """ "yesterday" is the day before it was said; whole years are too wide to tell anything."""
    from datetime import UTC, datetime

    said = datetime(2024, 5, 8, 12, tzinfo=UTC)
    [day] = dates_said("We went there yesterday.", said, "UTC")
    assert day.start == datetime(2024, 5, 7, tzinfo=UTC)
    assert dates_said("That was in 2019.", said, "UTC") == []
