"""The part of a memory that takes back what it was told: forgetting, and undoing what was done by hand."""

from __future__ import annotations

from typing import TypedDict, Unpack

from graphmem.errors import NotFound
from graphmem.ingest.operating import Act, Plan
from graphmem.ingest.recorder import Recorder
from graphmem.logs import logged
from graphmem.model import AsOf, EpisodeMatch, OperationKind
from graphmem.results import EpisodeItem, WriteResult
from graphmem.scope import Scope
from graphmem.stores.base import Writer


class Acting(TypedDict, total=False):
    """What every operation may say about itself: why, by whom, in which group; `dry_run` only tells what would change."""

    reason: str | None
    author: str | None
    group: str | None
    dry_run: bool


class Acts:
    """What the parts of a memory that record operations share."""

    _scope: Scope
    _recorder: Recorder

    def _group_of(self, group: str | None) -> str:
        raise NotImplementedError

    def _act(self, plan: Plan, acting: Acting) -> WriteResult:
        """Record what `plan` decides under the lock of the group; with `dry_run` only tell what it would change."""
        reason, author, dry_run = acting.get("reason"), acting.get("author"), acting.get("dry_run", False)
        return self._recorder.operator.act(self._group_of(acting.get("group")), plan, reason=reason, author=author, dry_run=dry_run)


class Revisions(Acts):
    """What a memory takes back."""

    @logged
    def forget(self, *, episode: str | EpisodeItem | WriteResult, **acting: Unpack[Acting]) -> WriteResult:
        """Hide an episode and undo its consequences: what only it said is believed no more, what it ended is open again.

        Nothing is removed: reads as of an earlier system time still show it, and `restore` brings it back.
        Raises `NotFound` for an episode that is not visible in the group.
        """
        target, name = episode if isinstance(episode, str) else episode.id, self._group_of(acting.get("group"))

        def plan(tx: Writer) -> Act:
            if not tx.episodes([name], AsOf(), EpisodeMatch(ids=(target,)), bodies=False):
                raise NotFound(f"no visible episode {target!r} in group {name!r}; `episodes()` lists them, group= names another group")
            return Act(OperationKind.FORGET, (target,))

        return self._act(plan, acting)

    @logged
    def restore(self, operation: str | WriteResult, **acting: Unpack[Acting]) -> WriteResult:
        """Undo a `forget` (or another `restore`): beliefs are as if it had never been done, later episodes included.

        Raises `NotFound` for an operation that is not one of the group.
        """
        target, name = operation if isinstance(operation, str) else operation.id, self._group_of(acting.get("group"))

        def plan(tx: Writer) -> Act:
            if not tx.operations(name, ids=[target]):
                raise NotFound(f"no operation {target!r} in group {name!r}; `forget` returns a result whose id can be restored")
            return Act(OperationKind.RESTORE, (target,))

        return self._act(plan, acting)
