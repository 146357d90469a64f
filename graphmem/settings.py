"""The one reader of the environment: nothing else in graphmem looks at it, and nothing does at import.

| variable             | means                                                    | default                        |
|----------------------|----------------------------------------------------------|--------------------------------|
| `GRAPHMEM_MODEL`     | the language model that `open()` uses when none is named | `offline`                      |
| `GRAPHMEM_EMBEDDER`  | the embedder that `open()` uses when none is named       | `local`                        |
| `GRAPHMEM_BASE_URL`  | the address of the endpoint behind `openai:NAME`         | the public OpenAI API          |
| `GRAPHMEM_API_KEY`   | its key                                                  | none                           |
| `OPENAI_API_KEY`     | the key of the public OpenAI API, for no other address   | none                           |
| `GRAPHMEM_TIMEOUT`   | seconds that one try of an endpoint may take             | 60                             |
| `GRAPHMEM_PROXY`     | the HTTP proxy between here and an endpoint              | none                           |
| `GRAPHMEM_ATTRIBUTE_LENGTH` | characters that an attribute of the ontology may have | 1000        |
| `GRAPHMEM_DB`        | the memory of the command line: a file, or the address of a Neo4j server | `memory.db` |
| `GRAPHMEM_NEO4J_USER` | the user of a Neo4j server                              | `neo4j`                        |
| `GRAPHMEM_NEO4J_PASSWORD` | that user's password                                | none                           |
| `GRAPHMEM_NEO4J_DATABASE` | the database on the server                          | the server's own default       |
| `GRAPHMEM_NEO4J_CA`  | a file of certificates (PEM) that are trusted instead of the system's | none              |
| `GRAPHMEM_NEO4J_POOL` | connections that a handle may have at once              | 100                            |
| `GRAPHMEM_NEO4J_CONNECT_TIMEOUT` | seconds until a server counts as not reached, and that a free connection is waited for | 15 |
| `GRAPHMEM_NEO4J_WRITE_TIMEOUT` | seconds that a writer waits for the lock of a group, and may hold it | 30       |
| `GRAPHMEM_CACHE`     | the folder for files that can be made again              | `graphmem` in the user's cache |
| `GRAPHMEM_MCP_TOKEN` | what clients of `graphmem mcp --http` must show          | a new one, shown once          |

The user's cache is `%LOCALAPPDATA%` on Windows, else `$XDG_CACHE_HOME`, else `~/.cache`. A variable that is set to
nothing counts as not set. No file such as `.env` is read. None of them sends anything: only a model or an embedder that is
named does.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


class Secret:
    """A text that nothing prints: `repr` and `str` hide it, `reveal` gives it.

    >>> Secret("sk-123"), f"{Secret('sk-123')}", bool(Secret(""))
    (Secret('***'), '***', False)
    """

    __slots__ = ("_reveal",)

    def __init__(self, text: str) -> None:
        self._reveal: Callable[[], str] = lambda: text  # in a closure, where no `vars` and no `asdict` finds it

    def reveal(self) -> str:
        """The text."""
        return self._reveal()

    def __bool__(self) -> bool:
        return bool(self._reveal())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._reveal() == other._reveal()

    def __hash__(self) -> int:
        return hash(self._reveal())

    def __repr__(self) -> str:
        return "Secret('***')" if self else "Secret('')"

    def __str__(self) -> str:
        return "***" if self else ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says.

    >>> Settings.from_environment({"GRAPHMEM_MODEL": "openai:some-name", "HOME": "/home/mira"}).model
    'openai:some-name'
    """

    model: str
    embedder: str
    cache: Path
    database: str = "memory.db"
    base_url: str = ""
    api_key: Secret = Secret("")
    openai_api_key: Secret = Secret("")
    timeout: str = ""
    attribute_length: str = ""
    proxy: Secret = Secret("")
    mcp_token: Secret = Secret("")
    neo4j_user: str = "neo4j"
    neo4j_password: Secret = Secret("")
    neo4j_database: str = ""
    neo4j_ca: str = ""
    neo4j_pool: str = ""
    neo4j_connect_timeout: str = ""
    neo4j_write_timeout: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read `environment`, by default the one of this process. Creates no folder and never raises."""
        given = os.environ if environment is None else environment  # noqa: TID251 - the one place that may
        return cls(
            model=given.get("GRAPHMEM_MODEL", "").strip() or "offline",
            embedder=given.get("GRAPHMEM_EMBEDDER", "").strip() or "local",
            cache=_cache(given),
            database=given.get("GRAPHMEM_DB", "").strip() or "memory.db",
            base_url=given.get("GRAPHMEM_BASE_URL", "").strip(),
            api_key=Secret(given.get("GRAPHMEM_API_KEY", "").strip()),
            openai_api_key=Secret(given.get("OPENAI_API_KEY", "").strip()),
            timeout=given.get("GRAPHMEM_TIMEOUT", "").strip(),
            attribute_length=given.get("GRAPHMEM_ATTRIBUTE_LENGTH", "").strip(),
            proxy=Secret(given.get("GRAPHMEM_PROXY", "").strip()),
            mcp_token=Secret(given.get("GRAPHMEM_MCP_TOKEN", "").strip()),
            neo4j_user=given.get("GRAPHMEM_NEO4J_USER", "").strip() or "neo4j",
            neo4j_password=Secret(given.get("GRAPHMEM_NEO4J_PASSWORD", "")),
            neo4j_database=given.get("GRAPHMEM_NEO4J_DATABASE", "").strip(),
            neo4j_ca=given.get("GRAPHMEM_NEO4J_CA", "").strip(),
            neo4j_pool=given.get("GRAPHMEM_NEO4J_POOL", "").strip(),
            neo4j_connect_timeout=given.get("GRAPHMEM_NEO4J_CONNECT_TIMEOUT", "").strip(),
            neo4j_write_timeout=given.get("GRAPHMEM_NEO4J_WRITE_TIMEOUT", "").strip(),
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
