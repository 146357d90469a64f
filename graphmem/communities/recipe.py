"""How a layer of communities is found: what an entry of the log says of it, so that it can be found again."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, cast

from graphmem.communities.detect import Detector, default_algorithm, detector, resolutions
from graphmem.errors import InvalidInput
from graphmem.model import AsOf
from graphmem.runtime import digest

LEVELS = (1.0, 1.0, 1.0)
_MOST_LEVELS = 8


@dataclass(frozen=True, slots=True)
class Recipe:
    """An algorithm by name, a resolution a level, a seed; `half_life` in days where newer facts weigh more; whether the layer grows
    with every episode (None: as it did).
    """

    algorithm: str
    resolution: tuple[float, ...] = LEVELS
    seed: int = 0
    half_life: float | None = None
    grows: bool | None = None

    @classmethod
    def checked(
        cls,
        algorithm: str | None = None,
        resolution: float | Sequence[float] = LEVELS,
        seed: int = 0,
        half_life: float | None = None,
    ) -> Recipe:
        """A recipe of these arguments; raises `InvalidInput` naming the one that is not what is allowed."""
        name = default_algorithm() if algorithm is None else algorithm
        detector(name)
        chosen = resolutions(resolution)
        if len(chosen) > _MOST_LEVELS:
            raise InvalidInput("resolution", resolution, f"must be of at most {_MOST_LEVELS} levels")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
            raise InvalidInput("seed", seed, "must be an integer from 0 to 2**32 - 1")
        if half_life is not None and not _is_above_zero(half_life):
            raise InvalidInput("half_life", half_life, "must be days, a number above 0, or None for no regard to age")
        return cls(name, chosen, seed, None if half_life is None else float(half_life))

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Recipe:
        """The recipe in an operation's values."""
        held = cast(Mapping[str, Any], values)
        return cls(held["algorithm"], tuple(held["resolution"]), held["seed"], held["half_life"], held["grows"])

    def values(self) -> dict[str, object]:
        """As an operation keeps it."""
        return {
            "algorithm": self.algorithm,
            "resolution": list(self.resolution),
            "seed": self.seed,
            "half_life": self.half_life,
            "grows": self.grows,
        }

    def detector(self) -> Detector:
        """The algorithm; raises `MissingExtra` where it is not installed."""
        return detector(self.algorithm)


@dataclass(frozen=True, slots=True)
class Seen:
    """The point whose graph a layer was found in: all of the log up to a position and its system instant, at a valid time."""

    seq: int
    valid: datetime
    system: datetime

    @property
    def at(self) -> AsOf:
        """The point on both axes."""
        return AsOf(self.valid, self.system)


@dataclass(frozen=True, slots=True)
class Text:
    """What a model has called a community of a level, found again by its members (see `members_key`): the fact versions behind it,
    and a key of what it was written from.
    """

    level: int
    members: str
    name: str
    summary: str
    facts: tuple[str, ...]
    by: str
    key: str


def _is_above_zero(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def members_key(entities: Collection[str]) -> str:
    """A short name for a set of entities."""
    return digest("members", *sorted(entities)).hex()[:32]


@dataclass(frozen=True, slots=True)
class Build:
    """What an entry of the log says of a layer: how it is found, in which graph, and what a model has called its communities.

    `names`: "model", all those texts are here; "offline", no text is a model's; None, earlier ones stay where they still fit.
    """

    recipe: Recipe
    seen: Seen
    names: str | None = None
    texts: tuple[Text, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Build:
        """The build in an operation's values."""
        held = cast(Mapping[str, Any], values)
        texts = tuple(Text(**{**row, "facts": tuple(row["facts"])}) for row in held["texts"])
        return cls(Recipe.of(values), Seen(**held["seen"]), held["names"], texts)

    def values(self) -> dict[str, object]:
        """As an operation keeps it."""
        texts = [{**asdict(text), "facts": list(text.facts)} for text in self.texts]
        return {**self.recipe.values(), "seen": asdict(self.seen), "names": self.names, "texts": texts}
