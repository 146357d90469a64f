"""The part of a memory that removes for good: from its files, from its past, from everything that was made of it."""

from __future__ import annotations

from typing import Unpack

from graphmem.errors import InvalidInput
from graphmem.ingest.erasing import Wanted
from graphmem.ingest.identities import Named, Who
from graphmem.logs import logged
from graphmem.receipts import COUNTS, Receipt
from graphmem.results import Listing
from graphmem.revising import Acting, Acts, told_by

EPISODES = ("redact", "delete")


class Erasures(Acts):
    """What a memory removes."""

    _settled: set[str]

    @logged
    def erase(
        self,
        *,
        episode: str | Named | None = None,
        fact: str | Named | None = None,
        entity: Who | None = None,
        session: str | None = None,
        episodes: str = "redact",
        **acting: Unpack[Acting],
    ) -> Receipt:
        """Remove an episode, a fact, an entity or a session for good, or alone with `group` all of that group; it cannot be undone.

        Rows, words and vectors, summaries, communities, a model's recorded answers, operations on it: all of it goes, and every
        past instant is believed as if it had never been said. Where an entry of the log was, a mark without content stays.

        A fact goes with the sentences that say it, an entity with its facts and its names. `episodes="redact"` puts `[erased]` in
        their place in texts that stay, `"delete"` removes those episodes. An entity is meant by a name it has or had, or its id.
        `dry_run` changes nothing and says what would go, with the changes of beliefs. `reason` and `author` are kept with the
        receipt in the log, without the names erased. Afterwards the store's files are written anew; see `Receipt.cleaned`.

        Episodes that are changed, and entities first named in what goes, get other ids: an id derives from what was said. The
        same episode added again is a new one. Exports, copies and backups are elsewhere, and yours.

        Raises `NotFound` where there is no such thing, now or in the past, `InvalidInput` for anything but one of the five or for
        a name of several entities, `UnfinishedCopy`, `StoreBusy`; nothing is changed then.

        >>> import graphmem
        >>> from graphmem.embed.hashing import HashingEmbedder
        >>> from graphmem.testing import FixedClock, ScriptedModel
        >>> mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z"))
        >>> rows = [("Mira", "knows", "Ben"), ("Mira", "lives_in", "Porto")]
        >>> _ = mem.add_facts([{"source": s, "relation": r, "target": t} for s, r, t in rows])
        >>> mem.erase(entity="Mira", reason="Mira asked for it")
        <erased entity: 1 redacted, 2 assertions, 1 entities>
        >>> mem.erasures()[0].reason, mem.facts()
        ('[erased] asked for it', <0 facts>)
        """
        given = {"episode": episode, "fact": fact, "entity": entity, "session": session}
        named = {what: value for what, value in given.items() if value is not None}
        if len(named) > 1 or not (named or acting.get("group") is not None):
            raise InvalidInput("erase", sorted(named), "name one of episode=, fact=, entity=, session=, or group= alone for all of it")
        if episodes not in EPISODES:
            raise InvalidInput("episodes", episodes, f"must be one of {', '.join(EPISODES)}")
        name, (reason, author) = self._group_of(acting.get("group")), told_by(acting)
        what, value = next(iter(named.items()), ("group", name))
        identity = value if isinstance(value, str) else getattr(value, "id", None)
        if not isinstance(identity, str) or not identity:
            raise InvalidInput(what, value, "must be an id or a name, or what a read or a write gave back")
        wanted = Wanted(what, identity, deletes=episodes == "delete")
        if acting.get("dry_run", False):
            return self._recorder.eraser.consequences(name, wanted)
        receipt = self._recorder.eraser.erase(name, wanted, reason, author)
        if what == "group":
            self._settled.discard(name)
        return receipt

    @logged
    def erasures(self, *, group: str | None = None) -> Listing[Receipt]:
        """The receipts of everything that was erased from the group, and of whole groups, in order of their instants."""
        return Listing(self._recorder.eraser.erasures(self._group_of(group)), "erasures", ("at", "what", *COUNTS, "author", "reason"))
