"""The part of a memory that puts idle time to use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphmem.checks import natural
from graphmem.ingest.consolidate import Contradiction
from graphmem.ingest.recorder import Recorder
from graphmem.logs import logged
from graphmem.model import AsOf, Usage, Warn
from graphmem.progress import Progress, reporting
from graphmem.results import DUPLICATE_COLUMNS, ENTITY_COLUMNS, Duplicate, EntityItem, Listing
from graphmem.scope import Scope
from graphmem.shown import Row, Shown

CONTRADICTION_COLUMNS = ("code", "text", "episode", "message")


@dataclass(frozen=True, slots=True, repr=False)
class Consolidated(Shown):
    """What `consolidate` did and found: `profiles` it wrote, and how many are `left` for want of calls; `duplicates`, pairs that
    may be one; `contradictions`, what was said and finds no place. `usage` is what the calls cost.
    """

    profiles: Listing[EntityItem]
    left: int
    duplicates: Listing[Duplicate]
    contradictions: Listing[Contradiction]
    warnings: tuple[Warn, ...] = ()
    usage: Usage = Usage()

    def __repr__(self) -> str:
        left = f" ({self.left} left)" if self.left else ""
        found = f"{len(self.duplicates)} possible duplicates, {len(self.contradictions)} contradictions"
        return f"<Consolidated: {len(self.profiles)} profiles{left}, {found}>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "profiles": self.profiles.to_dict(),
            "left": self.left,
            "duplicates": self.duplicates.to_dict(),
            "contradictions": self.contradictions.to_dict(),
            "warnings": [{"code": w.code, "raw": w.raw, "message": w.message} for w in self.warnings],
            "usage": {"calls": self.usage.calls, "input_tokens": self.usage.input_tokens, "output_tokens": self.usage.output_tokens},
        }

    def _rows(self) -> Sequence[Row]:
        rows: list[Row] = [{"item": "profile", "about": p.name, "text": p.summary} for p in self.profiles]
        rows += [{"item": "duplicate", "about": f"{d.entity.name} ~ {d.other.name}", "text": "; ".join(d.reasons)} for d in self.duplicates]
        rows += [{"item": c.code, "about": c.text, "text": c.message} for c in self.contradictions]
        return [*rows, *({"item": "warning", "about": str(w.raw), "text": w.message} for w in self.warnings)]


class Consolidation:
    """What a memory does when nobody waits."""

    _scope: Scope
    _recorder: Recorder

    def _group_of(self, group: str | None) -> str:
        raise NotImplementedError

    @logged
    def consolidate(self, *, calls: int = 20, group: str | None = None, progress: Progress | bool | None = None) -> Consolidated:
        """Look again at what changed since the last time; at most `calls` calls of the model, none offline. For idle time.

        - A model that is not local writes a profile of each entity with four facts or more that hold, from these alone: of those
          first that this handle was asked about most, then of those with most that is new. `entity()` and `entities()` show it as
          the summary for as long as exactly those facts hold, at any point of both axes; else their sentences, as ever.
        - Pairs of entities that may be one, of which one changed, are listed; see `duplicates`. Nothing is merged.
        - What was said and finds no place beside what else was said is listed: say more, or correct it.

        Stopped at any moment it loses nothing: the next call goes on. Nothing is believed that was not before.
        Raises `NotFound` for a group that holds nothing, `ModelError` where the model fails.

        >>> import graphmem
        >>> from graphmem.embed.hashing import HashingEmbedder
        >>> from graphmem.testing import ScriptedModel
        >>> model = ScriptedModel({"profile": {"profile": "Ada keeps four things.", "cites": ["f1"]}}, local=False)
        >>> mem = graphmem.open(model=model, embedder=HashingEmbedder())
        >>> _ = mem.add_facts([{"source": "Ada", "relation": "owns", "target": thing} for thing in ("a boat", "a car", "a hat", "a pen")])
        >>> mem.consolidate()
        <Consolidated: 1 profiles, 0 possible duplicates, 0 contradictions>
        >>> mem.entity("Ada").item.summary
        'Ada keeps four things.'
        """
        name = self._group_of(group)
        most = natural("calls", calls)
        with reporting(progress, None, "writing profiles") as report:
            done = self._recorder.consolidator.work(name, self._now(), most, self._scope.interest.times(name), report)
        profiles = [EntityItem(w.entity, w.text) for w in done.profiles]
        return Consolidated(
            Listing(profiles, "profiles", ENTITY_COLUMNS),
            done.left,
            Listing(
                [Duplicate(EntityItem(p.one), EntityItem(p.other), p.score, p.reasons) for p in done.proposals],
                "duplicates",
                DUPLICATE_COLUMNS,
            ),
            Listing(done.contradictions, "contradictions", CONTRADICTION_COLUMNS),
            done.warnings,
            done.usage,
        )

    def _now(self) -> AsOf:
        return replace(self._scope, at=AsOf()).point()
