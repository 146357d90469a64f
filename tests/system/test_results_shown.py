"""Results in a notebook and in a program: short, as a table, as plain values, as a data frame, whatever was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hostile import HOSTILE

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.memory import Memory
from graphmem.results import Listing, WriteResults
from graphmem.shown import Shown
from graphmem.testing import FixedClock, ScriptedModel

LONGEST_REPR = 400
DAY = "2024-03-01T09:00Z"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Names that are markup, communities of two days, and something forgotten."""
    clock = FixedClock(DAY)
    with graphmem.open(tmp_path_factory.mktemp("shown") / "a.db", model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        mem.add_facts([{"source": n, "relation": "knows", "target": "Mira", "valid_at": "2021"} for n in HOSTILE], reference_time=DAY)
        mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": "<b>Porto</b>", "text": "t" * 5_000}], reference_time=DAY)
        mem.add_facts([{"source": f"Katarina No{c}ak", "relation": "knows", "target": "Mira"} for c in "vw"], reference_time=DAY)
        mem.build_communities()
        clock.advance(days=1)
        mem.add_facts([{"source": a, "relation": "knows", "target": b} for a in "PQRS" for b in "PQRS" if a < b], reference_time=DAY)
        mem.build_communities()
        clock.advance(days=1)
        yield mem


RESULTS: dict[str, Callable[[Memory, Path], Any]] = {
    "facts": lambda m, _: m.facts(),
    "a fact": lambda m, _: m.facts()[0],
    "entities": lambda m, _: m.entities(),
    "an entity": lambda m, _: m.entities()[0],
    "an entity to read from": lambda m, _: m.entity("Mira"),
    "neighbours": lambda m, _: m.neighbours("Mira"),
    "episodes": lambda m, _: m.episodes(),
    "an episode": lambda m, _: m.episodes()[0],
    "hits": lambda m, _: m.search("Mira knows whom?"),
    "a hit": lambda m, _: m.search("Mira knows whom?")[0],
    "context": lambda m, _: m.context("Mira knows whom?"),
    "an explanation": lambda m, _: m.explain(m.search("Mira knows whom?")[0]),
    "what kept one out": lambda m, _: m.why_not("Mira knows whom?", m.facts()[0]),
    "timeline": lambda m, _: m.timeline("Mira"),
    "an entry of it": lambda m, _: m.timeline("Mira")[0],
    "communities": lambda m, _: m.communities(),
    "a community": lambda m, _: m.communities()[0],
    "changes of communities": lambda m, _: m.community_changes("2024-03-01T10:00Z"),
    "a difference": lambda m, _: m.diff(system=("2024-03-01T10:00Z", None)),
    "a line of it": lambda m, _: m.diff(valid=(None, None))[0],
    "why": lambda m, _: m.why(m.facts()[0]),
    "a history": lambda m, _: m.history("Mira"),
    "operations": lambda m, _: m.operations(),
    "an operation": lambda m, _: m.operations(episodes=True)[0],
    "a replay": lambda m, path: m.replay(path / "again.db"),
    "duplicates": lambda m, _: m.duplicates(min_score=0.1),
    "what changed": lambda m, _: m.diff(system=("2024-03-01T10:00Z", "2024-03-02T10:00Z")),
    "why a fact": lambda m, _: m.why(m.facts()[0]),
    "the history of an entity": lambda m, _: m.history("Mira"),
    "an erasure": lambda m, _: m.erase(episode=m.episodes()[0], dry_run=True),
    "erasures": lambda m, _: m.erase(episode=m.add_facts([{"source": "X", "relation": "knows", "target": "Y"}])) and m.erasures(),
    "a write": lambda m, _: m.add_facts([{"source": "<i>", "relation": "knows", "target": "Q"}]),
    "writes": lambda m, _: m.add_many([{"kind": "facts", "rows": [{"source": "W", "relation": "knows", "target": n}]} for n in "XY"]),
    "an export": lambda m, path: m.export(path / "g.json"),
    "a load": lambda m, path: m.export(path / "g.jsonl") and graphmem.open(model=ScriptedModel({})).load(path / "g.jsonl"),
    "a copy": lambda m, path: graphmem.copy(path / "a.db", path / "b.db", progress=False) if made(path / "a.db") else None,
    "a re-embedding": lambda m, path: graphmem.reembed(made(path / "a.db"), embedder=HashingEmbedder(16), progress=False),
}  # fmt: skip


def made(path: Path) -> Path:
    """A file with one fact."""
    with graphmem.open(path, model=ScriptedModel({}), embedder=HashingEmbedder()) as mem:
        mem.add_facts([{"source": "P", "relation": "knows", "target": "Q"}])
    return path


@pytest.mark.parametrize("what", RESULTS)
def test_every_result_is_short_and_has_a_table_values_and_a_data_frame(memory: Memory, tmp_path: Path, what: str) -> None:
    """Nothing of a text is markup; values are JSON; instants in a frame are instants; completion shows no private name."""
    result = RESULTS[what](memory, tmp_path)
    assert len(repr(result)) <= LONGEST_REPR
    assert "\n" not in repr(result)
    shown = result._repr_html_()
    assert shown.encode()
    assert shown.startswith(("<table>", "<pre>"))
    assert not [tag for tag in ("<script", "<b>", "<i>", "<!", "<![CDATA") if tag in shown]
    json.dumps(result.to_dict(), allow_nan=False)
    frame = result.to_pandas()
    assert len(frame)
    assert {str(frame[c].dtype) for c in frame.columns if c.endswith("_at") or c == "at"} <= {"datetime64[us, UTC]"}
    assert not [name for name in dir(result) if name.startswith("_")]


def test_every_public_verb_that_returns_a_result_is_tried_here() -> None:
    """A verb added is a result tested: those that return something else are named."""
    others = {"as_of", "close", "follow", "bookmarks", "wait_through", "counts", "stats", "verify", "state_hash", "history_hash", "open",
              "reset_usage", "show", "usage", "facts_frame", "frame_leaks"}  # fmt: skip
    returned = {
        n: str(f.__annotations__.get("return")) for n, f in vars_of(Memory) if n not in others and not n.startswith(("plot_", "to_"))
    }
    assert returned
    for name, kind in returned.items():
        bare = kind.partition("[")[0]
        found = getattr(graphmem, bare, None) or next((c for c in subclasses(Shown) if c.__name__ == bare), None)
        assert found is not None, (name, kind)
        assert issubclass(found, Shown), (name, kind)


def vars_of(kind: type) -> list[tuple[str, Any]]:
    """Public methods, inherited ones too."""
    return [(n, getattr(kind, n)) for n in dir(kind) if not n.startswith("_") and callable(getattr(kind, n))]


def subclasses(kind: type) -> set[type]:
    """All of them, near and far."""
    return {kind, *(far for near in kind.__subclasses__() for far in subclasses(near))}


def test_a_listing_counts_slices_and_equals_a_list_of_its_items(memory: Memory) -> None:
    """A slice is a listing of the same kind; an empty one has a frame with the columns of its table."""
    facts = memory.facts()
    assert len(facts[1:4]) == 3
    assert isinstance(facts[1:4], Listing)
    assert facts[1:4] == list(facts)[1:4] == facts[1:4][:]
    assert list(facts[:0].to_pandas().columns) == list(facts[:0]._columns())
    assert facts.to_pandas().source.nunique() == len({f.source for f in facts})


def test_a_slice_has_what_the_whole_has(memory: Memory) -> None:
    """Counts of several writes, warnings of hits, the versions of a history, the points of a difference; the whole stays as it was."""
    done = memory.add_many([{"kind": "facts", "rows": [{"source": f"Wim {n}", "relation": "knows", "target": "Quo"}]} for n in range(3)])
    assert done[1:].counts() == {"added": sum(r.counts()["added"] for r in done[1:])}
    hits = memory.search("Wim 1 knows Quo")
    assert (hits[:1].warnings, hits[:1].abstained, len(hits[:1])) == (hits.warnings, hits.abstained, 1)
    told = memory.history("Quo")
    assert told[:1].counts() == {told[0].kind.value: 1}
    assert (told[:1].versions, len(told[:1]), len(told)) == (told.versions, 1, 4)
    changed = memory.diff(system=("2000-01-01", None))
    assert (changed[:1].axis, changed[:1].until, len(changed[:1])) == (changed.axis, changed.until, 1)


def test_completion_of_the_package_shows_its_public_names() -> None:
    """No module that it is made of, no helper."""
    assert dir(graphmem) == sorted(graphmem.__all__)


def test_the_writes_of_many_episodes_count_their_changes_together(memory: Memory) -> None:
    """One row an episode, and a sum."""
    done = memory.add_many([{"kind": "facts", "rows": [{"source": f"W{n}", "relation": "knows", "target": "Q"}]} for n in range(3)])
    assert isinstance(done, WriteResults)
    assert done.counts() == {"added": sum(r.counts()["added"] for r in done)}
    assert list(done.to_pandas().changes) == [f"{r.counts()['added']} added" for r in done]


def test_instants_of_any_year_are_instants_in_a_frame(memory: Memory) -> None:
    """Not only those that nanoseconds reach."""
    memory.add_facts(
        [{"source": "Rome", "relation": "founded_in", "target": "Latium", "valid_at": "0100", "invalid_at": "9000"}], group="old"
    )
    frame = memory.facts(group="old").to_pandas() if len(memory.facts(group="old")) else memory.facts(history=True, group="old").to_pandas()
    assert frame.valid_at[0] == pd.Timestamp("0100-01-01T00:00Z")


def test_completion_of_a_memory_and_a_view_shows_verbs_alone(memory: Memory) -> None:
    """Each is a public method; what is private is still there for who writes it."""
    for of in (memory, memory.as_of(valid="2024")):
        offered = dir(of)
        assert {"search", "facts", "entity", "to_pandas", "export"} <= set(offered)
        assert not [name for name in offered if name.startswith("_") or not callable(getattr(of, name))]
        assert of._scope
