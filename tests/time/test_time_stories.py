"""The stories of time: what is said in which order, and the rows that must follow."""

from __future__ import annotations

import pytest

from graphmem.belief.fold import fold
from graphmem.model import EpisodeRecord, LogEntry, Period
from graphmem.testing import Oracle, Story, rows_of, stories

STORIES = stories()
by_title = pytest.mark.parametrize("story", STORIES, ids=[story.title.replace(" ", "_") for story in STORIES])


def rows(story: Story, log: list[LogEntry]) -> tuple[str, ...]:
    """The rows of a log; a marriage is printed from the side of whoever comes first in the story."""
    return tuple(sorted(row.replace("Ana MARRIED_TO Tom", "Tom MARRIED_TO Ana") for row in rows_of(fold(log, story.ontology))))


def test_every_story_is_told() -> None:
    """The 37 stories are all there, each once."""
    assert sorted(int(story.title[:2]) for story in STORIES) == list(range(1, 38))


@by_title
def test_a_story_gives_its_rows_in_every_order_of_arrival(story: Story) -> None:
    """The rows are those of the story, whichever episode arrives first."""
    for log in story.orders():
        assert rows(story, log) == story.rows, [entry.episode.id if isinstance(entry, EpisodeRecord) else entry.id for entry in log]


@by_title
def test_the_oracle_tells_each_story_alike(story: Story) -> None:
    """Point by point, the oracle answers what the rows say."""
    for log in story.orders():
        assert_alike(fold(log, story.ontology), Oracle(log, story.ontology))


def assert_alike(periods: list[Period], oracle: Oracle) -> None:
    """The periods begin and end only where something can change, and hold where the oracle says so."""
    bounds = {bound for period in periods for bound in (period.valid.start, period.valid.end)} - {None}
    assert bounds <= set(oracle.points)
    for point in oracle.points:
        assert {period.key for period in periods if point in period.valid} == oracle.true_at(point), point


def test_an_erased_episode_was_never_believed() -> None:
    """Story 37 at every system instant: no row ever knew the erased job."""
    story = next(story for story in STORIES if story.title.startswith("37"))
    log = story.log()
    seen = [rows_of(fold(log[: n + 1], story.ontology)) for n in range(len(log))]
    assert seen == [
        ("Mira WORKS_AT Acme [2020, ∞)",),
        ("Mira WORKS_AT Acme [2020, 2023)", "Mira WORKS_AT Initech [2023, ∞)"),
    ]


def test_belief_of_the_past_is_the_fold_of_the_log_up_to_then() -> None:
    """Story 1 before its second episode: the old job is open."""
    story = STORIES[0]
    assert rows_of(fold(story.log()[:1], story.ontology)) == ("Mira WORKS_AT Acme [2022, ∞)",)
