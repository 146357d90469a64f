"""How any result is shown and handed on: a table for notebooks, plain values, a data frame. The one place where that is made."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from graphmem.errors import MissingExtra

if TYPE_CHECKING:
    import pandas

Row = Mapping[str, object]
SHOWN_TEXT = 100
PANDAS_LINE = "pip install 'graphmem[export]'"
_SURROGATES = re.compile("[\ud800-\udfff]")
_INSTANTS = frozenset(
    (
        "at",
        "valid_at",
        "invalid_at",
        "created_at",
        "expired_at",
        "reference_time",
        "since",
        "until",
        "was_valid_at",
        "was_invalid_at",
        "said_at",
    )
)


class Verbs:
    """What tab completion offers of an object: its public names, and nothing else."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]


class Shown(Verbs):
    """What has rows: a table in a notebook, a data frame in a program."""

    __slots__ = ()

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a `pandas.DataFrame`; instants are `datetime64[us, UTC]`, an open one is `NaT`.

        Raises `MissingExtra` with the line that installs pandas where it is missing.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingExtra(f"this needs pandas: {PANDAS_LINE}") from error
        rows = self._rows()
        columns = list(dict.fromkeys(name for row in rows for name in row)) or list(self._columns())
        frame = pandas.DataFrame([{name: _written(value) for name, value in row.items()} for row in rows], columns=columns)
        for name in _INSTANTS.intersection(columns):
            moments = [datetime.fromisoformat(str(v)) if v is not None else None for v in (row.get(name) for row in rows)]
            frame[name] = pandas.Series(moments, dtype="datetime64[us, UTC]")
        return frame

    def _repr_html_(self) -> str:
        return table(self._rows(), self._columns(), repr(self)[1:-1])

    def _rows(self) -> Sequence[Row]:
        """What it holds."""
        raise NotImplementedError

    def _columns(self) -> Sequence[str]:
        """Those of the table, in order."""
        return list(dict.fromkeys(name for row in self._rows() for name in row))


class Record(Shown):
    """One thing with plain values: a row in a list of its like, and a table of its own where it is shown alone."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        raise NotImplementedError

    def _row(self) -> Row:
        """What it is in a list of its like."""
        return self.to_dict()

    def _rows(self) -> Sequence[Row]:
        return [self._row()]


def table(rows: Sequence[Row], columns: Sequence[str], caption: str) -> str:
    """An HTML table; every value is escaped, so that nothing of an episode ever runs."""
    head = "".join(f"<th>{escaped(c)}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{escaped(_cell(r.get(c)))}</td>" for c in columns) + "</tr>" for r in rows)
    return f"<table><caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(_cell(v) for v in value)
    return shorten(str(value), 200)


def _written(value: object) -> object:
    """A value whose texts UTF-8 can write: a frame keeps them so."""
    if isinstance(value, str):
        return utf8_text(value)
    return [_written(v) for v in value] if isinstance(value, (list, tuple)) else value


def escaped(text: str) -> str:
    """Text that is no markup, as UTF-8 can write it."""
    return html.escape(utf8_text(text))


def utf8_text(text: str) -> str:
    """`text` with the replacement character for lone surrogates, which UTF-8 cannot write."""
    return _SURROGATES.sub("\ufffd", text)


def shorten(text: str, limit: int = SHOWN_TEXT) -> str:
    """`text` on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
