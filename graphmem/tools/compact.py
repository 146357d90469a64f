"""Results as small JSON values: what is empty is left out, what is long is cut and says so, nothing is larger than promised."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime

from graphmem.community import CommunityItem
from graphmem.history.audit import Evidence
from graphmem.history.lines import Line
from graphmem.results import EntityItem, EpisodeItem, FactItem, Hit, TimelineEntry, WriteResult

RESULT = 40_000
"""The most characters of one result as JSON, some fixed fields apart."""
EXCERPT, SENTENCE, NAME, SUMMARY, WHOLE = 1000, 600, 200, 1500, 20_000
CITED, LISTED, DEEPEST = 10, 20, 3

Json = dict[str, object]


def cut(text: str, most: int = NAME) -> str:
    """`text`, at most that long, with an ellipsis where it was cut; always text that UTF-8 can hold."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def moment(at: datetime | None) -> str | None:
    """An instant in ISO 8601, in UTC."""
    return at.isoformat().replace("+00:00", "Z") if at is not None else None


def filled(**fields: object) -> Json:
    """The fields that say something."""
    return {k: v for k, v in fields.items() if v is not None and v != "" and v != [] and v != {}}


def value(given: object, depth: int = 0) -> object:
    """A JSON value without end: long text cut, long lists and deep levels left out, numbers that JSON lacks as text."""
    match given:
        case None | bool():
            return given
        case int():
            return given if abs(given) < 2**63 else f"{float(given):.6g}" if abs(given) < 2**1000 else "…"
        case float():
            return given if math.isfinite(given) else repr(given)
        case str():
            return cut(given)
        case Mapping() | list() | tuple() if depth >= DEEPEST:
            return "…"
        case Mapping():
            return {cut(str(k)): value(v, depth + 1) for k, v in list(given.items())[:LISTED]}
        case list() | tuple():
            return [value(v, depth + 1) for v in given[:LISTED]]
        case _:
            return cut(str(given))


def size(given: object) -> int:
    """Characters as JSON."""
    return len(json.dumps(given, ensure_ascii=False, separators=(",", ":")))


def listed(name: str, rows: Iterable[Json], most: int, budget: int = RESULT) -> Json:
    """The first rows, as many as asked for and as fit; `more` is there where some were left out."""
    kept: list[Json] = []
    for row in rows:
        budget -= size(row) + 1
        if len(kept) == most or budget < 0:
            return {name: kept, "more": True}
        kept.append(row)
    return {name: kept}


def cited(episodes: tuple[str, ...]) -> Json:
    """Ids of the episodes behind it, and how many there are where these are not all."""
    return filled(episodes=list(episodes[:CITED]), episodes_in_all=len(episodes) if len(episodes) > CITED else None)


def fact(item: FactItem) -> Json:
    """Who, what, to whom, when it holds, since when it is believed, and what says so."""
    return {
        **filled(
            id=item.uuid,
            text=cut(item.text, SENTENCE),
            source=cut(item.source),
            relation=cut(item.relation),
            target=cut(item.target),
            when=item.period,
            valid_at=moment(item.valid_at),
            invalid_at=moment(item.invalid_at),
            created_at=moment(item.created_at),
            expired_at=moment(item.expired_at),
            attributes=value(item.attributes),
        ),
        **cited(item.episodes),
    }


def entity(item: EntityItem) -> Json:
    """What it is, and a summary of what holds."""
    return filled(
        id=item.id,
        name=cut(item.name),
        type=cut(item.type),
        aliases=[cut(a) for a in item.aliases[:LISTED]],
        summary=cut(item.summary, SUMMARY),
        attributes=value(item.attributes),
    )


def community(item: CommunityItem) -> Json:
    """What it is about, and who is in it, the central ones first."""
    return filled(
        id=item.id,
        name=cut(item.name),
        level=item.level,
        size=item.size,
        summary=cut(item.summary, SUMMARY),
        members=[cut(member.name) for member in item.members[:LISTED]],
        computed=item.computed,
    )


def episode(item: EpisodeItem, most: int = EXCERPT, offset: int = 0) -> Json:
    """What was said, who and when; a part of a long text says so and tells where to go on."""
    text = item.text[offset : offset + most]
    end = offset + len(text)
    return filled(
        id=item.id,
        kind=item.episode.kind.value,
        text=cut(text, most),
        actor=cut(item.actor) if item.actor else None,
        session=cut(item.session) if item.session else None,
        source=cut(item.episode.source) if item.episode.source else None,
        reference_time=moment(item.reference_time),
        created_at=moment(item.episode.created_at),
        next_offset=end if end < len(item.text) else None,
        characters=len(item.text) if len(text) < len(item.text) else None,
    )


def hit(found: Hit) -> Json:
    """What was found (a fact, an entity, an episode or a community), as it is shown elsewhere, and what it rests on."""
    match found.item:
        case FactItem():
            shown = fact(found.item)
        case EntityItem():
            shown = {**entity(found.item), **cited(found.episodes)}
        case EpisodeItem():
            shown = episode(found.item)
        case CommunityItem():
            shown = {**community(found.item), **cited(found.episodes)}
    return {"found": found.kind, **shown}


def event(entry: TimelineEntry) -> Json:
    """What began or ended, and when."""
    return {**filled(at=moment(entry.at)), "event": entry.event, "fact": fact(entry.fact)}


def written(result: WriteResult) -> Json:
    """What a write recorded and what it changed."""
    changes = [
        filled(change=c.kind.value, item=c.item, id=c.id, text=cut(c.text, SENTENCE), reason=cut(c.reason, SENTENCE))
        for c in result.changes
    ]
    warnings = [filled(code=w.code, raw=value(w.raw), message=cut(w.message, SENTENCE)) for w in result.warnings]
    return {
        "id": result.id,
        "created": result.created,
        **filled(created_at=moment(result.created_at), counts=result.counts()),
        **listed("changes", changes, 100, RESULT // 2),
        **(listed("warnings", warnings, LISTED, RESULT // 4) if warnings else {}),
    }


def change(line: Line) -> Json:
    """A change: when, what, by which rule, and the words or the act behind it."""
    cause = line.cause
    words = None if cause is None else cut(cause.quote or cause.reason, SENTENCE)
    by = None if cause is None else filled(by=cause.by and cut(cause.by), said_at=moment(cause.said_at), words=words, id=cause.id)
    return {
        "at": moment(line.at),
        "change": line.kind.value,
        "text": cut(line.text, SENTENCE),
        **filled(when=line.when, rule=cut(line.rule, SENTENCE), cause=by, id=cut(line.id)),
    }


def evidence(said: Evidence) -> Json:
    """A statement about a fact: who, when, in which words, and whether it counts."""
    return {
        "said_at": moment(said.said_at),
        "says": said.says,
        "words": cut(said.quote, SENTENCE),
        "state": said.state,
        **filled(
            by=said.by and cut(said.by), dates=said.dates, decisions=[cut(d, SENTENCE) for d in said.decisions[:CITED]], id=said.episode
        ),
    }
