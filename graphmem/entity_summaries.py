"""What is told of an entity in a few sentences: those of its facts, or the profile that a model has written from just these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphmem.ingest.profiles import facts_of, has_profiles, written_profiles
from graphmem.model import AsOf, EntityVersion
from graphmem.results import EntityItem, shorten
from graphmem.stores.base import Reader

SUMMARY_FACTS = 8
SUMMARY_LENGTH = 1_000


def summarised(reader: Reader, groups: Sequence[str], entities: Sequence[EntityVersion], at: AsOf) -> list[EntityItem]:
    """With a summary from the facts that hold at `at`: their sentences, oldest first."""
    holding = facts_of(reader, groups, entities, at)
    return [EntityItem(e, _sentences(f.text for f in holding[e.id])) for e in entities]


def profiled(reader: Reader, groups: Sequence[str], entities: Sequence[EntityVersion], at: AsOf) -> list[EntityItem]:
    """As `summarised`; where a model has written a profile from exactly the facts that hold at `at`, with that."""
    having = {g for g in {e.group for e in entities} if has_profiles(reader, g)}
    if not having:
        return summarised(reader, groups, entities, at)
    holding = facts_of(reader, groups, entities, at)
    written = written_profiles(reader, holding, [e for e in entities if e.group in having])
    return [EntityItem(e, written.get(e.id) or _sentences(f.text for f in holding[e.id])) for e in entities]


def _sentences(texts: Iterable[str]) -> str:
    """The first few sentences, each whole; one that is too long alone is cut."""
    said = list(dict.fromkeys(t.strip().rstrip(".") for t in texts if t.strip()))
    kept: list[str] = []
    for text in said[:SUMMARY_FACTS]:
        if kept and sum(map(len, kept)) + len(text) > SUMMARY_LENGTH:
            break
        kept.append(shorten(text, SUMMARY_LENGTH))
    more = len(said) - len(kept)
    shown = ". ".join(kept)
    return shown + (f" (and {more} more)" if more > 0 else "." if shown else "")
