"""The log: a line for each operation, with what it did in numbers and ids, and nothing that anybody said."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

import graphmem
from graphmem import samples
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import AnswerMissing, InvalidInput, NotFound
from graphmem.testing import FixedClock, ScriptedModel

OpenMemory = Callable[..., graphmem.Memory]
ROWS = [{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022", "text": "Mira lives in Porto."}]


def drawn(memory: Any, name: str, *arguments: object) -> object:
    """A picture, closed again."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = getattr(memory, name)(*arguments)
    pyplot.close(axes.figure)
    return axes


READS: dict[str, Callable[[Any], object]] = {
    "search": lambda m: m.search("Where does Mira live?"),
    "context": lambda m: m.context("Where does Mira live?"),
    "explain": lambda m: m.explain("Mira"),
    "why_not": lambda m: m.why_not("Where does Mira live?", "Porto"),
    "facts": lambda m: m.facts("Mira"),
    "timeline": lambda m: m.timeline("Mira"),
    "entities": lambda m: m.entities(),
    "entity": lambda m: m.entity("Mira"),
    "neighbours": lambda m: m.neighbours("Mira"),
    "episodes": lambda m: m.episodes(entity="Mira"),
    "episode": lambda m: m.episode(m.episodes(limit=1)[0].id),
    "counts": lambda m: m.counts(),
    "communities": lambda m: m.communities(),
    "community_of": lambda m: m.community_of("Mira"),
    "community_changes": lambda m: m.community_changes(m.stats()["last_instant"], "2999-01-01"),
    "diff": lambda m: m.diff(system=("2000-01-01", None)),
    "why": lambda m: m.why(m.facts("Mira")[0]),
    "history": lambda m: m.history("Mira"),
    "operations": lambda m: m.operations(),
    "facts_frame": lambda m: pytest.importorskip("pandas") is not None and m.facts_frame([m.stats()["last_instant"]]),
    "frame_leaks": lambda m: pytest.importorskip("pandas") is not None and m.frame_leaks(m.facts_frame([m.stats()["last_instant"]])),
    "export": lambda m: m.export(Path(mkdtemp()) / "graph.json"),
    "show": lambda m: pytest.importorskip("bokeh") and m.show(open_browser=False),
    "plot_timeline": lambda m: drawn(m, "plot_timeline", "Mira"),
    "plot_two_axes": lambda m: drawn(m, "plot_two_axes", next(iter(m.to_networkx().edges(keys=True)))[2]),
    "plot_graph": lambda m: drawn(m, "plot_graph"),
    "plot_activity": lambda m: drawn(m, "plot_activity"),
    "to_networkx": lambda m: m.to_networkx(),
    "to_igraph": lambda m: pytest.importorskip("igraph") and m.to_igraph(),
    "to_arrow": lambda m: pytest.importorskip("pyarrow") and m.to_arrow(),
    "to_pandas": lambda m: pytest.importorskip("pandas") and m.to_pandas(),
}
WRITES: dict[str, Callable[[Any], object]] = {
    "add_message": lambda m: m.add_message("Mira", "Hello."),
    "add_text": lambda m: m.add_text("The report."),
    "add_json": lambda m: m.add_json({"id": "7", "title": "Login"}),
    "add_facts": lambda m: m.add_facts(ROWS),
    "add_many": lambda m: m.add_many([{"text": "One."}, {"text": "Two."}]),
    "resume": lambda m: m.resume(),
    "build_communities": lambda m: m.build_communities(),
    "load": lambda m: m.load(m.export(Path(mkdtemp()) / "log.jsonl").path),
    "replay": lambda m: m.replay(Path(mkdtemp()) / "again.db"),
    "forget": lambda m: m.forget(episode=m.episodes(limit=1)[0]),
    "erase": lambda m: m.erase(entity="Mira"),
    "erasures": lambda m: m.erasures(),
    "restore": lambda m: m.restore(m.forget(episode=m.episodes(limit=1)[0])),
    "undo": lambda m: m.undo(m.end(m.facts()[0])),
    "correct": lambda m: m.correct(m.facts()[0], valid="2021"),
    "end": lambda m: m.end(m.facts()[0]),
    "confirm": lambda m: m.confirm(m.facts()[0]),
    "merge": lambda m: m.merge("Mira", "Porto"),
    "split": lambda m: m.split("Mira", episodes=m.add_facts([{"source": "Mira", "relation": "likes", "target": "fado"}])),
    "distinct": lambda m: m.distinct("Mira", "Porto"),
    "rename": lambda m: m.rename("Mira", "Mira Okafor"),
    "alias": lambda m: m.alias("Mira", "M. O."),
    "duplicates": lambda m: m.duplicates(),
    "consolidate": lambda m: m.consolidate(),
    "stats": lambda m: m.stats(),
    "reset_usage": lambda m: m.reset_usage(),
    "verify": lambda m: m.verify(),
    "state_hash": lambda m: m.state_hash(),
    "history_hash": lambda m: m.history_hash(),
}
BESIDES = {
    "episode": ["episodes"],
    "why": ["facts"],
    "facts_frame": ["stats"],
    "frame_leaks": ["stats", "facts_frame"],
    "forget": ["episodes"],
    "restore": ["episodes", "forget"],
    "undo": ["facts", "end"],
    "correct": ["facts"],
    "end": ["facts"],
    "confirm": ["facts"],
    "split": ["add_facts"],
    "load": ["export"],
    "community_changes": ["stats"],
    "to_pandas": ["to_arrow"],
    "plot_two_axes": ["to_networkx"],
}
READS_NOTHING = {"as_of", "close", "wait_through", "bookmarks", "follow"}


@pytest.fixture
def memory(open_memory: OpenMemory) -> graphmem.Memory:
    """One that knows where Mira lives, and reads texts without finding anything in them."""
    opened = open_memory(model=ScriptedModel({"extract": {"entities": [], "facts": []}}))
    opened.add_facts(ROWS)
    opened.build_communities()
    return opened


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int, str]]:
    """Logger, level and message of what was logged."""
    return [r for r in caplog.record_tuples if r[0].startswith("graphmem")]


@pytest.mark.parametrize("name", [*READS, *WRITES])
def test_an_operation_is_one_line_with_its_group_and_its_seconds(
    name: str, memory: graphmem.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    """At INFO and above nothing else is said; many episodes at once also say that they begin."""
    act = (READS | WRITES)[name]
    logger = getattr(graphmem.Memory, name).__module__
    caplog.set_level(logging.INFO, "graphmem")
    act(memory)
    own = [r for r in lines(caplog) if r[2].split()[0] == name]
    asked_first = BESIDES.get(name, [])

    assert [r[2].split()[0] for r in lines(caplog)] == [*asked_first, *[name] * (2 if name == "add_many" else 1)]
    assert {r[:2] for r in own} == {(logger, logging.INFO)}
    assert re.fullmatch(name + r" group='main'( \w+=[\w.-]+)* seconds=\d+\.\d{3}", own[-1][2])


def test_every_public_method_is_among_those_that_are_logged() -> None:
    """A method added to a memory or a view must be added to the tests of this file."""
    for kind, tested in ((graphmem.Memory, {*READS, *WRITES}), (graphmem.View, {*READS})):
        public = {name for name, member in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
        assert public - READS_NOTHING == tested


def test_a_line_counts_what_came_of_it(memory: graphmem.Memory, caplog: pytest.LogCaptureFixture) -> None:
    """Ids, changes, warnings, hits, tokens."""
    caplog.set_level(logging.INFO, "graphmem")
    written = memory.add_facts([{**ROWS[0], "target": "Lisbon", "valid_at": "2024"}], key="k2")
    memory.search("Where does Mira live?", kinds=["fact"])
    memory.add_many([{"text": "One."}, {"text": "Two."}])
    receipt = memory.erase(entity="Lisbon")
    said = [re.sub(r" seconds=\S+", "", message) for _, _, message in lines(caplog)]

    assert said == [
        f"add_facts group='main' id={written.id} " + " ".join(f"{k}={n}" for k, n in written.counts().items()) + " warnings=0",
        "search group='main' count=1",
        "add_many group='main' begins=yes episodes=2",
        "add_many group='main' count=2 warnings=0 calls=2",
        f"erase group='main' id={receipt.id} redacted=1 assertions=1 entities=1",
    ]
    assert written.counts()["added"] >= 1


def test_what_fails_is_a_line_with_the_name_of_its_error(memory: graphmem.Memory, caplog: pytest.LogCaptureFixture) -> None:
    """Without the error's words: they may be the caller's."""
    caplog.set_level(logging.INFO, "graphmem")
    with pytest.raises(NotFound):
        memory.entity("Beatriz")
    with pytest.raises(InvalidInput):
        memory.add_message("Mira", "Hello.", group="two\nlines", reference_time="soon")
    said = [re.sub(r" seconds=\S+", "", message) for _, _, message in lines(caplog)]

    assert said == ["entity group='main' failed=NotFound", r"add_message group='two\nlines' failed=InvalidGroup"]


def test_an_entity_at_hand_and_an_asynchronous_memory_log_the_same_lines(caplog: pytest.LogCaptureFixture) -> None:
    """Once each, not once more for what they are made of."""

    async def main() -> None:
        options = {"model": ScriptedModel({}), "embedder": HashingEmbedder(64), "clock": FixedClock("2026-01-15T12:00Z")}
        async with graphmem.AsyncMemory.open(**options) as mem:  # type: ignore[arg-type]
            await mem.add_facts(ROWS)
            mira = await mem.entity("Mira")
            await mira.timeline()
            await mem.as_of(valid="2023").facts("Mira")
            await mem.add_many([])

    caplog.set_level(logging.INFO, "graphmem")
    asyncio.run(main())
    assert [m.split()[0] for _, _, m in lines(caplog)] == ["add_facts", "entity", "timeline", "facts", "add_many", "add_many"]


def test_reembedding_is_a_line_without_path_and_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At DEBUG the path is there, the key never is."""
    path = tmp_path / "team.db"
    with graphmem.open(path, model=ScriptedModel({}), embedder=HashingEmbedder(64)) as memory:
        memory.add_facts(ROWS)
    caplog.set_level(logging.INFO, "graphmem")
    graphmem.reembed(path, embedder=HashingEmbedder(32))
    [(logger, _, message)] = lines(caplog)
    assert (logger, re.sub(r"seconds=\S+", "", message)) == ("graphmem.opening", "reembed count=4 resumed=0 ")
    caplog.clear()

    caplog.set_level(logging.DEBUG, "graphmem")
    with pytest.raises(InvalidInput):
        graphmem.reembed(path, embedder=HashingEmbedder(32), api_key="sk-very-secret", base_url="http://mira:pass@localhost/v1")
    assert "team.db" in caplog.text
    assert not re.search("sk-very|mira:pass", caplog.text)


def test_copying_is_a_line_without_path_and_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At DEBUG the path is there, the password never is."""
    path = tmp_path / "team.db"
    with graphmem.open(path, model=ScriptedModel({}), embedder=HashingEmbedder(64)) as memory:
        memory.add_facts(ROWS)
    caplog.set_level(logging.DEBUG, "graphmem")
    graphmem.copy(path, tmp_path / "other.db")
    [(logger, _, message)] = [line for line in lines(caplog) if " of " not in line[2]]
    assert (logger, re.sub(r"seconds=\S+", "", message)) == ("graphmem.opening", "copy count=5 resumed=0 ")
    with pytest.raises(InvalidInput):
        graphmem.copy(path, tmp_path / "other.db", auth=("neo4j", "very-secret"), source_auth=("neo4j", "very-secret"))
    with pytest.raises(InvalidInput):
        graphmem.copy(path, "bolt://neo4j:very-secret@localhost:7687")
    assert "team.db" in caplog.text
    assert "localhost:7687" in caplog.text
    assert "very-secret" not in caplog.text


def test_what_a_chat_says_is_never_in_the_log_above_debug(open_memory: OpenMemory, caplog: pytest.LogCaptureFixture) -> None:
    """No word of a text, no name, key, session, source or question of the sample, also when reading one fails."""

    def extract(ask: Any) -> object:
        speaker = ask.payload["actor"] or "The report"
        text = ask.payload["text"]
        return {
            "entities": [{"name": speaker}, {"name": text[:60]}],
            "facts": [{"source": 0, "target": 1, "relation": "said", "text": text}],
        }

    caplog.set_level(logging.INFO, "graphmem")
    episodes = samples.episodes()
    script = {"extract": extract, "resolve": {"matches": []}, "judge": {"judgements": []}}
    memory = open_memory(model=ScriptedModel(script))
    memory.add_many(episodes[:20])
    for n, row in enumerate(episodes[20:], 20):
        if row["kind"] == "message":
            memory.add_message(row["actor"], row["text"], key=row["key"], session=row["session"], source=row["source"])
        memory.search(row.get("text", f"record {n}"))
    memory.context("Where does Mira Okafor live?")
    memory.facts("Mira Okafor")
    with pytest.raises(NotFound):
        memory.timeline("Beatriz")
    memory.forget(episode=memory.episodes(limit=1)[0], reason="said in the wrong channel", author="Mira Okafor")
    with pytest.raises(AnswerMissing):
        open_memory("other.db", model=ScriptedModel({})).add_message("Danylo", "I live in Lviv.")
    told = [m for _, _, m in lines(caplog)]
    heard = {w for row in episodes for value in (row.get("text"), row.get("actor"), row.get("session"), row["key"], row.get("source"))
             for w in re.findall(r"[^\W_]{4,}", value or "")} | {"Beatriz", "wrong", "channel", "Lviv"}  # fmt: skip
    ours = {"group", "main", "count", "seconds", "tokens", "warnings", "failed", "calls", "added"}
    ours |= {"many", "search", "context", "facts", "timeline", "episodes"}

    assert len(told) > 100
    assert len(heard) > 400
    shown = {w for message in told for w in re.findall(r"[^\W_]{4,}", re.sub(r"\b(ep|op|en)_\w{26}\b", "", message))}
    assert shown & heard <= ours


def test_arguments_are_told_at_debug_and_cut_there(memory: graphmem.Memory, caplog: pytest.LogCaptureFixture) -> None:
    """Also those that cannot even be shown."""

    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    caplog.set_level(logging.DEBUG, "graphmem")
    memory.add_message("Mira", "word " * 100_000)
    with pytest.raises(InvalidInput):
        memory.search(Odd())  # type: ignore[arg-type]
    debug = [m for _, level, m in lines(caplog) if level == logging.DEBUG]
    assert "'Mira', 'word " in debug[0]
    assert max(map(len, debug)) < 2_000


def test_a_program_that_sets_no_logging_up_sees_nothing(memory: graphmem.Memory, capfd: pytest.CaptureFixture[str]) -> None:
    """One handler that does nothing, no level, and messages go on to the program's handlers."""
    logger = logging.getLogger("graphmem")
    memory.search("Mira")

    assert [type(h) for h in logger.handlers] == [logging.NullHandler]
    assert (logger.level, logger.propagate) == (logging.NOTSET, True)
    assert capfd.readouterr() == ("", "")
