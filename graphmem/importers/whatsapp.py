"""WhatsApp's text export of one chat, from iOS and Android, in the date formats of many countries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import PurePosixPath

from graphmem.errors import InvalidInput
from graphmem.importers.dayfirst import Date, Days, days_of
from graphmem.importers.items import Conversation, Item, Options, key_of, shows
from graphmem.importers.tree import Tree
from graphmem.names import clean
from graphmem.runtime import digest

MAX_CHARACTERS = 1 << 29
MAX_NAME = 100
_LEAD = "[\u200e\u200f\ufeff]*"
_GAP = "[ \u00a0\u202f]"
_DATE = r"(?P<first>\d{1,4})(?P<mark>[./-]) ?(?P<middle>\d{1,2})(?P=mark) ?(?P<last>\d{1,4})\.?"
_BETWEEN = rf",?{_GAP}(?:(?:klo|um|kl\.?|at|às) )?"
_HALF_BEFORE = f"(?:(?P<before>上午|凌晨|早上|下午|晚上|오전|오후|午前|午後){_GAP}?)?"
_HALF_AFTER = rf"(?:{_GAP}?(?P<after>[AaPp]\.?{_GAP}?[Mm]\.?|ص|م))?"
_TIME = rf"{_HALF_BEFORE}(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?{_HALF_AFTER}"
_IOS = re.compile(rf"{_LEAD}\[{_DATE}{_BETWEEN}{_TIME}\] ?(?P<rest>.*)", re.DOTALL)
_ANDROID = re.compile(rf"{_LEAD}{_DATE}{_BETWEEN}{_TIME} [-–] (?P<rest>.*)", re.DOTALL)
_LATE = ("p", "P", "م", "下午", "晚上", "오후", "午後")
_QUOTES = '"“”„«»'
_MARKS = "\u200e\u200f\u202a\u202c\ufeff"

_ISOLATES = re.compile("[\u2068\u2069]")
"""What stands around the name of a person who is mentioned."""
_EDITED = re.compile(r"\u200e?<[^<>\n]{0,40}(?:edited|bearbeitet|editó|editado|editada|modifié|modificato|bewerkt)[^<>\n]{0,40}>$")
_OMITTED = re.compile(
    r"\u200e(?:<[^<>\n]{1,200}>|[^\u200e\n]{1,60} (?:omitted|weggelassen|omitid[ao]|omise?|ocultad?[ao]|omess[ao]|weggelaten))$"
)
_ATTACHED = re.compile(r"^\u200e?[^\n]{1,200}\.\w{2,5} \([^()\n]{3,60}\)(?:\n|$)")
_PLACEHOLDER = re.compile(r"^\u200e?<[^<>\n]{1,40}[^!-~][^<>\n]{0,40}>$|^null$")
"""`<Media omitted>` in any language, and not `<html>`."""
_DELETED = re.compile(
    r"^\u200e?(?:This message was deleted(?: by admin [^\n]{1,100})?|You deleted this message"
    r"|Diese Nachricht wurde gelöscht|Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje"
    r"|Ce message a été supprimé|Vous avez supprimé ce message|Mensagem apagada|Essa mensagem foi apagada"
    r"|Questo messaggio è stato eliminato|Hai eliminato questo messaggio)\.?$"
)
_LOG = re.compile(r"\d{4}-\d\d-\d\d[ T]")
"""How lines of logs and diaries begin, and of no chat that is known."""
_FILE_NAME = re.compile(
    r"^WhatsApp[ -]+Chat[ -]+(?:with |mit )?|^(?:Chat de |Conversa do )WhatsApp (?:con |com )?|^Discussion WhatsApp avec "
)
_COPY = re.compile(r" ?\(\d{1,3}\)$")


@dataclass(slots=True)
class Line:
    """A line that begins a message, with what stands below it until the next one."""

    style: str
    date: Date
    time: tuple[int, int, int]
    rest: list[str] = field(default_factory=list)


def items(tree: Tree, names: Sequence[str], options: Options, left_out: Counter[str]) -> Iterator[Item]:
    """The messages of each chat in the order of its file."""
    for name in names:
        yield from _chat(tree, name, options, left_out)


def looks_like_a_chat(head: str) -> bool:
    """Whether a text begins as such an export does: a dated line, and soon one that somebody said."""
    lines = head.split("\n")[:200]
    first = next((n for n, line in enumerate(lines) if shows(line)), None)
    if first is None or _LOG.match(lines[first]) or _begun(lines[first], 1, None) is None:
        return False
    begun = (_begun(line, 1, None) for line in lines[first:])
    return any(line is not None and ": " in line.rest[0] for line in begun)


def _chat(tree: Tree, name: str, options: Options, left_out: Counter[str]) -> Iterator[Item]:
    place = tree.place(name)
    lines, early = _lines(tree.text(name), place)
    left_out["lines before the first message"] += early
    if not lines:
        allowed = "no line begins as WhatsApp's do, for instance '[31/12/23, 22:00:00] Name: text'; name another --format"
        raise InvalidInput(place, None, allowed)
    days = days_of([line.date for line in lines], place, options.dayfirst)
    chat = _chat_name(tree, name)
    shared = Conversation(chat, f"whatsapp/{chat}")
    before: Counter[str] = Counter()
    for line in lines:
        at = _moment(line, days, options.zone, place)
        reason, actor, text = _read(line)
        if reason is not None:
            left_out[reason] += 1
            continue
        mark = digest(chat, at.replace(tzinfo=None).isoformat(), actor, text).hex()[:24]
        key = key_of("whatsapp", f"{mark}-{before[mark]}")
        before[mark] += 1
        yield shared.message(f"{place}:{line.date.line}", actor, text, at, key)


def _lines(pieces: Iterable[str], place: str) -> tuple[list[Line], int]:
    """The messages, and how many lines stand before the first; all are of the style of the first."""
    found: list[Line] = []
    early = 0
    for number, text in enumerate(_split(pieces, place), start=1):
        begun = _begun(text, number, found[0].style if found else None)
        if begun is not None:
            found.append(begun)
        elif found:
            found[-1].rest.append(text)
        elif shows(text):
            early += 1
    return found, early


def _split(pieces: Iterable[str], place: str) -> Iterator[str]:
    """The lines, without what ends them."""
    read, waiting = 0, list[str]()
    for piece in pieces:
        read += len(piece)
        if read > MAX_CHARACTERS:
            raise InvalidInput(place, read, f"a chat may have {MAX_CHARACTERS} characters; cut the file in parts")
        first, *others = piece.split("\n")
        waiting.append(first)
        for other in others:
            yield "".join(waiting).removesuffix("\r")
            waiting = [other]
    yield "".join(waiting).removesuffix("\r")


def _begun(text: str, number: int, style: str | None) -> Line | None:
    """The message that begins with this line, if one does: with a date and a time that can be."""
    for name, pattern in (("ios", _IOS), ("android", _ANDROID)):
        match = pattern.match(text) if style in (None, name) else None
        if match is not None:
            first, middle, last = int(match["first"]), int(match["middle"]), int(match["last"])
            time = _time(match)
            if time is None or not (first and middle and last) or 3 in (len(match["first"]), len(match["last"])):
                return None
            date = Date(number, text[match.start("first") : match.end("last")], first, middle, last, match["mark"] == ".")
            return Line(name, date, time, [match["rest"]])
    return None


def _time(match: re.Match[str]) -> tuple[int, int, int] | None:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    half = match["before"] or match["after"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith(_LATE) else 0)
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _moment(line: Line, days: Days, zone: tzinfo, place: str) -> datetime:
    try:
        return datetime(*days.of(line.date), *line.time, tzinfo=zone)
    except ValueError:
        allowed = f"no such day where dates are {days.order}"
        raise InvalidInput(f"{place}:{line.date.line}", line.date.text, allowed) from None


def _read(line: Line) -> tuple[str | None, str, str]:
    """Why a message is left out, or None; who said it; what."""
    who, colon, first = line.rest[0].partition(": ")
    if not colon and who.rstrip(" ").endswith(":"):
        who, colon = who.rstrip(" ")[:-1], ":"
    actor = clean(who.strip(_MARKS)).lstrip("~ ")
    # "Mira changed the subject to "Trip: Porto"" has its colon inside quotes; a nickname closes those it opens.
    quoted = sum(actor.count(c) for c in _QUOTES) % 2
    if not colon or not actor or len(actor) > MAX_NAME or quoted:
        return "system lines", "", ""
    text = "\n".join([first, *line.rest[1:]]).strip()
    if _DELETED.match(text):
        return "deleted messages", "", ""
    text = _EDITED.sub("", text).rstrip()
    words = "" if _PLACEHOLDER.match(text) else _ATTACHED.sub("", _OMITTED.sub("", text)).strip()
    if words != text and not shows(words):
        return "media without text", "", ""
    if line.style == "ios" and words.startswith("\u200e"):
        return "system lines", "", ""
    words = _ISOLATES.sub("", words.strip(_MARKS))
    return (None, actor, words) if shows(words) else ("messages without text", "", "")


def _chat_name(tree: Tree, name: str) -> str:
    """The chat as the file is called; where iOS calls it _chat.txt, as the zip or folder around it is."""
    path = PurePosixPath(tree.path.resolve().as_posix())
    whole = path if tree.is_file else path / name
    called = whole.stem
    if called == "_chat":
        called = whole.parent.name.removesuffix(".zip")
    called = _COPY.sub("", called)
    return clean(_FILE_NAME.sub("", called)) or "WhatsApp"
