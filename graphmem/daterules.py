"""The rules behind `graphmem.dates`: patterns of English date expressions and what each one means on a calendar.

Absolute dates and plain distances ("14 May 2024", "three months ago", "yesterday") are resolved by the `dateparser` library.
The rules here read what it gets wrong or leaves out: the direction of weekdays, weeks, weekends, seasons, quarters and
missing years.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from graphmem.interval import DateUnit, Origin, in_zone

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS = {
    word: n
    for n, words in enumerate(
        ("zero", "a an one", "couple two", "few three", "several four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
    for word in words.split()
}
_HOLIDAYS = {
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "new year's eve": (12, 31), "new year's day": (1, 1),
    "halloween": (10, 31), "valentine's day": (2, 14),
}  # fmt: skip

_MON = (
    r"(?:(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
_DAY = r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)\b"
_NUM = r"(?<![\d.,])(?:\d{1,4}|(?:a )?couple(?: of)?|(?:a )?few|several|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_YEAR = r"(?:1[0-9]|20|21)\d\d"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_TO_YEAR = r"(?: ?, ?|-| of | in | )"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_HOLIDAY = "(?:" + "|".join(_HOLIDAYS) + ")"

# Without one of these no rule matches; "last", "in" and the like stand in most texts that name no date.
TRIGGER = re.compile(
    r"\d|\b(?:yesterday|today|tonight|tomorrow|day|night|week|month|quarter|year|morning|afternoon|evening|christmas|halloween"
    rf"|new year|valentine|{_SEASON}|{_MON}|{_DAY})",
    re.IGNORECASE,
)


Reading = tuple[DateUnit, DateUnit | None]


@dataclass(frozen=True, slots=True)
class Calendar:
    """The calendar as seen from the reference day in its zone."""

    today: date
    zone: tzinfo

    def day(self, day: date, origin: Origin = Origin.RESOLVED) -> DateUnit:
        return DateUnit.of(day.year, day.month, day.day, zone=self.zone, origin=origin)

    def month(self, months: int, origin: Origin = Origin.RESOLVED) -> DateUnit:
        """The month `months` counted from year 0."""
        return DateUnit.of(months // 12, months % 12 + 1, zone=self.zone, origin=origin)

    def year(self, year: int, origin: Origin = Origin.RESOLVED) -> DateUnit:
        return DateUnit.of(year, zone=self.zone, origin=origin)

    def days(self, first: date, count: int) -> DateUnit:
        return joined(self.day(first), self.day(first + timedelta(days=count - 1)))

    def months(self, first: int, count: int, origin: Origin = Origin.RESOLVED) -> DateUnit:
        return joined(self.month(first, origin), self.month(first + count - 1, origin))

    def weekday(self, name: str) -> int:
        """Days from the reference day to that weekday of the same week (Monday first)."""
        return _DAYS.index(name[:3].lower()) - self.today.weekday()

    def weekday_at(self, days: int) -> DateUnit:
        """The day that many days from the reference day."""
        return self.day(self.today + timedelta(days=days))

    @property
    def this_month(self) -> int:
        return self.today.year * 12 + self.today.month - 1


def joined(first: DateUnit, last: DateUnit) -> DateUnit:
    return replace(first, last=last.last)


def _month_index(name: str) -> int:
    return _MONTHS.index(name[:3].lower())


def _count(words: str) -> int:
    if words.isdigit():
        return int(words)
    return next(_NUMBERS[w] for w in reversed(words.lower().replace(" of", "").split()) if w in _NUMBERS)


@lru_cache(maxsize=4096)
def _library(phrase: str, today: date, order: str = "MDY") -> tuple[date, str] | None:
    """What `dateparser` reads: a day and the size of the unit meant; None also where the library is not installed."""
    try:
        from dateparser.date import DateDataParser
    except ImportError:
        return None
    settings = {
        "RELATIVE_BASE": datetime.combine(today, time(12)),
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "DATE_ORDER": order,
    }
    found = DateDataParser(languages=["en"], settings=settings).get_date_data(phrase)
    return (found.date_obj.date(), found.period) if found.date_obj else None


def _sized(day: date, size: str, cal: Calendar, origin: Origin) -> DateUnit:
    match size:
        case "year":
            return cal.year(day.year, origin)
        case "month":
            return cal.month(day.year * 12 + day.month - 1, origin)
        case "week":
            return cal.days(day - timedelta(days=day.weekday()), 7)
        case _:
            return cal.day(day, origin)


# ---------------------------------------------------------------------------------------------------------- rules


class Words:
    """The named groups of a match; one the pattern does not have is None."""

    def __init__(self, match: re.Match[str]) -> None:
        self.text = match[0]
        self.groups = match.groupdict()

    def __getitem__(self, name: str) -> str | None:
        return self.groups.get(name)

    def lower(self, name: str) -> str:
        return (self[name] or "").lower()

    def number(self, name: str) -> int:
        return int(re.sub(r"\D", "", self[name] or "0"))


def _week_of(m: Words, cal: Calendar) -> Reading | None:
    """ "The week of May 10", "the weekend of 3 June 2024"."""
    around = _absolute(m, cal)
    if around is None:
        return None
    past, ahead = around[0], around[1]
    return _week_around(past, m.lower("unit"), cal), _week_around(ahead, m.lower("unit"), cal) if ahead else None


def _week_around(unit: DateUnit, size: str, cal: Calendar) -> DateUnit:
    day = in_zone(unit.first, cal.zone).date()
    monday = day - timedelta(days=day.weekday())
    return cal.days(monday, 7) if size == "week" else cal.days(monday + timedelta(days=5), 2)


Reader = Callable[[Words, Calendar], Reading | None]


def _absolute(m: Words, cal: Calendar) -> Reading | None:
    """A month with a day, a year or both; without a year the nearest past one, and the coming one ahead."""
    month = _month_index(m.lower("m"))
    if m["y"] is None:
        return missing_year(cal, month + 1, m.number("d"))
    day = str(m.number("d")) if m["d"] else None
    found = _library(" ".join(p for p in (day, _MONTHS[month], m["y"]) if p), cal.today)
    return (_sized(found[0], "day" if day else "month", cal, Origin.STATED), None) if found else None


def _around(units: list[DateUnit], today: DateUnit) -> Reading | None:
    """The nearest past unit and the coming one; today counts as both."""
    past = [u for u in units if u.first <= today.first]
    coming = [u for u in units if u.first >= today.first]
    return (past[-1], coming[0]) if past and coming else None


def _existing(days: Iterable[tuple[int, int, int]], cal: Calendar) -> list[DateUnit]:
    """Those of the (year, month, day) that exist."""
    out = []
    for year, month, day in days:
        try:
            out.append(cal.day(date(year, month, day)))
        except ValueError:
            continue
    return out


def missing_year(cal: Calendar, month: int, day: int) -> Reading | None:
    years = range(cal.today.year - 4, cal.today.year + 5)
    return _around(_existing(((year, month, day) for year in years), cal), cal.day(cal.today))


def _numeric(m: Words, cal: Calendar) -> Reading | None:
    a, b = m.number("a"), m.number("b")
    order = "DMY" if m["s"] == "." or a > 12 else "MDY"
    if m["y"] is None:
        return missing_year(cal, a, b)
    found = _library(m.text, cal.today, order)
    return (cal.day(found[0], Origin.STATED), None) if found else None


def _day_range(m: Words, cal: Calendar) -> Reading | None:
    """ "June 1-5", "1 to 5 June 2024"."""
    first, last, month = m.number("d"), m.number("e"), _month_index(m.lower("m")) + 1
    if last <= first:
        return None
    if m["y"]:
        year = m.number("y")
        return joined(DateUnit.of(year, month, first, zone=cal.zone), DateUnit.of(year, month, last, zone=cal.zone)), None
    around = missing_year(cal, month, first)
    if around is None or around[1] is None:
        return None
    return _longer(around[0], last - first), _longer(around[1], last - first)


def _longer(unit: DateUnit, days: int) -> DateUnit:
    return replace(unit, last=unit.last + timedelta(days=days))


def _bare_month(m: Words, cal: Calendar) -> Reading | None:
    word = m["m"] or ""
    if word.lower().rstrip(".") in ("may", "march", "mar", "dec", "sep", "jan", "jun") and not word[0].isupper():
        return None
    index = _month_index(word)
    past = cal.this_month - (cal.this_month - index) % 12
    match m.lower("how").strip(" -"):
        case "next":
            return cal.month(past + 12), None
        case "last":
            return cal.month(past if past < cal.this_month else past - 12), None
        case "this":
            return cal.month(cal.today.year * 12 + index), None
        case _:
            return cal.month(past), cal.month(past if past == cal.this_month else past + 12)


def _weekday(m: Words, cal: Calendar) -> Reading | None:
    word, how = m["u"] or "", m.lower("how")
    if not how and len(word) <= 4 and not word[0].isupper():
        return None
    step = cal.weekday(word)
    match how:
        case "last" | "past" | "previous":
            return cal.weekday_at(step if step < 0 else step - 7), None
        case "next" | "following":
            return cal.weekday_at(step + 7), None
        case "this" | "coming" | "upcoming":
            return cal.weekday_at(step if how == "this" else step % 7 or 7), cal.weekday_at(step % 7)
        case _:
            return cal.weekday_at(step if step <= 0 else step - 7), cal.weekday_at(step % 7 or 7)


def _weekday_of_week(m: Words, cal: Calendar) -> Reading | None:
    """ "Monday next week", "next week Monday"."""
    return cal.weekday_at(cal.weekday(m["u"] or "") + {"last": -7, "this": 0, "next": 7}[m.lower("how")]), None


def _shifted(unit: str, by: int, cal: Calendar) -> DateUnit:
    monday = cal.today - timedelta(days=cal.today.weekday())
    match unit:
        case "day" | "night":
            return cal.day(cal.today + timedelta(days=by))
        case "week":
            return cal.days(monday + timedelta(days=7 * by), 7)
        case "weekend":
            return cal.days(monday + timedelta(days=7 * by + 5), 2)
        case "month":
            return cal.month(cal.this_month + by)
        case "quarter":
            return cal.months((cal.this_month // 3 + by) * 3, 3)
        case _:
            return cal.year(cal.today.year + by)


def _neighbour(m: Words, cal: Calendar) -> Reading | None:
    """ "last week", "this month", "next summer", "the past weekend"."""
    how, unit = (m.lower("how") or "this").split()[-1], m.lower("u")
    by = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0}.get(how, 1)
    if unit in _SEASONS:
        return _season(unit, by, cal), None
    if unit == "weekend" and how in ("coming", "upcoming"):
        by = 0
    return _shifted(unit, by, cal), None


def _season(name: str, by: int, cal: Calendar) -> DateUnit:
    """The season of this year (0), the last one that is over (-1), or the next to begin (1)."""
    first = cal.today.year * 12 + _SEASONS[name] - 1
    if by == 0:
        return cal.months(first - 12 if name == "winter" and cal.today.month < 3 else first, 3)
    if by < 0:
        return cal.months(first if first + 3 <= cal.this_month else first - 12, 3)
    return cal.months(first if first > cal.this_month else first + 12, 3)


def _season_of_year(m: Words, cal: Calendar) -> Reading | None:
    return cal.months(m.number("y") * 12 + _SEASONS[m.lower("u")] - 1, 3, Origin.STATED), None


def _bare_season(m: Words, cal: Calendar) -> Reading | None:
    this = cal.today.year * 12 + _SEASONS[m.lower("u")] - 1
    past = this if this <= cal.this_month else this - 12
    # In its last month "in the spring" of a plan is the next one.
    return cal.months(past, 3), cal.months(past if past + 2 > cal.this_month else past + 12, 3)


def _distance(m: Words, cal: Calendar) -> Reading | None:
    """ "three weeks ago", "in two days", "5 years from now", "two weekends ago"."""
    unit, count = m.lower("u").rstrip("s"), _count(m.lower("n"))
    ahead = m["in"] is not None or m.lower("dir") in ("from now", "later")
    if unit in ("weekend", "night"):
        back = count - 1 if unit == "weekend" and cal.today.weekday() == 6 else count
        return _shifted(unit, count if ahead else -back, cal), None
    found = _library(f"in {count} {unit}s" if ahead else f"{count} {unit}s ago", cal.today)
    return (_sized(found[0], unit, cal, Origin.RESOLVED), None) if found and 1000 <= found[0].year < 9000 else None


def _named_day(m: Words, cal: Calendar) -> Reading | None:
    words = m.text.lower()
    name = next((n for n in ("day before yesterday", "day after tomorrow", "yesterday", "tomorrow", "last night") if n in words), "today")
    found = _library("yesterday" if name == "last night" else name, cal.today)
    return (cal.day(found[0]), None) if found else None


def _day_of_month(m: Words, cal: Calendar) -> Reading | None:
    months = range(cal.this_month - 3, cal.this_month + 4)
    return _around(_existing(((n // 12, n % 12 + 1, m.number("d")) for n in months), cal), cal.day(cal.today))


def _years(m: Words, cal: Calendar) -> Reading | None:
    """A year or a decade."""
    first = m.number("y")
    if m["decade"]:
        first += 0 if first > 99 else 1900
        return joined(cal.year(first, Origin.STATED), cal.year(first + 9, Origin.STATED)), None
    return cal.year(first, Origin.STATED), None


def _quarter(m: Words, cal: Calendar) -> Reading | None:
    number = m.number("q") - 1
    if m["y"]:
        return cal.months(m.number("y") * 12 + number * 3, 3, Origin.STATED), None
    this = cal.today.year * 12 + number * 3
    return cal.months(this if this <= cal.this_month else this - 12, 3), cal.months(this if this + 3 > cal.this_month else this + 12, 3)


def _holiday(m: Words, cal: Calendar) -> Reading | None:
    month, day = _HOLIDAYS[m.lower("h").replace("’", "'")]
    if m["y"]:
        return cal.day(date(m.number("y"), month, day), Origin.STATED), None
    around = missing_year(cal, month, day)
    if around is None or around[1] is None or not m["how"]:
        return around
    return (around[0] if m.lower("how") == "last" else around[1]), None


def _written_out(m: Words, cal: Calendar) -> Reading | None:
    found = read_iso(m.text, cal.zone, Origin.STATED)
    return (found, None) if found else None


def _year_month_day(m: Words, cal: Calendar) -> Reading | None:
    """The Chinese and Japanese way to write a date."""
    return DateUnit.of(m.number("y"), m.number("m"), m.number("d") if m["d"] else None, zone=cal.zone), None


def _other_day(m: Words, cal: Calendar) -> Reading | None:
    return cal.days(cal.today - timedelta(days=7), 7), None


_BEFORE = r"\b(?:in|since|until|till|by|from|before|after|during|of|to|through|and|year|between|around|about|back in)[ ]"
_COUNTED = r"people|items|users|tokens|words|lines|ms|km|dollars|calories|steps|points|times|more|messages|records|rows|requests|kg|m"
_PART = r"(?:(?:early|mid|late)[ -])?"

# A pattern's group `x` is the span it finds, where that is not the whole match; earlier rules win over later ones.
RULES: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"(?<![\d-])\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z\b|[+-]\d\d:?\d\d)?)?)?(?![\d-])", _written_out),
        (r"(?P<y>\d{4})年(?P<m>\d{1,2})月(?:(?P<d>\d{1,2})[日号號])?", _year_month_day),
        (rf"\b(?:the )?(?P<unit>week|weekend) of (?:the )?(?P<m>{_MON}) (?P<d>{_NTH})\b(?:{_TO_YEAR}(?P<y>{_YEAR})\b)?", _week_of),
        (rf"\b(?:the )?(?P<unit>week|weekend) of (?:the )?(?P<d>{_NTH}) (?:of )?(?P<m>{_MON})(?:{_TO_YEAR}(?P<y>{_YEAR})\b)?", _week_of),
        (rf"\b(?P<m>{_MON}) (?P<d>{_NTH}) ?(?:-|–|to) ?(?P<e>{_NTH})\b(?!\d|:)(?:{_TO_YEAR}(?P<y>{_YEAR})\b)?", _day_range),
        (rf"\b(?P<d>{_NTH}) ?(?:-|–|to) ?(?P<e>{_NTH}) (?:of )?(?P<m>{_MON})(?:{_TO_YEAR}(?P<y>{_YEAR})\b)?", _day_range),
        (rf"\b(?:{_DAY},? )?(?:the )?(?P<d>{_NTH})(?: day)?(?: of |-| )?(?P<m>{_MON})(?:{_TO_YEAR}(?P<y>{_YEAR})\b)?", _absolute),
        (rf"\b(?:{_DAY},? )?(?P<m>{_MON})[ -](?:the )?(?P<d>{_NTH})\b(?!:\d)(?:{_TO_YEAR}(?P<y>{_YEAR})\b)?", _absolute),
        (rf"\b(?P<m>{_MON})(?:,| of|-)? ?(?P<y>{_YEAR})\b", _absolute),
        (rf"(?<![\d/.-])(?P<a>\d{{1,2}})(?P<s>[/.-])(?P<b>\d{{1,2}})(?P=s)(?P<y>{_YEAR})(?![\d/])", _numeric),
        (r"\b(?:on|by|until|since|due|before) (?P<x>(?P<a>1[0-2]|0?[1-9])/(?P<b>3[01]|[12]\d|0?[1-9]))(?![\d/%])", _numeric),
        (rf"\b(?P<u>{_DAY})(?: (?:morning|afternoon|evening|night))?,? (?:of )?(?P<how>last|this|next) week\b", _weekday_of_week),
        (rf"\b(?P<how>last|this|next) week,? (?:on )?(?P<u>{_DAY})", _weekday_of_week),
        (rf"\b(?P<h>{_HOLIDAY}),? (?:of |in )?(?P<y>{_YEAR})\b", _holiday),
        (
            rf"\b(?:(?P<how>last|next|this) )?(?P<h>{_HOLIDAY})\b(?= ?[.,!?;]|$| in\b| and\b)",
            _holiday,
        ),
        (r"\b(?:the )?day (?:before yesterday|after tomorrow)\b", _named_day),
        (
            r"\b(?:yesterday|tomorrow|(?:(?:earlier|later) )?today|tonight|last night|(?:earlier )?this (?:morning|afternoon|evening))\b",
            _named_day,
        ),
        (rf"\b(?P<how>last|next|this|past|previous|coming|upcoming|following) (?P<u>{_DAY})", _weekday),
        (r"\b(?:the )?end of (?:the |(?P<how>this|next|last) )?(?P<u>week|month|quarter|year)\b", _neighbour),
        (
            rf"\b(?P<how>(?:this )?(?:last|past|previous|coming|upcoming|following)|next|this|current) "
            rf"(?P<u>week(?:end)?|month|year|quarter|{_SEASON})\b(?!-)",
            _neighbour,
        ),
        (rf"\b(?P<in>in|within) (?:about |around )?(?P<n>{_NUM}) (?P<u>(?:day|week|month|year)s?)\b(?!['’ ]?(?: of| time)\b)", _distance),
        (
            rf"\b(?:about |around |over )?(?P<n>{_NUM}) (?P<u>(?:day|night|week|weekend|month|year)s?) "
            r"(?P<dir>ago|back|earlier|from now|later)\b",
            _distance,
        ),
        (
            rf"\bfor (?:(?:about|around|over|almost|nearly|the last|the past) )*(?P<x>(?P<n>{_NUM}) (?P<u>years?|months?|weeks?))\b",
            _distance,
        ),
        (r"\bthe other (?:day|night|week)\b", _other_day),
        (rf"\b(?P<u>{_SEASON})(?:,? of|,| in)? (?P<y>{_YEAR})\b", _season_of_year),
        (rf"\bQ(?P<q>[1-4])(?:[ /-](?P<y>{_YEAR}))?\b", _quarter),
        (rf"\b(?P<y>{_YEAR})[ -/]?Q(?P<q>[1-4])\b", _quarter),
        (rf"{_BEFORE}(?P<x>(?P<how>(?:early|mid|late|last|next|this)[ -])?(?P<m>{_MON}))", _bare_month),
        (rf"\b(?P<how>last|next|early|mid|late|this)[ -](?P<m>{_MON})", _bare_month),
        (rf"\b(?:in|since) (?:the )?(?P<x>(?P<u>{_SEASON}))\b(?! of| love)", _bare_season),
        (rf"\b(?P<u>{_DAY})", _weekday),
        (rf"\b(?P<m>{_MON})(?= ?(?:to|through|until|–|-) ?{_MON})", _bare_month),
        (rf"(?<![\d.,-])(?P<y>{_YEAR})(?= ?(?:-|–|to) ?{_YEAR}\b(?! ?[%\d-]))", _years),
        (rf"(?<![\d.,-]){_YEAR} ?(?:-|–|to) ?(?P<x>(?P<y>{_YEAR}))\b(?! ?[%\d-])", _years),
        (rf"\b(?:early|mid|late)[ -](?P<y>{_YEAR})\b", _years),
        (rf"(?:{_BEFORE}|\()(?:the )?(?P<x>{_PART}(?P<y>{_YEAR}))\b(?![%:]|[.,]\d| ?(?:{_COUNTED})\b)", _years),
        (rf"\bthe (?P<x>{_PART}['’]?(?P<y>(?:1[5-9]|20)\d0|[2-9]0)(?P<decade>['’]?s))\b", _years),
        (
            r"\b(?:on|by|since|until) the (?P<x>(?P<d>\d{1,2})(?:st|nd|rd|th))\b"
            r"(?! (?:\w+ )?(?:floor|street|century|birthday|anniversary|place))",
            _day_of_month,
        ),
    )
)


_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_ISO_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?\s?(?:Z|[+-]\d{2}(?::?\d{2})?)?", re.IGNORECASE)


def read_iso(text: str, zone: tzinfo, origin: Origin) -> DateUnit | None:
    """A year, month, day or instant as ISO 8601 writes them; an instant without an offset is read in `zone`."""
    try:
        if parts := _ISO.fullmatch(text):
            year, month, day = (int(p) if p else None for p in parts.groups())
            return DateUnit.of(year or 0, month, day, zone=zone, origin=origin)
        if _ISO_INSTANT.fullmatch(text):
            moment = datetime.fromisoformat(text.replace(",", "."))
            return DateUnit.at(moment if moment.tzinfo else moment.replace(tzinfo=zone), origin)
    except (ValueError, OverflowError):
        return None
    return None
