"""The files of `docker/` agree with the package: no image is pulled or built here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.browser import PORT, post_connect
from graphmem.testing.neo4j import NEWEST, RELEASES

yaml = pytest.importorskip("yaml", reason="needs PyYAML, which the group dev brings")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services of the compose file, by name."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))["services"]
    return found


def test_the_images_are_those_of_this_version_and_of_the_newest_server_that_is_tested(services: dict[str, Any]) -> None:
    """A tag in the environment chooses another server."""
    assert services["neo4j"]["image"] == f"neo4j:${{NEO4J_TAG:-{RELEASES[NEWEST].version}-community}}"
    assert {services[name]["image"] for name in ("browser", "graphmem")} == {f"graphmem:{graphmem.__version__}"}


def test_browser_loads_our_files_from_where_they_are_served(services: dict[str, Any]) -> None:
    """The command that the server hands to whoever connects names the port of the service beside it."""
    assert services["neo4j"]["environment"]["NEO4J_browser_post__connect__cmd"] == post_connect(f"http://localhost:{PORT}")
    assert services["browser"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert str(PORT) in services["browser"]["command"]


def test_nothing_listens_beyond_this_machine_and_no_password_is_given_away(services: dict[str, Any]) -> None:
    """Each port is published on the loopback; without a password of one's own nothing starts."""
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", ()))
    assert services["neo4j"]["environment"]["NEO4J_AUTH"].startswith("neo4j/${NEO4J_PASSWORD:?")
    assert services["graphmem"]["environment"]["GRAPHMEM_NEO4J_PASSWORD"] == "${NEO4J_PASSWORD}"


def test_what_the_image_copies_is_there_and_sent(services: dict[str, Any]) -> None:
    """From the folder that the build is given, past `.dockerignore`."""
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    copied = [path for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE) for path in line.split()[:-1]]
    sent = {line[1:].strip("/") for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line.startswith("!")}
    assert copied
    assert all((ROOT / path).exists() for path in copied)
    assert set(copied) <= sent
    assert services["graphmem"]["build"]["dockerfile"] == "docker/Dockerfile"
