"""Case C22, read later: `resume` reads what no answer could be read about, once a model has an answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from wire import codes, rows, says

from graphmem import Memory
from graphmem.errors import AnswerRefused, AnswerTruncated, InvalidInput, ModelUnavailable
from graphmem.llm.base import Answer, Ask
from graphmem.llm.recorded import RecordedModel
from graphmem.model import Usage
from graphmem.ontology import Ontology, Relation
from graphmem.testing import ScriptedModel

Open = Callable[..., Memory]
SAID = says(("Mira", "LIVES_IN", "Porto"), types={"Mira": "Person", "Porto": "Place"})


class Moody:
    """A model that refuses texts with one of these words."""

    def __init__(self, *refused: str, said: object = SAID) -> None:
        self.refused, self.said = set(refused), said
        self.model = ScriptedModel({"extract": self.extract}, name="moody", local=False)

    def extract(self, ask: Ask) -> object:
        text = str(ask.payload["text"])
        if any(word in text for word in self.refused):
            return Answer(None, Usage(1), AnswerRefused("the model declines"))
        return self.said

    @property
    def texts(self) -> list[str]:
        """What it was asked about so far."""
        return [str(ask.payload["text"]) for ask in self.model.asked("extract")]


def test_c22_what_a_model_refused_is_read_once_it_answers(open_memory: Open) -> None:
    """The words under another id, known from now on; what was believed before stays as it was; no second reading."""
    moody = Moody("Porto")
    memory = open_memory(model=moody.model)
    first = memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-01", session="s", source="chat", key="m1")
    assert codes(first) == ["unreadable"]
    assert memory.episode(first.id).to_dict()["attributes"] == {"unread": [0], "tries": 0}
    moody.refused.clear()
    (result,) = memory.resume()
    assert (result.created, codes(result), result.counts()) == (True, [], {"added": 3})
    assert rows(memory) == [("Mira", "Porto", "2025-01-01", None)]
    assert [f.episodes for f in memory.facts()] == [(result.id,)]
    (episode,) = memory.episodes()
    assert (episode.text, episode.actor, episode.session) == ("I live in Porto.", "Mira", "s")
    assert (episode.id, episode.to_dict()["attributes"]) == (result.id, {"instead_of": first.id})
    assert [e.id for e in memory.as_of(system=first.created_at).episodes()] == [first.id]
    assert list(memory.as_of(system=first.created_at).facts()) == []
    assert memory.resume() == []
    assert memory.verify() == []


def test_c22_what_was_read_later_is_known_when_it_is_added_again(open_memory: Open) -> None:
    """By its key: nothing changes and nobody is asked; forgotten since, it is restored."""
    moody = Moody("Porto")
    memory = open_memory(model=moody.model)

    def add() -> object:
        return memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-01", key="m1")

    add()
    moody.refused.clear()
    (result,) = memory.resume()
    before, asked = memory.state_hash(), len(moody.texts)
    again = add()
    assert (again.id, again.created) == (result.id, False)  # type: ignore[attr-defined]
    assert (memory.state_hash(), len(moody.texts)) == (before, asked)
    memory.forget(episode=result.id)
    assert rows(memory) == []
    assert memory.resume() == []
    add()
    assert memory.state_hash() == before
    assert memory.verify() == []


def test_c22_what_cannot_be_read_again_changes_nothing(open_memory: Open) -> None:
    """Each try asks, costs and says so; the memory is as it was, to the last version."""
    moody = Moody("Porto")
    memory = open_memory(model=moody.model)
    first = memory.add_text("Mira lives in Porto.", reference_time="2025-01-01")
    before = memory.state_hash(), memory.history_hash(), memory.stats()["log"]
    for tries in (1, 2):
        (result,) = memory.resume()
        assert (result.id, result.created, codes(result), result.usage.calls) == (first.id, False, ["unreadable"], 1)
        assert (memory.state_hash(), memory.history_hash(), memory.stats()["log"]) == before
        assert len(moody.texts) == 1 + tries
        assert memory.stats()["usage"]["extract"]["calls"] == 1 + tries  # type: ignore[index]


def test_c22_only_what_was_not_read_is_asked_about_again(open_memory: Open) -> None:
    """Of a long text the part that was refused; what the others said is still there, and cited by the one episode."""
    text = "\n\n".join(f"Line {n}: " + "Mira met friends and they sailed. " * 250 for n in range(4))

    def said(ask: Ask) -> object:
        told = [n for n in range(4) if f"Line {n}" in str(ask.payload["text"])]
        refusal = moody.extract(ask)
        return refusal if isinstance(refusal, Answer) else says(*(("Mira", "MET", f"Friend{n}") for n in told))

    moody = Moody("Line 2")
    moody.model = ScriptedModel({"extract": said}, name="moody", local=False)
    memory = open_memory(model=moody.model)
    first = memory.add_text(text, reference_time="2025-01-01")
    assert codes(first).count("unreadable") == 1
    (refused,) = [t for t in moody.texts if "Line 2" in t]
    asked = len(moody.texts)
    moody.refused.clear()
    (result,) = memory.resume()
    assert moody.texts[asked:] == [refused]
    assert sorted(f.target for f in memory.facts("Mira")) == [f"Friend{n}" for n in range(4)]
    assert {f.episodes for f in memory.facts("Mira")} == {(result.id,)}


def test_c22_an_episode_read_again_is_not_its_own_context(open_memory: Open) -> None:
    """The model is shown what was said before it, as when it was added."""
    moody = Moody("Porto")
    memory = open_memory(model=moody.model)
    memory.add_message("Mira", "We talked about where we live.", reference_time="2025-01-01T10:00", session="s")
    memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-01T10:01", session="s")
    moody.refused.clear()
    memory.resume()
    *_, ask = moody.model.asked("extract")
    assert [r["text"] for r in ask.payload["recent"]] == ["We talked about where we live."]  # type: ignore[union-attr, index]
    assert ask.payload["attempt"] == 1


def test_c22_a_forgotten_episode_is_not_read_again(open_memory: Open) -> None:
    """Nobody is asked about it."""
    moody = Moody("Porto")
    memory = open_memory(model=moody.model)
    first = memory.add_text("Mira lives in Porto.", reference_time="2025-01-01")
    memory.forget(episode=first)
    asked = len(moody.texts)
    assert (memory.resume(), len(moody.texts)) == ([], asked)


def test_c22_a_model_that_cannot_be_reached_leaves_the_rest_for_later(open_memory: Open) -> None:
    """What was read before is kept, and run again it goes on from there."""
    moody = Moody("Porto", "Ghent")
    memory = open_memory(model=moody.model)
    for n, place in enumerate(("Porto", "Ghent")):
        memory.add_text(f"Mira lives in {place}.", reference_time=f"2025-01-0{n + 1}")
    gone = True

    def answer(ask: Ask) -> object:
        place = "Ghent" if "Ghent" in str(ask.payload["text"]) else "Porto"
        failure = ModelUnavailable("gone") if gone and place == "Ghent" else None
        return Answer(says(("Mira", "LIVES_IN", place)), Usage(1), failure)

    memory._recorder._model = ScriptedModel({"extract": answer}, name="another", local=False)
    with pytest.raises(ModelUnavailable):
        memory.resume()
    assert [f.target for f in memory.facts("Mira")] == ["Porto"]
    gone = False
    assert [r.counts() for r in memory.resume()] == [{"added": 2, "ended": 1}]
    assert [f.target for f in memory.facts("Mira")] == ["Ghent"]


def test_c22_a_reading_that_finds_less_takes_nothing_away(open_memory: Open) -> None:
    """Half of a text was read; the next try is refused for all of it, and what the half said stays."""
    text = "Mira met Ann in Porto yesterday. " * 3 + "And then Bo sailed home to Rome alone."
    refused = Answer(None, Usage(1), AnswerRefused("the model declines"))
    first_try = True

    def answer(ask: Ask) -> object:
        asked = str(ask.payload["text"])
        if first_try and asked == text:
            return Answer(None, Usage(1), AnswerTruncated("ran out of tokens"))
        return says(("Mira", "MET", "Ann")) if first_try and "Bo" not in asked else refused

    memory = open_memory(model=ScriptedModel({"extract": answer}, local=False))
    first = memory.add_text(text, reference_time="2025-01-01")
    assert codes(first) == ["cut_answer", "unreadable"]
    before, first_try = memory.state_hash(), False
    (result,) = memory.resume()
    assert (result.id, result.created, codes(result)) == (first.id, False, ["unreadable"])
    assert [f.target for f in memory.facts("Mira")] == ["Ann"]
    assert memory.state_hash() == before


def test_c22_facts_that_the_ontology_refuses_are_no_gain(open_memory: Open) -> None:
    """However often the rest is refused again, the episode stays the one it was."""

    def answer(ask: Ask) -> object:
        asked = str(ask.payload["text"])
        if "Bo" in asked:
            return Answer(None, Usage(1), (AnswerTruncated if "Mira" in asked else AnswerRefused)("no answer"))
        return says(("Mira", "MET", "Ann"), ("Mira", "LIKES", "Porto"))

    closed = Ontology({"MET": Relation("MET")}, closed=True)
    memory = open_memory(model=ScriptedModel({"extract": answer}, local=False), ontology=closed)
    first = memory.add_text("Mira met Ann. They like Porto. Bo sailed home to Rome alone, and stayed.", reference_time="2025-01-01")
    assert codes(first) == ["cut_answer", "unreadable", "unknown_relation"]
    before = memory.state_hash(), memory.stats()["log"]
    for _ in range(2):
        assert [(r.id, r.created) for r in memory.resume()] == [(first.id, False)]
    assert (memory.state_hash(), memory.stats()["log"]) == before


def test_c22_a_try_that_was_stopped_does_not_answer_the_next_one(open_memory: Open) -> None:
    """What was refused while another episode's answer could not be had is asked about again."""
    moody = Moody("Porto", "Ghent")
    memory = open_memory(model=moody.model)
    for n, place in enumerate(("Porto", "Ghent")):
        memory.add_text(f"Mira lives in {place}.", reference_time=f"2025-01-0{n + 1}")
    gone = True

    def answer(ask: Ask) -> object:
        if not gone:
            return SAID
        is_first = "Porto" in str(ask.payload["text"])
        return Answer(None, Usage(1), ModelUnavailable("gone") if is_first else AnswerRefused("the model declines"))

    memory._recorder._model = ScriptedModel({"extract": answer}, name="moody", local=False)
    with pytest.raises(ModelUnavailable):
        memory.resume()
    assert memory.stats()["usage"]["extract"]["calls"] == 4  # type: ignore[index]
    gone = False
    assert [(r.created, codes(r)) for r in memory.resume()] == [(True, []), (True, [])]


def test_c22_episodes_read_again_together_are_shown_once(open_memory: Open) -> None:
    """What goes with a message has the one before it once, not also as it was before it was read."""
    moody = Moody("Porto", "Ghent")
    memory = open_memory(model=moody.model)
    for n, place in enumerate(("Porto", "Ghent")):
        memory.add_message("Mira", f"I live in {place}.", reference_time=f"2025-01-01T10:0{n}", session="s")
    moody.refused.clear()
    memory.resume()
    *_, ask = moody.model.asked("extract")
    assert [r["text"] for r in ask.payload["recent"]] == ["I live in Porto."]  # type: ignore[union-attr, index]


def test_c22_reading_again_is_replayed_from_a_recording(open_memory: Open, tmp_path: Path) -> None:
    """First the refusal, then the answer, without a model."""
    moody, recording = Moody("Porto"), tmp_path / "answers.jsonl"
    states = []
    for model in (moody.model, None):
        memory = open_memory(model=RecordedModel(recording, model))
        assert codes(memory.add_text("Mira lives in Porto.", reference_time="2025-01-01")) == ["unreadable"]
        moody.refused.clear()
        assert [codes(r) for r in memory.resume()] == [[]]
        states.append(memory.state_hash())
    assert states[0] == states[1]


def test_attributes_of_an_episode_are_kept_and_none_of_graphmems_own_taken(open_memory: Open) -> None:
    """Filters look at them; a wrong one names its place."""
    memory = open_memory(model=ScriptedModel({"extract": {"entities": [], "facts": []}}))
    told = {"text": "Mira lives in Porto.", "reference_time": "2025-01-01", "attributes": {"channel": "mail"}}
    (result,) = memory.add_many([told])
    assert memory.episode(result.id).to_dict()["attributes"] == {"channel": "mail"}
    for wrong in ({"unread": [0]}, ["channel"], {1: "x"}):
        with pytest.raises(InvalidInput, match=r"episodes\[0\].attributes"):
            memory.add_many([{**told, "attributes": wrong}])


def test_what_is_erased_while_an_episode_is_read_again_does_not_come_back(open_memory: Open) -> None:
    """The words that were read are not those of the episode any more; the next time its new ones are."""
    tries: list[str] = []

    def extract(ask: Ask) -> object:
        tries.append(str(ask.payload["text"]))
        if len(tries) == 1:
            return Answer(None, Usage(1), AnswerRefused("the model declines"))
        if len(tries) == 2:
            memory.erase(entity="Ines")
        return SAID

    memory = open_memory(model=ScriptedModel({"extract": extract}, local=False))
    memory.add_facts([{"source": "Ines", "relation": "likes", "target": "jazz"}])
    memory.add_message("Mira", "Ines says: I live in Porto.", reference_time="2025-01-01", key="m1")
    (result,) = memory.resume()
    assert (result.created, result.counts()) == (False, {"unchanged": 1})
    with memory._scope.store.read() as reader:
        assert "Ines" not in repr([list(reader.log("main")), reader.answers("", 100)])  # type: ignore[attr-defined]
    (again,) = memory.resume()
    assert (again.created, tries[2]) == (True, "[erased] says: I live in Porto.")
    assert memory.episode(again.id).text == "[erased] says: I live in Porto."
