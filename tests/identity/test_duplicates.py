"""Pairs that may be one: what is proposed and in which order, what is not, and on what people really said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.errors import InvalidInput

Open = Callable[..., Memory]


def tell(memory: Memory, *facts: tuple[str, str, str], **types: str) -> None:
    """Facts, an episode each; types by name, spaces as underscores."""
    for source, relation, target in facts:
        kinds = {"source_type": types.get(source.replace(" ", "_")), "target_type": types.get(target.replace(" ", "_"))}
        memory.add_facts([{"source": source, "relation": relation, "target": target, **{k: v for k, v in kinds.items() if v}}])


def pairs(memory: Memory, **options: Any) -> list[set[str]]:
    return [{d.entity.name, d.other.name} for d in memory.duplicates(**options)]


def people(memory: Memory, *called: str, first: int = 0) -> None:
    """Persons of these names, each in an episode of its own, with nothing in common."""
    for n, name in enumerate(called, first):
        memory.add_facts([{"source": name, "relation": "wrote", "target": f"Letter {'ABCDEFGHIJKLMNOP'[n]}{n}", "source_type": "Person"}])


def test_the_likeliest_come_first_with_reasons(open_memory: Open) -> None:
    """A slip in a long name, a nickname, a name within another; nothing is merged, and equal calls give equal lists."""
    memory = open_memory()
    people(memory, "Beatriz Nogueira", "Beatriz Nogueirra", "Mel Ortiz", "Melanie Ortiz", "Ivo", "Ivo Lund")
    before = memory.state_hash()
    found = memory.duplicates()
    assert [{d.entity.name, d.other.name} for d in found] == [
        {"Beatriz Nogueira", "Beatriz Nogueirra"}, {"Melanie Ortiz", "Mel Ortiz"}, {"Ivo Lund", "Ivo"},
    ]  # fmt: skip
    assert [d.reasons[0] for d in found] == [
        "the names are spelled nearly alike", "one name may be short for the other", "one name is a part of the other",
    ]  # fmt: skip
    assert [d.score for d in found] == sorted((d.score for d in found), reverse=True)
    assert all(0.5 <= d.score <= 1 for d in found)
    assert found == memory.duplicates()
    assert memory.state_hash() == before
    assert found[0].to_dict()["names"] == [found[0].entity.name, found[0].other.name]
    assert len(memory.duplicates(limit=1)) == 1
    assert pairs(memory, min_score=0.99) == []


NEVER = (
    ("Phase 1", "Phase 2"), ("KV-2210", "KV-2212"), ("Steering Committee 2023", "Steering Committee 2024"), ("C++", "C#"),
    ("Halvik Sr.", "Halvik Jr."), ("Jonas Weber", "Jonas Lindqvist"), ("hiking", "biking"), ("Mira's dog", "Ivo's dog"),
    ("Mira's dog", "Mira"), ("CPU usage", "GPU usage"), ("한도윤", "한도진"),
    ("first tournament", "fourth tournament"), ("Anna", "Hanna"),
)  # fmt: skip


@pytest.mark.parametrize("two", NEVER, ids=" ~ ".join)
def test_names_that_only_look_alike_are_not_proposed(open_memory: Open, two: tuple[str, str]) -> None:
    """Other numbers, signs, generations, last names, owners; short words a letter apart."""
    memory = open_memory()
    people(memory, *two)
    assert pairs(memory) == []


ALWAYS = (
    ("Halvik Rowing Association", "Halvik Rowing Asociation"), ("Orion-Labs", "Orion Labs"), ("Acme", "Acme Ltd."),
    ("P95 latency", "latency P95"), ("camping trips", "camping trip"), ("New York City", "NYC"), ("Chroma", "ChromaDB"),
    ("Jon's dance studio", "Jon's own dance studio"),
    ("Straße der Einheit", "STRASSE DER EINHEIT Nord"), ("Оксана Коваленко", "Оксана Ковалeнко"),
)  # fmt: skip


@pytest.mark.parametrize("two", ALWAYS, ids=" ~ ".join)
def test_names_of_one_thing_are_proposed(open_memory: Open, two: tuple[str, str]) -> None:
    """A slip, signs, a legal form, another order or form of the words, initials, a name within another, in any script."""
    memory = open_memory()
    for n, name in enumerate(two):
        memory.add_facts([{"source": f"Ground {'AB'[n]}", "relation": "about", "target": name}])
    if len(memory.entities(summarise=False)) == 4:  # else they were known as one at once
        assert set(two) in pairs(memory, min_score=0.4)


def test_types_that_cannot_be_one_values_and_other_groups_are_left_out(open_memory: Open) -> None:
    """A place is no language, a value is what it says, and nothing is compared across groups."""
    memory = open_memory()
    tell(memory, ("Ivo", "visited", "Java Island"), ("Ana", "speaks", "Java Islands"), Java_Island="Place", Java_Islands="Language")
    tell(
        memory, ("Job", "due", "12 May 2025"), ("Task", "due", "12 May 2025 noon"), **{"12_May_2025": "Value", "12_May_2025_noon": "Value"}
    )
    memory.add_facts([{"source": "Ivoo", "relation": "knows", "target": "Anna Maria"}], group="other")
    assert pairs(memory, min_score=0) == []
    assert list(memory.duplicates(group="empty")) == []


def test_neighbours_in_common_speak_for_it_and_a_fact_or_an_episode_against(open_memory: Open) -> None:
    """The same two names weigh more with a rare neighbour in common, less where a fact joins them and a text names both."""

    def weighed(*facts: tuple[str, str, str]) -> tuple[float, str]:
        memory = open_memory()
        people(memory, "Melanie Ortiz", "Mel")
        tell(memory, *facts)
        [found] = memory.duplicates(min_score=0)
        return found.score, "; ".join(found.reasons)

    plain, _ = weighed()
    common, why = weighed(("Mel", "owns", "Bluebell"), ("Melanie Ortiz", "owns", "Bluebell"))
    joined, but = weighed(("Mel", "sibling_of", "Melanie Ortiz"))
    assert joined < plain < common
    assert "1 neighbours in common" in why
    assert "but a fact joins them" in but
    assert "but 1 episodes name both" in but


def test_pairs_said_to_be_distinct_are_left_out_and_merged_ones_are_gone(open_memory: Open) -> None:
    """Whatever ids and names they had; undone, they are proposed again."""
    memory = open_memory()
    people(memory, "Melanie Ortiz", "Mel Ortiz", "Beatriz Nogueira", "Beatriz Nogueirra")
    apart = memory.distinct("Mel Ortiz", "Melanie Ortiz")
    merged = memory.merge("Beatriz Nogueira", "Beatriz Nogueirra")
    assert pairs(memory) == []
    memory.restore(apart)
    memory.restore(merged)
    assert len(pairs(memory)) == 2


def test_a_name_that_several_may_have_weighs_less(open_memory: Open) -> None:
    """ "Mira" may be short for either of two."""
    memory = open_memory()
    people(memory, "Mira", "Mira Okafor")
    alone = memory.duplicates(min_score=0)[0].score
    people(memory, "Mira Tallis", first=2)
    found = memory.duplicates(min_score=0)
    assert [d.score < alone for d in found] == [True, True]
    assert "2 names are alike in that way" in found[0].reasons


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": "many"}, {"min_score": 2}, {"min_score": "high"}, {"group": ""}])
def test_arguments_that_cannot_be_are_named(open_memory: Open, wrong: dict[str, Any]) -> None:
    """With their value."""
    with pytest.raises(InvalidInput, match=f"{next(iter(wrong))}="):
        open_memory().duplicates(**wrong)


# What one reader called right (True), wrong (False), or could not tell (left out), among the triples that a model recorded.
READ = {
    ("kids", "the kids"): True, ("her kids", "kids"): True, ("a pride parade", "the pride parade"): True,
    ("a pottery workshop", "the pottery workshop"): True, ("a hand-painted bowl", "the hand-painted bowl"): True,
    ("an LGBTQ+ youth center", "the LGBTQ+ youth center"): True, ("Caroline", "Caroline self-acceptance"): False,
}  # fmt: skip


@pytest.mark.data
@pytest.mark.local
def test_what_a_model_called_by_two_names_is_proposed_first(data: Path, open_memory: Open) -> None:
    """267 triples of one conversation: what is one comes first, and of the first ten all are."""
    from graphmem.embed.onnx import LocalEmbedder

    memory = open_memory(embedder=LocalEmbedder())
    lines = [json.loads(line) for line in (data / "locomo-llm-triples" / "conv-26.jsonl").read_text("utf-8").splitlines()]
    for n, row in enumerate(lines):
        fact = {"source": row["entity_1"], "relation": row["relation"], "target": row["entity_2"], "text": row["fact_text"]}
        memory.add_facts([fact], reference_time=row["timestamp"], key=str(n))
    found = [tuple(sorted((d.entity.name, d.other.name))) for d in memory.duplicates()]
    right = {tuple(sorted(two)) for two, is_one in READ.items() if is_one}
    wrong = {tuple(sorted(two)) for two, is_one in READ.items() if not is_one}
    assert right <= set(found[:10])
    assert not wrong & set(found[:10])
