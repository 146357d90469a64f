"""The pages hang together: links lead somewhere, no page is out of reach, and each says what to read next."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphmem

ROOT = Path(graphmem.__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS]
WRITTEN_BY_PROGRAMS = {"api.md", "benchmarks.md"}


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """What can be named after the `#` of a link to a page."""
    heads = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_the_links_of_a_page_lead_to_a_page_and_a_heading(path: Path) -> None:
    """Those within the repository."""
    for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", prose(path)):
        name, _, anchor = target.partition("#")
        page = path.parent / name if name else path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target


def test_the_readme_names_every_page() -> None:
    """Under More."""
    named = set(re.findall(r"\(docs/(\w+\.md)\)", (ROOT / "README.md").read_text("utf-8").partition("## More")[2]))
    assert named == {path.name for path in DOCS}


def test_every_page_says_what_to_read_next() -> None:
    """In its last line, another page."""
    for path in DOCS:
        if path.name not in WRITTEN_BY_PROGRAMS:
            last = path.read_text("utf-8").rstrip().splitlines()[-1]
            assert re.fullmatch(r"Next: \[[^\]]+\]\((?!" + re.escape(path.name) + r")\w+\.md\)", last), path.name
