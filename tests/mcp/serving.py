"""A server on a memory that needs no packages of graphmem[local]: `python serving.py FILE [stdio|http] [read-only]`.

Its memory embeds by hashing and reads plain sentences ("Mira works at Acme since 2020.") by a script. Over HTTP the
first line on standard error is the address and the second the token.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.base import Ask
from graphmem.mcp import http, stdio
from graphmem.runtime import SystemClock
from graphmem.testing import ScriptedModel

SAID = re.compile(r"(\w+) works at (\w+) since (\d+)\.")


def extract(ask: Ask) -> dict[str, object]:
    """What plain sentences say; "Please ..." makes the model print, fail, or wait for a file."""
    text = str(ask.payload["text"])
    if "Please print" in text:
        print("printed by a library")
    if waits := re.search(r"Please wait for (\S+)$", text):
        print("reading", file=sys.stderr, flush=True)
        give_up = time.monotonic() + 20
        while not Path(waits[1]).exists() and time.monotonic() < give_up:
            time.sleep(0.01)
    if "Please fail" in text:
        raise ZeroDivisionError
    facts = [
        {"source": who, "relation": "WORKS_AT", "target": firm, "valid_at": year, "text": f"{who} works at {firm}"}
        for who, firm, year in SAID.findall(text)
    ]
    names = dict.fromkeys(str(f[end]) for f in facts for end in ("source", "target"))
    return {"entities": [{"name": n} for n in names], "facts": facts}


def open_memory(where: str, **options: object) -> graphmem.Memory:
    """The memory as every process of these tests opens it."""
    model = ScriptedModel({"extract": extract, "resolve": {"matches": []}, "judge": {"judgements": []}})
    given = {"model": model, "embedder": HashingEmbedder(64), "clock": SystemClock(), **options}
    return graphmem.open(where, **given)  # type: ignore[arg-type]


def main(where: str, over: str = "stdio", mode: str = "") -> None:
    read_only = mode == "read-only"
    with open_memory(where) as memory:
        if over == "stdio":
            stdio.serve(memory, read_only=read_only)
        else:
            address = http.Address(port=0)
            http.serve(memory, address, ready=lambda *said: print(*said, sep="\n", file=sys.stderr, flush=True), read_only=read_only)


if __name__ == "__main__":
    main(*sys.argv[1:])
