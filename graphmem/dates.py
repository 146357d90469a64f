"""Dates in words: finding the expressions in a text and resolving them, and reading the date strings of models and callers.

Everything resolves against a reference instant in a zone, never against the machine's clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo

from graphmem.daterules import RULES, TRIGGER, Calendar, Words, joined, missing_year, read_iso
from graphmem.interval import DateUnit, Origin, Precision, in_zone, printed


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date expression in a text: characters `[start, end)`, the unit of time it names, and how the text uses it.

    `role` is "at", "since" (also "from"), "until", "by" (also "before", "due"), or "for" (a duration that ends at the
    reference time, `unit` being its beginning). `until` is the other end of a range. `ahead` is the coming unit where the
    words alone leave the direction open ("on Friday", "12 May"); `unit` is then the nearest past one.
    """

    start: int
    end: int
    text: str
    unit: DateUnit
    role: str = "at"
    until: DateUnit | None = None
    ahead: DateUnit | None = None

    @property
    def precision(self) -> Precision:
        """Precision of `unit`; weeks and weekends count as days, seasons and quarters as months."""
        return self.unit.precision


# ---------------------------------------------------------------------------------------------------------- finding

_ROLES = (
    (re.compile(r"\b(?:since|from|starting|beginning|effective|as of)(?: on| in)?(?: the| around| about)*\W*$", re.IGNORECASE), "since"),
    (re.compile(r"\b(?:until|till|til|through|up to)(?: the| about)?\W*$", re.IGNORECASE), "until"),
    (re.compile(r"\b(?:by|before|due|no later than)(?: on| in)?(?: the)?(?: end of)?\W*$", re.IGNORECASE), "by"),
    (re.compile(r"\bfor(?: about| around| over| almost| nearly| the last| the past)*\s*$", re.IGNORECASE), "for"),
)
_RANGE = re.compile(r"\s*(?:to|until|till|through|and|–|-|—)\s*", re.IGNORECASE)
_OPENS_RANGE = re.compile(r"\b(?:from|between)(?: the)?\s*$", re.IGNORECASE)


def find_dates(text: str, reference: datetime, zone: tzinfo) -> list[FoundDate]:
    """The date expressions of an English text (or question), in order, resolved against `reference` in `zone`.

    Plain distances and dates with a year need the `dateparser` package; without it they are left out.
    A text without a word that could belong to a date costs one search. Units are in UTC, `[first, last)`.

    >>> from datetime import UTC, datetime
    >>> [found] = find_dates("I moved in March.", datetime(2024, 4, 2, tzinfo=UTC), UTC)
    >>> found.text, found.unit.first.date().isoformat(), found.precision.value
    ('March', '2024-03-01', 'month')
    """
    if not TRIGGER.search(text):
        return []
    cal = Calendar(_local_day(reference, zone), zone)
    found: list[FoundDate] = []
    taken: list[tuple[int, int]] = []
    for pattern, read in RULES:
        for match in pattern.finditer(text):
            start, end = match.span("x") if "x" in pattern.groupindex else match.span()
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            taken.append((start, end))
            try:
                reading = read(Words(match), cal)
            except (ValueError, OverflowError):
                continue
            if reading is not None:
                found.append(FoundDate(start, end, text[start:end], reading[0], _role(text, start), None, reading[1]))
    return _ranges(text, sorted(found, key=lambda f: f.start))


def _local_day(reference: datetime, zone: tzinfo) -> date:
    return in_zone(reference, zone).date()


def _role(text: str, start: int) -> str:
    before = text[max(0, start - 40) : start]
    return next((role for pattern, role in _ROLES if pattern.search(before)), "at")


def _ranges(text: str, found: list[FoundDate]) -> list[FoundDate]:
    """Neighbours that bound one stretch ("from June to August 2020") become one."""
    out: list[FoundDate] = []
    for date_ in found:
        last = out[-1] if out else None
        if last is not None and last.until is None and (joint := _RANGE.fullmatch(text, last.end, date_.start)):
            opened = bool(_OPENS_RANGE.search(text[max(0, last.start - 20) : last.start]))
            first = _in_year_of(last, date_)
            after = next((u for u in (date_.unit, date_.ahead) if u is not None and first.first < u.last), None)
            if after is not None and (opened or joint[0].strip().lower() != "and"):
                out[-1] = replace(last, end=date_.end, text=text[last.start : date_.end], unit=first, role="since", until=after, ahead=None)
                continue
        out.append(date_)
    return out


def _in_year_of(first: FoundDate, last: FoundDate) -> DateUnit:
    """The first date of a range takes the year that only the last one gives."""
    if first.ahead is None or last.unit.origin is not Origin.STATED:
        return first.unit
    latest = [u for u in (first.unit, first.ahead) if u.first <= last.unit.first]
    unit = latest[-1] if latest else first.unit
    years = last.unit.first.year - unit.first.year
    try:
        return replace(unit, first=unit.first.replace(year=unit.first.year + years), last=unit.last.replace(year=unit.last.year + years))
    except ValueError:
        return unit


# ---------------------------------------------------------------------------------------------------------- reading

_MONTH_DAY = re.compile(r"(?:--)?(\d{2})-(\d{2})")


def parse_unit(raw: object, reference: datetime, zone: tzinfo, origin: Origin = Origin.STATED) -> DateUnit | None:
    """The unit of time that a model or caller means by `raw`, or None for what cannot be used.

    Reads "2022", "2022-05", "2022-05-14", ISO 8601 instants (without an offset: in `zone`), intervals of two of these
    ("2024-05-13/2024-05-19", the last one included), "12-30" (the nearest past one before `reference`), datetimes, a
    four-digit int, and English expressions that are a date as a whole ("Q1 2024", "May 2024", "last Friday").
    Impossible dates, other numbers and other values are None; nothing falls back to today.

    >>> from datetime import UTC, datetime
    >>> parse_unit("2022-05", datetime(2024, 1, 1, tzinfo=UTC), UTC).precision.value
    'month'
    >>> parse_unit("2024-02-30", datetime(2024, 1, 1, tzinfo=UTC), UTC) is None
    True
    """
    if isinstance(raw, datetime):
        return DateUnit.at(raw if raw.tzinfo else raw.replace(tzinfo=zone), origin)
    if isinstance(raw, date):
        return read_iso(raw.isoformat(), zone, origin)
    if isinstance(raw, int) and not isinstance(raw, bool):
        return read_iso(str(raw), zone, origin) if 1000 <= raw <= 2999 else None
    if not isinstance(raw, str) or len(raw) > 80:
        return None
    text = raw.strip()
    if "/" in text and (interval := _iso_interval(text, zone, origin)):
        return interval
    if parts := _MONTH_DAY.fullmatch(text):
        around = missing_year(Calendar(_local_day(reference, zone), zone), int(parts[1]), int(parts[2]))
        return replace(around[0], origin=Origin.RESOLVED) if around else None
    return read_iso(text, zone, origin) or _phrase(text, reference, zone, origin)


def _iso_interval(text: str, zone: tzinfo, origin: Origin) -> DateUnit | None:
    first, last = (read_iso(part.strip(), zone, origin) for part in text.split("/", 1))
    return joined(first, last) if first and last and last.last >= first.first else None


def _phrase(text: str, reference: datetime, zone: tzinfo, origin: Origin) -> DateUnit | None:
    found = find_dates(f"in {text}" if text[:1].isalnum() else text, reference, zone)
    if len(found) != 1 or found[0].until is not None or found[0].text.strip() != text:
        return None
    return replace(found[0].unit, origin=Origin.USER) if origin is Origin.USER else found[0].unit


def unit_text(unit: DateUnit, zone: tzinfo) -> str:
    """The string that `parse_unit` reads back as this unit: "2022", "2022-05", "2022-05-14", an instant, or an interval.

    >>> from datetime import UTC
    >>> unit_text(DateUnit.of(2022, 5), UTC)
    '2022-05'
    """
    first = printed(unit.first, unit.precision, zone)
    if unit.precision is Precision.INSTANT:
        return first
    last = printed(unit.last, unit.precision, zone, is_end=True)
    return first if first == last else f"{first}/{last}"
