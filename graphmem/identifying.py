"""The part of a memory that is told who is who."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Unpack

from graphmem.checks import positive
from graphmem.errors import InvalidInput
from graphmem.ingest.duplicates import proposals
from graphmem.ingest.identities import Named, Who, keeping_apart, merging, naming, splitting
from graphmem.logs import logged
from graphmem.model import OperationKind
from graphmem.results import DUPLICATE_COLUMNS, Duplicate, EntityItem, Listing, WriteResult
from graphmem.revising import Acting, Acts


class Identities(Acts):
    """What a memory is told of its entities.

    An entity is given as an item or view of one, by its id (also one that was merged into it), or by a name or other name that
    no other entity has. What is said here is an operation of the log: reads as of an earlier system time are as they were, and
    `undo` takes it back. All raise `NotFound` where nobody is meant, and `InvalidInput` naming the candidates where several
    are, for a value, and for an entity of another group; nothing is changed then.
    """

    @logged
    def merge(self, entity: Who, other: Who, **acting: Unpack[Acting]) -> WriteResult:
        """Make one entity of two: it has the mentions, facts and names of both, and the least of their ids.

        It is called as it was called first, in the order of the log, unless `rename` has said otherwise. A fact between the
        two is none any more; facts that say the same of both are one, with all citations; of those that exclude each other the
        rules of time decide. Raises `InvalidInput` if they are one already, or were said to be distinct.

        >>> import graphmem
        >>> from graphmem.embed.hashing import HashingEmbedder
        >>> from graphmem.testing import FixedClock, ScriptedModel
        >>> mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z"))
        >>> _ = mem.add_facts([{"source": "Bea", "relation": "likes", "target": "Jazz"}])
        >>> _ = mem.add_facts([{"source": "Beatriz Nogueira", "relation": "lives_in", "target": "Porto"}])
        >>> mem.merge("Beatriz Nogueira", "Bea").counts()
        {'merged': 2}
        >>> mem.entity("Bea").aliases, len(mem.facts("Bea"))
        (('Beatriz Nogueira',), 2)
        """
        name = self._group_of(acting.get("group"))
        return self._act(partial(merging, group=name, one=entity, other=other), acting)

    @logged
    def split(self, entity: Who, *, episodes: str | Named | Iterable[str | Named], **acting: Unpack[Acting]) -> WriteResult:
        """Take a new entity out of one: it has what these episodes say of it, mentions, names and facts.

        The id of the new one derives from the old ids and the episodes: the same split gives the same one. Where the episodes
        themselves say that it is somebody else, it is. Raises `NotFound` for an episode that is not visible, `InvalidInput` for
        one that does not mention the entity, and if they are all that do.
        """
        name = self._group_of(acting.get("group"))
        return self._act(partial(splitting, group=name, who=entity, episodes=episodes), acting)

    @logged
    def distinct(self, entity: Who, other: Who, **acting: Unpack[Acting]) -> WriteResult:
        """Say that two are not one: no text joins them from now on, `duplicates` leaves them out, and where they were joined, by
        a text or by `merge`, they come apart.

        Of an entity that was merged, a name means the one of those merged that was first told by it; ids mean themselves. Raises
        `InvalidInput` listing the ids if that does not make two, and for one entity that never was two.
        """
        name = self._group_of(acting.get("group"))
        return self._act(partial(keeping_apart, group=name, one=entity, other=other), acting)

    @logged
    def rename(self, entity: Who, name: str, **acting: Unpack[Acting]) -> WriteResult:
        """Call an entity otherwise; what it was called before stays as another name, and both find it.

        The last rename counts. Warns (`name_taken`) if somebody else has that name, too.
        """
        group = self._group_of(acting.get("group"))
        return self._act(partial(naming, group=group, who=entity, name=name, kind=OperationKind.RENAME), acting)

    @logged
    def alias(self, entity: Who, name: str, **acting: Unpack[Acting]) -> WriteResult:
        """Give an entity one more name: searches and texts that say it mean this entity from now on.

        `undo` takes it away again. Warns (`name_taken`) if somebody else has that name, too.
        """
        group = self._group_of(acting.get("group"))
        return self._act(partial(naming, group=group, who=entity, name=name, kind=OperationKind.ALIAS), acting)

    @logged
    def duplicates(self, *, limit: int = 20, min_score: float = 0.5, group: str | None = None) -> Listing[Duplicate]:
        """Pairs of entities that may be one, the likeliest first (ties by id), with a score from 0 to 1 and reasons.

        Nothing is merged: `merge` those that are one, and say `distinct` of those that are not, which leaves them out from then
        on. Looked at are names and other names (numbers in them must be the same), what the names mean, types that can be one,
        neighbours across facts that hold now, and whether a fact joins the two or an episode names both, which speaks against
        it. Values are left out. The time grows with the number of entities, not with that of their pairs.
        """
        if not isinstance(min_score, (int, float)) or not 0 <= min_score <= 1:
            raise InvalidInput("min_score", min_score, "must be a number from 0 to 1")
        most, name = positive("limit", limit), self._group_of(group)
        with self._scope.store.read() as reader:
            found = proposals(reader, name, self._scope.ontology(reader, name), self._scope.point(), most, min_score)
        pairs = [Duplicate(EntityItem(p.one), EntityItem(p.other), p.score, p.reasons) for p in found]
        return Listing(pairs, "duplicates", DUPLICATE_COLUMNS)
