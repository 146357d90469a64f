"""Every error graphmem raises, in one tree, sorted by whose move it is.

GraphmemError
├── InvalidInput (also ValueError)      the caller's move: an argument is not what is allowed
│   ├── InvalidGroup                    a group id outside 1-200 characters, or with control characters
│   └── EmptyEpisode                    a body without a visible character
├── NotFound (also LookupError)         the caller's move: nothing has that id or name
├── MissingExtra (also ImportError)     the installer's move: names the `pip install` line
├── StoreError                          the store's file or server
│   ├── StoreUnavailable                cannot be opened or reached
│   │   ├── LoginRefused                user or password is wrong
│   │   ├── StoreReadOnly               it may be read, but not written
│   │   └── StoreFull                   no space left to write
│   ├── StoreBusy                       another writer held the lock for too long; try again
│   │   └── Overtaken                   a transaction was lost, and another writer came between
│   ├── SchemaTooNew                    written by a newer graphmem
│   ├── EmbedderMismatch                written with another embedder
│   ├── UnfinishedCopy                  a group that is still being copied, or whose copying was stopped
│   ├── StaleInstant                    a recorded instant not later than the last one
│   └── StoreCorrupt                    a damaged file
├── ModelError                          a language model's move
│   ├── ModelUnavailable                unreachable, or failing after retries
│   │   ├── EndpointUnreachable         not found, not reached, or not to be trusted
│   │   ├── EndpointTimeout             no answer in time
│   │   ├── EndpointFailed              an error of its own, or an answer that is none
│   │   └── RateLimited                 too many requests, or no quota left
│   ├── RequestRejected                 the endpoint does not take what it was sent
│   │   ├── KeyRejected                 the key is missing or wrong
│   │   ├── NotPermitted                the key may not do this
│   │   ├── UnknownModel                no model has that name
│   │   └── ContextTooLong              longer than the model can read
│   ├── AnswerUnusable                  no answer that can be used; a warning at ingest
│   │   ├── AnswerRefused               the model declined
│   │   ├── AnswerFiltered              the endpoint's filter took the text or the answer
│   │   └── AnswerTruncated             cut for length, also with more tokens
│   └── AnswerMissing                   a script or recording that lacks an answer
├── EmbedderError                       an embedder that returned wrong shapes or numbers
├── ExportError                         a file or folder that cannot be written
└── LogFileError                        a log's file that is not as it was written
"""

from __future__ import annotations

from typing import Any


class GraphmemError(Exception):
    """Base of everything graphmem raises on purpose."""


def _shown(value: object) -> str:
    """The value in at most 120 characters; also one whose own `repr` fails, as that of a very large integer does."""
    try:
        shown = repr(value)
    except Exception:
        shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= 120 else shown[:117] + "..."


class InvalidInput(GraphmemError, ValueError):
    """An argument is not what is allowed; the message names it, its value and what is allowed."""

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        self.argument, self.value, self.allowed = argument, value, allowed
        super().__init__(f"{argument}={_shown(value)}: {allowed}")


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


class LoginRefused(StoreUnavailable):
    """The server does not accept the user or the password."""


class StoreReadOnly(StoreUnavailable):
    """The file, the database or its user may be read from but not written to."""


class StoreFull(StoreUnavailable):
    """There is no space left where the store writes."""


class StoreBusy(StoreError):
    """Another writer held the lock for longer than the timeout, or all connections were in use for so long."""


class Overtaken(StoreBusy):
    """A transaction was lost with its server or connection, and somebody else has written meanwhile: nothing of it is kept."""


class SchemaTooNew(StoreError):
    """The store was written by a newer graphmem."""


class EmbedderMismatch(StoreError):
    """The store holds vectors of another embedder."""


class UnfinishedCopy(StoreError):
    """A group that is only the beginning of a copy: it is still being copied, or that was stopped."""


class StaleInstant(StoreError):
    """A recorded system instant is not later than the last one of its group, or lies in the future."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not a graphmem store."""


class ModelError(GraphmemError):
    """A language model failed. `usage` is what it cost all the same (`model.Usage`), where that is known."""

    usage: Any = None


class ModelUnavailable(ModelError):
    """The model cannot be reached, or failed after retries."""


class EndpointUnreachable(ModelUnavailable):
    """The endpoint's host is not found, does not take the connection, or shows a certificate that is not trusted."""


class EndpointTimeout(ModelUnavailable):
    """The endpoint did not answer in time."""


class EndpointFailed(ModelUnavailable):
    """The endpoint had an error of its own, or what it sent is no answer: a page, nothing, or half of it."""


class RateLimited(ModelUnavailable):
    """The endpoint took no more requests, also after waiting as long as it asked; or the account has no quota left."""


class RequestRejected(ModelError):
    """The endpoint does not take what it was sent; the same request would not fare better later."""


class KeyRejected(RequestRejected):
    """The endpoint does not accept the key, or wants one."""


class NotPermitted(RequestRejected):
    """The key is known but may not do this."""


class UnknownModel(RequestRejected):
    """The endpoint has no model of that name."""


class ContextTooLong(RequestRejected):
    """The text is longer than the model can read."""


class AnswerUnusable(ModelError):
    """An answer that cannot be used. At ingest the episode is kept, with the warning `unreadable`; raised where a model is asked
    by hand.
    """


class AnswerRefused(AnswerUnusable):
    """The model declined to answer."""


class AnswerFiltered(AnswerUnusable):
    """The endpoint's filter took the text or the answer."""


class AnswerTruncated(AnswerUnusable):
    """The answer was cut for its length, also when asked again with more tokens."""


class AnswerMissing(ModelError):
    """A scripted or recorded model has no answer to what was asked."""


class EmbedderError(GraphmemError):
    """An embedder returned a wrong number of vectors, a wrong length, or numbers that are not finite."""


class ExportError(GraphmemError):
    """A file or folder cannot be written; nothing is left under its name."""


class LogFileError(GraphmemError):
    """A file is no log of graphmem, or a line of it was changed, lost or added."""
