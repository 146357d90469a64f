"""Lessons A22, A23, A34 to A39: summaries, odd questions, groups, logs, costs, and answers that are kept."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from wire import Script, codes, says

import graphmem
from graphmem import Memory
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import AnswerMissing, AnswerRefused, InvalidInput, ModelError, RateLimited
from graphmem.llm.base import Answer, Ask
from graphmem.llm.recorded import RecordedModel
from graphmem.model import Usage
from graphmem.results import EntityItem
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]


def row(source: str, relation: str, target: str, text: str, **more: object) -> dict[str, object]:
    """A row of facts."""
    return {"source": source, "relation": relation, "target": target, "text": text, **more}


def test_a22_summaries_say_what_holds_and_cost_no_call(open_memory: Open) -> None:
    """Of one fact or of fifty, for one entity or a hundred, by a name in any case: computed as they are read."""
    memory = open_memory()  # its model foresees no question
    many = [row("Mira", "VISITS", f"Harbour {n}", f"Mira visits harbour {n}.") for n in range(50)]
    ended = row("Mira", "WORKS_AT", "Acme", "Mira works at Acme.", valid_at="2020", invalid_at="2024")
    memory.add_facts([*many, ended, row("Ivo", "LIKES", "tea", "Ivo likes tea.")], reference_time="2025")
    assert memory.entity("IVO").summary == memory.entity("ivo").summary == "Ivo likes tea."
    assert "Acme" not in memory.entity("Mira").summary
    assert "Mira works at Acme." in memory.as_of(valid="2022").entity("Mira").summary
    listed = {e.name: e.summary for e in memory.entities()}
    assert listed["Mira"] == memory.entity("Mira").summary
    assert (listed["tea"], listed["Acme"]) == ("Ivo likes tea.", "")
    assert len(listed) == 54


def test_a22_a_callback_says_which_entities_are_summarised(open_memory: Open) -> None:
    """It is asked about each that is listed; the facts of the others are not read, and they are listed all the same."""
    memory = open_memory()
    memory.add_facts([row("Mira", "LIKES", "tea", "Mira likes tea."), row("Ivo", "LIKES", "tea", "Ivo likes tea.")])
    seen: list[tuple[str, str]] = []

    def wanted(entity: EntityItem) -> bool:
        seen.append((entity.name, entity.summary))
        return entity.name != "Ivo"

    listed = {e.name: e.summary for e in memory.entities(summarise=wanted)}
    assert listed == {"Ivo": "", "Mira": "Mira likes tea.", "tea": "Ivo likes tea. Mira likes tea."}
    assert seen == [("Ivo", ""), ("Mira", ""), ("tea", "")]
    assert {e.summary for e in memory.entities(summarise=False)} == {""}
    assert [e.name for e in memory.entities(summarise=lambda e: True)] == [e.name for e in memory.entities()]


@pytest.mark.parametrize(("length", "count"), [(10, 3), (90, 200), (400, 9), (950, 4), (30_000, 3)])
def test_a23_a_summary_is_made_of_whole_sentences_up_to_its_bound(open_memory: Open, length: int, count: int) -> None:
    """However long and many they are: the rest is counted, and one that is too long alone is cut with a mark."""
    memory = open_memory()
    texts = [f"Mira did {'x' * length} as number {n}." for n in range(count)]
    memory.add_facts([row("Mira", "DID", f"thing {n}", text) for n, text in enumerate(texts)])
    summary = memory.entity("Mira").summary
    assert 0 < len(summary) < 1_050
    said, _, more = summary.partition(" (and ")
    sentences = [s.rstrip(".") for s in said.split(". ")]
    if length < 1_000:
        assert {s + "." for s in sentences} <= set(texts)
    else:
        assert said.endswith("x…")
    assert len(sentences) + int(more.partition(" ")[0] or 0) == count


@pytest.mark.parametrize("query", ["the of and", "?!", "...", "`Mira`", "``", "`", "\\", "\u200b", "(((", '"', "*", "~", "🙂"])
def test_a34_a_question_without_words_or_in_ticks_is_no_error(open_memory: Open, query: str) -> None:
    """In search, context and explanation; what has words finds what they name."""
    memory = open_memory()
    memory.add_facts([row("Mira", "KNOWS", "Ivo", "Mira knows Ivo")], reference_time="2025-01-01")
    hits = memory.search(query)
    assert isinstance(hits.to_dict(), list)
    memory.context(query)
    memory.explain("Mira", query)
    memory.why_not(query, "Mira")
    if "Mira" in query:
        assert "Mira" in [h.item.name for h in memory.search(query, kinds=["entity"])]


def test_a36_one_group_is_read_alone_and_several_together(open_memory: Open) -> None:
    """A name means those of the groups read; counts add up; what is named twice is read once."""
    memory = open_memory(group="A")
    for group, target in (("A", "pears"), ("B", "dawn"), ("C", "chess")):
        memory.add_facts([{"source": "Nadia", "relation": "LIKES", "target": target}], group=group, reference_time="2025-01-01")
    for groups, wanted in ((None, {"pears"}), ("B", {"dawn"}), (("A", "C"), {"pears", "chess"}), (("C", "C"), {"chess"}), ((), set())):
        assert {f.target for f in memory.facts("Nadia" if wanted else None, group=groups)} == wanted
        assert {h.item.target for h in memory.search("Nadia likes", kinds=["fact"], group=groups)} == wanted
        assert len(memory.entities("Nadia", group=groups)) == len(wanted)
        assert memory.counts(group=groups)["facts"] == len(wanted)
        assert len(memory.episodes(group=groups)) == len(wanted)
        assert len(memory.timeline(group=groups)) == len(wanted)
    assert len(memory.search("Nadia likes", kinds=["fact"], group=("A", "B", "C"), limit=2)) == 2


WATCHED = """
import sys, graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import ScriptedModel
with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(16)) as memory:
    memory.add_facts([{"source": "Mira", "relation": "KNOWS", "target": "Ivo"}])
    memory.search("Mira")
print([m for m in sys.modules if "telemetry" in m or "tracing" in m or m.startswith("sentry")])
"""


def test_a37_nobody_watches_unless_asked_and_what_fails_is_in_the_log(open_memory: Open, caplog: pytest.LogCaptureFixture) -> None:
    """No tracer is needed or loaded, nothing is printed; a program that sets logging up sees the error's name, not the text."""
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    memory = open_memory(model=ScriptedModel({"extract": [RateLimited("too many")]}))
    with caplog.at_level(logging.INFO, "graphmem"), pytest.raises(RateLimited):
        memory.add_text("A text about marker ZQX.", reference_time="2025-01-01")
    assert "RateLimited" in caplog.text
    assert "ZQX" not in caplog.text


def costing(ask: Ask) -> Answer:
    """An answer that cost something."""
    spent = {"extract": Usage(1, 100, 10), "resolve": Usage(1, 7, 3), "judge": Usage(1, 5, 2)}[ask.prompt]
    number = str(ask.payload.get("text", "")).rpartition(" ")[2]
    said = {"extract": says(("Mira", "VISITS", f"Cape {number}"), types={"Mira": "Person"})}
    return Answer(said.get(ask.prompt, {"matches": [], "judgements": []}), spent)


def test_a38_costs_are_counted_by_prompt_whoever_writes(store: str, here: dict[str, Any]) -> None:
    """Twelve texts from four threads: the sums are exact, those of the results too, and outlive the handle; a copy is a copy."""
    model = ScriptedModel(dict.fromkeys(("extract", "resolve", "judge"), costing), local=False)
    with graphmem.open(**here, model=model, embedder=HashingEmbedder(16)) as memory:
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda n: memory.add_text(f"To cape {chr(97 + n % 26)}{n}", key=str(n)), range(12)))
        asked = {p: len(model.asked(p)) for p in ("extract", "judge")}
        usage = memory.stats()["usage"]
        assert isinstance(usage, dict)
        assert {p: u["calls"] for p, u in usage.items()} == asked
        assert usage["extract"]["input_tokens"] == 12 * 100
        assert usage["judge"]["output_tokens"] == 2 * asked["judge"]
        assert sum(r.usage.calls for r in results) == sum(asked.values())
        assert sum(r.stages["extract"].output_tokens for r in results) == 12 * 10
        usage["extract"]["calls"] = 0
        assert memory.stats()["usage"]["extract"]["calls"] == 12  # type: ignore[index]
        assert memory.verify() == []
    if store != "memory":
        with graphmem.open(**here, model=model, embedder=HashingEmbedder(16)) as memory:
            assert memory.stats()["usage"]["extract"]["calls"] == 12  # type: ignore[index]


class Failing:
    """A model that spends tokens and raises, as one that somebody writes may: about several asks at once, then about each."""

    name, local, concurrency = "failing", False, 4

    def __init__(self, failure: type[ModelError]) -> None:
        self._failure = failure
        self.calls = 0

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        self.calls += 1
        error = self._failure("no")
        error.usage = Usage(1, 100, 10)
        raise error


@pytest.mark.parametrize("failure", [RateLimited, AnswerRefused])
def test_a38_what_failed_is_counted_too(open_memory: Open, failure: type[ModelError]) -> None:
    """Each call once, whether the error ends the import or is told as a warning."""
    model = Failing(failure)
    memory = open_memory(model=model)
    with pytest.raises(RateLimited) if failure is RateLimited else nullcontext():
        memory.add_many([{"text": f"A text of number {n}."} for n in range(3)])
    assert model.calls == (1 if failure is RateLimited else 4)
    assert memory.stats()["usage"] == {"extract": asdict(Usage(model.calls, 100 * model.calls, 10 * model.calls))}


def test_a38_costs_can_be_counted_from_nothing_again(store: str, tmp_path: Path) -> None:
    """What was counted is handed out once, of one group; results and other groups keep theirs, also after a restart."""
    where = ":memory:" if store == "memory" else tmp_path / "m.db"
    model = ScriptedModel(dict.fromkeys(("extract", "resolve", "judge"), costing), local=False)
    with graphmem.open(where, model=model, embedder=HashingEmbedder(16)) as memory:
        first = memory.add_text("To cape a1", key="1")
        memory.add_text("To cape b2", key="2", group="other")
        assert memory.reset_usage() == {"extract": asdict(Usage(1, 100, 10))}
        assert (memory.stats()["usage"], memory.reset_usage()) == ({}, {})
        assert first.usage.calls == 1
        memory.add_text("To cape c3", key="3")
        assert memory.stats()["usage"]["extract"]["calls"] == 1  # type: ignore[index]
        assert set(memory.reset_usage(group="other")) == {"extract"}
        assert memory.reset_usage(group="nobody") == {}
    if store == "sqlite":
        with graphmem.open(where, model=model, embedder=HashingEmbedder(16)) as memory:
            assert memory.stats()["usage"]["extract"]["calls"] == 1  # type: ignore[index]


def test_a39_answers_are_kept_with_the_memory(tmp_path: Path) -> None:
    """The same question costs nothing after a restart; what no file can hold is kept as far as it can be shown."""
    deep: object = "bottom"
    for _ in range(3000):
        deep = [deep]
    script = Script()
    for text, answer in (("empty", {"entities": [], "facts": []}), ("deep", {"entities": [], "facts": [], "more": deep})):
        script.on(text, answer)
    for key, calls in (("first", 1), ("second", 0)):
        with graphmem.open(
            tmp_path / "m.db",
            model=ScriptedModel(script.questions(), local=False),
            embedder=HashingEmbedder(16),
            clock=FixedClock("2026-01-15T12:00Z"),
        ) as memory:
            results = [memory.add_text(t, reference_time="2025-01-01", key=f"{key} {t}") for t in ("empty", "deep")]
            assert [r.usage.calls for r in results] == [calls, calls]
            assert [codes(r) for r in results] == [[], []]
            assert memory.verify() == []


def test_a39_a_recording_survives_a_restart_and_names_what_is_damaged(tmp_path: Path) -> None:
    """What was asked once is answered from the file; a damaged line is named and never guessed at."""
    path = tmp_path / "answers.jsonl"
    ask = Ask("extract", 1, {"text": "Mira is here."})
    asked = RecordedModel(path, ScriptedModel({"extract": [says(only=["Mira"])]})).answer([ask])
    [again] = RecordedModel(path).answer([ask])
    assert (again.value, again.usage.calls, asked[0].usage.calls) == (asked[0].value, 0, 1)
    with pytest.raises(AnswerMissing, match="extract"):
        RecordedModel(path).answer([Ask("extract", 1, {"text": "Ivo is here."})])
    path.write_text(path.read_text()[:-10], encoding="utf-8")  # the process died while it was writing
    with pytest.raises(AnswerMissing, match="extract"):
        RecordedModel(path).answer([ask])
    path.write_text(path.read_text() + "\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"answers\.jsonl:1"):
        RecordedModel(path)
