"""Every read method as of a point on both axes, compared with what the memory gave on that day."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

import graphmem
from graphmem import Memory, View
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]


def says(*facts: tuple[str, str, str, str]) -> dict[str, object]:
    """An extraction answer."""
    names = dict.fromkeys(end for f in facts for end in (f[0], f[2]))
    rows = [{"source": s, "relation": r, "target": t, "valid_at": at, "text": f"{s} {r.lower()} {t}"} for s, r, t, at in facts]
    return {"entities": [{"name": n, "type": "Person" if n in ("Mira", "Ivo") else "Place"} for n in names], "facts": rows}


TOLD = [
    ("2024-01-10", "Mira", says(("Mira", "LIVES_IN", "Lisbon", "2020"))),
    ("2024-03-10", "Ivo", says(("Ivo", "LIVES_IN", "Ghent", "2019"), ("Ivo", "KNOWS", "Mira", "2018"))),
    ("2024-05-10", "Mira", says(("Mira", "LIVES_IN", "Porto", "2024-04"))),
    ("2024-07-10", "Ivo", says(("Ivo", "LIVES_IN", "Turin", "2023"))),
]


def everything(view: View) -> dict[str, object]:
    """What every read method gives."""
    seen: dict[str, object] = {
        "facts": view.facts().to_dict(),
        "history": view.facts(history=True).to_dict(),
        "lives": view.facts(relation="LIVES_IN").to_dict(),
        "timeline": view.timeline().to_dict(),
        "entities": view.entities().to_dict(),
        "episodes": view.episodes().to_dict(),
        "counts": view.counts(),
        "search": [(h.kind, h.id) for h in view.search("where does Mira live", limit=50)],
        "facts found": {h.id for h in view.search("lives in", kinds=["fact"], limit=50)},
    }
    for name in [e["name"] for e in view.entities().to_dict()]:
        entity = view.entity(str(name))
        seen[str(name)] = [
            entity.item.to_dict(),
            entity.facts().to_dict(),
            entity.timeline().to_dict(),
            entity.episodes().to_dict(),
            entity.neighbours(hops=3).to_dict(),
        ]
    return seen


def as_then(seen: object) -> object:
    """Without what was not known then: when a version stopped being believed."""
    if isinstance(seen, dict):
        return {k: as_then(v) for k, v in seen.items() if k != "expired_at"}
    return [as_then(v) for v in seen] if isinstance(seen, list) else seen


@pytest.fixture
def told(open_memory: Open) -> tuple[Memory, dict[datetime, dict[str, object]]]:
    """A memory told something every two months, and what all its reads gave after each of them."""
    clock = FixedClock("2024-01-01T00:00:00Z")
    memory = open_memory(model=ScriptedModel({"extract": [answer for _, _, answer in TOLD], "resolve": {"matches": []}}), clock=clock)
    seen = {}
    forgotten = None
    for day, actor, _ in TOLD:
        clock.set(datetime.fromisoformat(day).replace(tzinfo=UTC))
        added = memory.add_message(actor, f"said on {day}", reference_time=day, session="s")
        forgotten = forgotten or added
        clock.advance(days=1)
        seen[clock.now()] = everything(memory)
    clock.set(datetime(2024, 9, 10, tzinfo=UTC))
    assert forgotten is not None
    memory.forget(episode=forgotten)
    clock.advance(days=1)
    seen[clock.now()] = everything(memory)
    clock.set(datetime(2025, 1, 1, tzinfo=UTC))
    return memory, seen


def test_a_view_of_an_earlier_day_gives_what_the_memory_gave_that_day(told: tuple[Memory, dict[datetime, dict[str, object]]]) -> None:
    """All read methods, five days; what is known since plays no part."""
    memory, seen = told
    for day, then in seen.items():
        assert as_then(everything(memory.as_of(system=day))) == as_then(then)


def test_valid_time_moves_without_moving_what_was_believed(told: tuple[Memory, dict[datetime, dict[str, object]]]) -> None:
    """Where Mira lived in April 2024, as known in April and as known in June."""
    memory, _ = told

    def places(view: View) -> list[str]:
        return [f.target for f in view.facts("Mira", relation="LIVES_IN")]

    assert places(memory.as_of(valid="2024-04-15", system="2024-04-15")) == ["Lisbon"]
    assert places(memory.as_of(valid="2024-04-15", system="2024-06-01")) == ["Porto"]
    assert places(memory.as_of(valid="2021-01-01", system="2024-06-01")) == ["Lisbon"]
    assert places(memory.as_of(valid="2021-01-01")) == []
    assert places(memory.as_of(valid="2019-01-01", system="2024-06-01")) == []
    past = memory.as_of(valid="2021-01-01", system="2024-06-01")
    assert next(h.item.target for h in past.search("Mira lives", kinds=["fact"])) == "Lisbon"


def test_before_anything_was_believed_a_view_is_empty(told: tuple[Memory, dict[datetime, dict[str, object]]]) -> None:
    """Every read, no error."""
    memory, _ = told
    empty = everything(memory.as_of(system="2023-01-01"))
    assert empty.pop("counts") == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}
    assert not any(empty.values())
    assert "Mira" not in memory.as_of(system="2023-01-01").context("where does Mira live").text


@pytest.fixture
def small() -> Iterator[Memory]:
    """A memory of one fact."""
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z")) as memory:
        memory.add_facts([{"source": "Mira", "relation": "LIVES_IN", "target": "Porto"}])
        yield memory


@pytest.mark.parametrize("wrong", [5, "facts", ["fact", 5]])
def test_kinds_are_one_word_or_several_and_anything_else_is_named(small: Memory, wrong: object) -> None:
    """One word is as good as a list of one, as for `rerank`."""
    assert [h.id for h in small.search("Mira", kinds="fact")] == [h.id for h in small.search("Mira", kinds=["fact"])] != []
    assert list(small.search("Mira", kinds=None)) == list(small.search("Mira"))
    with pytest.raises(InvalidInput, match="kinds="):
        small.search("Mira", kinds=wrong)  # type: ignore[arg-type]


def test_an_empty_stretch_of_time_is_told_by_the_names_it_was_given(small: Memory) -> None:
    """`until` must be after `since`."""
    with pytest.raises(InvalidInput, match="until='2024-01-01': must be after since='2024-02-01'"):
        small.episodes(since="2024-02-01", until="2024-01-01")
