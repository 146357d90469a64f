"""Servers of the tests end with them, however these end."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphmem.testing.neo4j import ending_with_us

STARTING = """
import subprocess, sys, time
from graphmem.testing.neo4j import ending_with_us
print(subprocess.Popen([*ending_with_us(), "sleep", "600"]).pid, flush=True)
time.sleep(600)
"""


def is_running(process: int) -> bool:
    """Whether the process is there, and more than the entry that its parent has still to read."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not ending_with_us(), reason="needs setpriv, which Linux has")
def test_what_was_started_ends_with_a_process_that_is_killed() -> None:
    """Which has no chance to end it."""
    with subprocess.Popen([sys.executable, "-c", STARTING], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        started = int(parent.stdout.readline())
        while Path(f"/proc/{started}/comm").read_text(encoding="ascii").strip() != "sleep":  # what comes before it tells the kernel
            time.sleep(0.02)
        assert is_running(started)
        parent.kill()
    deadline = time.monotonic() + 20
    while is_running(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(started)
