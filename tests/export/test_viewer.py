"""The page with two sliders, in a real browser: what it shows is what `as_of` says, and nothing of an episode ever runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import headless
import pytest
from headless import asked_of_the_network, complaints

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def window() -> Iterator[Any]:
    """One window for all tests."""
    with headless.window() as driver:
        yield driver


@pytest.fixture
def page(window: Any, folder: Path) -> Callable[[Memory], Any]:
    """Export a memory and open it."""

    def opened(memory: Memory, **cutting: Any) -> Any:
        memory.export(folder / "graph.html", **cutting)
        complaints(window), asked_of_the_network(window)  # of the page before
        window.get(f"file://{folder}/graph.html")
        for _ in range(200):
            if window.execute_script("return document.body.dataset.ready"):
                return window
            time.sleep(0.05)
        pytest.fail(f"the page was not ready: {complaints(window)}")

    return opened


_SET = """
    const field = document.getElementById(arguments[0]);
    field.value = arguments[1];
    field.dispatchEvent(new Event(arguments[2]));
"""
_DRAWN_AT = """
    const node = JSON.parse(document.getElementById("data").textContent).nodes.find((n) => n.name === arguments[0]);
    const view = Bokeh.index.roots ? Bokeh.index.roots[0] : Object.values(Bokeh.index)[0];
    const box = view.canvas_view.el.getBoundingClientRect();
    return [box.left + view.frame.x_scale.compute(node.x), box.top + view.frame.y_scale.compute(node.y)];
"""


def shown(driver: Any) -> dict[str, int]:
    return {name: int(driver.execute_script(f"return document.body.dataset.{name}")) for name in ("entities", "facts", "visible")}


def set_date(driver: Any, axis: str, day: str) -> None:
    driver.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('change'));",
        f"{axis}-date",
        day,
    )


def slide(driver: Any, axis: str, index: int) -> None:
    driver.execute_script(_SET, axis, str(index), "input")


def press(driver: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    chain = ActionChains(driver)
    for key in keys:
        chain.send_keys(key)
    chain.perform()


def test_both_sliders_show_what_as_of_says(page: Callable[..., Any], memory: Memory) -> None:
    """At every pair of three days of each axis the counts are those of the store; forgotten facts are there at their time."""
    driver = page(memory)
    assert shown(driver)["facts"] == len(memory.facts())
    for valid in ("2021-06-01", "2023-08-01", "2024-03-25"):
        for system in ("2024-01-15", "2024-03-20", "2024-05-15"):
            set_date(driver, "valid", valid)
            set_date(driver, "system", system)
            view = memory.as_of(valid=valid, system=system)
            assert shown(driver) == {"entities": view.counts()["entities"], "facts": len(view.facts()), "visible": len(view.facts())}
    assert complaints(driver) == []


def test_each_stop_of_a_slider_is_an_instant_at_which_something_changes(page: Callable[..., Any], memory: Memory) -> None:
    """Moved stop by stop through valid time, the facts shown are those that hold there, and what changed is told."""
    driver = page(memory)
    ends = {m for f in memory.facts(history=True) for m in (f.valid_at, f.invalid_at) if m is not None}
    stops = int(driver.execute_script("return document.getElementById('valid').max"))
    assert stops + 1 >= len(ends)
    seen = []
    for n in range(stops + 1):
        slide(driver, "valid", n)
        seen.append(shown(driver)["facts"])
        assert "+" in driver.find_element("id", "counts").text
    wanted = sorted(ends)
    assert seen[: len(wanted)] == [len(memory.as_of(valid=at).facts()) for at in wanted] or len(wanted) <= stops


def test_colours_are_those_of_the_memorys_own_communities(page: Callable[..., Any], memory: Memory) -> None:
    """Once a layer is built each node has the colour of its home there, named in its panel; what joined later is of none."""
    memory.build_communities()
    memory.add_facts([{"source": "Zoe", "relation": "knows", "target": "Mira", "valid_at": "2024-05-20"}])
    driver = page(memory)
    shown = driver.execute_script("const d = JSON.parse(document.getElementById('data').textContent); return [d.nodes, d.communities]")
    homes = {m.id: c.name for c in memory.communities(level=0) for m in c.members}
    assert homes
    assert {n["id"]: shown[1][n["community"]] for n in shown[0] if n["community"] >= 0} == homes
    assert [n["community"] for n in shown[0] if n["name"] == "Zoe"] == [-1]
    press(driver, "/")
    press(driver, "mira", "\ue007")
    panel = driver.find_element("id", "panel").text
    assert f"of {next(c.name for c in memory.communities(level=0) if 'Mira' in [m.name for m in c.members])}" in panel
    assert complaints(driver) == []


def test_search_select_filter_theme_and_keys(page: Callable[..., Any], memory: Memory) -> None:
    """A name found opens its panel with dates and citations; filters take facts away; keys do what the page says."""
    driver = page(memory)
    press(driver, "/")
    press(driver, "mira", "\ue007")
    panel = driver.find_element("id", "panel").text
    assert panel.startswith("Mira\n")
    for wanted in ("Holds", "Before and after", "Mira lives in Braga", "2024-03", "[2024-04-01 09:00]"):
        assert wanted in panel, panel
    quote = next(b for b in driver.find_elements("css selector", "#panel button.link") if b.text.startswith("[2024-04-01"))
    quote.click()
    assert "lives_in" in driver.find_element("css selector", "#panel blockquote").text
    press(driver, "\ue00c")
    assert driver.find_element("id", "panel").text == ""
    before = shown(driver)["visible"]
    driver.find_element("css selector", "#filters summary").click()
    driver.find_element("css selector", "#relations input[value='LIVES_IN']").click()
    assert shown(driver)["visible"] == before - 1
    driver.find_element("css selector", "#filters summary").click()
    themes = [driver.execute_script("return document.documentElement.dataset.theme")]
    press(driver, "d")
    themes.append(driver.execute_script("return document.documentElement.dataset.theme"))
    assert sorted(themes) == ["dark", "light"]
    press(driver, "\ue011")  # Home
    first = driver.find_element("id", "valid-shown").text
    press(driver, "\ue014")  # right
    assert driver.find_element("id", "valid-shown").text > first


def test_a_click_on_a_node_opens_it(page: Callable[..., Any], memory: Memory) -> None:
    """Where the node is drawn."""
    from selenium.webdriver import ActionChains

    driver = page(memory)
    time.sleep(0.3)
    spot = driver.execute_script(_DRAWN_AT, "Mira")
    ActionChains(driver).move_by_offset(int(spot[0]), int(spot[1])).click().perform()
    ActionChains(driver).move_by_offset(-int(spot[0]), -int(spot[1])).perform()
    for _ in range(40):
        if driver.find_element("id", "panel").text:
            break
        time.sleep(0.05)
    assert driver.find_element("id", "panel").text.startswith("Mira\n")


def test_play_goes_through_time_and_stops_at_the_end(page: Callable[..., Any], memory: Memory) -> None:
    """From the first stop to the last, once."""
    driver = page(memory)
    driver.find_element("id", "play").click()
    first = driver.find_element("id", "valid").get_attribute("value")
    time.sleep(1.3)
    assert int(driver.find_element("id", "valid").get_attribute("value")) > int(first)
    driver.find_element("id", "play").click()
    assert driver.find_element("id", "play").text == "▶"


def test_hostile_names_neither_run_nor_break_the_page(page: Callable[..., Any], hostile: Memory) -> None:
    """Every name is shown as text; the console is quiet; the network is not asked; formulas are not taken for formulas."""
    hostile.add_facts(
        [{"source": "$$x^2$$", "relation": "knows", "target": r"\[y\]"}, {"source": r"\(z\)", "relation": "knows", "target": "Mira"}]
    )
    driver = page(hostile)
    assert shown(driver)["entities"] == hostile.counts()["entities"]
    assert driver.execute_script("return typeof window.x") == "undefined"
    press(driver, "/")
    press(driver, "</script>", "\ue007")
    assert driver.find_element("css selector", "#panel h2").text == "</script><script>x()</script>"
    assert driver.execute_script("return document.querySelectorAll('#panel script, #panel img, #panel iframe').length") == 0
    assert complaints(driver) == []
    assert asked_of_the_network(driver) == []


def test_an_empty_memory_says_so(page: Callable[..., Any]) -> None:
    """And is whole."""
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-01-01T00:00Z")) as empty:
        driver = page(empty)
    assert "holds nothing yet" in driver.find_element("id", "note").text
    assert complaints(driver) == []


def test_a_large_graph_says_what_it_left_out(window: Any, tmp_path: Path) -> None:
    """Of 2,100 entities and 10,500 facts 2,000 and 6,000 are shown, in a file of at most 6 MB, and the page answers."""
    from benchmarks.graphs import EMBEDDER, Graph

    graph = Graph(tmp_path / "graph.db")
    graph.grow(2_100)
    with graphmem.open(graph.path, model=ScriptedModel({}), embedder=EMBEDDER) as large:
        large.export(tmp_path / "graph.html")
    assert (tmp_path / "graph.html").stat().st_size <= 6_000_000
    window.get(f"file://{tmp_path}/graph.html")
    for _ in range(400):
        if window.execute_script("return document.body.dataset.ready"):
            break
        time.sleep(0.05)
    assert window.find_element("id", "note").text.startswith("Showing the 2000 entities with most facts of 2100.")
    told = json.loads(window.execute_script("return document.getElementById('data').textContent"))
    assert len(told["nodes"]) == 2_000
    assert len(told["facts"]) == 6_000
    before = shown(window)["facts"]
    slide(window, "valid", 900)
    assert shown(window)["facts"] != before
    assert complaints(window) == []


def test_show_makes_a_frame_of_its_own_in_a_notebook(memory: Memory) -> None:
    """The page cannot reach the notebook that it is in."""
    shown = memory.show(width="100%", height=500, open_browser=False)
    text = shown._repr_html_()
    assert text.startswith("<iframe ")
    assert 'sandbox="allow-scripts"' in text
    assert "<script" not in text
    with pytest.raises(InvalidInput, match="height"):
        memory.show(height=0, open_browser=False)


def test_the_page_of_a_past_belief_ends_there(page: Callable[..., Any], memory: Memory) -> None:
    """It opens with what was believed then, and knows no later end; a slider in focus moves its own time."""
    past = memory.as_of(system="2024-03-15")
    opened = page(past)
    assert opened.execute_script("return document.body.dataset.facts") == str(len(past.facts()))
    data = json.loads(opened.execute_script("return document.getElementById('data').textContent"))
    ends = [fact["system"][1] for fact in data["facts"]] + [span[1] for node in data["nodes"] for span in node["believed"]]
    assert all(end is None or end <= data["system"] for end in ends)
    before = opened.execute_script("return document.getElementById('valid').value")
    opened.execute_script("document.getElementById('system').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home', bubbles: true}))")
    assert opened.execute_script("return document.getElementById('system').value") == "0"
    assert opened.execute_script("return document.getElementById('valid').value") == before
