"""A real Neo4j for the tests: the one that GRAPHMEM_NEO4J_URI names, else a container, else a server from Maven's jars."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import neo4j as jars

IMAGES = {"2026.08": "neo4j:2026.08", "5.26": "neo4j:5.26"}


class Place(NamedTuple):
    """Where the server is, and how it came to be there."""

    uri: str
    auth: tuple[str, str]
    how: str


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which server was taken."""
    reports = [r for rows in terminalreporter.stats.values() for r in rows if isinstance(r, pytest.TestReport)]
    for how in sorted({str(told) for r in reports for name, told in r.user_properties if name == "neo4j"}):
        terminalreporter.write_line(f"neo4j: {how}")


def release() -> str:
    """The release to start where none is given."""
    return os.environ.get("GRAPHMEM_NEO4J_RELEASE") or jars.NEWEST


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """A server for the session; without one the tests are skipped, or fail on a CI machine."""
    with ExitStack() as stack:
        found = given() or container(stack) or from_jars(stack)
        if isinstance(found, str):
            if os.environ.get("CI"):
                pytest.fail(found)
            pytest.skip(found)
        claim(found)
        yield found


def claim(place: Place) -> None:
    """Mark the database as one for tests, which delete everything in it; refuse one that holds something else."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(place.uri, auth=place.auth) as driver, driver.session() as session:
        foreign = session.run("MATCH (n) WHERE NOT EXISTS { MATCH (:GraphmemTests) } RETURN count(n) AS n").single(strict=True)["n"]
        if foreign:
            pytest.fail(f"the database at {place.uri} holds {foreign} nodes, and these tests would delete them: name an empty one")
        session.run("MERGE (:GraphmemTests)").consume()


def given() -> Place | None:
    """The server that the environment names."""
    uri = os.environ.get("GRAPHMEM_NEO4J_URI")
    auth = (os.environ.get("GRAPHMEM_NEO4J_USER") or "neo4j", os.environ.get("GRAPHMEM_NEO4J_PASSWORD") or "")
    return Place(uri, auth, f"the server at {uri}, which GRAPHMEM_NEO4J_URI names") if uri else None


def container(stack: ExitStack) -> Place | None:
    """A container, where testcontainers and a Docker daemon that has the image are at hand; nothing is pulled."""
    if importlib.util.find_spec("testcontainers") is None or shutil.which("docker") is None:
        return None
    image = os.environ.get("GRAPHMEM_NEO4J_IMAGE") or IMAGES[release()]
    try:
        subprocess.run(["docker", "info"], check=True, capture_output=True, timeout=20)
        subprocess.run(["docker", "image", "inspect", image], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    from testcontainers.community.neo4j import Neo4jContainer

    running = stack.enter_context(Neo4jContainer(image, password="graphmem-tests"))
    return Place(running.get_connection_url(), ("neo4j", "graphmem-tests"), f"a container of {image}")


def from_jars(stack: ExitStack) -> Place | str:
    """A server from Maven's jars; or what this machine lacks."""
    if (missing := jars.lacking(release())) is not None:
        return f"no Neo4j to test with: GRAPHMEM_NEO4J_URI names none, there is no Docker, and {missing} is missing"
    running = stack.enter_context(jars.server(release()))
    return Place(running.uri, running.auth, f"Neo4j {jars.RELEASES[release()].version} from Maven's jars")


@pytest.fixture
def emptied(place: Place, record_property: Callable[[str, object], None]) -> Place:
    """The server with nothing in its database; indexes stay."""
    from neo4j import GraphDatabase

    record_property("neo4j", place.how)
    with GraphDatabase.driver(place.uri, auth=place.auth) as driver, driver.session() as session:
        session.run(
            "MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS"
        ).consume()
    return place


@pytest.fixture
def opened(emptied: Place) -> Iterator[Neo4jStore]:
    """A store on an empty database."""
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    yield store
    store.close()
