"""Communities on the command line: a tree, JSON, and what is said where there are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from terminal import Run

import graphmem
from graphmem.runtime import FixedClock

pytestmark = pytest.mark.local


@pytest.fixture
def circles(tmp_path: Path) -> Path:
    """Two groups of two circles each, one of them with a name that would colour a terminal."""
    path = tmp_path / "circles.db"
    pairs = [(f"{c}{n}", f"{c}{m}") for c in "ABCD" for n in range(5) for m in range(n)]
    pairs += [(f"{a}{n}", f"{b}{n}") for a, b in ("AB", "CD") for n in range(4)] + [("A0", "C0"), ("D4", "\x1b[31mRed")]
    with graphmem.open(path, clock=FixedClock("2025-03-01T09:00Z")) as memory:
        memory.add_facts([{"source": a, "relation": "knows", "target": b, "text": f"{a} knows {b}"} for a, b in pairs])
    return path


def test_communities_are_shown_as_a_tree(run: Run, circles: Path) -> None:
    """Built, then shown: finer ones under the coarser ones that hold them; hostile names do nothing."""
    built = run("communities", "--build", "--resolution", "0.3", "--resolution", "1", "--db", circles)
    lines = built.out.splitlines()

    assert (built.code, built.err) == (0, "")
    assert [n for n, text in enumerate(lines) if text[0].isdigit()] == [0, 3]
    assert lines[0].startswith("11 ")
    assert all("── " in text for text in (lines[1], lines[2], lines[4], lines[5]))
    assert "\x1b[31m" not in built.out
    assert run("communities", "--db", circles).out == built.out


def test_json_nests_them(run: Run, circles: Path) -> None:
    """Each with its members, and those below it."""
    run("communities", "--build", "--algorithm", "louvain", "--resolution", "0.3", "--resolution", "1", "--db", circles)
    told = json.loads(run("communities", "--db", circles, "--json").out)["communities"]

    assert [c["size"] for c in told] == [11, 10]
    assert [sorted(p["size"] for p in c["communities"]) for c in told] == [[5, 6], [5, 5]]
    assert all({m["name"] for m in p["members"]} < {m["name"] for m in c["members"]} for c in told for p in c["communities"])


def test_a_past_day_is_computed(run: Run, circles: Path) -> None:
    """At a valid time of its own the tree says that it was computed."""
    run("communities", "--build", "--db", circles)

    assert "(computed)" in run("communities", "--valid", "2025-06-01", "--db", circles).out


def test_one_instant_can_stand_for_both_times(run: Run, circles: Path) -> None:
    """`--as-of` is `--valid` and `--system` at once, here and in every command that reads at a point; not beside them."""
    run("communities", "--build", "--db", circles)
    for command in (["communities"], ["facts"], ["stats"]):
        both = run(*command, "--valid", "2100-06-01", "--system", "2100-06-01", "--db", circles)
        once = run(*command, "--as-of", "2100-06-01", "--db", circles)
        assert (once.code, once.out, once.err) == (both.code, both.out, both.err)
        assert once.out
    assert "recorded nothing by 2020" in run("search", "A0", "--as-of", "2020", "--db", circles).err
    refused = run("facts", "--as-of", "2100", "--valid", "2100", "--db", circles)
    assert (refused.code, refused.out) == (2, "")
    assert "leave out --valid and --system" in refused.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "build_communities"),
        (("--algorithm", "louvain"), "--build"),
        (("--build", "--algorithm", "infomap"), "infomap"),
        (("--build", "--resolution", "0"), "resolution"),
        (("--build", "--system", "2025-04-01"), "--build"),
    ],
)
def test_what_is_wrong_is_one_line(run: Run, circles: Path, options: tuple[str, ...], said: str) -> None:
    """On stderr, naming the value."""
    ended = run("communities", *options, "--db", circles)

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err


def test_they_are_found_and_told_of(run: Run, circles: Path) -> None:
    """By kind, by a question about all of it, and as a text about all of it; what was typed wrong is said."""
    run("communities", "--build", "--algorithm", "louvain", "--db", circles)
    hits = json.loads(run("search", "A0", "--kinds", "community", "--db", circles, "--json").out)["hits"]
    assert {h["kind"] for h in hits} == {"community"}
    assert hits[0]["item"]["size"] > 2
    assert "community" in run("search", "what are the main topics?", "--limit", "2", "--db", circles).out
    document = json.loads(run("context", "all of it", "--scope", "global", "--tokens", "200", "--db", circles, "--json").out)
    assert document["tokens"] <= 200
    assert " members)" in document["text"]
    assert "\x1b[31m" not in run("context", "all of it", "--scope", "global", "--tokens", "2000", "--db", circles).out
    told = run("context", "Whom does A1 know?", "--tiers", "profile,facts", "--db", circles)
    assert "Facts and turns:" in told.out
    for wrong, message in ((["--scope", "world"], "scope='world'"), (["--tiers", ","], "--tiers=','"), (["--tiers", "all"], "tiers=")):
        refused = run("context", "x", *wrong, "--db", circles)
        assert (refused.code, message in refused.err) == (2, True)
