"""For people who test against graphmem: a fixed clock, stories and random histories, and an oracle of time."""

from graphmem.runtime import FixedClock
from graphmem.testing.appendix import stories
from graphmem.testing.histories import ONTOLOGY, Story, ended, fact, never, random_history, rows_of, unit
from graphmem.testing.oracle import Oracle

__all__ = ["ONTOLOGY", "FixedClock", "Oracle", "Story", "ended", "fact", "never", "random_history", "rows_of", "stories", "unit"]
