"""Real Neo4j servers for the tests: the one that GRAPHMEM_NEO4J_URI names, else a container, else a server from Maven's jars.

A test marked `neo4j` runs on the newest release, one marked `neo4j("2026.08", "5.26", "container")` on each of these: "container"
is the newest release in an image that is built on the spot and started by testcontainers. All tests of one server are one group
of xdist, so a server is started once. What this machine lacks is skipped with the reason, and fails where CI is set.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from docker_here import Lacking, docker_version, neo4j_image

from graphmem.errors import StoreUnavailable
from graphmem.testing import neo4j as jars

IMAGES = {"2026.08": "neo4j:2026.08", "5.26": "neo4j:5.26"}
CONTAINER = "container"
NAMED = tuple(os.environ.get(f"GRAPHMEM_NEO4J_{what}") for what in ("URI", "USER", "PASSWORD", "CA"))  # before tests change it
PASSWORD = "graphmem-tests"


class Place(NamedTuple):
    """Where the server is, and how it came to be there."""

    uri: str
    auth: tuple[str, str]
    how: str
    ca: Path | None = None  # whose certificate it shows to those who want TLS; None: it takes none, or nobody says


class Servers:
    """The servers that tests have asked for, each started once and kept until the session ends."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._found: dict[str, Place | Exception] = {}

    def place(self, name: str) -> Place:
        """The server of this name; skips the test where there can be none, and fails it on a CI machine."""
        place = self._found.get(name)
        if place is None:
            try:
                place = self._start(name)
                claim(place)
            except (Lacking, StoreUnavailable) as lacking:
                place = lacking
            self._found[name] = place
        if isinstance(place, Place):
            return place
        if os.environ.get("CI"):
            pytest.fail(f"not run: {place}")
        pytest.skip(f"not run: {place}")

    def _start(self, name: str) -> Place:
        if name == CONTAINER:
            image = neo4j_image(self._stack, jars.NEWEST)
            return contained(self._stack, image, f"testcontainers with {image}, built on the spot, Docker {docker_version()}")
        return given(name) or container(self._stack, name) or from_jars(self._stack, name)


def newest() -> str:
    """The release that tests run on which need only one."""
    return os.environ.get("GRAPHMEM_NEO4J_RELEASE") or jars.NEWEST


def given(release: str) -> Place | None:
    """The server that the environment names; it stands for its own release, and where one is asked for that can be any."""
    uri, user, password, ca = NAMED
    if not uri:
        return None
    auth = (user or "neo4j", password or "")
    from neo4j import GraphDatabase

    with GraphDatabase.driver(uri, auth=auth) as driver:
        version = driver.execute_query("CALL dbms.components() YIELD versions RETURN versions[0] AS version")[0][0]["version"]
    if release != newest() and not version.startswith(f"{release}."):
        pytest.skip(f"not run: GRAPHMEM_NEO4J_URI names a server of version {version}, not {release}")
    return Place(uri, auth, f"Neo4j {version}: the server at {uri}, which GRAPHMEM_NEO4J_URI names", Path(ca) if ca else None)


def container(stack: ExitStack, release: str) -> Place | None:
    """A container, where testcontainers and a Docker daemon that has the image are at hand; nothing is pulled."""
    image = os.environ.get("GRAPHMEM_NEO4J_IMAGE") or IMAGES[release]
    if importlib.util.find_spec("testcontainers") is None or shutil.which("docker") is None:
        return None
    try:
        subprocess.run(["docker", "image", "inspect", image], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return contained(stack, image, f"a container of {image}")


def contained(stack: ExitStack, image: str, how: str) -> Place:
    """A container of this image."""
    if importlib.util.find_spec("testcontainers") is None:
        raise Lacking("the package testcontainers is missing: pip install --group dev")
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")  # else the image of its watchdog would be pulled
    os.environ.setdefault("TESTCONTAINERS_CONNECTION_MODE", "docker_host")
    os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
    from testcontainers.community.neo4j import Neo4jContainer

    there = Neo4jContainer(image, password=PASSWORD)
    for name, value in jars.KEEPING_PLANS.items():
        there = there.with_env(f"NEO4J_{name.replace('_', '__').replace('.', '_')}", value)
    running = stack.enter_context(there)
    return Place(running.get_connection_url(), ("neo4j", PASSWORD), how)


def from_jars(stack: ExitStack, release: str) -> Place:
    """A server from Maven's jars."""
    if (missing := jars.lacking(release)) is not None:
        none = f"GRAPHMEM_NEO4J_URI names none, no Docker daemon has {IMAGES[release]}"
        raise Lacking(f"no Neo4j {release} to test with: {none}, and {missing} is missing")
    keys = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="graphmem-keys-")))
    running = stack.enter_context(jars.server(release, settings={**jars.KEEPING_PLANS, **tls(keys)}))
    how = f"Neo4j {jars.RELEASES[release].version} from Maven's jars, at {running.uri}"
    return Place(running.uri, running.auth, how, keys / "public.crt" if (keys / "public.crt").exists() else None)


def tls(keys: Path) -> dict[str, str]:
    """Settings of a server that takes connections with TLS beside plain ones, with a certificate made in this folder."""
    if shutil.which("openssl") is None:
        return {}
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{keys}/private.key", "-out", f"{keys}/public.crt"]
    subprocess.run(made, check=True, capture_output=True, timeout=60)
    policy = "dbms.ssl.policy.bolt"
    return {
        "server.bolt.tls_level": "OPTIONAL",
        f"{policy}.enabled": "true",
        f"{policy}.base_directory": str(keys),
        f"{policy}.private_key": "private.key",
        f"{policy}.public_certificate": "public.crt",
        f"{policy}.client_auth": "NONE",
    }


def claim(place: Place) -> None:
    """Mark the database as one for tests, which delete everything in it; refuse one that holds something else."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(place.uri, auth=place.auth) as driver, driver.session() as session:
        foreign = session.run("MATCH (n) WHERE NOT EXISTS { MATCH (:GraphmemTests) } RETURN count(n) AS n").single(strict=True)["n"]
        if foreign:
            pytest.fail(f"the database at {place.uri} holds {foreign} nodes, and these tests would delete them: name an empty one")
        session.run("MERGE (:GraphmemTests)").consume()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of several servers runs on each, in the group of that server."""
    marker = metafunc.definition.get_closest_marker("neo4j")
    if marker is None or not marker.args or "place" not in metafunc.fixturenames:
        return
    metafunc.parametrize(
        "place",
        [pytest.param(name, id=name, marks=pytest.mark.xdist_group(_group(name))) for name in marker.args],
        indirect=True,
    )


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs the newest release is one group of xdist."""
    for item in items:
        if item.get_closest_marker("neo4j") and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(_group(newest())))


def _group(name: str) -> str:
    return "neo4j" if name == newest() else f"neo4j-{name}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which servers were taken."""
    reports = [r for rows in terminalreporter.stats.values() for r in rows if isinstance(r, pytest.TestReport)]
    for how in sorted({str(told) for r in reports for name, told in r.user_properties if name == "neo4j"}):
        terminalreporter.write_line(f"neo4j: {how}")


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The servers of this session; all end with it."""
    with ExitStack() as stack:
        yield Servers(stack)


@pytest.fixture
def place(request: pytest.FixtureRequest, servers: Servers) -> Place:
    """The server that the test runs on."""
    return servers.place(getattr(request, "param", newest()))


@pytest.fixture
def empty(place: Place, record_property: Callable[[str, object], None]) -> Callable[[], None]:
    """Deletes everything in the server's database; indexes stay."""
    from neo4j import GraphDatabase

    record_property("neo4j", place.how)

    def call() -> None:
        with GraphDatabase.driver(place.uri, auth=place.auth) as driver, driver.session() as session:
            session.run(
                "MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS"
            ).consume()

    return call


@pytest.fixture
def emptied(place: Place, empty: Callable[[], None]) -> Place:
    """The server with nothing in its database."""
    empty()
    return place
