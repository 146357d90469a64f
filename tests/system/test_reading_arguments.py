"""Arguments that cannot be are refused by name, with their value and what is allowed: none is passed over or taken for another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem import Attribute, EntityType, Filters, Memory, Ontology, Relation
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.llm.recorded import RecordedModel
from graphmem.testing import FixedClock, ScriptedModel


@pytest.fixture
def mem() -> Memory:
    """Mira lives in Porto and knows Ivo; she said something in a session of a source."""
    model = ScriptedModel({"extract": {"entities": [], "facts": []}})
    found = graphmem.open(model=model, embedder=HashingEmbedder(), clock=FixedClock("2024-01-01T09:00Z"))
    lives = {"source": "Mira", "relation": "lives_in", "target": "Porto", "source_type": "Person"}
    found.add_facts([lives, {"source": "Mira", "relation": "knows", "target": "Ivo"}])
    found.add_message("Mira", "I live in Porto, near the harbour.", session="s1", source="f.txt")
    found.build_communities()
    return found


# ------------------------------------------------------------------------------------------------ filters


@pytest.mark.parametrize(
    ("name", "value"), [("relations", "lives_in"), ("types", "Person"), ("actors", "Mira"), ("sessions", "s1"), ("sources", "f.txt")]
)
def test_a_name_alone_filters_as_a_list_of_one(mem: Memory, name: str, value: str) -> None:
    """A text is one name, not a list of its letters."""
    alone, listed = (mem.search("Mira Porto", filters=Filters(**{name: given})) for given in (value, [value]))
    assert alone
    assert [h.id for h in alone] == [h.id for h in listed]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, wrong) for name in ("relations", "types", "actors", "sessions", "sources") for wrong in (5, [5], b"x", {"a": 1}, True)),
        *((name, wrong) for name in ("valid", "reference") for wrong in ("2024", 5, ("2024", "2025"))),
        *(("attributes", wrong) for wrong in (5, "x", [("a", 1)], {5: 1}, None)),
    ],
)
def test_a_filter_that_is_none_is_refused(name: str, value: Any) -> None:
    """When the filter is made, not when it is first looked at."""
    with pytest.raises(InvalidInput, match=f"^{name}="):
        Filters(**{name: value})


# ------------------------------------------------------------------------------------------------ ontologies


def test_one_type_or_synonym_of_a_relation_may_stand_alone() -> None:
    """A text is one name, not a list of its letters."""
    relation = Relation("LIVES_IN", source_types="Person", target_types=["City"], synonyms="dwells_in")  # type: ignore[arg-type]
    assert relation == Relation("LIVES_IN", source_types=("Person",), target_types=("City",), synonyms=("dwells_in",))
    given = Ontology.from_json({"relations": [{"name": "LIVES_IN", "source_types": "Person"}], "types": "Boat"})
    assert given.relations["LIVES_IN"].source_types == ("Person",)
    assert list(given.types) == ["Boat"]


MADE: dict[str, tuple[Callable[..., object], str]] = {
    "closed": (lambda: Ontology.from_json({"closed": "no"}), "closed='no': must be True or False"),
    "closed by hand": (lambda: Ontology.of(closed=1), "closed=1: must be True or False"),  # type: ignore[arg-type]
    "one_target of a row": (lambda: Ontology.from_json([{"name": "R", "one_target": "no"}]), "R.one_target='no': must be True or False"),
    "one_source": (lambda: Relation("R", one_source=1), "R.one_source=1"),  # type: ignore[arg-type]
    "symmetric": (lambda: Relation("R", symmetric=None), "R.symmetric=None"),  # type: ignore[arg-type]
    "blank relation": (lambda: Relation(" "), "ontology=' ': a relation needs a name"),
    "nameless relation": (lambda: Relation(5), "ontology=5: a relation needs a name"),  # type: ignore[arg-type]
    "types of an end": (lambda: Relation("R", source_types=[5]), r"R.source_types=\[5\]"),  # type: ignore[arg-type]
    "synonyms of a row": (lambda: Ontology.from_json([{"name": "R", "synonyms": 5}]), "R.synonyms=5"),
    "inverse_of": (lambda: Relation("R", inverse_of=5), "R.inverse_of=5: must be a str"),  # type: ignore[arg-type]
    "description": (lambda: Relation("R", description=5), "R.description=5: must be a str"),  # type: ignore[arg-type]
    "relations": (lambda: Ontology.from_json({"relations": {"R": {}}}), "relations=.*must be a list"),
    "relations as text": (lambda: Ontology.from_json({"relations": "KNOWS"}), "relations='KNOWS': must be a list"),
    "types": (lambda: Ontology.from_json({"types": 5}), "types=5: must be a list"),
    "an ontology of a list": (lambda: Ontology([Relation("R")]), "relations=.*must be a dict by name"),  # type: ignore[arg-type]
    "an ontology of a number": (lambda: Ontology.of(5), "ontology=5: a relation is a Relation or a dict"),  # type: ignore[arg-type]
    "nameless type": (lambda: EntityType(5), "ontology=5: a type needs a name"),  # type: ignore[arg-type]
    "parent": (lambda: EntityType("Boat", parent=5), "Boat.parent=5: must be a str"),  # type: ignore[arg-type]
    "nameless attribute": (lambda: Attribute(5), "ontology=5: an attribute needs a name"),  # type: ignore[arg-type]
    "choices": (lambda: Attribute("berth", choices="dry"), "berth.choices='dry'"),  # type: ignore[arg-type]
    "required": (lambda: Attribute("berth", required="no"), "berth.required='no'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", MADE)
def test_an_ontology_of_wrong_types_is_refused(what: str) -> None:
    """Ontologies come from files: "no" is not taken for yes, nor a text for a list."""
    make, message = MADE[what]
    with pytest.raises(InvalidInput, match=f"^{message}"):
        make()


# ------------------------------------------------------------------------------------------------ reads

WRONG_FILTERS: tuple[Any, ...] = ({}, 0, "", [], False, {"relations": ["LIVES_IN"]})


@pytest.mark.parametrize("wrong", WRONG_FILTERS, ids=repr)
def test_what_is_no_filters_is_refused_by_all_that_search(mem: Memory, wrong: Any) -> None:
    """Nothing that is not `Filters` counts as none, however empty it is."""
    item = mem.facts()[0]
    calls: tuple[Callable[[], object], ...] = (
        lambda: mem.search("Mira", filters=wrong),
        lambda: mem.context("Mira", filters=wrong),
        lambda: mem.context("Mira", filters=wrong, tiers=["recent"]),
        lambda: mem.context("Mira", filters=wrong, scope="global"),
        lambda: mem.why_not("Mira", item, filters=wrong),
    )
    for call in calls:
        with pytest.raises(InvalidInput, match=r"^filters=.*must be graphmem.Filters, or left out"):
            call()


def test_several_sessions_actors_and_sources_keep_the_episodes_of_each(mem: Memory) -> None:
    """As a filter does; one may stand alone."""
    mem.add_message("Ivo", "I live in Ghent, near the river.", session="s2", source="g.txt")
    for name, one, other in (("session", "s1", "s2"), ("actor", "Mira", "Ivo"), ("source", "f.txt", "g.txt")):
        asked: dict[str, Any] = {name: [one, other]}
        assert [e.actor for e in mem.episodes(**asked)] == ["Mira", "Ivo"]
        asked = {name: (other,)}
        assert [e.actor for e in mem.episodes(**asked)] == ["Ivo"]
        asked = {name: ()}
        assert not mem.episodes(**asked)


NAMES: dict[str, tuple[str, Callable[[Memory, Any], object]]] = {
    "facts of an entity": ("entity", lambda mem, name: mem.facts(name)),
    "facts from a source": ("source", lambda mem, name: mem.facts(source=name)),
    "facts to a target": ("target", lambda mem, name: mem.facts(target=name)),
    "timeline": ("entity", lambda mem, name: mem.timeline(name)),
    "entity": ("name", lambda mem, name: mem.entity(name)),
    "entities": ("name", lambda mem, name: mem.entities(name)),
    "neighbours": ("entity", lambda mem, name: mem.neighbours(name)),
    "episodes": ("entity", lambda mem, name: mem.episodes(entity=name)),
    "one episode": ("id", lambda mem, name: mem.episode(name)),
    "community_of": ("entity", lambda mem, name: mem.community_of(name)),
    "diff": ("entity", lambda mem, name: mem.diff(system=("2023", None), entity=name)),
    "facts_frame": ("entity", lambda mem, name: mem.facts_frame(["2024-01-01T09:00Z"], entity=name)),
    "plot_timeline": ("entity", lambda mem, name: mem.plot_timeline(name)),
    "plot_two_axes": ("fact", lambda mem, name: mem.plot_two_axes(name)),
    "to_networkx": ("entity", lambda mem, name: mem.to_networkx(entity=name)),
}


@pytest.mark.parametrize("verb", NAMES)
def test_a_name_that_is_no_text_is_refused(mem: Memory, verb: str) -> None:
    """By the argument that it was given as; a list is no name of one."""
    argument, call = NAMES[verb]
    for wrong in (5, ["Mira"], b"Mira", {"name": "Mira"}):
        with pytest.raises(InvalidInput, match=f"^{argument}=.*must be"):
            call(mem, wrong)


ONE_OR_SEVERAL: dict[str, tuple[str, Callable[[Memory, Any], object]]] = {
    "facts": ("relation", lambda mem, given: mem.facts(relation=given)),
    "timeline": ("relation", lambda mem, given: mem.timeline(relation=given)),
    "an entity's facts": ("relation", lambda mem, given: mem.entity("Mira").facts(relation=given)),
    "diff": ("relation", lambda mem, given: mem.diff(system=("2023", None), relation=given)),
    "diff of a session": ("session", lambda mem, given: mem.diff(system=("2023", None), session=given)),
    "history": ("relation", lambda mem, given: mem.history("Mira", relation=given)),
    "to_networkx": ("relation", lambda mem, given: mem.to_networkx(relation=given)),
    "entities": ("type", lambda mem, given: mem.entities(type=given)),
    "episodes of a session": ("session", lambda mem, given: mem.episodes(session=given)),
    "episodes of an actor": ("actor", lambda mem, given: mem.episodes(actor=given)),
    "episodes of a source": ("source", lambda mem, given: mem.episodes(source=given)),
    "operations": ("kind", lambda mem, given: mem.operations(kind=given)),
    "search": ("kinds", lambda mem, given: mem.search("Mira", kinds=given)),
}


@pytest.mark.parametrize("verb", ONE_OR_SEVERAL)
def test_what_is_neither_a_name_nor_several_is_refused(mem: Memory, verb: str) -> None:
    """A number, a list of numbers, bytes, a dict."""
    argument, call = ONE_OR_SEVERAL[verb]
    for wrong in (5, [5], [["x"]], b"x", {"a": 1}):
        with pytest.raises(InvalidInput, match=f"^{argument}=.*must be (a str, or a list of them|among .*, one or several)"):
            call(mem, wrong)


FLAGS: dict[str, tuple[str, Callable[[Memory, Any], object]]] = {
    "facts": ("history", lambda mem, given: mem.facts(history=given)),
    "an entity's facts": ("history", lambda mem, given: mem.entity("Mira").facts(history=given)),
    "search": ("history", lambda mem, given: mem.search("Mira", history=given)),
    "search by pagerank": ("pagerank", lambda mem, given: mem.search("Mira", pagerank=given)),
    "why_not": ("history", lambda mem, given: mem.why_not("Mira", "Ivo", history=given)),
    "why_not by pagerank": ("pagerank", lambda mem, given: mem.why_not("Mira", "Ivo", pagerank=given)),
    "episodes": ("newest_first", lambda mem, given: mem.episodes(newest_first=given)),
    "entities": ("summarise", lambda mem, given: mem.entities(summarise=given)),
    "operations": ("episodes", lambda mem, given: mem.operations(episodes=given)),
    "facts_frame": ("holding", lambda mem, given: mem.facts_frame(["2024-01-01T09:00Z"], holding=given)),
    "facts_frame as a table": ("arrow", lambda mem, given: mem.facts_frame(["2024-01-01T09:00Z"], arrow=given)),
    "plot_timeline": ("history", lambda mem, given: mem.plot_timeline("Mira", history=given)),
    "export": ("overwrite", lambda mem, given: mem.export("unwritten.json", overwrite=given)),
    "show": ("open_browser", lambda mem, given: mem.show(open_browser=given)),
    "forget": ("dry_run", lambda mem, given: mem.forget(entity="Mira", dry_run=given)),
    "add_many": ("progress", lambda mem, given: mem.add_many([{"text": "hello"}], progress=given)),
}


@pytest.mark.parametrize("verb", FLAGS)
def test_a_flag_is_true_or_false(mem: Memory, verb: str) -> None:
    """ "false" is not taken for true, nor 1 for True."""
    argument, call = FLAGS[verb]
    before = mem.stats()["log"]
    for wrong in ("false", "", 1, 0, []):
        with pytest.raises(InvalidInput, match=f"^{argument}=.*must be True(,| or) False"):
            call(mem, wrong)
    assert mem.stats()["log"] == before


@pytest.mark.parametrize("tiers", [1, [], [["facts"]], {"facts"}, "facts"])
def test_tiers_that_are_none_are_refused(mem: Memory, tiers: Any) -> None:
    """Also those that cannot be gone through."""
    with pytest.raises(InvalidInput, match=r"^tiers=.*must be a list"):
        mem.context("Mira", tiers=tiers)


@pytest.mark.parametrize("wrong", [None, 5, b"x"])
def test_a_path_that_is_none_is_refused(mem: Memory, wrong: Any) -> None:
    """By all that read or write a file."""
    for call in (mem.export, mem.load):
        with pytest.raises(InvalidInput, match=r"^path=.*must be a path"):
            call(wrong)


def test_what_is_no_file_of_recorded_answers_is_refused(tmp_path: Path) -> None:
    """No path, a folder, and what is no text."""
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    wrong: Any
    for wrong in (None, 5, tmp_path, tmp_path / "bytes.jsonl"):
        with pytest.raises(InvalidInput, match=r"^path=.*(must be a|cannot be read|is not a recorded answer)"):
            RecordedModel(wrong)


def test_what_is_no_axes_or_format_is_refused(mem: Memory) -> None:
    """By what draws and by what writes."""
    fact = mem.facts()[0]
    wrong: Any = 5
    calls: tuple[Callable[[], object], ...] = (
        lambda: mem.plot_timeline("Mira", ax=wrong),
        lambda: mem.plot_two_axes(fact, ax=wrong),
        lambda: mem.plot_graph(ax=wrong),
        lambda: mem.plot_activity(ax=wrong),
    )
    for call in calls:
        with pytest.raises(InvalidInput, match=r"^ax=5: must be axes of matplotlib"):
            call()
    for wrong in (5, ["csv"], {"csv": 1}):
        with pytest.raises(InvalidInput, match=r"^format=.*must be one of"):
            mem.export("unwritten.json", format=wrong)


def test_changes_of_communities_are_those_of_one_group(mem: Memory) -> None:
    """The second of two groups is not left out without a word."""
    with pytest.raises(InvalidInput, match=r"^group=\['main', 'other'\]: must be one group"):
        mem.community_changes("2024-01-01T09:00Z", "2025", group=["main", "other"])  # type: ignore[arg-type]
