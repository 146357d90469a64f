"""The question "what does this text say?": what goes with the text, in how many pieces, and the answers as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphmem import names
from graphmem.belief.instead import INSTEAD_OF
from graphmem.errors import AnswerTruncated, AnswerUnusable
from graphmem.ingest.again import attempt
from graphmem.ingest.before import SPEAKERS, Before, messages_read
from graphmem.ingest.chunks import chunks, halved
from graphmem.ingest.found import Extraction, Flow, FoundEntity, FoundFact, Options, shown, values_of
from graphmem.ingest.kinds import compatible
from graphmem.ingest.reading import Piece, Setting, episode_zone, joined, read_extraction
from graphmem.ingest.smalltalk import is_question, says_nothing
from graphmem.interval import in_zone
from graphmem.llm.base import Ask
from graphmem.model import VALUE_TYPE, EntityVersion, Episode, EpisodeKind, Warn
from graphmem.ontology import Ontology
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.roles import Role, role_of

VERSION = 1
_CONTEXT = ("recent", "known", "participants")
_TAIL = 300
_HALVINGS = 3
_MAX_ANSWER = 2000
_READ_KINDS = (EpisodeKind.MESSAGE, EpisodeKind.TEXT)
_ARTICLE = re.compile(r"^(?:a|an|the)\s+(?=\S)")


def extract_text(
    episode: Episode, memory: Before, options: Options, pending: Sequence[Episode] = (), ontology: Ontology = DEFAULT_ONTOLOGY
) -> Flow[Extraction]:
    """Asks for all pieces of the text at once, once more for the first answer that cannot be read, and merges what they say.

    A text of greetings, thanks or signs alone asks nothing. A piece whose answer cannot be read says nothing, which is told.
    """
    earlier = _earlier(episode, memory, options, pending)
    participants = _participants(episode, memory, pending)
    if says_nothing(episode.body, bool(earlier) and is_question(earlier[0].body), participants):
        return merged(episode, (), participants, ontology)
    recent = _recent(earlier, options)
    pieces = chunks(episode.body, options.chunk_tokens, options.count_tokens)
    parts: list[_Part] = []
    for number, (offset, text) in enumerate(pieces):
        known = _known(text, episode, recent, memory, options)
        before = recent if number == 0 else [replace(episode, body=pieces[number - 1][1][-_TAIL:])]
        names_known = tuple((e.name, e.type) for e in known)
        zone = episode_zone(episode.zone)
        setting = Setting(text, episode.reference_time, zone, episode.actor, names_known, offset, ontology)
        parts.append(_Part(setting, _ask(episode, setting, before, known, participants, options)))
    answered = yield from _answers(parts, _HALVINGS)
    read = yield from _read_or_repair([leaf for leaves in answered for leaf in leaves])
    return merged(episode, read, participants, ontology)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the text with its question, what was answered, and what is to be told about that."""

    setting: Setting
    ask: Ask
    value: object = None
    warnings: tuple[Warn, ...] = ()

    def halves(self) -> tuple[_Part, _Part] | None:
        """The part as two, the second shown the end of the first; None for a single sentence."""
        cut = halved(self.setting.text)
        if cut is None:
            return None
        offset, (first, second) = self.setting.offset, cut
        told = Warn("cut_answer", offset, f"the answer about the text from character {offset} was cut; read in two halves")
        before = {"actor": self.setting.actor, "text": first[-_TAIL:], "reference_time": self.ask.payload["reference_time"]}
        return (
            replace(self._about(first, offset), warnings=(*self.warnings, told)),
            self._about(second, offset + len(first), recent=[before]),
        )

    def _about(self, text: str, offset: int, **changes: object) -> _Part:
        return _Part(replace(self.setting, text=text, offset=offset), self.asking(text=text, offset=offset, **changes))

    def asking(self, **changes: object) -> Ask:
        """The question with other data."""
        return Ask(self.ask.prompt, self.ask.version, {**self.ask.payload, **changes}, self.ask.context)


def _answers(parts: Sequence[_Part], halvings: int) -> Flow[list[list[_Part]]]:
    """Each part with its answer. One whose answer is cut for its length is asked about in two halves, all of them side by side,
    and each half likewise, `halvings` times at most: a part costs less than 2 ** (halvings + 1) questions.
    """
    values = yield from values_of([part.ask for part in parts])
    answered = [[replace(part, value=value)] for part, value in zip(parts, values, strict=True)]
    cut = [n for n, value in enumerate(values) if isinstance(value, AnswerTruncated)] if halvings else []
    halves = {n: pair for n in cut if (pair := parts[n].halves()) is not None}
    if halves:
        leaves = yield from _answers([half for pair in halves.values() for half in pair], halvings - 1)
        for n, ours, theirs in zip(halves, leaves[::2], leaves[1::2], strict=True):
            answered[n] = [*ours, *theirs]
    return answered


def merged(episode: Episode, pieces: Sequence[Piece], participants: tuple[str, ...], ontology: Ontology = DEFAULT_ONTOLOGY) -> Extraction:
    """What the pieces of a text say together: one entity a name, positions into one list, the speaker among them."""
    entities: list[FoundEntity] = []
    facts: dict[tuple[object, ...], FoundFact] = {}
    links: list[tuple[int, int]] = []
    warnings: list[Warn] = []
    index: dict[str, int] = {}
    for piece in pieces:
        at = [_place(entity, entities, index, ontology) for entity in piece.entities]
        for fact in piece.facts:
            moved = replace(fact, source=at[fact.source], target=at[fact.target])
            if moved.source == moved.target:
                warnings.append(Warn("self_loop", moved.text, "relates a thing to itself; dropped"))
                continue
            facts.setdefault((moved.source, moved.target, moved.relation, moved.text, moved.kind, moved.start, moved.end), moved)
        links.extend((at[one], at[other]) for one, other in piece.links if at[one] != at[other])
        warnings.extend(piece.warnings)
    actor = None
    if episode.kind is EpisodeKind.MESSAGE and episode.actor and names.is_nameable(episode.actor):
        actor = index.get(names.key(episode.actor))
        if actor is None and role_of(episode.actor) is Role.PERSON:
            actor = _place(FoundEntity(names.clean(episode.actor), "Person"), entities, index, ontology)
    clauses = tuple(dict.fromkeys(clause for piece in pieces for clause in piece.clauses))
    unread = tuple(at for piece in pieces for at in piece.unread)
    said = (tuple(entities), tuple(facts.values()), clauses, tuple(dict.fromkeys(links)), tuple(warnings))
    return Extraction(*said, actor, participants, unread)


def _place(entity: FoundEntity, entities: list[FoundEntity], index: dict[str, int], ontology: Ontology) -> int:
    """The position of `entity` in the list, joined with one that has its name, but for an article, or names it as an alias."""
    at = index.get(names.key(entity.name), index.get(_without_article(entity.name)))
    if at is None and entity.type != VALUE_TYPE:
        at = next((index[names.key(alias)] for alias in entity.aliases if names.key(alias) in index), None)
    if at is None or not compatible(entities[at].type, entity.type, ontology):
        entities.append(entity)
        at = len(entities) - 1
    else:
        entities[at] = joined(entities[at], entity)
    for name in (entity.name, *entity.aliases):
        index.setdefault(names.key(name), at)
    index.setdefault(_without_article(entity.name), at)
    return at


def _without_article(name: str) -> str:
    """The key of a name without "a" or "the" before it: within one text "the bowl" is the bowl that "a bowl" told of."""
    return _ARTICLE.sub("", names.key(name))


def _read_or_repair(parts: Sequence[_Part]) -> Flow[list[Piece]]:
    """What the answers say; the first that cannot be read is asked for once more."""
    pieces: list[Piece] = []
    repairs = 0
    for part in parts:
        value, offset = part.value, part.setting.offset
        try:
            piece = read_extraction(value, part.setting)
            pieces.append(replace(piece, warnings=(*piece.warnings, *part.warnings)))
            continue
        except AnswerUnusable as error:
            problem = str(error)
        if not repairs and not isinstance(value, AnswerUnusable):  # the endpoint has tried again already
            repairs += 1
            repair = {"answer": shown(value, _MAX_ANSWER), "error": problem}
            [value] = yield from values_of([part.asking(repair=repair)])
        try:
            piece = read_extraction(value, part.setting)
            told = Warn("repaired", offset, "the first answer could not be read; asked again")
        except AnswerUnusable:
            piece = Piece((), (), unread=(offset,))
            told = Warn("unreadable", shown(value), f"no answer about the text from character {offset} can be read; it is kept")
        pieces.append(replace(piece, warnings=(*piece.warnings, *part.warnings, told)))
    return pieces


# -- what goes with the text


def _ask(
    episode: Episode,
    setting: Setting,
    recent: Sequence[Episode],
    known: Sequence[EntityVersion],
    participants: tuple[str, ...],
    options: Options,
) -> Ask:
    payload: dict[str, object] = {
        "kind": str(episode.kind),
        "text": setting.text,
        "reference_time": local_time(episode),
        "zone": episode.zone,
        "actor": episode.actor,
        "session": episode.session,
        "source": episode.source,
        "participants": list(participants),
        "recent": [{"actor": e.actor, "text": e.body, "reference_time": local_time(e)} for e in recent],
        "known": [described(e) for e in known],
        "offset": setting.offset,
    }
    if setting.ontology.outline() != DEFAULT_ONTOLOGY.outline():
        payload["ontology"] = setting.ontology.outline()
    if options.instructions:
        payload["instructions"] = options.instructions
    payload.update(attempt(episode, setting.offset, len(setting.text)))
    return Ask("extract", VERSION, payload, _CONTEXT)


def local_time(episode: Episode) -> str:
    """The episode's reference time as ISO 8601 with the offset of its zone."""
    try:
        return in_zone(episode.reference_time, episode_zone(episode.zone)).isoformat()
    except OverflowError:
        return episode.reference_time.isoformat()


def described(entity: EntityVersion) -> dict[str, object]:
    """A known entity as questions show it."""
    return {"id": entity.id, "name": entity.name, "type": entity.type, "aliases": list(entity.aliases)}


def _earlier(episode: Episode, memory: Before, options: Options, pending: Sequence[Episode]) -> list[Episode]:
    """The episodes before this one, of its session if it has one, newest first."""
    if episode.kind is not EpisodeKind.MESSAGE and episode.session is None:
        return []
    found = memory.messages(episode, messages_read(options))
    beside = [e for e in reversed(pending) if _is_beside(e, episode) and e.kind in _READ_KINDS]
    told = {episode.id, *(e.attributes.get(INSTEAD_OF) for e in (episode, *beside))}  # under another id
    return sorted([*beside, *(e for e in found if e.id not in told)], key=lambda e: e.reference_time, reverse=True)


def _recent(earlier_ones: Sequence[Episode], options: Options) -> list[Episode]:
    """The last of `earlier_ones`, oldest first, within the token budget."""
    left, kept = options.recent_tokens, []
    for earlier in earlier_ones[: max(options.recent, 0)]:
        left -= options.count_tokens(earlier.body)
        if left < 0:
            break
        kept.append(earlier)
    return kept[::-1]


def _is_beside(earlier: Episode, episode: Episode) -> bool:
    """Whether an episode belongs before this one in what the model is shown."""
    return earlier.group == episode.group and earlier.session == episode.session and earlier.reference_time <= episode.reference_time


def _participants(episode: Episode, memory: Before, pending: Sequence[Episode]) -> tuple[str, ...]:
    """The speakers of the episode's session so far, this one first."""
    actors = [episode.actor] if episode.actor else []
    if episode.session is not None:
        actors += [e.actor for e in reversed(pending) if e.actor and _is_beside(e, episode)]
        actors += memory.speakers(episode, SPEAKERS)
    return tuple(dict.fromkeys(actors))


def _known(text: str, episode: Episode, recent: Sequence[Episode], memory: Before, options: Options) -> list[EntityVersion]:
    """Entities that the text may mean: those of the recent episodes, then those whose names share a word with it."""
    recorded = [e.id for e in recent if e.seq]
    ids = memory.mentioned(episode.group, recorded) + memory.named(episode.group, text, options.known)
    wanted = list(dict.fromkeys(ids))[: options.known]
    return [e for e in memory.entities(episode.group, wanted) if e.type != VALUE_TYPE]
