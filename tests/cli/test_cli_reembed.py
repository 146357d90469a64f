"""`graphmem reembed`, and `search --rerank`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from terminal import Run

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock, ScriptedModel


@pytest.fixture
def hashed(tmp_path: Path) -> Path:
    """A memory with the vectors of the embedder for tests."""
    path = tmp_path / "hashed.db"
    with graphmem.open(path, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2025-03-01T09:00Z")) as memory:
        memory.add_facts([{"source": "Tom", "relation": "plays", "target": "the cello", "text": "Tom plays the cello"}])
    return path


@pytest.mark.local
def test_a_memory_gets_vectors_of_another_embedder(run: Run, hashed: Path) -> None:
    """Refused before, with the command to run; done and counted; found by meaning after."""
    refused = run("search", "Who makes music?", "--db", hashed)
    assert refused.code == 3
    assert "graphmem reembed --db PATH --embedder NAME" in refused.err
    assert "hashing/256#1" in refused.err

    done = run("reembed", "--db", hashed, "--embedder", "local")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("4 items have vectors of all-MiniLM-L6-v2")
    assert "before, of hashing/256#1" in done.out
    found = json.loads(run("search", "Who makes music?", "--kinds", "fact", "--db", hashed, "--json").out)
    assert found["hits"][0]["text"] == "Tom plays the cello"
    assert run("verify", "--db", hashed).code == 0

    again = run("reembed", "--db", hashed)
    assert (again.code, again.out) == (0, "its vectors are of all-MiniLM-L6-v2/int8#1 already\n")


@pytest.mark.local
def test_what_was_done_as_json(run: Run, hashed: Path) -> None:
    """Embedders and counts."""
    done = run("reembed", "--db", hashed, "--json")
    assert json.loads(done.out) == {"before": "hashing/256#1", "after": "all-MiniLM-L6-v2/int8#1", "items": 4, "resumed": 0}


def test_a_mistyped_path_and_an_unknown_embedder_are_refused(run: Run, hashed: Path, tmp_path: Path) -> None:
    """With exit codes of their own, and no file is made."""
    missing = run("reembed", "--db", tmp_path / "none.db")
    assert missing.code == 3
    assert "no such memory" in missing.err
    assert not (tmp_path / "none.db").exists()
    assert run("reembed", "--db", hashed, "--embedder", "unknown").code == 2


@pytest.mark.local
def test_search_looks_again_with_the_rerankers_named(run: Run, db: Path) -> None:
    """In turn; a name that is none is a wrong command line."""
    found = run("search", "Mira", "--kinds", "fact", "--db", db, "--rerank", "mmr:1", "--rerank", "node_distance:Mira", "--json")
    legs = [reason["leg"] for reason in json.loads(found.out)["hits"][0]["reasons"]]
    assert legs[-3:] == ["search", "mmr", "node_distance"]
    wrong = run("search", "Mira", "--db", db, "--rerank", "best")
    assert wrong.code == 2
    assert "node_distance:ENTITY" in wrong.err


def test_one_group_cannot_be_reembedded(run: Run, hashed: Path) -> None:
    """The option is not passed over in silence."""
    ended = run("reembed", "--db", hashed, "--group", "main")

    assert ended.code == 2
    assert "--group" in ended.err
