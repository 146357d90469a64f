"""The demo on the terminal."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

import graphmem
from graphmem import demo
from graphmem.cli import render
from graphmem.cli.output import console, line
from graphmem.errors import InvalidInput
from graphmem.instants import zone_of
from graphmem.model import Change
from graphmem.runtime import FixedClock

if TYPE_CHECKING:
    from graphmem.memory import Memory

ZONE = zone_of("UTC")
OWN_FILE = Path("team.db")
QUOTE = 95


def show(db: Path | None) -> None:
    """Record the sample into `db` (by default a file that is gone afterwards), and show what can be read from it."""
    if db is not None and db.exists():
        raise InvalidInput("--db", str(db), "is there already; the demo wants a new file")
    screen = console()
    with TemporaryDirectory(prefix="graphmem-") if db is None else nullcontext(str(db.parent)) as folder:
        path = Path(folder) / (db or OWN_FILE).name
        with graphmem.open(path, clock=FixedClock(demo.today())) as memory:
            _tell(screen, memory)
    _next_commands(screen, db)


def _tell(screen: Console, memory: Memory) -> None:
    _heading(
        screen,
        "Half a year of a small team's chat",
        "Invented; each message is recorded at the time it was said, with no key and no network.",
    )
    _numbers(screen, memory, demo.record(memory))
    _heading(screen, "People, and what holds now", f"Now is {demo.today():%Y-%m-%d} in this story.")
    _people(screen, memory)
    _heading(screen, "Questions", "The best fact that holds now, and who said it first.")
    _answers(screen, memory)
    _square(screen, demo.square(memory))
    _round_trip(screen, demo.round_trip(memory))


def _heading(screen: Console, title: str, note: str) -> None:
    screen.print()
    screen.print(Text(title, "bold"))
    screen.print(Text("=" * len(title), "bold"))
    screen.print(Text(note, "dim"))
    screen.print()


def _numbers(screen: Console, memory: Memory, warnings: int) -> None:
    counted = memory.stats()
    listed = [f"{counted[name]} {name}" for name in ("episodes", "entities", "facts", "versions") if name in counted]
    screen.print(Text(", ".join([*listed, f"{warnings} warnings"])))


def _people(screen: Console, memory: Memory) -> None:
    table = render.grid("who", "facts", "what holds")
    table.columns[1].justify = "right"
    for person in demo.people(memory):
        holds = [f"{render.wording(f, of=person.entity.name)} ({render.holds(f, ZONE)})" for f in person.facts]
        table.add_row(Text(line(person.entity.name), "bold"), Text(str(len(holds))), Text("\n".join(holds)))
        table.add_section()
    screen.print(table)


def _answers(screen: Console, memory: Memory) -> None:
    for n, question in enumerate(demo.questions()):
        answer = demo.ask(memory, question)
        if n:
            screen.print()
        screen.print(Text(line(question), "bold"))
        screen.print(Text(f"   {_fact(answer)}", "green"))
        screen.print(Text(f"   {_quote(answer)}", "dim"))


def _fact(answer: demo.Answer) -> str:
    if answer.fact is None:
        return "nothing holds then"
    return f"{render.wording(answer.fact)}  [{render.holds(answer.fact, ZONE)}]"


def _quote(answer: demo.Answer) -> str:
    if answer.said is None:
        return ""
    who = f"{render.speaker(answer.said.episode)}, {answer.said.reference_time:%Y-%m-%d}: "
    return f'{who}"{line(answer.quote, QUOTE - len(who))}"'


def _square(screen: Console, found: demo.Square) -> None:
    _heading(screen, "One question, two axes of time", "Columns: when it is true. Rows: when the memory believed it.")
    screen.print(Text(line(found.question), "bold"))
    screen.print()
    table = render.grid("as believed", *(f"true on {v}" for v in found.valid))
    for system, answers in zip(found.system, found.answers, strict=True):
        table.add_row(Text(f"on {system}" if system else "now"), *(Text(_fact(a).replace("  [", "\n[")) for a in answers))
    screen.print(table)


def _round_trip(screen: Console, trip: demo.RoundTrip) -> None:
    _heading(screen, "What one message changed", "Forgetting hides it and undoes its consequences; nothing is lost.")
    table = Table.grid(padding=(0, 2))
    table.add_row(Text("before"), Text(_fact(trip.before), "green"))
    table.add_row(Text("forgotten"), Text(_quote(trip.before)))
    _add_changes(table, trip.lost)
    table.add_row(Text("then"), Text(_fact(trip.without), "yellow"))
    table.add_row(Text("restored"), Text(_fact(trip.after), "green"))
    same = "the same state, hash for hash" if trip.hashes[0] == trip.hashes[1] else "another state than before"
    table.add_row(Text(""), Text(f"{same}: {trip.hashes[1][:16]}"))
    screen.print(table)


def _add_changes(table: Table, changes: tuple[Change, ...]) -> None:
    for change in changes:
        table.add_row(Text(f"  {change.kind.value}"), Text(line(f"{change.item}: {change.text}", 90)))


def _next_commands(screen: Console, db: Path | None) -> None:
    _heading(screen, "Try it", "Every command has --help.")
    path = db or OWN_FILE
    commands = [] if db is not None else [f"graphmem demo --db {path}"]
    commands += [
        f'graphmem search "who owns the importer?" --db {path}',
        f'graphmem facts "Danylo Kovalenko" --history --db {path}',
        f'graphmem timeline "Mira Okafor" --db {path}',
        f'graphmem search "when is the launch due?" --system 2025-03-01 --db {path}',
        f'graphmem add "I live in Braga now." --actor "Mira Okafor" --db {path}',
        f"graphmem verify --db {path}",
    ]
    for command in commands:
        screen.print(Text(f"   {command}", "cyan"), soft_wrap=True)
