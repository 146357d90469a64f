"""Options that commands share, as dataclasses; `command` spreads them over a command's own parameters."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from graphmem.cli.output import abandon_output, complain
from graphmem.errors import GraphmemError, InvalidInput, MissingExtra, NotFound, StaleInstant, StoreUnavailable

if TYPE_CHECKING:
    from graphmem.interval import Interval
    from graphmem.memory import Memory
    from graphmem.search.hits import Filters
    from graphmem.view import View


def exit_code(error: GraphmemError) -> int:
    """2 for the caller's mistake, 4 for something not installed, 3 for a failing store, model or embedder."""
    return 2 if isinstance(error, (InvalidInput, NotFound, StaleInstant)) else 4 if isinstance(error, MissingExtra) else 3


@dataclass(frozen=True)
class Where:
    """Which memory, and how it is read."""

    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="PATH",
            help="The memory: a file, or a server like neo4j://HOST:7687.  [env: GRAPHMEM_DB; default: memory.db]",
            show_default=False,
        ),
    ] = None
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="NAME", help="The group; reads take several.  [default: main]", show_default=False),
    ] = None
    timezone: Annotated[
        str, typer.Option("--timezone", metavar="ZONE", help="Where dates without an offset are read, and dates are shown.")
    ] = "UTC"
    embedder: Annotated[
        str | None, typer.Option("--embedder", metavar="NAME", help="The embedder.  [default: local]", show_default=False)
    ] = None
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model that reads texts.  [default: offline]", show_default=False)
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False

    @property
    def place(self) -> str | Path:
        """The memory's file, or the address of its server: as named, else as the environment says, else memory.db."""
        from graphmem.settings import Settings

        named = self.db if self.db is not None else Settings.from_environment().database
        return named if "://" in named else Path(named)

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(self.group or ("main",))

    def open(self, *, new: bool = False) -> Memory:
        """The memory; unless `new`, its file must be there, because a mistyped path is not an empty memory."""
        import graphmem

        place = self.place
        if not new and isinstance(place, Path) and not place.exists():
            raise StoreUnavailable(f"{place}: no such memory; make one with `graphmem add` or `ingest`, or name another with --db")
        return graphmem.open(place, group=self.groups[0], model=self.model, embedder=self.embedder, timezone=self.timezone)

    def open_one(self, *, new: bool = False) -> Memory:
        """As `open`, for a write, which goes to one group."""
        if len(self.groups) > 1:
            raise InvalidInput("--group", list(self.groups), "a write goes to one group")
        return self.open(new=new)


@dataclass(frozen=True)
class Point:
    """The point on both time axes at which the memory is read."""

    valid: Annotated[str | None, typer.Option("--valid", metavar="TIME", help="What is true at this time, not now (2024-08-15).")] = None
    system: Annotated[str | None, typer.Option("--system", metavar="TIME", help="As the memory believed at this time, not now.")] = None

    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Both: what was true at this time, as it was believed then.")
    ] = None

    @property
    def given(self) -> bool:
        return any(time is not None for time in (self.valid, self.system, self.as_of))

    @property
    def believed(self) -> str | None:
        """The system time asked for."""
        return self.system if self.as_of is None else self.as_of

    def of(self, memory: Memory) -> View:
        """The memory at this point."""
        if self.as_of is not None and (self.valid is not None or self.system is not None):
            raise InvalidInput("--as-of", self.as_of, "is the time on both axes; leave out --valid and --system, or give these two")
        valid = self.valid if self.as_of is None else self.as_of
        return memory.as_of(valid=valid, system=self.believed) if self.given else memory


@dataclass(frozen=True)
class Narrow:
    """What a search may find."""

    relation: Annotated[list[str] | None, typer.Option("--relation", metavar="NAME", help="Only facts of this relation; repeatable.")] = (
        None
    )
    type: Annotated[
        list[str] | None, typer.Option("--type", metavar="NAME", help="Only entities of this type, and their facts; repeatable.")
    ] = None
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="NAME", help="Only what was said in this session; repeatable.")
    ] = None
    actor: Annotated[list[str] | None, typer.Option("--actor", metavar="NAME", help="Only what this person said; repeatable.")] = None
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only what was said at or after this time.")] = None
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what was said before this time.")] = None

    def filters(self, timezone: str) -> Filters:
        """The same as the library's filters; times without an offset are read in `timezone`."""
        from graphmem.search.hits import Filters

        return Filters(
            types=_some(self.type),
            relations=_some(self.relation),
            reference=self._reference(timezone),
            sessions=_some(self.session),
            actors=_some(self.actor),
        )

    def _reference(self, timezone: str) -> Interval | None:
        from graphmem.instants import read_instant, zone_of
        from graphmem.interval import Interval

        if self.since is None and self.until is None:
            return None
        zone = zone_of(timezone)
        first = read_instant(self.since, zone, "--since")[0] if self.since is not None else None
        last = read_instant(self.until, zone, "--until")[0] if self.until is not None else None
        if first is not None and last is not None and last <= first:
            raise InvalidInput("--until", self.until, f"must be after --since {self.since}")
        return Interval(first, last)


def _some(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None


def command(function: Callable[..., None]) -> Callable[..., None]:
    """`function` for typer: parameters that are dataclasses become options, one a field, and errors become exit codes.

    A `GraphmemError` is one line on stderr, never a traceback. A reader of stdout that leaves (`| head`) ends it quietly.
    """
    hints = get_type_hints(function, include_extras=True)
    own = inspect.signature(function).parameters
    groups = {name: hints[name] for name in own if is_dataclass(hints[name])}
    flat = [p.replace(annotation=hints[n], kind=inspect.Parameter.KEYWORD_ONLY) for n, p in own.items() if n not in groups]
    for group in groups.values():
        flat += _options(group)

    def run(**given: Any) -> None:
        values = {name: _as_typed(value) for name, value in given.items()}
        shared = {name: group(**{f.name: values.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        try:
            function(**values, **shared)
            sys.stdout.flush()
        except BrokenPipeError:
            abandon_output()
        except GraphmemError as error:
            complain(str(error))
            raise typer.Exit(exit_code(error)) from None

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {p.name: p.annotation for p in flat}
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    return run


def _options(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if f.default is MISSING else f.default,
            annotation=hints[f.name],
        )
        for f in fields(group)
    ]


def _as_typed(value: Any) -> Any:
    """Text as it was typed: where the locale is not UTF-8, Python hands over its bytes in disguise. Paths must keep them."""
    if isinstance(value, list):
        return [_as_typed(v) for v in value]
    if not isinstance(value, str):
        return value
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return value
