"""A process that writes to a memory until it is done or killed: `python worker.py FILE-OR-ADDRESS PREFIX COUNT [newcomer]`.

It prints the number of each episode once it is committed.
"""

from __future__ import annotations

import re
import sys

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.base import Ask
from graphmem.testing import FixedClock, ScriptedModel

SAID = re.compile(r"(\w+) works at (\w+) since (\d+)\.")


def extract(ask: Ask) -> dict[str, object]:
    """What the plain sentences of these tests say."""
    facts = [
        {"source": who, "relation": "WORKS_AT", "target": firm, "valid_at": year, "text": f"{who} works at {firm}"}
        for who, firm, year in SAID.findall(str(ask.payload["text"]))
    ]
    names = dict.fromkeys(str(f[end]) for f in facts for end in ("source", "target"))
    return {"entities": [{"name": n, "type": "Person" if n.endswith("Orr") else "Company"} for n in names], "facts": facts}


def model(*, local: bool = True) -> ScriptedModel:
    """Reads those sentences; knows nobody by another name, contradicts nothing."""
    return ScriptedModel({"extract": extract, "resolve": {"matches": []}, "judge": {"judgements": []}}, local=local)


def episodes(prefix: str, count: int) -> list[dict[str, object]]:
    """`count` messages about five people who change firms, out of order in time; each prefix has its own people."""
    rows: list[dict[str, object]] = []
    for n in range(count):
        person, firm, year = f"{prefix}{n % 5}Orr", f"{prefix}Firm{n * 7 % 11}", 1980 + n * 17 % 40
        text = f"{person} works at {firm} since {year}."
        rows.append(
            {
                "actor": f"{prefix}{n % 5}Orr",
                "text": text,
                "reference_time": f"2025-01-01T{n // 60:02d}:{n % 60:02d}Z",
                "key": f"{prefix}{n}",
            }
        )
    return rows


def newcomer(prefix: str, count: int) -> list[dict[str, object]]:
    """`count` messages that all name one new person."""
    return [
        {"text": f"NelaOrr works at {prefix}Firm{n} since {1900 + n}.", "reference_time": f"2025-01-{n + 1:02d}", "key": f"{prefix}{n}"}
        for n in range(count)
    ]


def open_memory(where: str, *, local: bool = True) -> graphmem.Memory:
    """The memory as every process of these tests opens it."""
    return graphmem.open(where, model=model(local=local), embedder=HashingEmbedder(64), clock=FixedClock("2026-01-15T12:00:00Z"))


def main(where: str, prefix: str, count: str, what: str = "episodes") -> None:
    rows = (newcomer if what == "newcomer" else episodes)(prefix, int(count))
    with open_memory(where) as memory:
        print("open", flush=True)
        memory.add_many(rows, progress=lambda done, _: print(done, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
