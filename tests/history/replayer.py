"""A process that replays a file into another one until it is done or killed: `python replayer.py SOURCE TARGET`.

It prints how many entries are done, once they are committed.
"""

from __future__ import annotations

import sys

from walker import opened

from graphmem.ingest import replaying
from graphmem.testing import FixedClock


def main(source: str, target: str) -> None:
    replaying.BATCH = 3
    print("ready", flush=True)
    with opened(source, FixedClock("2030-01-01T00:00:00Z")) as memory:
        memory.replay(target, progress=lambda done, _: print(done, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
