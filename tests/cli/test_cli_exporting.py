"""What `export` and `load` say of what they did."""

import json
from pathlib import Path

from terminal import Run


def test_export_and_load_say_what_went_where(run: Run, made: Path, tmp_path: Path) -> None:
    """A line for people, a document with `--json`."""
    log, graph = tmp_path / "team.jsonl", tmp_path / "team.json"
    assert run("export", log, "--db", made).out.startswith(f"log {str(log)!r}: ")
    told = run("export", graph, "--db", made).out
    counts = json.loads(run("export", graph, "--overwrite", "--json", "--db", made).out)["counts"]
    assert told == f"node-link {str(graph)!r}: {counts['entities']} entities, {counts['facts']} facts\n"
    loaded = run("load", log, "--db", tmp_path / "copy.db")
    assert loaded.code == 0
    assert loaded.out.startswith(f"loaded {str(log)!r}: ")
    again = json.loads(run("load", log, "--json", "--db", tmp_path / "copy.db").out)
    assert again["new"] == 0 < again["entries"]


def test_an_asked_history_is_what_a_page_holds(run: Run, made: Path, tmp_path: Path) -> None:
    """Of itself a page plays all beliefs."""
    counts = []
    for asked in (["--include", "history"], ["--include", "versions"], []):
        done = run("export", tmp_path / "g.html", "--overwrite", "--json", "--db", made, *asked)
        counts.append(json.loads(done.out)["counts"]["facts"])
    assert counts[0] < counts[1] == counts[2]


def test_hops_without_an_entity_are_refused(run: Run, made: Path, tmp_path: Path) -> None:
    """Whatever the number; also a table and an axis that the format takes no regard of. Nothing is written."""
    for asked, told in ((["--hops", "0"], "needs entity="), (["--table", "facts"], "CSV or Parquet"), (["--axis", "system"], "GEXF")):
        done = run("export", tmp_path / "g.json", "--db", made, *asked)
        assert done.code == 2
        assert told in done.err
    assert not (tmp_path / "g.json").exists()
