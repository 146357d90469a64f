"""The environment, read in one place."""

import sys
from pathlib import Path

import pytest

from graphmem.settings import Settings


def test_nothing_set_means_offline_and_local() -> None:
    """An empty environment names no endpoint and still has a cache folder."""
    settings = Settings.from_environment({})

    assert (settings.model, settings.embedder, settings.cache.name) == ("offline", "local", "graphmem")


def test_an_empty_variable_counts_as_not_set() -> None:
    """`GRAPHMEM_MODEL=` in a shell does not name a model called ''."""
    assert Settings.from_environment({"GRAPHMEM_MODEL": " ", "GRAPHMEM_EMBEDDER": ""}).model == "offline"


def test_named_values_are_taken_as_given() -> None:
    """Each variable reaches its field."""
    settings = Settings.from_environment({"GRAPHMEM_MODEL": "openai:x", "GRAPHMEM_EMBEDDER": "hashing", "GRAPHMEM_CACHE": "here"})

    assert settings == Settings("openai:x", "hashing", Path("here"))


@pytest.mark.skipif(sys.platform == "win32", reason="folders of other systems")
def test_the_cache_follows_the_desktop_standard(tmp_path: Path) -> None:
    """XDG_CACHE_HOME counts when absolute, else the home folder's .cache."""
    xdg = Settings.from_environment({"XDG_CACHE_HOME": str(tmp_path), "HOME": "/home/mira"})
    relative = Settings.from_environment({"XDG_CACHE_HOME": "cache", "HOME": "/home/mira"})

    assert (xdg.cache, relative.cache) == (tmp_path / "graphmem", Path("/home/mira/.cache/graphmem"))


def test_reading_the_process_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without an argument it is this process's environment, and no folder is made."""
    monkeypatch.setenv("GRAPHMEM_CACHE", str(tmp_path / "later"))

    assert Settings.from_environment().cache == tmp_path / "later"
    assert not (tmp_path / "later").exists()
