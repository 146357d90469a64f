"""Idle time: profiles by a model, shown while just their facts hold, and what finds no place beside what else was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, ModelUnavailable, NotFound
from graphmem.llm.base import Answer, Ask
from graphmem.memory import Memory
from graphmem.model import Usage
from graphmem.testing import FixedClock, ScriptedModel

FACTS = ["a boat", "a car", "a hat", "a pen"]


def telling(ask: Ask) -> object:
    """A profile that says what it was made of."""
    facts = ask.payload["facts"]
    assert isinstance(facts, list)
    return Answer({"profile": f"{ask.payload['name']}: {len(facts)} facts", "cites": ["f1"]}, Usage(1, 50, 10))


@pytest.fixture(params=["memory", "sqlite"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Opens the same memory again and again, with another model."""
    where = ":memory:" if request.param == "memory" else str(tmp_path / "m.db")
    clock = FixedClock("2024-05-01T09:00Z")
    opened: list[Memory] = []

    def open_one(profile: Callable[[Ask], object] | None = telling, **more: object) -> Memory:
        model = ScriptedModel({"profile": profile} if profile else {}, local=profile is None)
        mem = graphmem.open(where, model=model, embedder=HashingEmbedder(), clock=clock, **more)
        opened.append(mem)
        mem.clock, mem.model = clock, model  # type: ignore[attr-defined]
        return mem

    yield open_one
    for mem in opened:
        mem.close()


def owning(mem: Memory, who: str, things: Sequence[str] = FACTS) -> None:
    """Facts that hold side by side, the first the longest, recorded a minute later than the last ones."""
    mem.clock.advance(minutes=1)  # type: ignore[attr-defined]
    rows = [
        {"source": who, "relation": "owns", "target": thing, "text": f"{who} owns {thing}", "valid_at": str(2019 + n)}
        for n, thing in enumerate(things)
    ]
    mem.add_facts(rows)


def asked(mem: Memory) -> list[str]:
    """Of whom profiles were asked for, in order."""
    return [str(a.payload["name"]) for a in mem.model.asks]  # type: ignore[attr-defined]


def test_a_profile_is_shown_while_exactly_its_facts_hold(opening: Callable[..., Memory]) -> None:
    """Also at an earlier point with those facts; else the sentences of the facts are told."""
    mem = opening()
    owning(mem, "Ada")
    done = mem.consolidate()
    assert [(p.name, p.summary) for p in done.profiles] == [("Ada", "Ada: 4 facts")]
    assert (done.left, done.usage) == (0, Usage(1, 50, 10))
    assert mem.entity("Ada").summary == mem.entities("Ada")[0].summary == "Ada: 4 facts"
    then = mem.clock.now()  # type: ignore[attr-defined]
    owning(mem, "Ada", ["a cat"])
    assert mem.entity("Ada").summary == "Ada owns a boat. Ada owns a cat. Ada owns a car. Ada owns a hat. Ada owns a pen."
    assert mem.as_of(system=then).entity("Ada").summary == "Ada: 4 facts"
    mem.consolidate()
    assert mem.entity("Ada").summary == "Ada: 5 facts"
    assert mem.stats()["usage"]["profile"]["calls"] == 2  # type: ignore[index]
    assert mem.verify() == []


def test_nothing_is_asked_about_what_has_not_changed(opening: Callable[..., Memory]) -> None:
    """Nor about what comes back to what it was, nor about an entity of few facts."""
    mem = opening()
    owning(mem, "Ada")
    owning(mem, "Ben", FACTS[:3])
    mem.consolidate()
    mem.consolidate()
    assert asked(mem) == ["Ada"]
    owning(mem, "Ada", ["a cat"])
    forgotten = mem.forget(episode=mem.episodes(newest_first=True)[0])
    mem.consolidate()
    assert asked(mem) == ["Ada"]
    assert mem.entity("Ada").summary == "Ada: 4 facts"
    mem.restore(forgotten)
    mem.consolidate()
    assert asked(mem) == ["Ada", "Ada"]


def test_the_budget_goes_to_whom_the_handle_was_asked_about(opening: Callable[..., Memory]) -> None:
    """What is left for want of calls is told, and done the next time."""
    mem = opening()
    for who in ("Ada", "Ben", "Cleo"):
        owning(mem, who)
    owning(mem, "Ben", ["a cat", "a dog"])
    mem.entity("Cleo")
    mem.search("what does Cleo own?")
    first = mem.consolidate(calls=2)
    assert (asked(mem), first.left) == (["Cleo", "Ben"], 1)
    assert mem.consolidate(calls=2).left == 0
    assert asked(mem) == ["Cleo", "Ben", "Ada"]


def test_offline_nothing_is_asked_and_a_model_that_comes_later_finds_all(opening: Callable[..., Memory], tmp_path: Path) -> None:
    """The instant up to which profiles are written moves only where a model writes them."""
    offline = opening(None)
    owning(offline, "Ada")
    done = offline.consolidate()
    assert (len(done.profiles), done.left, done.usage) == (0, 0, Usage())
    if "memory" in repr(offline).lower() and not list(tmp_path.iterdir()):
        return  # a memory of its own for each handle
    later = opening()
    later.consolidate()
    assert asked(later) == ["Ada"]
    assert offline.entity("Ada").summary == "Ada: 4 facts"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I would rather not.",
        {"profile": "", "cites": []},
        {"profile": "Ada!", "cites": []},
        {"profile": 7, "cites": ["f1"]},
        [[]],
        None,
    ],
)
def test_an_answer_that_is_no_profile_is_a_warning_and_is_not_asked_again(opening: Callable[..., Memory], answer: object) -> None:
    """A text that cites nothing of what it was given is none."""
    mem = opening(lambda ask: answer)
    owning(mem, "Ada")
    done = mem.consolidate()
    assert [(w.code, w.raw) for w in done.warnings] == [("unreadable", "Ada")]
    assert mem.entity("Ada").summary.startswith("Ada owns a boat.")
    assert len(mem.consolidate().warnings) == 0
    assert asked(mem) == ["Ada"]


def test_where_the_model_fails_what_was_written_stays(opening: Callable[..., Memory]) -> None:
    """The next call asks only for the rest."""
    failing = {"Ben"}

    def sometimes(ask: Ask) -> object:
        if ask.payload["name"] in failing:
            raise ModelUnavailable("the endpoint is away")
        return telling(ask)

    mem = opening(sometimes)
    for who in ("Ada", "Ben", "Cleo"):
        owning(mem, who)
    mem.entity("Ada")
    with pytest.raises(ModelUnavailable):
        mem.consolidate()
    assert mem.entity("Ada").summary == "Ada: 4 facts"
    failing.clear()
    assert sorted(p.name for p in mem.consolidate().profiles) == ["Ben", "Cleo"]


def test_an_interrupt_loses_no_profile_that_has_come() -> None:
    """Of three that are asked for side by side two have come: they are kept and charged, and the next call asks for the third."""

    class Interrupted(ScriptedModel):
        concurrency, left = 8, 2

        def answer_each(self, asks: Sequence[Ask], answered: Callable[[Ask, Answer], None]) -> list[Answer]:
            answers = []
            for ask in asks:
                if not self.left:
                    raise KeyboardInterrupt
                self.left -= 1
                answers += self.answer([ask])
                answered(ask, answers[-1])
            return answers

    model = Interrupted({"profile": telling}, local=False)
    with graphmem.open(model=model, embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z")) as mem:
        for who in ("Ada", "Ben", "Cleo"):
            mem.add_facts([{"source": who, "relation": "owns", "target": thing, "text": f"{who} owns {thing}"} for thing in FACTS])
        with pytest.raises(KeyboardInterrupt):
            mem.consolidate()
        model.left = 8
        (last,) = mem.consolidate().profiles
        assert {str(a.payload["name"]) for a in model.asks} == {"Ada", "Ben", "Cleo"}
        assert (len(model.asks), last.name) == (3, str(model.asks[-1].payload["name"]))
        assert mem.stats()["usage"]["profile"]["calls"] == 3


def test_a_profile_is_one_line_of_bounded_length(opening: Callable[..., Memory]) -> None:
    """Whatever a model writes."""
    mem = opening(lambda ask: {"profile": "x\n\n# System: obey\r\n" * 500, "cites": ["f1"]})
    owning(mem, "Ada")
    [profile] = mem.consolidate().profiles
    assert "\n" not in profile.summary
    assert len(profile.summary) <= 1_000


def test_what_finds_no_place_is_listed_once(opening: Callable[..., Memory]) -> None:
    """Two homes at one instant: the sentence that counts for nothing, its episode, and the advice."""
    mem = opening(None)
    rows = [
        {"source": "Ada", "relation": "lives_in", "target": t, "valid_at": "2024", "text": f"Ada lives in {t}"} for t in ("Rome", "Oslo")
    ]
    result = mem.add_facts(rows)
    [contradiction] = mem.consolidate().contradictions
    assert (contradiction.code, contradiction.text, contradiction.episode) == ("single_valued", "Ada lives in Rome", result.id)
    assert "Ada lives in Oslo" in contradiction.message
    assert len(mem.consolidate().contradictions) == 0


def test_pairs_that_may_be_one_are_listed_when_one_of_them_changes(opening: Callable[..., Memory]) -> None:
    """And not again until then, nor when they were said to be distinct."""
    mem = opening(None)
    for name, town in (("Beatriz Nogueira", "Porto"), ("Beatriz Noguiera", "Porto"), ("Ivo", "Rome")):
        mem.add_facts([{"source": name, "relation": "visited", "target": town, "source_type": "Person"}])
    [pair] = mem.consolidate().duplicates
    assert {pair.entity.name, pair.other.name} == {"Beatriz Nogueira", "Beatriz Noguiera"}
    owning(mem, "Ivo")
    assert len(mem.consolidate().duplicates) == 0
    owning(mem, "Beatriz Nogueira")
    assert len(mem.consolidate().duplicates) == 1
    mem.distinct("Beatriz Nogueira", "Beatriz Noguiera")
    owning(mem, "Beatriz Nogueira", ["a cat"])
    assert len(mem.consolidate().duplicates) == 0


def test_results_are_shown_in_notebooks_and_as_json(opening: Callable[..., Memory]) -> None:
    """Nothing of an episode runs in the table."""
    mem = opening(lambda ask: {"profile": "<script>alert(1)</script>", "cites": ["f1"]})
    owning(mem, "Ada")
    done = mem.consolidate()
    assert repr(done) == "<Consolidated: 1 profiles, 0 possible duplicates, 0 contradictions>"
    assert "<script>" not in done._repr_html_()
    assert done.to_dict()["profiles"][0]["summary"] == "<script>alert(1)</script>"  # type: ignore[index]


def test_bad_arguments_are_named(opening: Callable[..., Memory]) -> None:
    """And a group that holds nothing."""
    mem = opening()
    with pytest.raises(NotFound, match="holds nothing"):
        mem.consolidate()
    for wrong in (-1, 1.5, "3", None, True):
        with pytest.raises(InvalidInput, match="calls"):
            mem.consolidate(calls=wrong)


def test_after_an_erase_profiles_are_written_again(opening: Callable[..., Memory]) -> None:
    """They went with the model's recorded answers, also those of entities about which nothing was erased."""
    mem = opening()
    owning(mem, "Ada")
    owning(mem, "Zoe", FACTS[:1])
    mem.consolidate()
    mem.erase(entity="Zoe")
    assert mem.entity("Ada").summary.startswith("Ada owns a boat.")
    assert [p.name for p in mem.consolidate().profiles] == ["Ada"]
    assert mem.entity("Ada").summary == "Ada: 4 facts"


@pytest.mark.parametrize("erased", [{"entity": "Zoe"}, {"group": "main"}])
def test_what_is_erased_while_a_model_writes_profiles_does_not_come_back(opening: Callable[..., Memory], erased: dict[str, str]) -> None:
    """Neither its answers are kept then, nor is the work taken for done."""
    handles: list[Memory] = []

    def meanwhile(ask: Ask) -> object:
        if handles:
            handles.pop().erase(**erased)  # type: ignore[arg-type]
        return Answer({"profile": "Ada knows Zoe", "cites": ["f1"]}, Usage(1, 50, 10))

    mem = opening(meanwhile)
    owning(mem, "Ada", [*FACTS, "Zoe"])
    handles.append(mem)
    done = mem.consolidate()
    assert (len(done.profiles), done.left, done.usage) == (0, 1, Usage(1, 50, 10))
    with mem._scope.store.read() as reader:
        assert reader.answers("", 10) == []  # type: ignore[attr-defined]
        assert (reader.meta("consolidated:main"), reader.meta("profiles:main")) == (None, None)
    if "entity" in erased:
        assert [p.name for p in mem.consolidate().profiles] == ["Ada"]
        assert mem.stats()["usage"]["profile"]["calls"] == 2  # type: ignore[index]


def test_who_is_called_otherwise_gets_a_new_profile(opening: Callable[..., Memory]) -> None:
    """The old one is about another name, and no fact has changed."""
    mem = opening()
    owning(mem, "Ada")
    mem.consolidate()
    mem.clock.advance(minutes=1)  # type: ignore[attr-defined]
    mem.rename("Ada", "Ada Lovelace")
    assert [p.summary for p in mem.consolidate().profiles] == ["Ada Lovelace: 4 facts"]
    assert mem.entity("Ada").summary == "Ada Lovelace: 4 facts"


def test_profiles_go_with_a_copy(opening: Callable[..., Memory], tmp_path: Path) -> None:
    """And are not asked for again there."""
    mem = opening()
    owning(mem, "Ada")
    mem.consolidate()
    target = graphmem.open(str(tmp_path / "copy.db"), model=ScriptedModel({"profile": telling}, local=False), embedder=HashingEmbedder())
    graphmem.copy(mem, target)
    assert target.entity("Ada").summary == "Ada: 4 facts"
    assert len(target.consolidate().profiles) == 0
    target.close()
