"""A memory at ingest level: a real store, the real ledger, a scripted model, a fixed clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from graphmem.belief.ledger import Indexing, Ledger
from graphmem.embed.base import embedded
from graphmem.embed.hashing import HashingEmbedder
from graphmem.ingest.asking import Memo, run_together
from graphmem.ingest.before import Before
from graphmem.ingest.flow import Draft, Options, decide_flow, extract_flow
from graphmem.llm.scripted import ScriptedModel
from graphmem.model import AsOf, EntityVersion, Episode, EpisodeKind, EpisodeRecord, FactVersion
from graphmem.ontology import Ontology, Relation
from graphmem.runtime import content_id
from graphmem.search.words import indexed
from graphmem.stores.memory import MemoryStore

CLOCK = datetime(2026, 1, 15, 12, tzinfo=UTC)
ONTOLOGY = Ontology.of(
    Relation("WORKS_AT", one_target=True, source_types=("Person",), target_types=("Company",)),
    Relation("STATUS", one_target=True),
    Relation("LIKES"),
    Relation("DISLIKES"),
)


class Bench:
    """Episodes in, drafts and what is then believed out; `script` is what the model answers, by prompt."""

    def __init__(self, **script: object) -> None:
        self.model = ScriptedModel(script)  # type: ignore[arg-type]
        self.store = MemoryStore()
        self.embedder = HashingEmbedder(dimension=64)
        self.options = Options()
        self.count = 0
        embed = lambda texts: np.asarray(embedded(self.embedder, list(texts)))
        self.ledger = Ledger(Indexing(indexed, lambda record: indexed(record.episode.body), lambda record: [record.episode.body], embed))

    def episode(
        self,
        body: str,
        actor: str | None = None,
        *,
        kind: EpisodeKind | None = None,
        at: str = "",
        zone: str = "UTC",
        session: str | None = None,
    ) -> Episode:
        """The next episode; told on its own day of 2025 unless `at` says when."""
        self.count += 1
        when = datetime.fromisoformat(at) if at else datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=self.count)
        chosen = kind or (EpisodeKind.MESSAGE if actor else EpisodeKind.TEXT)
        key = f"episode {self.count}"
        return Episode(content_id("ep", "main", key), "main", chosen, body, when, key, actor=actor, zone=zone, session=session)

    def draft(self, episode: Episode) -> Draft:
        """What the flows make of an episode; nothing is written."""
        with self.store.read() as reader:
            ask = Memo(self.model).ask
            [extraction] = run_together([extract_flow(episode, Before(reader, [episode]), self.options)], ask)
            [draft] = run_together([decide_flow(episode, extraction, reader, ONTOLOGY, self.options, self.embedder)], ask)
            return draft

    def add(self, body: str, actor: str | None = None, **how: object) -> Draft:
        """Reads an episode and writes it."""
        episode = self.episode(body, actor, **how)  # type: ignore[arg-type]
        draft = self.draft(episode)
        with self.store.write("main") as tx:
            written = Episode(
                **{f: getattr(episode, f) for f in Episode.__dataclass_fields__}
                | {"seq": self.count, "created_at": CLOCK + timedelta(minutes=self.count)}
            )
            self.ledger.record(tx, EpisodeRecord(written, draft.assertions, draft.mentions, draft.links, draft.search_text), ONTOLOGY)
        return draft

    def entities(self) -> list[EntityVersion]:
        """All entities believed now."""
        with self.store.read() as reader:
            return reader.entities(("main",), AsOf())

    def names(self) -> list[str]:
        """Their names, sorted."""
        return sorted(e.name for e in self.entities())

    def facts(self) -> list[FactVersion]:
        """All facts believed now, ended ones too."""
        with self.store.read() as reader:
            return reader.facts(("main",), AsOf())

    def asked(self, prompt: str) -> int:
        """How often the model was asked this."""
        return len(self.model.asked(prompt))


def said(*named: object, facts: list[dict[str, object]] | None = None) -> dict[str, object]:
    """An extraction answer: names, or (name, type), or whole rows; and facts."""
    rows = [n if isinstance(n, dict) else {"name": n[0], "type": n[1]} if isinstance(n, tuple) else {"name": n} for n in named]
    return {"entities": rows, "facts": facts or []}


def fact(source: object, target: object, relation: str = "KNOWS", text: str | None = None, **more: object) -> dict[str, object]:
    """A fact of an extraction answer."""
    return {"source": source, "target": target, "relation": relation, "text": text or f"{source} {relation} {target}", **more}


class Kit:
    """What the tests of ingest share."""

    Bench, said, fact, ontology = Bench, staticmethod(said), staticmethod(fact), ONTOLOGY


@pytest.fixture
def kit() -> type[Kit]:
    """The bench and the shorthands for answers."""
    return Kit


def codes(draft: Draft) -> list[str]:
    """The codes of a draft's warnings, in order."""
    return [w.code for w in draft.warnings]
