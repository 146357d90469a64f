"""What taking a large memory elsewhere costs: CPU and memory of a process that exports 100,000 facts, and a step of the viewer's slider."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import graphmem
from benchmarks.graphs import EMBEDDER, Graph
from benchmarks.measure import Figure
from graphmem.testing import ScriptedModel

PROMISED = ("graphml", "gexf", "parquet", "jsonl")
OTHERS = ("json", "cyjs", "dot", "csv", "cypher")
WHOLE = ("jsonl", "cypher")
_STEPS = 20


def figures(graph: Graph) -> list[Figure]:
    """CPU seconds and extra memory by format, of processes of their own; milliseconds of script a step of the slider."""
    found = []
    for suffix in (*PROMISED, *OTHERS):
        told = _process(graph.path, suffix)
        limits = ("<= 15", "<= 200") if suffix in PROMISED else (None, None)
        found.append(Figure(f"{suffix}, {graph.facts // 1000}k facts", told["seconds"], "s", limits[0]))
        found.append(Figure(f"{suffix}, memory besides", told["megabytes"], "MB", limits[1]))
    return found + viewer()


def viewer() -> list[Figure]:
    """The page of 2,000 entities and 6,000 facts, where there is a browser to look with."""
    with tempfile.TemporaryDirectory() as folder:
        graph = Graph(Path(folder) / "graph.db")
        graph.grow(2_000)
        page = Path(folder) / "graph.html"
        began = time.process_time()
        with _opened(graph.path) as memory:
            memory.export(page)
        found = [
            Figure("viewer, 2k entities and 6k facts, export", time.process_time() - began, "s", "<= 5"),
            Figure("viewer, the file", page.stat().st_size / 1e6, "MB", "<= 6"),
        ]
        if shutil.which("chromedriver") is None:
            return found
        return [*found, Figure("viewer, script a step of the slider", _slider(page), "ms", "<= 50")]


def _slider(page: Path) -> float:
    """Milliseconds, the median of some steps, as the page measures itself."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    import headless

    with headless.window() as driver:
        driver.get(page.as_uri())
        while not driver.execute_script("return document.body.dataset.ready"):
            time.sleep(0.1)
        spent = []
        for step in range(_STEPS):
            move = "const s = document.getElementById('valid'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));"
            driver.execute_script(move, str(int(2_000 + 97 * step)))
            spent.append(float(driver.execute_script("return document.body.dataset.scripting")))
        return median(spent)


def _process(db: Path, suffix: str) -> dict[str, float]:
    program = [sys.executable, "-m", "benchmarks.exporting", str(db), suffix]
    done = subprocess.run(program, cwd=Path(__file__).resolve().parent.parent, check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _opened(db: Path) -> graphmem.Memory:
    return graphmem.open(db, model=ScriptedModel({}), embedder=EMBEDDER)


def main(db: str, suffix: str) -> None:
    """Export once; print what it took."""
    with tempfile.TemporaryDirectory() as folder, _opened(Path(db)) as memory:
        memory.facts(limit=1)
        memory.export(Path(folder) / f"small.{suffix}", relation="no such relation") if suffix not in WHOLE else None  # imports
        before, began = _kilobytes("VmRSS"), time.process_time()
        memory.export(Path(folder) / f"all.{suffix}", progress=False)
        spent, after = time.process_time() - began, _kilobytes("VmHWM")
    print(json.dumps({"seconds": spent, "megabytes": (after - before) / 1024}))


def _kilobytes(field: str) -> int:
    """Memory of this process, now (VmRSS) or at its highest (VmHWM), as Linux tells it."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition(f"{field}:")[2].split()[0])


if __name__ == "__main__":
    main(*sys.argv[1:3])
