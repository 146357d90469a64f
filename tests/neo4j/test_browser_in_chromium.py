"""Neo4j Browser with our style, guide and saved queries, in a real Chromium on a real server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from chromium import Page, chromium
from headless import lacking

import graphmem
from graphmem.browser import post_connect, queries, serving, zipped
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing import neo4j as servers

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("browser")]
HOSTILE = 'it\'s "<script>parent.ran=1;window.ran=1</script>"'
NAMES = (HOSTILE, '<img src=x onerror="window.ran=1">', "מירה אוקפור", "\u202eevil", "x" * 390)
ROWS = (
    ("Mira", "Person", "lives_in", "Lisbon", "Place", "2021"),
    ("Mira", "Person", "lives_in", "Porto", "Place", "2024"),
    ("Mira", "Person", "works_at", "Acme", "Organization", "2022"),
    ("importer", "Work", "due", "2030-05-01", "Value", "2022"),
)
PARAMETERS = ":param {group_id: 'main', name: 'Mira', day: '2023-06-01', since: '2025-01-01'}"
GREETING = (":style http://localhost:", ":config autoComplete: false", ":play http://localhost:", "1 / 8", "A memory that knows when.")
PERSON, PLACE, ORGANIZATION = ("#D9583B", 40.0), ("#3C8D5A", 33.0), ("#2F6FB5", 33.0)


BOTH = [pytest.param(release, marks=[] if release == servers.NEWEST else pytest.mark.slow) for release in servers.RELEASES]


@pytest.fixture(scope="module", params=BOTH)
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    """Somebody connected to a server that tells Browser what to load, beside a memory of two groups; an older one in the slow tier."""
    missing = lacking() or servers.lacking(request.param)
    if missing is not None:
        if os.environ.get("CI"):
            pytest.fail(f"Neo4j Browser cannot be tested: {missing} is missing")
        pytest.skip(f"Neo4j Browser cannot be tested: {missing} is missing")
    with (
        serving(port=0, group=HOSTILE) as files,
        servers.server(
            request.param,
            browser=True,
            settings={**servers.KEEPING_PLANS, "browser.post_connect_cmd": post_connect(files)},
        ) as server,
        chromium() as page,
    ):
        tell(server)
        assert server.browser is not None
        page.driver.get(server.browser.replace("127.0.0.1", "localhost"))
        page.connect(server.uri.replace("bolt://127.0.0.1", "localhost"), *server.auth)
        page.until(lambda: all(said in page.text() for said in GREETING))  # the style and the guide are fetched; either may come first
        page.files, page.greeting = files, page.text()
        yield page


def tell(server: Any) -> None:
    """A few facts of several types, and a group whose names are hostile."""
    with graphmem.open(
        server.uri, auth=server.auth, model=ScriptedModel({}), embedder=HashingEmbedder(16), clock=FixedClock("2026-01-15T12:00Z")
    ) as memory:
        names = ("source", "source_type", "relation", "target", "target_type", "valid_at")
        memory.add_facts([dict(zip(names, row, strict=True)) for row in ROWS], reference_time="2025-01-01", source="team.json")
        rows = [{"source": HOSTILE, "relation": "knows", "target": name, "text": f"{name} " + "y" * 5000} for name in NAMES[1:]]
        memory.add_facts(rows, group=HOSTILE, reference_time="2025-01-01", source=HOSTILE)


def test_whoever_connects_gets_style_and_guide(page: Page) -> None:
    """The command of the server's settings has run: no other relationships than a query's, our colours, the first page of the guide."""
    for said in GREETING:
        assert said in page.greeting
    assert "ERROR" not in page.greeting


def test_the_guide_runs_its_blocks(page: Page) -> None:
    """A click fills the editor; the group, whatever it is called, arrives as it is; the next page is about labels."""
    page.run(f":play {page.files}/guide.html", lambda: "1 / 8" in page.frame())
    page.click("[data-testid=frame] .next-slide", lambda: "What the labels mean" in page.frame())
    page.click("[data-testid=frame] .previous-slide", lambda: "1 / 8" in page.frame())
    page.click("[data-testid=frame] pre.runnable", page.runs, saying=":param {group_id")
    page.run_editor(lambda: "Successfully set your parameters" in page.frame())
    assert page.parameters()["group_id"] == HOSTILE


def test_captions_and_colours_tell_what_is_what(page: Page) -> None:
    """People, places, organizations and values by their colours, relations by their names; what has ended is not drawn."""
    page.run(PARAMETERS, lambda: "Successfully" in page.frame())
    page.run(queries()["look/now.cypher"], lambda: len(page.picture()) == 5)
    picture = page.picture()
    assert picture["Mira"] == PERSON
    assert picture["Porto"] == PLACE
    assert picture["Acme"] == ORGANIZATION
    assert {colour for caption, (colour, _) in picture.items() if caption.startswith("2030-05")} == {
        "#E3E6EB"
    }  # or as much as the font leaves
    assert page.arrows() == ["DUE", "LIVES_IN", "WORKS_AT"]
    page.run(queries()["time/as_of_day.cypher"], lambda: "Lisbon" in page.picture())
    assert "Porto" not in page.picture()
    page.run(queries()["sources/entity.cypher"], lambda: len(page.picture()) == 2)
    assert {colour for caption, (colour, _) in page.picture().items() if caption.startswith("team.json")} == {"#F2D06B"}


def test_dropped_queries_become_favourites(page: Page) -> None:
    """A folder for each of ours; a click on one pastes it, and it runs."""
    page.run(PARAMETERS, lambda: "Successfully" in page.frame())
    page.drop(zipped(), "queries.zip")
    folders = sorted({f"graphmem {name.partition('/')[0]}" for name in queries()})
    page.click("[data-testid=navigationFavorites] button", lambda: all(folder in page.text() for folder in folders))
    asked = "[data-testid='scriptTitle-What was true on a day']"
    page.click("[data-testid^=expandFolder]", lambda: page.all(asked), saying="graphmem time")
    page.click(asked, page.runs)
    page.run_editor(lambda: "Lisbon" in page.picture())
    page.click("[data-testid=navigationFavorites] button", lambda: folders[0] not in page.text())


def test_hostile_names_are_only_text(page: Page) -> None:
    """Quotes, markup, right-to-left and very long texts are drawn, listed and inspected; nothing of them runs."""
    page.driver.execute_script("window.ran = undefined")
    group = HOSTILE.replace("'", "\\'")
    page.run(f":param group_id => '{group}'", lambda: "Successfully" in page.frame())
    page.run(queries()["look/now.cypher"], lambda: len(page.picture()) == len(NAMES))
    assert sorted(page.arrows()) == ["KNOWS"] * (len(NAMES) - 1)
    assert any(caption.startswith("מירה") for caption in page.picture())
    page.click("[data-testid=frame] g.node", lambda: "group_id" in page.frame())
    page.click("[data-testid=frame] g.relationship", lambda: "yyyy" in page.frame())
    page.run(queries()["sources/words.cypher"].replace("$name", "'מירה אוקפור'"), lambda: "yyyy" in page.frame())
    assert page.driver.execute_script("return window.ran") is None
    assert (
        page.driver.execute_script("return document.querySelectorAll('[data-testid=frame] script, [data-testid=frame] img[src=x]').length")
        == 0
    )
    page.run("RETURN 1 AS alive", lambda: "alive" in page.frame())
