"""The commands that read, in this process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from terminal import ROOT, Run

pytestmark = pytest.mark.local


def parsed(out: str) -> Any:
    """Stdout as the one JSON document it must be."""
    return json.loads(out)


def test_facts_show_what_holds_now(run: Run, made: Path) -> None:
    """By default only what is true now."""
    ended = run("facts", "Mira", "--db", made, "--json")

    assert [f["target"] for f in parsed(ended.out)["facts"]] == ["Porto"]


@pytest.mark.parametrize(
    ("point", "target"),
    [
        (["--valid", "2025-02-15"], "Lisbon"),
        (["--valid", "2025-03-15"], "Porto"),
        (["--valid", "2025-03-15", "--system", "2025-03-20"], "Lisbon"),
        (["--system", "2025-03-20"], "Lisbon"),
    ],
)
def test_both_axes_are_options(run: Run, made: Path, point: list[str], target: str) -> None:
    """--valid is when it is true, --system when it was believed; --system alone is what a read gave that day."""
    ended = run("facts", "Mira", "--db", made, "--json", *point)

    assert [f["target"] for f in parsed(ended.out)["facts"]] == [target]


def test_history_shows_both_homes_with_dates(run: Run, made: Path) -> None:
    """The table has the period of each, as precisely as it was given."""
    ended = run("facts", "Mira", "--history", "--db", made)

    assert "2021 to 2025-02" in ended.out
    assert "since 2025-03" in ended.out


def test_a_timeline_is_in_order(run: Run, made: Path) -> None:
    """What began and ended, oldest first."""
    events = parsed(run("timeline", "Mira", "--db", made, "--json").out)["events"]

    assert [(e["event"], e["target"]) for e in events] == [("begins", "Lisbon"), ("ends", "Lisbon"), ("begins", "Porto")]


def test_a_limit_says_that_there_is_more(run: Run, made: Path) -> None:
    """`more` in JSON, a note on stderr for people."""
    shown = run("timeline", "Mira", "--limit", "1", "--db", made)
    document = parsed(run("timeline", "Mira", "--limit", "1", "--db", made, "--json").out)

    assert (len(document["events"]), document["more"]) == (1, True)
    assert "more than 1" in shown.err


def test_search_finds_and_cites(run: Run, made: Path) -> None:
    """The best fact answers, with the episode that says it."""
    hits = parsed(run("search", "where does Mira live?", "--kinds", "fact", "--db", made, "--json").out)["hits"]

    assert hits[0]["item"]["target"] == "Porto"
    assert hits[0]["episodes"]


def test_search_explains_each_hit(run: Run, made: Path) -> None:
    """Under the hits for people, in each hit for programs."""
    line = ("search", "where does Mira live?", "--kinds", "fact", "--limit", "1", "--explain", "--db", made)
    [hit] = parsed(run(*line, "--json").out)["hits"]
    shown = run(*line).out

    assert (hit["explanation"]["rank"], hit["explanation"]["current"]) == (1, True)
    assert "by text" in shown
    assert "rests on" in shown


def test_why_not_says_what_keeps_an_item_out(run: Run, made: Path) -> None:
    """The point in time, the kinds and the limit count; an unknown item is exit code 1."""
    line = ("why-not", "where does Mira live?", "Lisbon", "--db", made)
    told = parsed(run(*line, "--kinds", "fact", "--json").out)
    shown = run(*line, "--system", "2021-01-01")
    unknown = run("why-not", "where does Mira live?", "Lisbonn", "--db", made)

    assert told["reason"] == "kind"
    assert (shown.code, "not yet known" in shown.out) == (0, True)
    assert (unknown.code, "near names: Lisbon" in unknown.out) == (1, True)


def test_filters_reach_the_search(run: Run, made: Path) -> None:
    """Only what Bob said in general."""
    hits = parsed(
        run("search", "Bob wrote hi", "--actor", "Bob", "--session", "general", "--kinds", "episode", "--db", made, "--json").out
    )["hits"]
    none = parsed(run("search", "Bob wrote hi", "--until", "2020", "--kinds", "episode", "--db", made, "--json").out)["hits"]

    assert [h["item"]["actor"] for h in hits] == ["Bob"]
    assert none == []


def test_context_stays_within_its_tokens(run: Run, made: Path) -> None:
    """A text for a prompt, with the number of its tokens."""
    document = parsed(run("context", "where does Mira live?", "--tokens", "60", "--db", made, "--json").out)

    assert "Porto" in document["text"]
    assert document["tokens"] <= 60


def test_an_entity_has_its_facts(run: Run, made: Path) -> None:
    """What it is and what holds; exit code 1 and a hint for a name that nothing has."""
    found = run("entity", "mira", "--db", made)
    missing = run("entity", "Mirra", "--db", made)

    assert found.code == 0
    assert "Porto" in found.out
    assert (missing.code, missing.out) == (1, "")
    assert "Mirra" in missing.err


def test_a_wrong_time_is_named(run: Run, made: Path) -> None:
    """Exit code 2 and the value."""
    ended = run("facts", "--valid", "soon", "--db", made)

    assert (ended.code, ended.out) == (2, "")
    assert "soon" in ended.err


def test_stats_count_now_and_then(run: Run, made: Path) -> None:
    """As of an earlier belief there was less."""
    now = parsed(run("stats", "--db", made, "--json").out)
    then = parsed(run("stats", "--system", "2025-03-02", "--db", made, "--json").out)

    assert (now["episodes"], then["episodes"]) == (3, 1)


def test_several_groups_are_read_together(run: Run, made: Path) -> None:
    """A group that has nothing adds nothing, and alone gives nothing."""
    both = parsed(run("facts", "--group", "main", "--group", "other", "--db", made, "--json").out)
    other = parsed(run("episodes", "--group", "other", "--db", made, "--json").out)

    assert len(both["facts"]) >= 1
    assert other["episodes"] == []


def test_verify_finds_nothing_in_a_sound_memory(run: Run, made: Path) -> None:
    """Exit code 0, and an empty list for programs."""
    ended = run("verify", "--db", made, "--json")

    assert (ended.code, parsed(ended.out)) == (0, {"violations": []})


@pytest.mark.parametrize("arguments", [["episodes"], ["search", "Bob wrote"], ["context", "Bob wrote"], ["entity", "Bob"]])
def test_hostile_text_cannot_act_on_the_terminal(run: Run, made: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No control or direction character of an episode comes out, and markup and emoji codes are shown as they are."""
    monkeypatch.setenv("COLUMNS", "200")
    for json_flag in ([], ["--json"]):
        ended = run(*arguments, "--db", made, *json_flag)

        assert ended.code == 0
        assert not set("\x1b\x07\x9b\u202e") & set(ended.out)
        if arguments[0] == "episodes" and not json_flag:
            assert "[bold red]" in ended.out
            assert ":smile:" in ended.out


def test_reading_facts_loads_no_model(made: Path) -> None:
    """What needs no vector starts neither the extractor nor the embedder."""
    heavy = {"spacy", "onnxruntime", "onnx", "dateparser"}
    lines = [["facts"], ["timeline"], ["episodes"], ["stats"], ["entity", "Mira"]]
    script = f"import sys; from graphmem.cli import main; [main([*line, '--db', {str(made)!r}]) for line in {lines}]"
    script += f"; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_a_search_before_the_first_record_says_so(run: Run, made: Path) -> None:
    """On stderr; and not where something had been recorded."""
    before = run("search", "Mira", "--system", "2020-01-01", "--db", made)
    after = run("search", "Mira", "--valid", "1900-01-01", "--kinds", "fact", "--db", made)

    assert before.code == 0
    assert "recorded nothing by 2020-01-01" in before.err
    assert "recorded nothing by 2020-01-01" in run("context", "Mira", "--system", "2020-01-01", "--db", made).err
    assert "nothing found" in after.out
    assert after.err == ""


@pytest.mark.parametrize(
    ("wrong", "named"),
    [(["--since", "2025-01-02", "--until", "2025-01-01"], "--until='2025-01-01'"), (["--kinds", " , "], "--kinds=' , '")],
)
def test_what_can_find_nothing_is_refused_by_the_name_of_its_option(run: Run, made: Path, wrong: list[str], named: str) -> None:
    """Search and why-not alike."""
    for command in (["search", "Mira"], ["why-not", "Mira", "Porto"]):
        ended = run(*command, *wrong, "--db", made)
        assert ended.code == 2
        assert named in ended.err


def test_stats_of_several_groups_count_all_of_them(run: Run, tmp_path: Path) -> None:
    """Not the first alone."""
    path = tmp_path / "two.db"
    for group in ("one", "two"):
        run("add", "Hello there.", "--actor", "Mira", "--group", group, "--db", path)

    assert parsed(run("stats", "--group", "one", "--group", "two", "--db", path, "--json").out)["episodes"] == 2


def test_usage_shows_arguments_once(run: Run) -> None:
    """Brackets and dots are put around their names by the command itself."""
    assert run("facts", "--help").out.startswith("Usage: graphmem facts [OPTIONS] [ENTITY]\n")
    assert run("ingest", "--help").out.count("...\n") == 1
    assert "PATH...}" not in run("ingest", "--help").out


def test_ids_are_whole_on_a_narrow_terminal(run: Run, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go on in the next line: what was cut could not be copied."""
    episode = parsed(run("episodes", "--db", made, "--json", "--limit", "1").out)["episodes"][0]["id"]
    monkeypatch.setenv("COLUMNS", "40")
    told = run("search", "Where does Mira live?", "--kinds", "episode", "--explain", "--limit", "5", "--db", made)

    assert "…" not in told.out.replace("to …", "")
    assert episode in "".join(told.out.split())
