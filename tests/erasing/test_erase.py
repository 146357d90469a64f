"""What `erase` does to a memory, what it refuses, and what its receipt says."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from marked import EMBEDDER, Script, opened, tell

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.entries import created_at
from graphmem.errors import InvalidInput, NotFound
from graphmem.memory import Memory
from graphmem.model import ChangeKind, EpisodeRecord, Operation, OperationKind
from graphmem.runtime import content_id
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[[], Memory]
JOBS = [("2020-01-01", "Acme", "2020"), ("2021-01-01", "Globex", "2021"), ("2023-01-01", "Initech", "2023")]


@pytest.fixture(params=["memory", "sqlite"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    return ":memory:" if request.param == "memory" else tmp_path / "m.db"


def fresh(where: object = ":memory:") -> Memory:
    """A memory that nothing but rows of facts is told."""
    return graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2026-01-15T12:00Z"))  # type: ignore[arg-type]


def jobs(mem: Memory) -> list[str]:
    """Three jobs of Mira, each told in its year; the ids of the episodes."""
    return [mem.add_facts([fact("Mira", "works_at", job, since)], reference_time=told, recorded_at=told).id for told, job, since in JOBS]


def fact(source: str, relation: str, target: str, since: str | None = None) -> dict[str, object]:
    return {"source": source, "relation": relation, "target": target, **({"valid_at": since} if since else {})}


def periods(mem: Memory, system: str | None = None) -> list[str]:
    """Who works where, as believed then."""
    view = mem if system is None else mem.as_of(valid=system, system=system)
    return list(dict.fromkeys(f"{e.fact.target} {e.fact.period}" for e in view.timeline("Mira")))


def snapshot(mem: Memory) -> tuple[object, ...]:
    with mem._scope.store.read() as reader:
        return mem.state_hash(), mem.history_hash(), list(reader.log("main")), reader.meta("erasures")


def test_an_erased_employer_is_in_no_past(where: object) -> None:
    """Story 37: Acme runs on until Initech, at every system time; nothing ever says that there was another job."""
    mem = fresh(where)
    _, globex, _ = jobs(mem)
    assert periods(mem) == ["Acme 2020", "Globex 2021 to 2022", "Initech since 2023"]
    receipt = mem.erase(episode=globex)
    assert receipt.counts() == {"episodes": 1, "assertions": 1, "entities": 1}
    assert periods(mem) == ["Acme 2020 to 2022", "Initech since 2023"]
    assert periods(mem, "2022-06-01") == ["Acme since 2020"]
    assert [e.name for e in mem.as_of(system="2022-06-01").entities()] == ["Acme", "Mira"]
    assert not any("Globex" in hit.text for hit in mem.as_of(system="2022-06-01").search("Globex"))
    assert mem.verify() == []
    mem.close()


def test_positions_and_instants_of_the_log_stay(where: object) -> None:
    """A tombstone stands where the entry was, and says nothing but when; the receipt is the last entry."""
    mem = fresh(where)
    _, globex, _ = jobs(mem)
    with mem._scope.store.read() as reader:
        before = [(e.seq, created_at(e)) for e in reader.log("main")]
    receipt = mem.erase(episode=globex, reason="asked for", author="Ben")
    with mem._scope.store.read() as reader:
        after = list(reader.log("main"))
    assert [(e.seq, created_at(e)) for e in after][:-1] == before
    tombstone, recorded = after[2], after[-1]
    assert tombstone == Operation(content_id("op", "main", 3, "erased"), "main", OperationKind.ERASED, (), seq=3, created_at=before[2][1])
    assert isinstance(recorded, Operation)
    assert (recorded.kind, recorded.targets, recorded.values["positions"]) == (OperationKind.ERASE, (), [3])
    assert (receipt.id, receipt.at) == (recorded.id, recorded.created_at)
    (kept,) = mem.erasures()
    assert (kept.id, kept.episodes, kept.reason, kept.author) == (receipt.id, 1, "asked for", "Ben")
    assert globex not in repr(after) + repr(receipt.to_dict())
    mem.close()


@pytest.mark.parametrize("keyed", [True, False])
def test_the_same_episode_added_again_is_a_new_one(where: object, keyed: bool) -> None:
    """Its idempotency key went with it; it has the same id, since that derives from what was said, and a later instant."""
    mem = fresh(where)
    row = {"rows": [fact("Mira", "works_at", "Acme")], "kind": "facts", "reference_time": "2024-01-01", **({"key": "n1"} if keyed else {})}
    (first,) = mem.add_many([row])
    assert not mem.add_many([row])[0].created
    mem.erase(episode=first)
    (again,) = mem.add_many([row])
    assert (again.created, again.id) == (True, first.id)
    assert again.created_at > first.created_at  # type: ignore[operator]
    assert [f.target for f in mem.facts()] == ["Acme"]
    mem.close()


@pytest.mark.parametrize(
    "named",
    [
        {"episode": "ep_no"},
        {"fact": "fact_no"},
        {"entity": "Nobody"},
        {"session": "none"},
        {"entity": "Acme", "group": "other"},
        {"group": "other"},
    ],
)
def test_what_is_not_there_cannot_be_erased(where: object, named: dict[str, str]) -> None:
    """`NotFound` naming it; nothing is changed, in a dry run and in earnest."""
    mem = fresh(where)
    jobs(mem)
    before = snapshot(mem)
    for dry_run in (True, False):
        with pytest.raises(NotFound, match=r"nothing was erased"):
            mem.erase(**named, dry_run=dry_run)  # type: ignore[arg-type]
    assert snapshot(mem) == before
    mem.close()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({}, "name one of"),
        ({"episode": "e", "entity": "Mira"}, "name one of"),
        ({"entity": "Mira", "episodes": "keep"}, "redact, delete"),
        ({"entity": 3}, "an id or a name"),
        ({"entity": ""}, "an id or a name"),
        ({"entity": "Mira", "reason": 3}, "reason=3"),
        ({"entity": "Mira", "author": "  ", "dry_run": True}, "author="),
    ],
)
def test_what_is_meant_must_be_said(named: dict[str, str], said: str) -> None:
    """One thing, and how: an error names the argument and what is allowed."""
    mem = fresh()
    jobs(mem)
    before = snapshot(mem)
    with pytest.raises(InvalidInput, match=said):
        mem.erase(**named)  # type: ignore[arg-type]
    assert snapshot(mem) == before


@pytest.mark.parametrize(("number", "name"), [(90210, "90210"), (-0.25, "-0.25"), (1, "1")])
def test_a_number_that_is_erased_is_in_no_row(number: float, name: str) -> None:
    """Neither as text nor as a number; other numbers stay, and what counts."""
    mem = fresh()
    row = {"source": "Ada", "relation": "has_code", "target": number, "attributes": {"code": number, "other": 7722}}
    mem.add_facts([row, fact("Ada", "knows", "Ben")])
    mem.split("Ada", episodes=mem.add_facts([fact("Ada", "knows", "Cleo")]))
    receipt = mem.erase(entity=name)
    assert receipt.redacted == 1
    assert str(number) not in mem.episodes()[0].text
    assert "7722" in mem.episodes()[0].text
    assert [f.target for f in mem.facts(relation="knows")] == ["Ben", "Cleo"]
    assert mem.verify() == []


def test_a_name_of_several_entities_is_refused_with_their_ids() -> None:
    """Nothing is erased by chance."""
    script = Script()
    mem = opened(":memory:", script)
    for kind in ("Person", "City"):
        tell(mem, script, f"Paris, the {kind}.", [], [{"name": "Paris", "type": kind}])
    ids = sorted(e.id for e in mem.entities())
    assert len(ids) == 2
    with pytest.raises(InvalidInput, match=f"{ids[0]}, {ids[1]}"):
        mem.erase(entity="Paris")
    mem.erase(entity=next(e for e in mem.entities() if e.type == "City"))
    assert len(mem.entities()) == 1


def test_an_erase_cannot_be_restored(where: object) -> None:
    """Neither by its receipt's id nor by that of a tombstone: a clear error."""
    mem = fresh(where)
    receipt = mem.erase(episode=jobs(mem)[1])
    for operation in (receipt.id, content_id("op", "main", 3, "erased")):
        with pytest.raises(InvalidInput, match="cannot be undone"):
            mem.restore(operation)  # type: ignore[arg-type]
    mem.close()


def test_a_dry_run_tells_what_would_go_and_changes_nothing(where: object) -> None:
    """The counts are those of the real one, and it says what becomes of beliefs."""
    mem = fresh(where)
    globex = jobs(mem)[1]
    before = snapshot(mem)
    told = mem.erase(episode=globex, dry_run=True)
    assert snapshot(mem) == before
    assert (told.dry_run, told.id, told.at) == (True, None, None)
    assert {(c.kind, c.text) for c in told.changes} == {
        (ChangeKind.EXTENDED, "Mira works at Acme"),
        (ChangeKind.ERASED, "Mira works at Globex"),
    }
    receipt = mem.erase(episode=globex)
    assert (receipt.counts(), receipt.changes) == (told.counts(), ())
    assert mem.erase(group="main", dry_run=True).episodes == 2
    mem.close()


def test_searches_summaries_and_communities_know_nothing_of_it(where: object) -> None:
    """Words, vectors, the summary of who stays, communities of now and of then, which are found again."""
    mem = fresh(where)
    rows = [
        fact(a, "knows", b) for a, b in [("Ada", "Ben"), ("Ben", "Cleo"), ("Cleo", "Ada"), ("Xi", "Yan"), ("Yan", "Zoe"), ("Zoe", "Xi")]
    ]
    mem.add_facts(rows, recorded_at="2025-01-01")
    secret = mem.add_facts([fact("Zelda", "knows", "Xi"), fact("Zelda", "owns", "zeppelin")], recorded_at="2025-02-01")
    mem.build_communities(algorithm="louvain")
    assert any("Zelda" in [m.name for m in c.members] for c in mem.communities())
    mem.erase(entity="Zelda", episodes="delete")
    later = mem.as_of(system="2026-02-01", valid="2026-02-01")
    for view in (mem, later):
        assert all("Zelda" not in [m.name for m in c.members] for c in view.communities())
        assert not any("Zelda" in hit.text or "zeppelin" in hit.text for hit in view.search("Zelda owns a zeppelin"))
    assert "Zelda" not in mem.entity("Xi").summary
    assert sorted(c.size for c in mem.communities()) == [3, 3]
    assert secret.id not in {e.id for e in mem.episodes()}
    assert mem.verify() == []
    mem.close()


def test_what_a_model_called_a_community_goes_where_it_names_what_is_erased(where: object) -> None:
    """Also where it was written before the first episode that speaks of it: somebody else was called so by hand."""
    script = Script()
    mem = opened(where, script)
    mem.add_facts([fact("Ada", "knows", "Boris"), fact("Boris", "knows", "Cleo"), fact("Cleo", "knows", "Ada")])
    for name in ("Ada", "Boris", "Cleo"):
        mem.rename(name, f"{name} Nyx")
    mem.build_communities(names="model")
    assert "Nyx" in mem.communities()[0].name
    mem.add_facts([fact("Nyx", "likes", "jazz")])
    mem.erase(entity=mem.entity("Nyx").id)
    with mem._scope.store.read() as reader:
        assert "Nyx" not in repr([list(reader.log("main")), reader.answers("", 100), reader.community_history("main")])  # type: ignore[attr-defined]
    assert mem.verify() == []
    mem.close()


def test_communities_that_grow_grow_again(tmp_path: Path) -> None:
    """The layer after an erase is the one that a replay of the log gives."""
    path = tmp_path / "m.db"
    mem = graphmem.open(path, model=ScriptedModel({}), embedder=EMBEDDER, clock=FixedClock("2026-01-15T12:00Z"), communities="incremental")
    rng = Random(3)
    ids = [
        mem.add_facts([fact(f"P{rng.randrange(9)}", "knows", f"Q{rng.randrange(9)}")], recorded_at=f"2025-01-{day:02d}").id
        for day in range(1, 29)
    ]
    for episode in rng.sample(ids, 3):
        mem.erase(episode=episode)
    mem.export(tmp_path / "log.jsonl", format="log")
    again = fresh()
    again.load(tmp_path / "log.jsonl")
    assert (again.state_hash(), again.history_hash()) == (mem.state_hash(), mem.history_hash())
    assert mem.verify() == again.verify() == []
    mem.close()


def test_a_log_with_tombstones_is_loaded_and_copied_whole(tmp_path: Path) -> None:
    """Equal hashes; an export from before the erase is refused, so that nothing comes back by it."""
    mem = fresh(tmp_path / "m.db")
    _, globex, _ = jobs(mem)
    mem.export(tmp_path / "before.jsonl", format="log")
    mem.erase(episode=globex)
    mem.export(tmp_path / "after.jsonl", format="log")
    loaded = fresh()
    loaded.load(tmp_path / "after.jsonl")
    graphmem.copy(mem, tmp_path / "copy.db")
    copied = fresh(tmp_path / "copy.db")
    for other in (loaded, copied):
        assert (other.state_hash(), other.history_hash()) == (mem.state_hash(), mem.history_hash())
        assert [r.counts() for r in other.erasures()] == [r.counts() for r in mem.erasures()]
        assert other.verify() == []
    with pytest.raises(InvalidInput, match="something else at position 3"):
        mem.load(tmp_path / "before.jsonl")
    assert b"Globex" not in (tmp_path / "after.jsonl").read_bytes()
    mem.close()
    copied.close()


def test_no_id_confirms_a_guess_of_what_was_erased(tmp_path: Path) -> None:
    """Ids derive from what was said: those that do are in no byte, nor those of who was first named there and stays."""
    script = Script()
    mem = opened(tmp_path / "m.db", script)
    entities: list[dict[str, object]] = [{"name": "Ada"}, {"name": "Boris"}]
    told: list[dict[str, object]] = [{"source": 0, "target": 1, "relation": "knows", "text": "Ada knows Boris"}]
    first = tell(mem, script, "Ada knows Boris well.", told, entities, session="s", reference_time="2025-01-01")
    second = tell(mem, script, "Boris saw Ada.", [], entities, reference_time="2025-01-02")
    third = tell(mem, script, "Boris was away.", [], [{"name": "Boris"}], reference_time="2025-01-03", key="mail-7")
    with mem._scope.store.read() as reader:
        records = {r.episode.id: r for r in reader.log("main") if isinstance(r, EpisodeRecord)}
    going = {first, second, *(a.id for a in records[first].assertions), *(m.entity for m in records[first].mentions)}
    going |= {r.episode.key for i, r in records.items() if i in (first, second)}
    going.add(mem.forget(episode=second).id)
    mem.erase(episode=first)
    mem.erase(entity="Ada")
    raw = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert [i for i in going if i.encode() in raw] == []
    assert mem.entity("Boris").name == "Boris"
    assert third in {e.id for e in mem.episodes()}  # called after its key
    assert mem.verify() == []
    mem.close()


def test_an_episode_that_was_read_again_goes_with_the_one_it_stands_for() -> None:
    """Both have the same words."""
    script = Script()
    answers: list[object] = ["no JSON", "still none", {"entities": [{"name": "Ada"}], "facts": [], "clauses": []}]
    model = ScriptedModel({"extract": lambda ask: answers.pop(0), "resolve": {"matches": []}}, local=False)
    mem = graphmem.open(model=model, embedder=EMBEDDER, clock=FixedClock("2026-01-15T12:00Z"))
    first = mem.add_text("Ada hums.", reference_time="2025-01-01")
    assert any(w.code == "unreadable" for w in first.warnings)
    (again,) = mem.resume()
    assert again.id != first.id
    mem.erase(episode=again)
    with mem._scope.store.read() as reader:
        assert [e for e in reader.log("main") if isinstance(e, EpisodeRecord)] == []
    assert mem.verify() == []
    del script


def test_what_a_reader_holds_up_is_cleaned_later(tmp_path: Path) -> None:
    """Rows are gone at once; while somebody reads, old bytes stay beside the file, and the receipt says so. Opening it again cleans."""
    path = tmp_path / "m.db"
    mem = fresh(path)
    globex = jobs(mem)[1]
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM meta").fetchall()
    receipt = mem.erase(episode=globex)
    assert not receipt.cleaned
    assert "still to be cleaned" in repr(receipt)
    assert periods(mem) == ["Acme 2020 to 2022", "Initech since 2023"]
    assert b"Globex" in _raw(tmp_path)
    reader.close()
    mem.close()
    fresh(path).close()
    assert b"Globex" not in _raw(tmp_path)


def _raw(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in folder.iterdir())


def test_another_handle_goes_on_after_an_erase(tmp_path: Path) -> None:
    """It reads what is left, by words and vectors too, and writes after it."""
    one, two = fresh(tmp_path / "m.db"), fresh(tmp_path / "m.db")
    globex = jobs(one)[1]
    assert len(two.search("Globex", kinds=["fact"])) > 0
    one.erase(episode=globex)
    assert all("Globex" not in hit.text for hit in two.search("Globex"))
    two.add_facts([fact("Mira", "likes", "opera")])
    assert [f.target for f in one.facts(relation="likes")] == ["opera"]
    assert one.verify() == two.verify() == []
    one.close()
    two.close()


_ERASING = """
import sys
import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import ScriptedModel
mem = graphmem.open(sys.argv[1], model=ScriptedModel({}), embedder=HashingEmbedder())
print("open", flush=True)
mem.erase(entity="Secret")
print("erased", flush=True)
"""


@pytest.mark.parametrize(
    "rounds", [pytest.param(range(2), id="2 rounds"), pytest.param(range(2, 80), id="78 rounds", marks=pytest.mark.slow)]
)
def test_a_killed_erase_has_happened_whole_or_not_at_all(tmp_path: Path, rounds: range) -> None:
    """Kill -9 at any moment: after the next opening either all is there, or no byte of it."""
    outcomes = set()
    mem = fresh(tmp_path / "made.db")
    for i in range(30):
        mem.add_facts([fact("Secret", "knows", f"P{i}"), fact(f"P{i}", "likes", "jazz")])
    before = mem.history_hash()
    mem.close()
    for n in rounds:
        path = tmp_path / f"{n}" / "m.db"
        path.parent.mkdir()
        shutil.copy(tmp_path / "made.db", path)
        process = subprocess.Popen([sys.executable, "-c", _ERASING, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        time.sleep(Random(n).random() * 0.4)
        process.kill()
        process.communicate()
        mem = fresh(path)
        there = b"ecret" in _raw(path.parent)
        outcomes.add(there)
        assert there == bool(mem.facts(relation="knows"))
        assert (mem.history_hash() == before) is there
        assert mem.verify() == []
        mem.close()
    assert outcomes


def test_what_was_corrected_to_join_an_erased_entity_to_itself_is_not_believed_again(where: object) -> None:
    """Its correction goes with the entity; what was said before it stays corrected away."""
    with fresh(where) as mem:
        mem.add_facts([fact("Mira", "likes", "Tom")])
        mem.add_facts([fact("Bea", "likes", "figs")])
        mem.add_facts([fact("Beatriz", "likes", "figs")])
        mem.correct(mem.facts("Mira")[0], source="Bea", target="Beatriz")
        mem.merge("Bea", "Beatriz")
        mem.erase(entity="Bea")
        assert list(mem.facts(history=True)) == []
        assert mem.verify() == []
