"""Filtered searches: the same in every store, and no dearer in a large memory than in a small one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmem.interval import Interval
from graphmem.model import AsOf
from graphmem.search.hits import Filters, SearchResult
from graphmem.statements import Statement
from graphmem.stores.base import Kind
from graphmem.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from tests.search.conftest import World

QUESTION = "Who walked up hill 12 in January 2024?"
NOW = datetime(2024, 7, 1, tzinfo=UTC)
FIRST = datetime(2024, 1, 1, tzinfo=UTC)
COLOURS = ("red", "blue", ("red", "blue"), ["red"], 7, None)
FILTERS = {
    "session": Filters(sessions=("s2",)),
    "sessions and one unknown": Filters(sessions=("s3", "s5", "zz")),
    "actor": Filters(actors=("Jonas",)),
    "source": Filters(sources=("notes.md",)),
    "reference": Filters(reference=Interval(FIRST + timedelta(hours=20), FIRST + timedelta(hours=40))),
    "reference of an actor": Filters(reference=Interval(None, FIRST + timedelta(hours=30)), actors=("Mira",)),
    "type": Filters(types=("Place",)),
    "type and relation": Filters(types=("Place", "Value"), relations=("LIKES",)),
    "relation": Filters(relations=("KNOWS",)),
    "no relation": Filters(relations=()),
    "valid": Filters(valid=Interval(FIRST + timedelta(days=12), FIRST + timedelta(days=13))),
    "text": Filters(attributes={"colour": "red"}),
    "tuple": Filters(attributes={"colour": ("red", "blue")}),
    "list": Filters(attributes={"colour": ["red"]}),
    "number": Filters(attributes={"colour": 7.0}),
    "none": Filters(attributes={"colour": None}),
    "two attributes": Filters(attributes={"colour": "blue", "size": 2}),
    "all at once": Filters(sessions=("s1", "s2"), actors=("Mira",), types=("Person",), relations=("KNOWS",), attributes={"size": 1}),
}


def populated(world: World, rounds: int, start: int = 0) -> None:
    """People and places with turns about them; every tenth item differs from the rest in what filters ask for."""
    for n in range(start, start + rounds):
        marks: dict[str, Any] = {"colour": COLOURS[n % len(COLOURS)], "size": n % 3}
        world.entity(f"Nora {n}", "Person", **marks)
        world.entity(f"Hill {n}", "Place" if n % 5 else "Value")
        actor = "Jonas" if n % 7 == 0 else "Mira"
        source = "notes.md" if n % 11 == 0 else None
        turn = world.turn(
            f"Nora {n} walked up hill {n}.", actor, mentions=[f"Nora {n}"], session=f"s{n % 8}", source=source, attributes=dict(marks)
        )
        begun = FIRST + timedelta(days=n)
        ends = begun + timedelta(days=5) if n % 2 else None
        relation = "KNOWS" if n % 6 == 0 else "LIKES"
        world.fact(f"Nora {n}", relation, f"Hill {n}", valid=Interval(begun, ends), cites=turn, attributes=dict(marks))


def found(result: SearchResult) -> list[tuple[str, str, tuple[str, ...]]]:
    return sorted((hit.kind.value, hit.id, hit.citations) for hit in result.hits)


@contextmanager
def sqlite_world(path: Path, new_world: Callable[[], World]) -> Iterator[World]:
    world = new_world()
    with closing(SqliteStore.open(path)) as store:
        world.store = store
        yield world


def test_stores_agree_on_every_filter(tmp_path: Path, new_world: Callable[[], World]) -> None:
    """At several points in time, also for what was written after the first filtered search."""
    plain = new_world()
    with sqlite_world(tmp_path / "m.db", new_world) as world:
        for start in (0, 24):
            populated(plain, 24, start)
            populated(world, 24, start)
            for name, filters in FILTERS.items():
                for at in (AsOf(NOW), AsOf(None, FIRST + timedelta(minutes=30))):
                    asked: dict[str, Any] = {"at": at, "filters": filters, "limit": 200}
                    assert found(world.search(QUESTION, **asked)) == found(plain.search(QUESTION, **asked)), name


RARE = {
    "session": Filters(sessions=("rare",)),
    "actor": Filters(actors=("Ole",)),
    "source": Filters(sources=("rare.md",)),
    "reference": Filters(reference=Interval(FIRST - timedelta(days=1), FIRST)),
    "type": Filters(types=("Cave",)),
    "relation": Filters(relations=("RARE",)),
    "valid": Filters(valid=Interval(None, FIRST - timedelta(days=1))),
    "attribute": Filters(attributes={"depth": [1]}),
}


def test_a_rare_item_costs_as_many_statements_in_a_large_memory(tmp_path: Path, new_world: Callable[[], World]) -> None:
    """Stores offer nothing that fails a filter, so that nothing is fetched again and again until one passes."""
    costs: dict[str, list[Counter[str]]] = {name: [] for name in RARE}
    with sqlite_world(tmp_path / "m.db", new_world) as world:
        world.entity("Cave", "Cave", depth=[1])
        turn = world.turn("Rain.", "Ole", session="rare", source="rare.md", at=FIRST - timedelta(hours=2), attributes={"depth": [1]})
        before = Interval(FIRST - timedelta(days=9), FIRST - timedelta(days=2))
        world.fact("Nora 1", "RARE", "Cave", cites=turn, valid=before, attributes={"depth": [1]})
        for start, rounds in ((0, 42), (42, 125)):
            populated(world, rounds, start)
            for name, filters in RARE.items():
                world.search(QUESTION, at=AsOf(), filters=filters)
                seen: list[Statement] = []
                with world.store.trace(seen.append):  # type: ignore[attr-defined]
                    result = world.search(QUESTION, at=AsOf(), filters=filters, kinds=(Kind.FACT, Kind.EPISODE))
                kinds = {"type": {"fact"}, "relation": {"fact"}, "valid": {"fact"}}.get(name, {"fact", "episode"})
                rare = [hit for hit in result.hits if hit.kind.value in kinds]
                assert {hit.kind.value for hit in rare} == kinds
                assert len(rare) == len(kinds)
                costs[name].append(Counter(statement.name for statement in seen))
    assert all(small == large for small, large in costs.values())
