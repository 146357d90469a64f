"""The tests for a real model run, and can fail: here they meet an endpoint that answers from a script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing.endpoint import Request, ScriptedEndpoint

TESTS = Path(__file__).with_name("test_live.py")
ROOT = TESTS.parents[2]
KEY = "sk-live-not-a-key"


def answer(request: Request) -> object:
    """What a good model would say to what the live tests ask."""
    if request.prompt == "resolve":
        return {"matches": [{"new": 0, "existing": "e1"}, {"new": 1, "existing": None}]}
    if request.prompt == "judge":
        judgements = [{"new": 0, "duplicates": [], "contradicts": ["f1"]}, {"new": 1, "duplicates": ["f2"], "contradicts": []}]
        return {"judgements": judgements}
    told = re.search(r"<data>\n(.*)\n</data>", request.user)
    assert told is not None
    text = json.loads(told[1])["text"]
    if "Lisbon" in text:
        return found(("Mira", "lives_in", "Lisbon", None), ("Mira", "works_at", "Tidewell", None))
    return found(("Mira", "lives_in", "Porto", "2025-03")) if "Porto" in text else found(("Mira", "has_pet", "Biscuit", None))


def found(*facts: tuple[str, str, str, str | None]) -> Mapping[str, object]:
    """An extraction: facts as source, relation, target and start."""
    names = dict.fromkeys(name for source, _, target, _ in facts for name in (source, target))
    rows = [
        {
            "source": s,
            "target": t,
            "relation": r,
            "text": f"{s} {r} {t}.",
            "kind": "holds",
            "valid_at": at,
            "invalid_at": None,
            "still": False,
        }
        for s, r, t, at in facts
    ]
    return {"entities": [{"name": n, "type": "Person" if n == "Mira" else "Thing", "aliases": []} for n in names], "facts": rows}


def run(environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What `make test-live` runs, without the settings of this machine."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GRAPHMEM_", "OPENAI_", "PYTEST_")) and k != "CI"}
    line = [sys.executable, "-m", "pytest", "-m", "live", str(TESTS), "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    return subprocess.run(line, env={**kept, **environment}, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("good", [True, False], ids=["good", "bad"])
def test_the_live_tests_pass_with_a_good_model_and_fail_with_a_bad_one(good: bool) -> None:
    """Model and embedder behind one address, with a key that is sent and never shown."""
    embedder = HashingEmbedder(64)
    empty = {"entities": [], "facts": [], "matches": [], "judgements": []}
    embed = (lambda texts: embedder.embed(texts).tolist()) if good else (lambda texts: [[1.0, 2.0] for _ in texts])
    with ScriptedEndpoint(answer=answer if good else lambda request: empty, embed=embed) as endpoint:
        names = {"GRAPHMEM_LIVE_MODEL": "some-model", "GRAPHMEM_LIVE_EMBEDDER": "some-embedder"}
        done = run({**names, "GRAPHMEM_BASE_URL": endpoint.base_url, "GRAPHMEM_API_KEY": KEY})

    assert ("5 passed" if good else "5 failed") in done.stdout, done.stdout[-3000:]
    assert done.returncode == (0 if good else 1)
    assert {r.headers["authorization"] for r in endpoint.requests} == {f"Bearer {KEY}"}
    assert {r.body["model"] for r in endpoint.requests} == {"some-model", "some-embedder"}
    assert KEY not in done.stdout + done.stderr


def test_without_a_model_they_say_what_is_missing() -> None:
    """And send nothing, whatever key is lying about."""
    done = run({"OPENAI_API_KEY": KEY})

    assert "5 skipped" in done.stdout
    assert "GRAPHMEM_LIVE_MODEL names no model" in done.stdout
