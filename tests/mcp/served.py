"""How servers of tests are started, and what is known of one that runs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import graphmem

ROOT = Path(graphmem.__file__).parents[1]
SERVING = Path(__file__).with_name("serving.py")
ENVIRONMENT = {"PYTHONPATH": str(ROOT)}


class Served(NamedTuple):
    """A server that listens, and what clients need to know."""

    url: str
    token: str
    process: subprocess.Popen[str]
