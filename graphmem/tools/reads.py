"""The tools that read: one method of the view each, and its result made small."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.errors import InvalidInput, NotFound
from graphmem.memory import Memory
from graphmem.search.hits import Filters
from graphmem.tools import arguments as a
from graphmem.tools import compact
from graphmem.tools.compact import Json
from graphmem.view import View


def at(memory: Memory, given: a.Read) -> View:
    """The memory at the point asked for; errors name the arguments of the tool."""
    if given.as_of_valid is None and given.as_of_system is None:
        return memory
    try:
        return memory.as_of(valid=given.as_of_valid, system=given.as_of_system)
    except InvalidInput as error:
        raise InvalidInput(f"as_of_{error.argument}", error.value, error.allowed) from None


def search(memory: Memory, given: a.Search) -> Json:
    filters = Filters(types=_some(given.type), relations=_some(given.relation), sessions=_some(given.session), actors=_some(given.actor))
    found = at(memory, given).search(
        given.query, limit=given.limit, depth=given.depth, kinds=given.kinds, filters=filters, history=given.history
    )
    return compact.listed("hits", map(compact.hit, found), given.limit)


def context(memory: Memory, given: a.Context) -> Json:
    filters = Filters(sessions=_some(given.session), actors=_some(given.actor))
    if given.scope == "global" and (narrowed := given.session or given.actor) is not None:
        name = "session" if given.session is not None else "actor"
        raise InvalidInput(name, narrowed, 'is for scope "local"; topics are of the whole memory')
    made = at(memory, given).context(given.query, max_tokens=given.max_tokens, filters=filters, scope=given.scope, tiers=given.tiers)
    return {"text": compact.cut(made.text, compact.RESULT), "tokens": made.tokens, "citations": dict(made.citations)}


def entity(memory: Memory, given: a.Entity) -> Json:
    found = at(memory, given).entity(given.name)
    facts = found.facts(history=given.history, limit=given.limit + 1)
    return {**compact.entity(found.item), **compact.listed("facts", map(compact.fact, facts), given.limit)}


def facts(memory: Memory, given: a.Facts) -> Json:
    found = at(memory, given).facts(
        given.entity,
        relation=given.relation,
        source=given.source,
        target=given.target,
        history=given.history,
        limit=given.limit + 1,
    )
    return compact.listed("facts", map(compact.fact, found), given.limit)


def timeline(memory: Memory, given: a.Timeline) -> Json:
    entries = list(at(memory, given).timeline(given.entity, relation=given.relation))
    if given.newest_first:
        entries.reverse()
    return compact.listed("events", map(compact.event, entries), given.limit)


def neighbours(memory: Memory, given: a.Neighbours) -> Json:
    found = at(memory, given).neighbours(given.entity, hops=given.hops, limit=given.limit + 1)
    return compact.listed("entities", map(compact.entity, found), given.limit)


def communities(memory: Memory, given: a.Communities) -> Json:
    view = at(memory, given)
    if given.entity is not None:
        return compact.listed("communities", [compact.community(view.community_of(given.entity, level=given.level))], given.limit)
    found = view.communities(level=given.level, limit=given.limit + 1)
    return compact.listed("communities", map(compact.community, found), given.limit)


def episodes(memory: Memory, given: a.Episodes) -> Json:
    found = at(memory, given).episodes(
        entity=given.entity,
        session=given.session,
        actor=given.actor,
        source=given.source,
        since=given.since,
        until=given.until,
        newest_first=not given.oldest_first,
        limit=given.limit + 1,
    )
    return compact.listed("episodes", map(compact.episode, found), given.limit)


def episode(memory: Memory, given: a.OneEpisode) -> Json:
    found = at(memory, given).episode(given.id)
    if given.offset and given.offset >= len(found.text):
        raise InvalidInput("offset", given.offset, f"must be under {len(found.text)}, the length of this episode")
    return compact.episode(found, compact.WHOLE, given.offset)


def explain(memory: Memory, given: a.Explain) -> Json:
    try:
        told = at(memory, given).explain(given.item, given.query)
    except NotFound as error:
        raise _nothing(given.item) from error  # the names of other groups are nobody's business here
    return {"found": told.kind, "id": told.id, **compact.filled(rank=told.rank), "current": told.standing.current, **_lines(told.lines())}


def why_not(memory: Memory, given: a.WhyNot) -> Json:
    filters = Filters(relations=_some(given.relation))
    told = at(memory, given).why_not(given.query, given.item, limit=given.limit, history=given.history, filters=filters)
    if told.reason in ("unknown", "other_group"):
        raise _nothing(given.item)
    return {"found": told.found, "reason": told.reason, **compact.filled(id=told.id, rank=told.rank), **_lines(told.lines())}


def diff(memory: Memory, given: a.Diff) -> Json:
    points = (given.since, given.until)
    system, valid = (points, given.as_of_valid) if given.axis == "system" else (given.as_of_system, points)
    found = at(memory, given).diff(system=system, valid=valid, entity=given.entity, relation=given.relation, session=given.session)
    facts = found.where(lambda line: line.item == "fact")
    return {"counts": facts.counts(), **compact.listed("changes", map(compact.change, facts), given.limit)}


def why(memory: Memory, given: a.Why) -> Json:
    told = at(memory, given).why(given.fact)
    said = compact.listed("evidence", map(compact.evidence, told.evidence), a.MOST_ITEMS)
    changes = compact.listed("changes", map(compact.change, told.changes), a.MOST_ITEMS)
    return {**compact.fact(told.fact), **said, "changes": changes["changes"]}


def _nothing(item: str) -> NotFound:
    return NotFound(f"nothing has the id or name {compact.cut(item)!r}; search shows what there is")


def _lines(lines: Sequence[tuple[str, str]]) -> Json:
    return compact.listed("told", ({"what": what, "says": compact.cut(says, compact.SENTENCE)} for what, says in lines), a.MOST_ROWS)


def stats(memory: Memory, given: a.Stats) -> Json:
    view = at(memory, given)
    if view is not memory:
        return dict(view.counts())
    counted = memory.stats()
    # The names of other groups are nobody's business here.
    return {k: counted[k] for k in ("episodes", "entities", "facts", "mentions", "versions", "last_instant", "group", "embedder")}


def _some(given: str | None) -> tuple[str, ...] | None:
    return (given,) if given is not None else None
