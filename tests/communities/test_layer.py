"""Building, reading and rebuilding communities on a memory."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest
from circles import TRIANGLES, knows

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, NotFound
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel

ALGORITHMS = ("leiden", "louvain", "label_propagation")


def sets(mem: graphmem.Memory, **asked: object) -> list[list[str]]:
    """The members' names, community by community, in alphabetical order."""
    return sorted(sorted(m.name for m in c.members) for c in mem.communities(**asked))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_two_circles_are_two_communities(mem: Memory, algorithm: str) -> None:
    """Each by every algorithm; a name of the central entities, a summary, the facts it tells of."""
    mem.add_facts(knows(*TRIANGLES))
    built = mem.build_communities(algorithm=algorithm)
    assert built.counts() == {"added": 2}
    first, second = mem.communities()
    assert (first.name, second.name) == ("Ada, Ben, Cleo", "Xi, Yan, Zoe")
    assert first.summary.startswith("Ada, Ben, Cleo. ")
    assert "Mostly knows" in first.summary
    assert set(first.facts) == {f.uuid for f in mem.facts() if f.source in "AdaBenCleo" and f.target in "AdaBenCleo"}
    assert (first.level, first.parent, first.computed, first.size) == (0, None, False, 3)
    assert mem.community_of("Zoe").id == second.id
    assert repr(first) == "<Community 'Ada, Ben, Cleo' (3 members, level 0)>"


def test_a_second_build_of_the_same_graph_changes_nothing(mem: Memory, clock: FixedClock) -> None:
    """It is an entry of the log, and leaves the layer as it was."""
    mem.add_facts(knows(*TRIANGLES))
    mem.build_communities()
    before = mem.communities(level=None)
    clock.advance(days=1)
    assert mem.build_communities().changes == ()
    assert list(mem.communities(level=None)) == list(before)


def test_values_are_left_out(mem: Memory) -> None:
    """What facts point at is no member; who has nothing but values is alone."""
    value = [{"source": p, "relation": "has_rent", "target": "900", "target_type": "Value"} for p in ("Ada", "Zed")]
    mem.add_facts([*knows(*TRIANGLES), *value])
    mem.build_communities()
    assert sets(mem, min_size=1) == [["Ada", "Ben", "Cleo"], ["Xi", "Yan", "Zoe"], ["Zed"]]
    assert sets(mem) == [["Ada", "Ben", "Cleo"], ["Xi", "Yan", "Zoe"]]


def test_what_is_cited_more_binds_more(mem: Memory) -> None:
    """Of a chain, the link that three episodes tell of is not the one that is cut."""
    chain = knows(("A", "B"), ("B", "C"), ("C", "D"), ("D", "E"))
    mem.add_facts(chain, key="first")
    for n in range(5):
        mem.add_facts(knows(("B", "C"), ("D", "E")), key=f"again {n}")
    mem.build_communities()
    together = {name: mem.community_of(name).id for name in "BCDE"}
    assert together["B"] == together["C"] != together["D"] == together["E"]


def test_with_a_half_life_what_is_new_binds_more(mem: Memory, clock: FixedClock) -> None:
    """A person between two circles goes with the one of the newer facts."""
    circles = [p for p in TRIANGLES if p != ("Ada", "Xi")]
    mem.add_facts(knows(*circles, valid_at="2023-12-01"))
    mem.add_facts(knows(("Max", "Ada"), ("Max", "Ben"), valid_at="2001-01-01"))
    mem.add_facts(knows(("Max", "Xi"), ("Max", "Yan"), valid_at="2023-12-01"))
    mem.build_communities(half_life=365)
    assert mem.community_of("Max").id == mem.community_of("Zoe").id


def test_an_ended_fact_binds_nobody(mem: Memory, clock: FixedClock) -> None:
    """Edges are the facts that hold now."""
    mem.add_facts(knows(*TRIANGLES[:3]))
    mem.add_facts(knows(*TRIANGLES[3:6], valid_at="2020", invalid_at="2022"))
    mem.build_communities()
    assert sets(mem, min_size=1) == [["Ada", "Ben", "Cleo"]]


def test_levels_nest(mem: Memory) -> None:
    """A finer level splits the one above, and names its parents; a level that is not there is an error."""
    cliques = [[f"{c}{n}" for n in range(5)] for c in "ABCD"]
    pairs = [(a, b) for clique in cliques for a in clique for b in clique if a < b]
    pairs += [(f"{a}{n}", f"{b}{n}") for a, b in ("AB", "CD") for n in range(4)] + [("A0", "C0")]
    mem.add_facts(knows(*pairs))
    mem.build_communities(resolution=(0.3, 1.0))
    coarse, fine = mem.communities(level=0), mem.communities(level=1)
    assert sorted(c.size for c in coarse) == [10, 10]
    assert sorted(c.size for c in fine) == [5, 5, 5, 5]
    for community in fine:
        (above,) = [c for c in coarse if c.id == community.parent]
        assert set(community.members) < set(above.members)
    assert len(mem.communities(level=None)) == 6
    with pytest.raises(InvalidInput, match=r"level=7.*levels there are at this point: 0, 1"):
        mem.communities(level=7)
    with pytest.raises(InvalidInput, match="level=7"):
        mem.community_of("A0", level=7)
    with pytest.raises(InvalidInput, match=r"level=\[1\]: must be an integer of 0 or more"):
        mem.communities(level=[1])  # type: ignore[arg-type]


def test_ids_outlive_a_rebuild(mem: Memory, clock: FixedClock) -> None:
    """A circle that grows keeps its id; what is told of it is told anew."""
    mem.add_facts(knows(*TRIANGLES))
    mem.build_communities()
    before = {c.name: c.id for c in mem.communities()}
    clock.advance(days=1)
    mem.add_facts(knows(("Dan", "Ada"), ("Dan", "Ben"), ("Dan", "Cleo"), ("Eve", "Fay")))
    assert mem.build_communities().counts() == {"added": 1, "extended": 1}
    after = mem.communities()
    assert after[0].id == before["Ada, Ben, Cleo"]
    assert after[0].size == 4
    assert {c.id for c in after} > set(before.values())


def test_a_text_is_shown_only_while_its_facts_hold(mem: Memory, clock: FixedClock) -> None:
    """A fact that ends after the build is not told as current; the facts left are."""
    mem.add_facts([{**row, "valid_at": "2023"} for row in knows(*TRIANGLES)])
    mem.build_communities()
    assert "Ben knows Cleo" in mem.communities()[0].summary
    clock.advance(days=1)
    mem.add_facts([{"source": "Ben", "relation": "knows", "target": "Cleo", "kind": "ends", "invalid_at": "2023-06-01"}])
    circle = mem.communities()[0]
    assert "Ben knows Cleo" not in circle.summary
    assert "Ada knows Ben" in circle.summary
    assert {f.uuid for f in mem.facts()}.issuperset(circle.facts)
    assert "Ben knows Cleo" in mem.as_of(system="2024-01-01T12:00Z").communities()[0].summary


def test_a_forgotten_episode_leaves_no_trace(mem: Memory, clock: FixedClock) -> None:
    """Who came only through it is no member, and no text tells of it; earlier instants still do; a restore brings it back."""
    mem.add_facts(knows(*TRIANGLES))
    secret = mem.add_facts(knows(("ZQX", "Xi"), ("ZQX", "Yan"), ("ZQX", "Zoe"), ("Lone", "ZQX")))
    mem.build_communities()
    assert "ZQX" in mem.communities()[0].name
    clock.advance(days=1)
    forgotten = mem.forget(episode=secret)
    shown = repr([c.to_dict() for c in mem.communities(min_size=1)])
    assert "ZQX" not in shown
    assert "Lone" not in shown
    assert "ZQX" in mem.as_of(system="2024-01-01T12:00Z").communities()[0].name
    with pytest.raises(NotFound):
        mem.community_of("ZQX")
    mem.restore(forgotten)
    mem.build_communities()
    assert mem.community_of("ZQX").id == mem.community_of("Zoe").id


def test_an_entity_of_no_community_is_named(mem: Memory) -> None:
    """One that came after the build; the error says what to do."""
    mem.add_facts(knows(*TRIANGLES))
    mem.build_communities()
    mem.add_facts(knows(("Eve", "Fay")))
    with pytest.raises(NotFound, match=r"'Eve' is in no community.*build_communities"):
        mem.community_of("Eve")


def test_before_the_first_build_an_error_says_what_to_do(mem: Memory, clock: FixedClock) -> None:
    """Also at an instant before the first episode, and in a group that holds nothing."""
    with pytest.raises(NotFound, match="holds nothing yet"):
        mem.build_communities()
    mem.add_facts(knows(*TRIANGLES))
    with pytest.raises(NotFound, match=r"no communities of 'main' had been built yet; `build_communities\(\)`"):
        mem.communities()
    mem.build_communities()
    with pytest.raises(NotFound, match="had been built at 2020-01-01"):
        mem.as_of(system="2020-01-01").communities()
    assert list(mem.communities(group=())) == []


def test_without_a_fact_a_build_finds_none(mem: Memory) -> None:
    """An empty graph is ordinary: the layer is there, and empty."""
    only = mem.add_facts(knows(("Ada", "Ben")))
    mem.forget(episode=only)
    assert mem.build_communities().changes == ()
    assert list(mem.communities(level=None)) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"algorithm": "infomap"}, "algorithm='infomap'.*'leiden', 'louvain'"),
        ({"algorithm": 3}, "algorithm=3"),
        ({"resolution": 0}, "resolution=0: must be a number above 0"),
        ({"resolution": (1.0,) * 9}, "at most 8 levels"),
        ({"seed": -1}, "seed=-1"),
        ({"half_life": 0}, "half_life=0"),
        ({"half_life": True}, "half_life=True"),
        ({"progress": 5}, "progress=5"),
        ({"resolution": 1e308}, "1e6 at most"),
    ],
)
def test_bad_arguments_are_named(mem: Memory, wrong: dict[str, object], message: str) -> None:
    """Nothing is written."""
    mem.add_facts(knows(*TRIANGLES))
    with pytest.raises(InvalidInput, match=message):
        mem.build_communities(**wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        mem.communities()


def test_groups_have_layers_of_their_own(mem: Memory) -> None:
    """A build of one group leaves another's alone; several are read by naming them."""
    mem.add_facts(knows(*TRIANGLES))
    mem.add_facts(knows(("Ada", "Noa"), ("Noa", "Oz"), ("Oz", "Ada")), group="other")
    mem.build_communities(group="other")
    assert sets(mem, group="other") == [["Ada", "Noa", "Oz"]]
    with pytest.raises(NotFound):
        mem.communities()
    mem.build_communities()
    assert len(mem.communities(group=("main", "other"))) == 3


def test_a_log_folded_again_gives_the_same_layers(mem: Memory, clock: FixedClock, tmp_path: Path) -> None:
    """Builds are entries of the log: replay finds the same communities at the same instants, without a model."""
    mem.add_facts(knows(*TRIANGLES))
    mem.build_communities(seed=7)
    clock.advance(days=1)
    secret = mem.add_facts(knows(("Dan", "Ada"), ("Dan", "Ben"), ("Eve", "Dan")))
    mem.build_communities(algorithm="louvain", resolution=(0.5, 2.0))
    clock.advance(days=1)
    mem.forget(episode=secret)
    mem.export(tmp_path / "log.jsonl")
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as again:
        again.load(tmp_path / "log.jsonl")
        assert again.history_hash() == mem.history_hash()
        assert again.verify() == []
        assert [c.id for c in again.communities(level=None)] == [c.id for c in mem.communities(level=None)]


def test_a_kill_while_building_leaves_the_old_layer(tmp_path: Path) -> None:
    """The process dies in the middle of writing a new layer: the file opens with the old one whole."""
    where = tmp_path / "memory.db"
    clock = FixedClock("2024-01-01T09:00Z")
    with graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        mem.add_facts(knows(*TRIANGLES))
        mem.build_communities()
        before = [c.to_dict() for c in mem.communities()]
        mem.add_facts(knows(("Dan", "Ada"), ("Dan", "Ben"), ("Dan", "Cleo"), ("Eve", "Fay")))
        log = mem.stats()["log"]
    for statement in ("end_communities", "add_community", "add_members"):
        died = subprocess.run([sys.executable, "-c", KILLED, str(where), statement], check=False, timeout=120)
        assert died.returncode == -9
        with graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
            assert [c.to_dict() for c in mem.communities()] == before
            assert mem.stats()["log"] == log
            assert mem.verify() == []
    with graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        assert mem.build_communities().counts() == {"added": 1, "extended": 1}


KILLED = dedent(
    """
    import os, signal, sys
    import graphmem
    from graphmem.embed.hashing import HashingEmbedder
    from graphmem.testing import ScriptedModel

    mem = graphmem.open(sys.argv[1], model=ScriptedModel({}), embedder=HashingEmbedder())

    def watch(statement):
        if statement.name == sys.argv[2]:
            os.kill(os.getpid(), signal.SIGKILL)

    with mem._scope.store.trace(watch):
        mem.build_communities()
    """
)


def test_a_hub_of_thousands_is_built_soon(mem: Memory) -> None:
    """No step looks at pairs of entities."""
    mem.add_facts(knows(*(("Hub", f"Leaf {n}") for n in range(300))))
    begun = time.process_time()
    mem.build_communities()
    assert time.process_time() - begun < 20
    assert sets(mem, limit=1)[0][0] == "Hub"


def test_a_sentence_that_ends_is_not_ended_again(mem: Memory) -> None:
    """A summary closes what is open alone: no full stop after a quotation or a question that has ended."""
    mem.add_facts([{"source": "Ada", "relation": "knows", "target": "Ben", "text": 'Ada calls Ben her "old friend."'}])
    mem.add_facts([{"source": "Ben", "relation": "knows", "target": "Cleo", "text": "Who knows Cleo but Ben?"}])
    mem.add_facts([{"source": "Cleo", "relation": "knows", "target": "Ada", "text": "Cleo knows Ada"}])
    mem.build_communities()
    summary = mem.community_of("Ada").summary
    assert 'her "old friend." ' in f"{summary} "
    assert "but Ben? " in f"{summary} "
    assert "Cleo knows Ada." in summary
