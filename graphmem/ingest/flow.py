"""Ingest as generators: what to ask about an episode, and the draft of what it says. No clock, no network, no writing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from graphmem.embed.base import Embedder
from graphmem.ingest.before import Before
from graphmem.ingest.extract import extract_text
from graphmem.ingest.found import Extraction, Flow, FoundEntity, FoundFact, Options
from graphmem.ingest.json_facts import extract_json
from graphmem.ingest.judge import judge_flow
from graphmem.ingest.kinds import fits
from graphmem.ingest.members import told_of
from graphmem.ingest.reading import RELATED
from graphmem.ingest.resolve import Resolution, identified, resolve_flow
from graphmem.ingest.rows import read_rows
from graphmem.ingest.typed import conformed
from graphmem.model import Assertion, Episode, EpisodeKind, Mention, Span, Warn
from graphmem.ontology import Ontology, relation_key
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.runtime import content_id
from graphmem.stores.base import Reader

__all__ = ["Draft", "Extraction", "Flow", "FoundEntity", "FoundFact", "Options", "decide_flow", "extract_flow"]


@dataclass(frozen=True, slots=True)
class Draft:
    """What an episode is going to add to the log. `reasons` says why, by assertion id and entity id."""

    assertions: tuple[Assertion, ...] = ()
    mentions: tuple[Mention, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    search_text: tuple[str, ...] = ()
    warnings: tuple[Warn, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


def extract_flow(
    episode: Episode, memory: Before, options: Options, pending: Sequence[Episode] = (), ontology: Ontology = DEFAULT_ONTOLOGY
) -> Flow[Extraction]:
    """What the episode says. Messages and texts yield one list of asks, a piece each, and at most one more ask to repair an
    answer that cannot be read; JSON and rows of facts are read by rule. `ontology` goes with the question.

    Raises `InvalidInput` for JSON or rows that cannot be read, before any ask.
    """
    match episode.kind:
        case EpisodeKind.JSON:
            return extract_json(episode)
        case EpisodeKind.FACTS:
            return read_rows(json.loads(episode.body), episode)
        case _:
            return (yield from extract_text(episode, memory, options, pending, ontology))


def decide_flow(
    episode: Episode, extraction: Extraction, reader: Reader, ontology: Ontology, options: Options, embedder: Embedder | None
) -> Flow[Draft]:
    """Which entities the episode means and what its claims repeat or contradict, against what `reader` shows.

    Yields at most two lists of asks, "resolve" and "judge", and none that the model has no opinion on. The same snapshot and
    answers give the same asks and draft. Without an `embedder` no candidates are sought by vector.
    """
    extraction = conformed(extraction, ontology, options.attribute_length)
    resolution = yield from resolve_flow(episode, extraction, reader, options, embedder, ontology)
    warnings = [*extraction.warnings, *resolution.warnings]
    assertions = _assertions(episode, extraction, resolution, ontology, warnings)
    shown = {entity: known.name for entity, known in resolution.known.items()}
    for entity, found in zip(resolution.ids, extraction.entities, strict=True):
        shown.setdefault(entity, found.name)
    judged = yield from judge_flow(episode, assertions, shown, reader, ontology, options)
    reasons = {**dict(zip(resolution.ids, resolution.reasons, strict=True)), **judged.reasons}
    own = told_of(reader, episode.group, extraction.entities, resolution.ids, resolution.known)
    return Draft(
        tuple(_under(a, extraction, resolution.ids, own) for a in judged.assertions) if own != resolution.ids else judged.assertions,
        _mentions(episode, extraction, replace(resolution, ids=own)),
        resolution.links,
        extraction.clauses,
        (*warnings, *judged.warnings),
        reasons,
    )


def _under(assertion: Assertion, extraction: Extraction, ids: tuple[str, ...], own: tuple[str, ...]) -> Assertion:
    """The claim under the ids to record: an end is that of the found entity which the text names, where that is still meant."""
    fact = extraction.facts[assertion.position]
    source = own[fact.source] if assertion.source == ids[fact.source] else assertion.source
    target = own[fact.target] if assertion.target == ids[fact.target] else assertion.target
    return replace(assertion, source=source, target=target)


def _assertions(
    episode: Episode, extraction: Extraction, resolution: Resolution, ontology: Ontology, warnings: list[Warn]
) -> list[Assertion]:
    """The claims over resolved entities, in the order of the text; repeats within the episode once."""
    linked = {frozenset(pair) for pair in resolution.links}
    out: list[Assertion] = []
    seen: set[tuple[object, ...]] = set()
    for position, fact in enumerate(extraction.facts):
        source, target = resolution.ids[fact.source], resolution.ids[fact.target]
        if source == target or frozenset((source, target)) in linked:
            warnings.append(Warn("self_loop", fact.text, "both ends are one entity; dropped"))
            continue
        relation = relation_key(fact.relation) or RELATED
        said = (relation, source, target, fact.text, fact.kind, fact.start, fact.end, fact.still)
        if said in seen:
            continue
        seen.add(said)
        _check_types(relation, extraction.entities[fact.source], extraction.entities[fact.target], ontology, warnings)
        out.append(
            Assertion(
                content_id("as", episode.id, position),
                episode.id,
                position,
                source,
                relation,
                target,
                fact.text,
                fact.kind,
                fact.start,
                fact.end,
                fact.still,
                span=fact.span,
                attributes=fact.attributes,
            )
        )
    return out


def _check_types(relation: str, source: FoundEntity, target: FoundEntity, ontology: Ontology, warnings: list[Warn]) -> None:
    """A fact whose ends do not have the types that its relation declares is kept as said, and told."""
    declared = ontology.relation(relation)
    sources, targets = declared.source_types, declared.target_types
    if not (fits(source.type, sources, ontology) and fits(target.type, targets, ontology)):
        turned = fits(target.type, sources, ontology) and fits(source.type, targets, ontology)
        message = (
            "the ends seem to have changed places; kept as said"
            if turned
            else "the types are not those the relation declares; kept as said"
        )
        warnings.append(Warn("wrong_direction" if turned else "type_misfit", f"{source.name} {relation} {target.name}"[:200], message))


def _mentions(episode: Episode, extraction: Extraction, resolution: Resolution) -> tuple[Mention, ...]:
    """A mention for each name of each found entity; other names come after all first ones, so that positions stay put."""
    positions = count()
    out: list[Mention] = []
    for entity, found in zip(resolution.ids, extraction.entities, strict=True):
        out.append(Mention(episode.id, next(positions), entity, found.name, found.type, found.span, identified(found)))
    for number, (entity, found) in enumerate(zip(resolution.ids, extraction.entities, strict=True)):
        for alias in (a for a in found.aliases if (number, a) not in resolution.refused):
            at = episode.body.find(alias)
            span = Span(at, at + len(alias)) if at >= 0 else None
            out.append(Mention(episode.id, next(positions), entity, alias, found.type, span))
    return tuple(out)
