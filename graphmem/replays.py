"""The part of a memory that folds its log again, and reads its episodes again with another model."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from graphmem.belief.audit import hashes
from graphmem.errors import InvalidInput, NotFound
from graphmem.history.replaying import Replayed, as_recorded, check_equal, check_places, compared, to_read_again
from graphmem.ingest.copying import is_replay, replay_begun
from graphmem.ingest.readings import Incoming
from graphmem.ingest.recorder import Recorder
from graphmem.llm.base import LanguageModel
from graphmem.logs import logged
from graphmem.model import Usage
from graphmem.progress import Progress, reporting
from graphmem.scope import Group, Scope
from graphmem.stores.bulk import reading
from graphmem.stores.histories import unfinished

if TYPE_CHECKING:
    from graphmem.ingest.flow import Options


class Beside(Protocol):
    """A memory beside this one: with its embedder, clock and ontology, somewhere else, and with another model if one is named."""

    def __call__(self, where: str | Path, model: str | LanguageModel | None) -> Replays: ...


class Replays:
    """What every memory can do with its log."""

    _scope: Scope
    _recorder: Recorder
    _beside: Beside | None = None
    _options: Options

    def close(self) -> None:
        raise NotImplementedError

    @logged
    def replay(
        self,
        into: str | Path | Self | None = None,
        *,
        model: str | LanguageModel | None = None,
        progress: Progress | bool | None = None,
        group: Group = None,
    ) -> Replayed:
        """Fold the log again, entry by entry with its own instants, into another memory: a new file, or an open one that is empty.

        No model is called: the log has every decision. The texts are embedded anew. Afterwards the hashes of state and history are
        equal, group by group, or it raises. Stopped at any point it leaves a beginning that says so, and the same call goes on from
        there. With `model` (named as for `open`) the visible episodes are read again instead, each at
        its own system instant, into `into` or, without one, into scratch; the result tells how the two graphs differ. Operations are not
        carried over then, and are counted. `group` is one or several, by default the handle's.

        Raises `InvalidInput` for a target that holds something or is this memory, `NotFound` for a group that holds nothing, and
        `StoreCorrupt` naming the line where the log lacks one or where one was changed: before anything is written for a gap, a missing
        end or a wrong instant; when it comes to that line for one that is not what was recorded, whatever was changed of it; after the
        fold where the memory believes something else than its log says. Lines that were recorded before graphmem kept a digest of
        each are told by what they fold to, and the line named may be one after that which was changed.
        """
        if into is None and model is None:
            raise InvalidInput("into", into, "name a new file to fold the log into, or a model to read the episodes again with")
        if into is not None and not isinstance(into, str | PathLike | Replays):
            raise InvalidInput("into", into, "must be a new file or an open memory")
        groups = self._scope.reads(group)
        if not groups:
            raise InvalidInput("group", group, "names no group")
        self._check_source(groups)
        with ExitStack() as stack:
            if isinstance(into, Replays):
                there: Replays = into
            else:
                assert self._beside is not None
                there = self._beside(into if into is not None else ":memory:", model)
                stack.callback(there.close)
            where = repr(there._scope.store) if isinstance(into, Replays) or into is None else str(into)
            self._check_target(there, groups, goes_on=model is None)
            report = stack.enter_context(reporting(progress, None, "replaying"))
            if model is None:
                return self._fold(there, groups, where, report)
            return self._read_again(there, groups, where, report)

    def _check_source(self, groups: Iterable[str]) -> None:
        """That there is something to replay, whole: before a file is begun for it."""
        with self._scope.store.read() as reader:
            for name in groups:
                head = reader.head(name)
                if not head.seq:
                    raise NotFound(f"group {name!r} holds nothing; there is nothing to replay")
                check_places(name, reading(reader).places(name), head)

    def _check_target(self, there: Replays, groups: Iterable[str], *, goes_on: bool) -> None:
        """That nothing is there, or what an earlier call has begun."""
        if there._scope.store is self._scope.store:
            raise InvalidInput("into", there, "is this memory itself")
        with there._scope.store.read() as target:
            for name in groups:
                if target.head(name).seq and not (goes_on and is_replay(target.meta(unfinished(name)))):
                    raise InvalidInput("into", name, "holds something of this group already; name a new file")

    def _fold(self, there: Replays, groups: tuple[str, ...], where: str, report: Progress) -> Replayed:
        with self._scope.store.read() as reader:
            entries = (entry for name in groups for entry in as_recorded(name, reader.log(name)))
            done, _ = there._recorder.replay(entries, lambda n: report(n, None), replay_begun(repr(self._scope.store)))
            with there._scope.store.read() as target:
                found = {name: check_equal(reader, target, name) for name in groups}
        for name in groups:
            with there._scope.store.write(name) as tx:
                tx.put_meta(unfinished(name), "")
        return Replayed(where, groups, done, {g: h[0] for g, h in found.items()}, {g: h[1] for g, h in found.items()})

    def _read_again(self, there: Replays, groups: tuple[str, ...], where: str, report: Progress) -> Replayed:
        done, usage, left = 0, Usage(), dict[str, int]()
        found: dict[str, tuple[str, str]] = {}
        diff = None
        for name in groups:
            with self._scope.store.read() as reader:
                records, skipped = to_read_again(reader, name)
                ontology = self._scope.ontology(reader, name)
            incoming = [Incoming(replace(r.episode, seq=0, created_at=None), r.episode.created_at) for r in records]
            for result in there._recorder.add_many(incoming, ontology, self._options):
                usage, done = usage + result.usage, done + 1
                report(done, None)
            for kind, count in skipped.items():
                left[kind] = left.get(kind, 0) + count
            with self._scope.store.read() as reader, there._scope.store.read() as target:
                found[name] = hashes(target, name)
                part = compared(reader, target, name, ontology, self._scope.now())
            diff = part if diff is None else diff.joined(part)
        states, histories = {g: h[0] for g, h in found.items()}, {g: h[1] for g, h in found.items()}
        return Replayed(where, groups, done, states, histories, diff, usage, left)
