"""A process that copies a memory until it is done or killed: `python copier.py SOURCE TARGET [USER PASSWORD]`.

It prints how many items are done, once they are committed.
"""

from __future__ import annotations

import sys

import graphmem
from graphmem.ingest import copying


def main(source: str, target: str, *auth: str) -> None:
    copying.BATCH = 4
    print("ready", flush=True)
    given = (auth[0], auth[1]) if auth else None
    graphmem.copy(source, target, auth=given, progress=lambda done, _: print(done, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
