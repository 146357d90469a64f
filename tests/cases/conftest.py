"""Every case runs on each kind of store (on a server in the slow tier), in a process far from UTC."""

import pytest


@pytest.fixture(params=["memory", "sqlite", pytest.param("neo4j", marks=[pytest.mark.neo4j, pytest.mark.slow])])
def store(request: pytest.FixtureRequest) -> str:
    """The kind of store a case runs on."""
    return str(request.param)


@pytest.fixture(autouse=True)
def _far_from_utc(los_angeles: None) -> None:
    """A zone of the process that leaks into a stored instant shows."""
