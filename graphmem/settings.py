"""The one reader of the environment: nothing else in graphmem looks at it, and nothing does at import.

| variable            | means                                                          | default                          |
|---------------------|----------------------------------------------------------------|----------------------------------|
| `GRAPHMEM_MODEL`    | the language model that `open()` uses when none is named       | `offline`                        |
| `GRAPHMEM_EMBEDDER` | the embedder that `open()` uses when none is named             | `local`                          |
| `GRAPHMEM_CACHE`    | the folder for files that can be made again                    | `graphmem` in the user's cache   |
| `GRAPHMEM_DB`       | the memory file that the command line uses without `--db`      | `memory.db`                      |

The user's cache is `%LOCALAPPDATA%` on Windows, else `$XDG_CACHE_HOME`, else `~/.cache`. A variable that is set to
nothing counts as not set.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says.

    >>> Settings.from_environment({"GRAPHMEM_MODEL": "openai:some-name", "HOME": "/home/mira"}).model
    'openai:some-name'
    """

    model: str
    embedder: str
    cache: Path
    database: Path = Path("memory.db")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read `environment`, by default the one of this process. Creates no folder and never raises."""
        given = os.environ if environment is None else environment  # noqa: TID251 - the one place that may
        return cls(
            model=given.get("GRAPHMEM_MODEL", "").strip() or "offline",
            embedder=given.get("GRAPHMEM_EMBEDDER", "").strip() or "local",
            cache=_cache(given),
            database=Path(given.get("GRAPHMEM_DB", "").strip() or "memory.db"),
        )


def _cache(given: Mapping[str, str]) -> Path:
    named = given.get("GRAPHMEM_CACHE", "").strip()
    if named:
        return Path(named)
    candidates = (given.get("LOCALAPPDATA", ""),) if sys.platform == "win32" else (given.get("XDG_CACHE_HOME", ""),)
    for candidate in candidates:
        if candidate and Path(candidate).is_absolute():
            return Path(candidate) / "graphmem"
    home = given.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    return Path(home or tempfile.gettempdir()) / ".cache" / "graphmem"
