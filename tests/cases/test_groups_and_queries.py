"""Cases C09, C31, C33: what a search may return, whatever it is asked; and groups that never show one another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import pytest
from wire import Script, all_new, says

from graphmem import Filters, Memory
from graphmem.errors import InvalidGroup
from graphmem.interval import Interval
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]


def day(n: int) -> datetime:
    """Day n of 2025."""
    return datetime.fromordinal(datetime(2025, 1, 1).toordinal() + n).replace(tzinfo=UTC)


def test_c09_what_holds_no_more_takes_no_place_from_what_holds(open_memory: Open) -> None:
    """24 facts match, 11 hold: five asked for, five that hold; with history, ended ones say so."""
    facts = []
    for n in range(24):
        ended = {"invalid_at": "2024-06-01"} if n < 13 else {}
        facts.append(
            {
                "source": f"Vendor {n}",
                "relation": "PAYS",
                "target": "stall rent",
                "text": f"Vendor {n} pays stall rent",
                "valid_at": "2024-01-01",
                **ended,
            }
        )
    memory = open_memory()
    memory.add_facts(facts, reference_time="2025-01-01")
    hits = memory.search("stall rent", limit=5, kinds=["fact"])
    assert len(hits) == 5
    assert [h.item.invalid_at for h in hits] == [None] * 5
    assert len(memory.search("stall rent", limit=30, kinds=["fact"])) == 11
    past = memory.search("stall rent", limit=30, kinds=["fact"], history=True)
    assert len(past) == 24
    assert sum(h.item.invalid_at is not None for h in past) == 13
    assert len(memory.as_of(valid="2024-03-01").search("stall rent", limit=30, kinds=["fact"])) == 24


RELATIONS = ["RENTS", "PAYS", "VISITS"]
TYPES = ["Person", "Company", "Place"]
SESSIONS = ["morning", "evening"]
ACTORS = ["Mira", "Ivo", "Tomas"]


def market(open_memory: Open) -> Memory:
    """60 facts of three relations over things of three types, said in two sessions by three people, some ended."""
    random = Random(9)
    script = Script()
    memory = open_memory(model=ScriptedModel({**script.questions(), "resolve": all_new}))
    for n in range(20):
        facts = []
        for k in range(3):
            start = random.randrange(300)
            fields: dict[str, object] = {"valid_at": day(start).isoformat(), "text": f"stall {n} {k} market"}
            if random.random() < 0.5:
                fields["invalid_at"] = day(start + random.randrange(1, 60)).isoformat()
            if random.random() < 0.3:
                fields["attributes"] = {"zone": random.choice(["north", "south"])}
            facts.append((f"Alpha{n}x{k}", random.choice(RELATIONS), f"Omega{n}x{k}", fields))
        types = {end: random.choice(TYPES) for f in facts for end in (f[0], f[2])}
        text = script.on(f"Market note {n}.", says(*facts, types=types))
        memory.add_message(ACTORS[n % 3], text, reference_time=day(300 + n), session=SESSIONS[n % 2], source=f"note{n % 4}")
    return memory


def some(random: Random, values: list[str]) -> tuple[str, ...] | None:
    """None, nothing, one or several of the values."""
    return random.choice([None, None, (), tuple(random.sample(values, 1)), tuple(random.sample(values, 2))])


def stretch(random: Random, limit: int) -> Interval | None:
    """No interval, or one that is open on either side or none."""
    if random.random() < 0.5:
        return None
    start = random.randrange(limit)
    return Interval(random.choice([None, day(start)]), random.choice([None, day(start + random.randrange(1, 90))]))


def test_c09_filters_give_what_a_plain_filter_gives(open_memory: Open) -> None:
    """Two hundred random filters over facts, entities and episodes, also with nothing to choose from."""
    memory = market(open_memory)
    random = Random(31)
    facts, entities, episodes = memory.facts(history=True), memory.entities(), memory.episodes()
    types = {e.name: e.type for e in entities}
    said = {e.id: e for e in episodes}
    for _ in range(200):
        f = Filters(
            types=some(random, TYPES),
            relations=some(random, RELATIONS),
            valid=stretch(random, 360),
            reference=stretch(random, 330),
            sessions=some(random, SESSIONS),
            actors=some(random, ACTORS),
            sources=some(random, ["note0", "note1", "note2"]),
            attributes=random.choice([{}, {}, {}, {"zone": "north"}]),
        )

        def told(episode: object, f: Filters = f) -> bool:
            e = said[episode] if isinstance(episode, str) else episode
            return (
                (f.sessions is None or e.session in f.sessions)
                and (f.actors is None or e.actor in f.actors)
                and (f.sources is None or e.episode.source in f.sources)
                and (f.reference is None or e.reference_time in f.reference)
            )

        wanted_facts = {
            x.uuid
            for x in facts
            if (f.relations is None or x.relation in f.relations)
            and (f.types is None or {types[x.source], types[x.target]} & set(f.types))
            and (f.valid is None or x.valid.overlaps(f.valid))
            and any(told(e) for e in x.episodes)
            and all(x.attributes.get(k) == v for k, v in f.attributes.items())
        }
        wanted_episodes = {e.id for e in episodes if told(e) and not f.attributes}
        found = {
            k: {h.id for h in memory.search("stall market note", kinds=[k], limit=200, filters=f, history=True)}
            for k in ("fact", "episode")
        }
        assert found["fact"] == wanted_facts, f
        assert found["episode"] == wanted_episodes, f


HOSTILE = [
    "qx-", "/k note", "foo AND", "NOT", "OR OR", "(", ")", '"open', "'", "*", "?", "~2", "a:b", "\\", "`x`", "_", "[1 TO", "C++", "🙂",
    "the of and", "", " ", "word " * 10_000, "a\x00b", "\x00", "\ud800", "NEAR(a b)", "^a", "-a", "a -b", "{", "%", "a*", "rank:1", ";",
    "--", "東京", "عربي", "שלום", "ไทย", "\u202e", "\u2028", "'; DROP TABLE facts; --",
]  # fmt: skip


def test_c09_filters_know_relations_and_types_by_any_spelling(open_memory: Open) -> None:
    """As lists of facts do: through the ontology of the group, synonyms and inverses too."""
    memory = open_memory()
    rows = [("Mira", "works at", "Acme"), ("Mira", "likes", "chess")]
    ends = {"source_type": "Person", "target_type": "Organization"}
    memory.add_facts([{"source": s, "relation": r, "target": t, **(ends if t == "Acme" else {})} for s, r, t in rows])
    for spelled in ("works at", "WORKS_AT", "works-at", "employed by", "employs"):
        found = memory.search("Mira", kinds=["fact"], filters=Filters(relations=(spelled,)))
        assert [h.item.target for h in found] == [f.target for f in memory.facts("Mira", relation=spelled)] == ["Acme"]
        assert memory.why_not("Mira", found[0], filters=Filters(relations=(spelled,))).found
    for spelled in ("Organization", "organization", "ORGANIZATION"):
        assert [h.item.name for h in memory.search("Acme chess", kinds=["entity"], filters=Filters(types=(spelled,)))] == ["Acme"]
        assert [e.name for e in memory.entities(type=spelled)] == ["Acme"]
    assert len(memory.search("Mira", kinds=["fact"], filters=Filters(relations=()))) == 0
    assert len(memory.search("Mira", kinds=["fact"], filters=Filters(relations=("works at",)), group=())) == 0


@pytest.mark.parametrize("strings", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_c31_no_query_is_an_error(open_memory: Open, strings: int) -> None:
    """A34: Operators, quotes, brackets, nothing, ten thousand words, and random characters of every plane."""
    memory = open_memory()
    memory.add_facts([{"source": "qx-alpha", "relation": "NEXT_TO", "target": "C++ 東京"}], reference_time="2025-01-01")
    random = Random(7)
    odd = [
        "".join(
            chr(random.choice([random.randrange(0x80), random.randrange(0x3000), random.randrange(0x110000)]))
            for _ in range(random.randrange(1, 20))
        )
        for _ in range(strings)
    ]
    for query in [*HOSTILE, *odd]:
        hits = memory.search(query)
        assert isinstance(hits.to_dict(), list)
        memory.context(query, max_tokens=50)
    assert "qx-alpha" in [h.item.name for h in memory.search("qx-alpha", kinds=["entity"])]
    assert "qx-alpha" in [h.item.name for h in memory.search("qx-", kinds=["entity"])]


@pytest.mark.parametrize("query", ["", " ", "\u200b", "?!", "the of and"])
def test_c31_a_query_without_a_word_to_look_for_is_no_error(open_memory: Open, query: str) -> None:
    """A34: It finds what it may, and an empty one nothing."""
    memory = open_memory()
    memory.add_facts([{"source": "Mira", "relation": "NEXT_TO", "target": "Ivo"}])
    hits = memory.search(query)
    if not query.strip():
        assert len(hits) == 0
        assert [w.code for w in hits.warnings] == ["empty_query"]


USABLE = [
    "3d0e7c41-5b92-4f6a-9c1e-7a2b4c6d8e90",
    "main",
    "team a/b",
    "naïve",
    "g'\") DETACH DELETE n //",
    "x" * 200,
    "東京",
    "%",
    "_",
    "*",
    "Main",
]
UNUSABLE = ["", "x" * 300, "a\nb", "a\x00", "\ud800", "a\n", None, 7, ["a"], ("a",)]


@pytest.mark.parametrize("group", USABLE)
def test_c33_a_group_that_can_be_written_can_be_read_everywhere(open_memory: Open, group: str) -> None:
    """In a call and as the handle's own; in search, lists, hashes, forgetting; never mixed up with a like one."""
    memory = open_memory()
    added = memory.add_facts([{"source": "Nadia", "relation": "GROWS", "target": "pears"}], group=group)
    memory.add_facts([{"source": "Nadia", "relation": "ROWS", "target": "dawn"}], group=group[:-1] + "?")
    assert [f.target for f in memory.facts("Nadia", group=group)] == ["pears"]
    assert [h.item.target for h in memory.search("Nadia", kinds=["fact"], group=group)] == ["pears"]
    assert memory.counts(group=group)["facts"] == 1
    assert memory.state_hash(group=group) != memory.state_hash(group="another")
    memory.forget(episode=added, group=group)
    assert memory.counts(group=group)["facts"] == 0
    mine = open_memory(group=group)
    mine.add_facts([{"source": "Nadia", "relation": "GROWS", "target": "pears"}])
    assert [f.group for f in mine.facts("Nadia")] == [group]


@pytest.mark.parametrize("group", UNUSABLE, ids=lambda g: ascii(g)[:20])
def test_c33_a_group_that_cannot_be_used_is_one_named_error_at_the_call(open_memory: Open, group: object) -> None:
    """A33: At writing, at reading and at opening; nothing is stored. `None` is the handle's group, a tuple several to read."""
    memory = open_memory()
    if group is not None:
        with pytest.raises(InvalidGroup):
            memory.add_facts([{"source": "Nadia", "relation": "GROWS", "target": "pears"}], group=group)  # type: ignore[arg-type]
        if not isinstance(group, (list, tuple)):
            with pytest.raises(InvalidGroup):
                memory.search("Nadia", group=group)  # type: ignore[arg-type]
    with pytest.raises(InvalidGroup):
        open_memory(group=group)
    assert memory.stats()["groups"] == []


def test_c33_groups_never_show_one_another(open_memory: Open) -> None:
    """A36: Search, context, names, neighbours, lists, counts and resolution see only the groups asked for; `()` sees nothing."""
    clock = FixedClock("2026-01-15T12:00:00Z")
    memory = open_memory(clock=clock, group="A")
    memory.add_facts([{"source": "Nadia", "relation": "GROWS", "target": "pears", "text": "Nadia grows pears"}], source="a.md")
    before = memory.state_hash(group="A"), memory.history_hash(group="A")
    memory.add_facts([{"source": "Nadia", "relation": "ROWS", "target": "dawn", "text": "Nadia rows at dawn"}], group="B", source="b.md")
    assert (memory.state_hash(group="A"), memory.history_hash(group="A")) == before
    for group, mine, other in (("A", "pears", "dawn"), ("B", "dawn", "pears")):
        shown = [memory.search(q, group=group, limit=50, history=True) for q in ("Nadia", "pears", "dawn", "rows at dawn grows pears")]
        shown += [
            memory.facts(group=group),
            memory.entities(group=group),
            memory.episodes(group=group),
            memory.neighbours("Nadia", group=group),
        ]
        shown += [memory.timeline(group=group)]
        text = " ".join(str(listing.to_dict()) for listing in shown) + str(memory.context("Nadia pears dawn", group=group))
        assert mine in text
        assert other not in text
        assert memory.counts(group=group) == {"episodes": 1, "entities": 2, "facts": 1, "mentions": 2}
    assert len(memory.entity("Nadia", group="A").facts()) == 1
    both = memory.facts("Nadia", group=("A", "B"))
    assert sorted(f.target for f in both) == ["dawn", "pears"]
    for read in (memory.facts, memory.entities, memory.episodes, memory.timeline):
        assert len(read(group=())) == 0  # type: ignore[operator]
    assert len(memory.search("Nadia", group=())) == 0
    assert memory.counts(group=()) == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}
    [episode] = memory.episodes(group="A")
    kept = memory.state_hash(group="B"), memory.history_hash(group="B")
    memory.forget(episode=episode)
    assert (memory.state_hash(group="B"), memory.history_hash(group="B")) == kept
