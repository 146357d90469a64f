"""What people say in a way that only the moment explains: whose a thing is, and when something was."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from graphmem import names
from graphmem.dates import find_dates, parse_unit
from graphmem.interval import DateUnit, Origin

_MINE = re.compile(r"(?:my|My(?=\s+[a-z]))\s+(?=\S)")  # but "My Fair Lady" is nobody's
_AROUND = re.compile(
    r"(?:(?:on|in|at|since|from|until|till|by|around|about|for|the|early|late|back|ever|only|just)\b|[\s,.~])*", re.IGNORECASE
)
_LONGEST = 80


def owned(name: str, actor: str | None) -> str:
    """The name with whose it is instead of "my": somebody else's dad is "my dad" too.

    >>> owned("my dad", "Mira"), owned("my dad", None), owned("My Fair Lady", "Mira")
    ("Mira's dad", 'my dad', 'My Fair Lady')
    """
    mine = _MINE.match(name)
    whole = f"{actor}'s {name[mine.end() :]}" if actor and mine else name
    return whole if names.is_nameable(whole) else name


def said_date(raw: object, reference: datetime, zone: tzinfo, origin: Origin, *, is_end: bool = False) -> DateUnit | None:
    """The unit of time that a model means: as `parse_unit` reads it, else the one date of a phrase that says nothing else.

    "For five years" says when something began, never when it ends.

    >>> from datetime import UTC
    >>> now = datetime(2023, 6, 9, tzinfo=UTC)
    >>> [said_date(text, now, UTC, Origin.STATED).first.year for text in ("in May 2022", "since 2019", "around last summer")]
    [2022, 2019, 2022]
    >>> said_date("when she was three years old", now, UTC, Origin.STATED) is None
    True
    """
    unit = parse_unit(raw, reference, zone, origin)
    if unit is not None or not isinstance(raw, str) or len(raw) > _LONGEST:
        return unit
    before = _AROUND.match(raw)
    if before and before.end() and (unit := parse_unit(raw[before.end() :], reference, zone, origin)) is not None:
        return unit
    found = find_dates(raw, reference, zone)
    if len(found) != 1 or found[0].until is not None or (is_end and found[0].role == "for"):
        return None
    around = raw[: found[0].start], raw[found[0].end :]
    return found[0].unit if all(_AROUND.fullmatch(words) for words in around) else None
