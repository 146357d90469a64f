"""Chat exports as episodes: ChatGPT, Claude, Slack and WhatsApp, from a file, a folder or a zip.

>>> from graphmem import importers
>>> importers.FORMATS
('chatgpt', 'claude', 'slack', 'whatsapp')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from graphmem.errors import InvalidInput
from graphmem.importers.finding import IMPORTERS, exports, none_found
from graphmem.importers.items import Item, Options, in_order_of_time
from graphmem.importers.tree import Tree
from graphmem.instants import zone_of

__all__ = ["FORMATS", "Item", "Options", "Reading", "find", "in_order_of_time", "read"]

FORMATS = tuple(IMPORTERS)


class Reading(Iterator[Item]):
    """The episodes of an export, read as they are asked for; once they are all read, `left_out` is complete.

    `formats` are those of the exports found; `files` the files that belong to them; `left_out` counts what is no
    message of a person or an assistant, by what it is.
    """

    def __init__(self, tree: Tree, options: Options) -> None:
        self._found = exports(tree, options.format)
        self.formats = tuple(dict.fromkeys(e.format for e in self._found))
        self.files = frozenset(name for e in self._found for name in e.claimed)
        self._counts: Counter[str] = Counter()
        beside = self.files if not tree.is_zip else frozenset(tree.names)
        self._counts["other files"] += len(beside - {n for e in self._found for n in e.names})
        self._items = (i for e in self._found for i in IMPORTERS[e.format](tree, e.names, options, self._counts))

    @property
    def left_out(self) -> Counter[str]:
        """How often what was left out so far, by what it is."""
        return +self._counts

    def __next__(self) -> Item:
        return next(self._items)


def read(
    path: str | Path,
    *,
    format: str | None = None,
    timezone: str = "UTC",
    dayfirst: bool | None = None,
    me: str | None = None,
    branches: bool = False,
) -> Reading:
    """The episodes of a chat export, which may be a file, a folder or a zip, in the order it has them.

    `format` is one of `FORMATS`; without it the files say which. `timezone` is where WhatsApp's clock stood, and where
    the days of the others are counted. `dayfirst` says what 3/4/2024 is, for a WhatsApp chat that does not show it.
    `me` names whoever talks to ChatGPT or Claude. `branches` adds what was edited or asked again.
    Raises `InvalidInput` naming the file and the place in it, while the items are read; so read all of them before
    any is recorded: `memory.add_many([item.row for item in read(path)])`.
    """
    found = find(path, Options(format, timezone, dayfirst, me, branches), required=True)
    assert found is not None
    return found


def find(path: str | Path, options: Options, *, required: bool = False) -> Reading | None:
    """As `read`; None for a file or folder that is no export, unless it is `required` to be one."""
    if options.format is not None and options.format not in FORMATS:
        raise InvalidInput("format", options.format, f"must be one of {', '.join(FORMATS)}, or left out")
    zone_of(options.timezone)
    tree = Tree(Path(path))
    reading = Reading(tree, options)
    if reading.formats:
        return reading
    if required or tree.is_zip:
        raise none_found(tree, options.format)
    return None
