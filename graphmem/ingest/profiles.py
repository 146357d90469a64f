"""What a model has written about an entity: kept as the answer to a question about facts, so it is shown while just those hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphmem.ingest import answers
from graphmem.interval import FIRST
from graphmem.llm.base import Ask
from graphmem.model import AsOf, EntityVersion, FactMatch, FactVersion
from graphmem.search.tokens import count_tokens
from graphmem.stores.ahead import ahead
from graphmem.stores.base import Reader

PROMPT = "profile"
VERSION = 1
FEWEST = 4
"""Facts that an entity needs for a profile: what fewer say is soon read."""

_MOST = 40
_TOKENS = 1_500
_LONGEST = 1_000


def profile_ask(entity: EntityVersion, facts: Sequence[FactVersion], count: Callable[[str], int] = count_tokens) -> Ask | None:
    """The question for a profile of `entity` from facts that hold: the newest that fit, oldest first. None for fewer than `FEWEST`.

    It depends on what the facts say, not on when they were recorded: the same beliefs give the same question.
    """
    if len(facts) < FEWEST:
        return None
    newest = sorted(facts, key=lambda f: (f.valid.start or FIRST, f.text))
    chosen: list[FactVersion] = []
    left = _TOKENS
    for fact in reversed(newest):
        left -= count(fact.text) + 8
        if left < 0 or len(chosen) == _MOST:
            break
        chosen.append(fact)
    rows = [
        {"id": f"f{n}", "text": fact.text, "from": fact.start.shown(fact.valid.start) or None} for n, fact in enumerate(reversed(chosen), 1)
    ]
    return Ask(PROMPT, VERSION, {"name": entity.name, "type": entity.type, "facts": rows})


def profile_text(value: object, ask: Ask) -> str | None:
    """The profile in an answer, on one line; None where there is none, or it cites nothing that was asked about."""
    text = answers.first(value, lambda row: _read(row, ask.payload))
    return text if isinstance(text, str) else None


def _read(row: object, payload: Mapping[str, object]) -> str | None:
    if not isinstance(row, Mapping):
        return None
    text, cites = answers.field(row, ("profile", "summary", "text")), answers.field(row, ("cites", "citations", "facts"), [])
    facts = payload["facts"]
    assert isinstance(facts, list)
    offered = {fact["id"] for fact in facts}
    cited = {c.strip() for c in cites if isinstance(c, str)} if isinstance(cites, list) else set()
    if not isinstance(text, str) or not cited & offered:
        return None
    line = " ".join(text.split())
    return line[:_LONGEST] or None


def facts_of(reader: Reader, groups: Sequence[str], entities: Sequence[EntityVersion], at: AsOf) -> dict[str, list[FactVersion]]:
    """Entity → its facts that hold at the point, oldest first."""
    holding: dict[str, list[FactVersion]] = {e.id: [] for e in entities}
    for fact in reader.facts(groups, at, FactMatch(entities=tuple(holding))) if holding else ():
        for end in {fact.source, fact.target} & holding.keys():
            holding[end].append(fact)
    return holding


def kept_profiles(reader: Reader, asks: Sequence[Ask]) -> dict[str, tuple[object, Mapping[str, object]]]:
    """What was answered to these questions, with the note beside it, by the question's key."""
    if (told := ahead(reader)) is not None:
        told.expect_answers([ask.key for ask in asks])
    return {ask.key: kept for ask in asks if (kept := reader.answer(ask.key)) is not None}


def written_profiles(reader: Reader, facts: Mapping[str, Sequence[FactVersion]], entities: Sequence[EntityVersion]) -> dict[str, str]:
    """Entity → the profile written from exactly these `facts` of it, where there is one."""
    asks = {e.id: ask for e in entities if (ask := profile_ask(e, facts[e.id])) is not None}
    kept = kept_profiles(reader, list(asks.values()))
    return {i: text for i, ask in asks.items() if ask.key in kept and (text := profile_text(kept[ask.key][0], ask)) is not None}


def has_profiles(reader: Reader, group: str) -> bool:
    """Whether any was ever written in the group."""
    return reader.meta(marker(group)) is not None


def marker(group: str) -> str:
    """The setting that says so, and up to which instant all of them are written."""
    return f"profiles:{group}"


def looked_at(group: str) -> str:
    """The setting that says up to which instant pairs and contradictions were looked for."""
    return f"consolidated:{group}"


def idle_settings(group: str) -> tuple[str, ...]:
    """What a memory that holds the same answers knows of the work in idle time."""
    return (marker(group), looked_at(group))
