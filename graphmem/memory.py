"""The memory: what can be written to it, and everything that can be read as of now."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from os import PathLike
from types import TracebackType
from typing import Self

from graphmem.belief.audit import history_hash, state_hash, verify_group
from graphmem.checks import items, path_of
from graphmem.communities.recipe import LEVELS, Recipe
from graphmem.consolidating import Consolidation
from graphmem.erasures import Erasures
from graphmem.export.logfile import Loaded, read_log
from graphmem.identifying import Identities
from graphmem.ingest.asking import Waiting
from graphmem.ingest.flow import Options
from graphmem.ingest.incoming import Given
from graphmem.ingest.kept import read_usage
from graphmem.ingest.operating import stored_ontology
from graphmem.ingest.readings import Incoming
from graphmem.ingest.recorder import Recorder
from graphmem.instants import Instant, read_instant
from graphmem.logs import begun, logged
from graphmem.model import AsOf, Violation
from graphmem.ontology import Ontology
from graphmem.progress import Progress, reporting
from graphmem.replays import Beside, Replays
from graphmem.results import WriteResult, WriteResults
from graphmem.revising import Revisions
from graphmem.runtime import Clock
from graphmem.scope import Scope, check_group
from graphmem.view import View


@dataclass(frozen=True)
class Defaults:
    """What every write of a handle shares."""

    group: str
    timezone: str
    ontology: Ontology | None
    options: Options
    grows: bool | None = None
    beside: Beside | None = None


class Memory(View, Revisions, Identities, Erasures, Replays, Consolidation):
    """A memory, read as of now unless `as_of` says otherwise. Make one with `graphmem.open`; use it in `with` or `close` it.

    Every write is one transaction: all of it or nothing, at one system instant, and a result that says what changed.
    """

    def __init__(self, scope: Scope, recorder: Recorder, defaults: Defaults, clock: Clock) -> None:
        super().__init__(scope)
        self._recorder, self._defaults, self._clock = recorder, defaults, clock
        self._beside, self._options = defaults.beside, defaults.options
        self._settled: set[str] = set()

    def __repr__(self) -> str:
        return f"<Memory {self._scope.store!r} group {self._defaults.group!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def wait_through(self, waiting: Waiting) -> None:
        """Enter the context manager `waiting()` around every wait for a model's endpoint, in the thread that waits."""
        self._recorder.wait_through(waiting)

    def close(self) -> None:
        """Release threads and files; a second call does nothing."""
        self._scope.store.close()

    def bookmarks(self) -> tuple[str, ...]:
        """Marks of what this handle wrote, for `follow` of another handle on a cluster; () in a store where none are needed."""
        return self._scope.store.bookmarks()

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Read from now on only from members of a cluster that have what another handle wrote before it gave these `bookmarks`."""
        self._scope.store.follow(bookmarks)

    # ------------------------------------------------------------------------------------------ points in time

    def as_of(self, *, valid: Instant | None = None, system: Instant | None = None) -> View:
        """The memory at another point: true at `valid`, as believed at `system`.

        `system` alone is what a read gave on that day, so valid time is the same instant; `valid` alone is that time as
        best known. Bare dates are their first instant in the memory's zone.
        """
        zone = self._scope.zone
        at = AsOf(
            read_instant(valid, zone, "valid")[0] if valid is not None else None,
            read_instant(system, zone, "system")[0] if system is not None else None,
        )
        return View(replace(self._scope, at=at))

    # ------------------------------------------------------------------------------------------ adding

    @logged
    def add_message(
        self,
        actor: str,
        text: str,
        *,
        reference_time: Instant | None = None,
        session: str | None = None,
        source: str | None = None,
        key: str | None = None,
        recorded_at: Instant | None = None,
        group: str | None = None,
    ) -> WriteResult:
        """Record what `actor` said. See `add_many` for what the arguments mean."""
        row = {"kind": "message", "actor": actor, "text": text, "reference_time": reference_time, "session": session}
        return self._add({**row, "source": source, "key": key, "recorded_at": recorded_at}, group)

    @logged
    def add_text(
        self,
        text: str,
        *,
        reference_time: Instant | None = None,
        session: str | None = None,
        source: str | None = None,
        key: str | None = None,
        recorded_at: Instant | None = None,
        group: str | None = None,
    ) -> WriteResult:
        """Record a document of any length; long ones are read in parts cut at sentence ends, under one episode."""
        row = {"kind": "text", "text": text, "reference_time": reference_time, "session": session}
        return self._add({**row, "source": source, "key": key, "recorded_at": recorded_at}, group)

    @logged
    def add_json(
        self,
        value: object,
        *,
        reference_time: Instant | None = None,
        session: str | None = None,
        source: str | None = None,
        key: str | None = None,
        recorded_at: Instant | None = None,
        group: str | None = None,
    ) -> WriteResult:
        """Record a JSON value, or JSON text. Objects with an id, login or e-mail become entities, read by path, without a model.

        Raises `InvalidInput` for text that is not JSON, before anything is written.
        """
        row = {"kind": "json", "value": value, "reference_time": reference_time, "session": session}
        return self._add({**row, "source": source, "key": key, "recorded_at": recorded_at}, group)

    @logged
    def add_facts(
        self,
        rows: Iterable[Mapping[str, object] | object],
        *,
        reference_time: Instant | None = None,
        source: str | None = None,
        key: str | None = None,
        recorded_at: Instant | None = None,
        group: str | None = None,
    ) -> WriteResult:
        """Record facts as given, without a model; the call is one episode that keeps the rows.

        A row is a dict (or an object with these attributes): `source`, `relation`, `target`; optional `text`, `kind`
        ("holds", "ends", "denies"), `valid_at`, `invalid_at`, `still`, `source_type`, `target_type`, `attributes`.
        Raises `InvalidInput` naming the row, the field and the value.
        """
        row = {"kind": "facts", "rows": [*items("rows", rows, "rows")], "reference_time": reference_time}
        return self._add({**row, "source": source, "key": key, "recorded_at": recorded_at}, group)

    @logged
    def add_many(
        self,
        episodes: Iterable[Mapping[str, object]],
        *,
        group: str | None = None,
        progress: Progress | bool | None = None,
    ) -> WriteResults:
        """Record many episodes in order, a transaction each; running it again goes on where it stopped.

        An episode is a dict: `kind` ("message", "text", "json", "facts"; by default message where there is an `actor`, json or facts
        where there is a `value` or `rows` alone, else text), `text` (`value` or JSON text for json, `rows` for facts), and optional
        `reference_time` (when it was said; default now), `actor`, `session`, `source`, `key` (the source's own id: the
        same key again changes nothing; without one, equal content is the same episode), `recorded_at` (history: the
        system instant to record it under, each later than the last), `attributes` (a dict that filters can look at).
        `progress(done, total)` is called after each commit; `total` is None if `episodes` has no length. Without one a bar
        is shown on a terminal and in a notebook; `True` shows it anywhere, `False` nowhere.
        """
        name = self._group_of(group)
        total = len(episodes) if isinstance(episodes, Sequence) else None
        begun(__name__, "add_many", name, episodes=total)
        rows = items("episodes", episodes, "dicts")
        incoming = (self._incoming(row, name, f"episodes[{n}]") for n, row in enumerate(rows))
        recording = self._recorder.add_many(incoming, self._defaults.ontology, self._defaults.options)
        return self._recorded(name, recording, total, progress)

    @logged
    def resume(self, *, group: str | None = None, progress: Progress | bool | None = None) -> WriteResults:
        """Read again the episodes with the warning `unreadable`: those of which no answer could be read when they were added.

        A result for each, in the order of the log, empty if there are none. One that can be read now is recorded under a new
        id, at this system instant, and the one it stands for is forgotten; adding that again changes nothing. Of one that
        still cannot be read nothing changes: its result has the old id, the warnings, and what the try has cost.
        `progress` as in `add_many`. Raises `ModelError` where the model fails; run again, it goes on from there.
        """
        name = self._group_of(group)
        total, recording = self._recorder.resume(name, self._defaults.ontology, self._defaults.options)
        return self._recorded(name, recording, total, progress)

    def _recorded(
        self, group: str, recording: Generator[WriteResult, None, None], total: int | None, progress: Progress | bool | None
    ) -> WriteResults:
        """The results of a recording to a group as they come, each reported."""
        results: list[WriteResult] = []
        with reporting(progress, total, "reading") as report, closing(recording):
            for result in recording:
                results.append(result)
                self._settle_communities(group)
                report(len(results), total)
        return WriteResults(results)

    def _add(self, row: Mapping[str, object], group: str | None) -> WriteResult:
        incoming = self._incoming(row, self._group_of(group), None)
        result = next(self._recorder.add_many([incoming], self._defaults.ontology, self._defaults.options))
        self._settle_communities(incoming.episode.group)
        return result

    def _group_of(self, group: str | None) -> str:
        return self._defaults.group if group is None else check_group(group)

    def _incoming(self, row: Mapping[str, object], group: str, where: str | None) -> Incoming:
        """Check one episode and give it its id; errors name the argument (`where` in a list)."""
        return Given(row, group, where, self._defaults.timezone, self._clock.now()).incoming()

    # ------------------------------------------------------------------------------------------ from a log's file

    @logged
    def load(self, path: str | PathLike[str], *, progress: Progress | bool | None = None) -> Loaded:
        """Record the log that `export(path, format="log")` wrote, with its own positions and instants, without a model.

        Afterwards `state_hash` and `history_hash` of each of its groups are those of the memory that it is from. The texts are
        embedded anew. Entries that are here already are passed over, so that it goes on where it stopped.
        Raises `LogFileError` naming the first line that is not as it was written, before anything is recorded, and
        `InvalidInput` if a group holds something else, `UnfinishedCopy` if it is the beginning of a copy.
        """
        source = path_of("path", path)
        with reporting(progress, None, "loading") as report:
            entries, new = self._recorder.replay(read_log(source), lambda done: report(done, None))
        return Loaded(source, entries, new)

    # ------------------------------------------------------------------------------------------ communities

    @logged
    def build_communities(
        self,
        *,
        algorithm: str | None = None,
        resolution: float | Sequence[float] = LEVELS,
        seed: int = 0,
        half_life: float | None = None,
        names: str | None = None,
        group: str | None = None,
        progress: Progress | bool | None = None,
    ) -> WriteResult:
        """Find the communities of the facts that hold now, name them, and put them in the place of the last ones, all at once.

        `algorithm`: "leiden" (the default where graspologic-native is installed), "louvain" (the default else) or
        "label_propagation". `resolution`: a number above 0, at most 1e6, for each level, at most so many, the coarsest first; higher means
        smaller communities. A fact weighs as many episodes as it cites; with `half_life` (days) half as much for each such
        time since it began. Communities that share most of their members with an earlier one keep its id. Equal graphs give
        equal communities for a `seed`.

        They are found in the graph as it is when the call begins. Others may write meanwhile, and wait for the writing alone:
        whoever is new by then joins, who is gone is left out. `progress` as in `add_many`, called after each step.

        `names="model"`: the model that the memory was opened with writes names and summaries, from up to 1,500 tokens of facts
        and of what is told of smaller communities inside; one call for each that has changed since it was asked last. What an
        answer cannot be used for keeps its name made without a model, with the warning `unnamed`. `names="offline"` makes all
        without a model; left out, those that a model wrote before stay where members and facts are the same. The result tells
        the usage; a build that fails keeps the answers for the next one.

        Raises `InvalidInput` naming the argument, `MissingExtra` where Leiden is asked for and not installed, `NotFound` for a
        group that holds nothing, `ModelError` where the model cannot be asked; then nothing has changed.

        >>> import graphmem
        >>> from graphmem.embed.hashing import HashingEmbedder
        >>> from graphmem.testing import FixedClock, ScriptedModel
        >>> mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z"))
        >>> pairs = [("Ada", "Ben"), ("Ben", "Cleo"), ("Cleo", "Ada"), ("Xi", "Yan"), ("Yan", "Zoe"), ("Zoe", "Xi"), ("Ada", "Xi")]
        >>> _ = mem.add_facts([{"source": a, "relation": "knows", "target": b} for a, b in pairs])
        >>> mem.build_communities(algorithm="louvain").counts()
        {'added': 2}
        >>> [[m.name for m in c.members] for c in mem.communities()]
        [['Ada', 'Ben', 'Cleo'], ['Xi', 'Yan', 'Zoe']]
        """
        recipe = Recipe.checked(algorithm, resolution, seed, half_life)
        self._recorder.builder.check_names(names)
        with reporting(progress, None, "communities") as report:
            return self._recorder.builder.build(self._group_of(group), recipe, report, names=names)

    def _settle_communities(self, group: str) -> None:
        """After the first write to a group: let its communities grow or not, as the handle was opened for."""
        if self._defaults.grows is not None and group not in self._settled:
            self._recorder.builder.settle_growth(group, self._defaults.grows)
            self._settled.add(group)

    # ------------------------------------------------------------------------------------------ proof

    @logged
    def stats(self) -> dict[str, object]:
        """Counts of the handle's group as of now, its groups, the last system instant, the embedder, and what the group has cost
        with models that are not local, by prompt (calls, tokens, seconds).
        """
        with self._scope.store.read() as reader:
            head = reader.head(self._defaults.group)
            return {
                **reader.counts([self._defaults.group], self._scope.point()),
                "versions": reader.count_fact_versions(self._defaults.group),
                "log": head.seq,
                "last_instant": head.at.isoformat() if head.at else None,
                "group": self._defaults.group,
                "groups": reader.groups(),
                "embedder": self._scope.embedder.name,
                "dimension": self._scope.embedder.dimension,
                "usage": {prompt: asdict(u) for prompt, u in read_usage(reader.meta(f"usage:{self._defaults.group}")).items()},
            }

    @logged
    def reset_usage(self, *, group: str | None = None) -> dict[str, dict[str, object]]:
        """Count what the group costs from nothing again, for instance at the beginning of a month; returns what `stats` showed as
        its usage, by prompt. Results keep what they cost.
        """
        return {prompt: asdict(usage) for prompt, usage in self._recorder.reset_usage(self._group_of(group)).items()}

    @logged
    def verify(self) -> list[Violation]:
        """Every broken invariant, of the file and of what it says; an empty list is a clean bill.

        Folds the whole log again and compares: its time grows with the log.
        """
        with self._scope.store.read() as reader:
            found = list(reader.verify())
            for group in reader.groups():
                ontology = stored_ontology(reader, group)
                if ontology is not None:
                    found += verify_group(reader, group, ontology)
        return found

    @logged
    def state_hash(self, *, group: str | None = None) -> str:
        """SHA-256 of what is believed at the last instant: equal across stores, and after forget and restore."""
        with self._scope.store.read() as reader:
            return state_hash(reader, self._group_of(group))

    @logged
    def history_hash(self, *, group: str | None = None) -> str:
        """SHA-256 of every version with its system times: equal across replays of one log."""
        with self._scope.store.read() as reader:
            return history_hash(reader, self._group_of(group))
