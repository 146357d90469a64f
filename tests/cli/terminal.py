"""What the tests of the command line share."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
HOSTILE = "Bob wrote [bold red]hi[/] \x1b[31mred\x1b[0m \x07\u202eevil :smile: [/nothing] and \x9b2J"


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]
