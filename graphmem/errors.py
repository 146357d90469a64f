"""Every error graphmem raises, in one tree, sorted by whose move it is.

GraphmemError
├── InvalidInput (also ValueError)      the caller's move: an argument is not what is allowed
│   ├── InvalidGroup                    a group id outside 1-200 characters, or with control characters
│   └── EmptyEpisode                    a body without a visible character
├── NotFound (also LookupError)         the caller's move: nothing has that id or name
├── MissingExtra (also ImportError)     the installer's move: names the `pip install` line
├── StoreError                          the store's file or server
│   ├── StoreUnavailable                cannot be opened or reached
│   ├── StoreBusy                       another writer held the lock for too long; try again
│   ├── SchemaTooNew                    written by a newer graphmem
│   ├── EmbedderMismatch                written with another embedder
│   ├── StaleInstant                    a recorded instant not later than the last one
│   └── StoreCorrupt                    a damaged file
├── ModelError                          a language model's move
│   ├── ModelUnavailable                unreachable, or failing after retries
│   ├── AnswerUnusable                  no readable answer, also after a repair
│   └── AnswerMissing                   a script or recording that lacks an answer
└── EmbedderError                       an embedder that returned wrong shapes or numbers
"""

from __future__ import annotations


class GraphmemError(Exception):
    """Base of everything graphmem raises on purpose."""


class InvalidInput(GraphmemError, ValueError):
    """An argument is not what is allowed; the message names it, its value and what is allowed."""

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        self.argument, self.value, self.allowed = argument, value, allowed
        shown = repr(value)
        shown = shown if len(shown) <= 120 else shown[:117] + "..."
        super().__init__(f"{argument}={shown}: {allowed}")


class InvalidGroup(InvalidInput):
    """A group id that cannot be used; groups are 1-200 characters without control characters."""


class EmptyEpisode(InvalidInput):
    """An episode without a visible character."""


class NotFound(GraphmemError, LookupError):
    """Nothing has that id or name in the groups and at the instants asked."""


class MissingExtra(GraphmemError, ImportError):
    """A part that is not installed; the message holds the line that installs it."""


class StoreError(GraphmemError):
    """The file or server that holds the memory."""


class StoreUnavailable(StoreError):
    """The store cannot be opened or reached."""


class StoreBusy(StoreError):
    """Another writer held the lock for longer than the timeout."""


class SchemaTooNew(StoreError):
    """The store was written by a newer graphmem."""


class EmbedderMismatch(StoreError):
    """The store holds vectors of another embedder."""


class StaleInstant(StoreError):
    """A recorded system instant is not later than the last one of its group, or lies in the future."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not a graphmem store."""


class ModelError(GraphmemError):
    """A language model failed."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, or failed after retries."""


class AnswerUnusable(ModelError):
    """The model's answer cannot be read, also after one repair."""


class AnswerMissing(ModelError):
    """A scripted or recorded model has no answer to what was asked."""


class EmbedderError(GraphmemError):
    """An embedder returned a wrong number of vectors, a wrong length, or numbers that are not finite."""
