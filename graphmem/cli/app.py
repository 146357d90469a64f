"""The application: its commands, and how a run ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from graphmem.cli import auditing, copying, erasing, exporting, grouping, identifying, idle, reading, revising, serving, writing
from graphmem.cli.options import command
from graphmem.cli.output import complain

STOPPED = 130
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""What a wrong command line raises; the class has no public name in every version of typer."""

app = typer.Typer(name="graphmem", add_completion=False, no_args_is_help=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        from graphmem import __version__

        typer.echo(f"graphmem {__version__}")
        raise typer.Exit


@app.callback(epilog="Every command has --help with an example; `graphmem demo` shows what a memory can do in a minute.")
def graphmem(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")] = False,
) -> None:
    """A temporal knowledge-graph memory: messages and documents in, dated and cited answers out."""


for register in (
    writing.demo,
    writing.add,
    writing.ingest,
    writing.resume,
    reading.search,
    reading.why_not,
    reading.context,
    reading.entity,
    reading.facts,
    reading.timeline,
    reading.episodes,
    grouping.communities,
    auditing.diff,
    auditing.why,
    auditing.history,
    auditing.operations,
    auditing.replay,
    revising.forget,
    revising.restore,
    revising.correct,
    revising.end,
    revising.confirm,
    revising.undo,
    identifying.duplicates,
    erasing.erase,
    identifying.merge,
    identifying.split,
    identifying.distinct,
    identifying.rename,
    identifying.alias,
    idle.consolidate,
    writing.reembed,
    copying.copy,
    exporting.export,
    exporting.load,
    reading.stats,
    reading.verify,
    serving.mcp,
    serving.browser,
):
    app.command(register.__name__.replace("_", "-"))(command(register))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, by default that of this process, and return its exit code (see `graphmem.cli`)."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape: losing it, or failing, would be worse.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(given or ["--help"], prog_name="graphmem", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except USAGE_ERROR as error:
        complain(f"{_sentence(error)}; see {_help_of(error)}")
        return 2
    if code == STOPPED:
        complain("stopped; what was recorded before is kept, and the same line again goes on from there")
    return code if isinstance(code, int) else 0


def _sentence(error: Exception) -> str:
    message: str = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(message.split()).rstrip(".")


def _help_of(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context is not None else 'graphmem'} --help"
