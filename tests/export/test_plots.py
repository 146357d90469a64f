"""Pictures that say what the memory says: their bars and rectangles are read back and compared with `as_of`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.dates import date2num, num2date

from graphmem.errors import InvalidInput, MissingExtra, NotFound
from graphmem.memory import Memory


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_the_timeline_has_a_bar_a_fact_over_the_time_in_which_it_holds(memory: Memory) -> None:
    """Ends that are known are where they are; what holds at the point is not faded."""
    drawn = memory.plot_timeline("Mira")
    facts = sorted(memory.facts("Mira", history=True), key=lambda f: f.valid_at)
    assert [t.get_text() for t in drawn.get_yticklabels()] == [f.text for f in facts]
    now = datetime(2024, 6, 1, 9, tzinfo=UTC)
    for bar, fact in zip(drawn.patches, facts, strict=True):
        assert num2date(bar.get_x()) == fact.valid_at
        if fact.invalid_at is not None:
            assert abs((num2date(bar.get_x() + bar.get_width()) - fact.invalid_at).total_seconds()) < 1
        assert (bar.get_alpha() == 1) == (now in fact.valid)
    assert "valid time" in drawn.get_xlabel()
    assert drawn.get_title() == "Mira"


def test_a_point_of_the_two_axes_is_in_the_rectangle_of_what_was_believed(memory: Memory) -> None:
    """At a grid of points, the rectangles around the point are the facts of `as_of` there."""
    drawn = memory.plot_two_axes(memory.facts("Mira", relation="lives in")[0])
    for valid, system in itertools.product(("2022-03-01", "2023-08-01", "2024-03-25"), ("2024-01-10", "2024-02-20", "2024-05-20")):
        x, y = (date2num(datetime.fromisoformat(day).replace(tzinfo=UTC)) for day in (valid, system))
        around = [p for p in drawn.patches if p.get_x() <= x < p.get_x() + p.get_width() and p.get_y() <= y < p.get_y() + p.get_height()]
        view = memory.as_of(valid=valid, system=system)
        assert len(around) == len(view.facts("Mira", relation="lives in")), (valid, system)
    legend = [t.get_text() for t in drawn.get_legend().get_texts()]
    assert sorted(legend) == ["Mira lives in Braga", "Mira lives in Lisbon", "Mira lives in Porto"]


def test_the_graph_names_what_holds(memory: Memory) -> None:
    """An arrow a fact, a name an entity; nothing else is drawn."""
    drawn = memory.plot_graph()
    shown = {t.get_text() for t in drawn.texts if t.get_text()}
    holding = memory.facts()
    assert shown == {name for f in holding for name in (f.source, f.target)}
    assert len([t for t in drawn.texts if not t.get_text()]) == len(holding)


def test_activity_counts_every_visible_episode_once(memory: Memory) -> None:
    """The heights of all bars add up to the episodes; a forgotten one is not among them."""
    drawn = memory.plot_activity()
    assert sum(bar.get_height() for bar in drawn.patches) == memory.counts()["episodes"]
    assert drawn.get_ylabel() == "episodes a day"


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning", "ignore:Matplotlib currently does not support:UserWarning")
def test_hostile_names_are_drawn_as_they_are(hostile: Memory) -> None:
    """No formula, no control character; a font that lacks a letter is told by matplotlib and nothing breaks."""
    hostile.add_facts([{"source": "$x^{", "relation": "knows", "target": "Mira", "text": "costs $5 or $6 {"}])
    for drawn in (hostile.plot_graph(), hostile.plot_timeline("Mira"), hostile.plot_activity()):
        drawn.figure.canvas.draw()


def test_axes_of_ones_own_are_drawn_on_and_what_is_not_there_is_named(memory: Memory) -> None:
    """For figures of several pictures."""
    _, (left, right) = pyplot.subplots(1, 2)
    assert memory.plot_timeline("Ivo", ax=left) is left
    assert memory.plot_graph(entity="Ivo", ax=right) is right
    with pytest.raises(NotFound, match="Nobody"):
        memory.plot_timeline("Nobody")
    with pytest.raises(NotFound, match="fact_x"):
        memory.plot_two_axes("fact_x")


def test_a_fact_is_taken_from_what_holds_it(memory: Memory) -> None:
    """A hit, an entry of a timeline, an item, its id or uuid: one picture. What is no fact is refused."""
    (hit, *_) = memory.search("Mira lives in Braga", kinds=["fact"])
    entry = next(e for e in memory.timeline("Mira") if e.fact.id == hit.item.id)
    drawn = [memory.plot_two_axes(f) for f in (hit, entry, entry.fact, entry.fact.id, entry.fact.uuid)]
    assert len({(len(d.patches), d.get_title()) for d in drawn}) == 1
    (person, *_) = memory.search("Mira", kinds=["entity"])
    for wrong in (person, 5, None):
        with pytest.raises(InvalidInput, match="must be a fact"):
            memory.plot_two_axes(wrong)  # type: ignore[arg-type]


def test_years_at_the_ends_of_the_calendar_are_drawn(memory: Memory) -> None:
    """The margin for open ends stays within what a date can be."""
    memory.add_facts([{"source": "Rome", "relation": "rules", "target": "Gaul", "valid_at": "0002", "invalid_at": "9990"}])
    axes = memory.plot_timeline("Rome")
    left, right = (num2date(x) for x in axes.get_xlim())
    assert (left.year, right.year) == (1, 9999)
    memory.plot_two_axes(memory.facts(entity="Rome")[0]).figure.canvas.draw()
    axes.figure.canvas.draw()


def test_without_matplotlib_every_picture_names_the_extra(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is drawn, the line that installs it."""
    fact = memory.facts(entity="Mira")[0]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: memory.plot_timeline("Mira"),
        lambda: memory.plot_two_axes(fact),
        memory.plot_graph,
        memory.plot_activity,
        lambda: memory.history("Mira").plot(),
    ):
        with pytest.raises(MissingExtra, match=r"graphmem\[plot\]"):
            draw()
