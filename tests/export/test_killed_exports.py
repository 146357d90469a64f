"""Exports killed at any moment: the target is as it was or as it will be, and the next export leaves nothing beside it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from exporter import opened

from graphmem.errors import InvalidInput
from graphmem.export import FORMATS
from graphmem.export.targets import file_target, folder_target

EXPORTER = Path(__file__).with_name("exporter.py")
FOLDERS = {"csvs": "csv", "parquets": "parquet", "vault": "markdown"}
TARGETS = {f"g{f.suffixes[0]}": f.name for f in FORMATS if f.suffixes} | FOLDERS
FEW, MANY = {"g.graphml": 1, "vault": 2}, 25
KILLS = [
    *(pytest.param(name, kills, id=f"{name} killed {kills} times") for name, kills in FEW.items()),
    *(pytest.param(name, MANY, id=f"{name} killed {MANY} times", marks=pytest.mark.slow) for name in TARGETS),
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with some hundred facts and communities, told on different days."""
    where = tmp_path_factory.mktemp("source") / "a.db"
    with opened(where) as memory:
        for day in range(1, 9):
            rows = [
                {"source": f"P{n}", "relation": "knows", "target": f"P{(n * day + 1) % 60}"} for n in range(60) if (n * day + 1) % 60 != n
            ]
            memory.add_facts(rows, reference_time=f"2025-03-0{day}", recorded_at=f"2025-03-0{day}")
        memory.build_communities()
    return where


def contents(path: Path) -> dict[str, bytes] | None:
    """Every file of a target, None where there is no target."""
    if not path.exists():
        return None
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {p.relative_to(path.parent).as_posix(): p.read_bytes() for p in files}


@pytest.mark.parametrize(("name", "kills"), KILLS)
def test_a_killed_export_leaves_no_half_target_and_nothing_for_long(source: Path, tmp_path: Path, name: str, kills: int) -> None:
    """Kill -9 while the same target is written for the first time and again and again."""
    left = 0
    random, target, kind = Random(name), tmp_path / "out" / name, TARGETS[name]
    target.parent.mkdir()
    with opened(source) as memory:
        began = time.perf_counter()
        memory.export(tmp_path / name, format=kind, progress=False)
        spent = time.perf_counter() - began
        whole = contents(tmp_path / name)
        for _ in range(kills):
            command = [sys.executable, str(EXPORTER), str(source), str(target), kind]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            for _ in range(1 + random.randrange(3)):
                assert process.stdout.readline() == "next\n"
            time.sleep(random.random() * spent * 1.2)
            process.kill()
            process.communicate(timeout=60)
            assert contents(target) in (None, whole)
            left += len(list(target.parent.glob(".graphmem-*")))
        memory.export(target, format=kind, overwrite=True, progress=False)
    assert contents(target) == whole
    assert [p.name for p in target.parent.iterdir()] == [name]
    assert left or kills < MANY  # else no kill met an export


_BETWEEN = """
import os, signal, sys
from pathlib import Path
from graphmem.export.targets import file_target, folder_target
rename = Path.rename
def killed(self, target):
    rename(self, target)
    os.kill(os.getpid(), signal.SIGKILL)
Path.rename = killed
with folder_target(Path(sys.argv[1]), overwrite=True) as part:
    (part / "new.md").write_text("new")
"""


def test_a_folder_that_was_moved_aside_comes_back(tmp_path: Path) -> None:
    """A kill between the two moves leaves the old folder under another name; whoever comes next finds it in its place."""
    target = tmp_path / "vault"
    target.mkdir()
    (target / "old.md").write_text("old")
    assert subprocess.run([sys.executable, "-c", _BETWEEN, str(target)], check=False).returncode == -signal.SIGKILL
    assert not target.exists()
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(InvalidInput, match="exists already"), folder_target(target, overwrite=False):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["vault"]
    assert (target / "old.md").read_text() == "old"


def test_what_others_are_writing_is_left_alone(tmp_path: Path) -> None:
    """Two exports to one target do not disturb each other, nor what has a like name."""
    (tmp_path / ".graphmem-mine.part").write_text("mine")
    with file_target(tmp_path / "g.json", overwrite=True) as one:
        one.write_text("first")
        with file_target(tmp_path / "g.json", overwrite=True) as other:
            other.write_text("second")
        assert (tmp_path / "g.json").read_text() == "second"
        assert one.read_text() == "first"
    assert (tmp_path / "g.json").read_text() == "first"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".graphmem-mine.part", "g.json"]
