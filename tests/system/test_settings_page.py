"""The page of settings says what the code reads: the same variables, meanings and defaults, and the arguments that go before them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import graphmem
from graphmem import settings
from graphmem.cli.options import Where
from graphmem.cli.serving import mcp
from graphmem.opening import Further

PAGE = (Path(graphmem.__file__).parents[1] / "docs" / "settings.md").read_text("utf-8")
ONLY_TESTS_READ = {"GRAPHMEM_GRAPHITI", "GRAPHMEM_DATA", "GRAPHMEM_LIVE_MODEL", "GRAPHMEM_LIVE_EMBEDDER"}
WHERE_CACHES_ARE = {"XDG_CACHE_HOME", "LOCALAPPDATA", "HOME", "USERPROFILE"}


class Watched(Mapping[str, str]):
    """An environment in which everything is set to nothing, and which knows what was looked up."""

    def __init__(self) -> None:
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.read.add(key)
        return ""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("nothing goes through the whole environment")

    def __len__(self) -> int:
        raise AssertionError("nothing counts the environment")


def rows(text: str) -> list[list[str]]:
    """The cells of the rows of the first table, without its head."""
    table = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]]


def test_the_table_of_the_page_is_that_of_the_module() -> None:
    """Variable, meaning and default."""
    assert [row[:3] for row in rows(PAGE)] == rows(settings.__doc__ or "")


def test_the_variables_of_the_page_are_those_that_are_read() -> None:
    """And where the user's cache is."""
    environment = Watched()
    settings.Settings.from_environment(environment)

    assert environment.read - WHERE_CACHES_ARE == {row[0].strip("`") for row in rows(PAGE)}


def test_the_defaults_of_the_page_are_those_of_an_empty_environment() -> None:
    """Those that are values."""
    found, told = settings.Settings.from_environment({"HOME": "/home/mira"}), {row[0].strip("`"): row[2].strip("`") for row in rows(PAGE)}

    assert (found.model, found.embedder, str(found.database)) == (told["GRAPHMEM_MODEL"], told["GRAPHMEM_EMBEDDER"], told["GRAPHMEM_DB"])
    assert not any((found.base_url, found.api_key, found.openai_api_key, found.proxy, found.mcp_token))


def test_the_arguments_and_options_of_the_page_are_those_of_the_code() -> None:
    """Every argument of `open` is named, those without a variable too; an option belongs to the command."""
    [named] = re.findall(r"are said in code only: (.*)", PAGE)
    in_code = set(re.findall(r"`(\w+)=`", named))
    with_variable = {row[3].strip("`=") for row in rows(PAGE)} - {""}
    arguments = {*inspect.signature(graphmem.open).parameters, *Further.__annotations__} - {"where", "further"}
    options = {row[4].strip("`-") for row in rows(PAGE)} - {""}

    assert in_code | with_variable == arguments
    assert in_code & with_variable == set()
    assert options <= {*Where.__dataclass_fields__, *inspect.signature(mcp).parameters}


def test_every_variable_that_documentation_names_is_on_the_page() -> None:
    """No page tells of a setting that is gone."""
    known = {row[0].strip("`") for row in rows(PAGE)}
    pages = [Path(graphmem.__file__).parents[1] / "README.md", *(Path(graphmem.__file__).parents[1] / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"(?<!\[:)\bGRAPHMEM_\w+", page.read_text("utf-8"))}  # [:… a relationship

    assert named - ONLY_TESTS_READ <= known
