"""What is taken back and put right is so on each kind of store (on a server in the slow tier)."""

import pytest


@pytest.fixture(params=["memory", "sqlite", pytest.param("neo4j", marks=[pytest.mark.neo4j, pytest.mark.slow])])
def store(request: pytest.FixtureRequest) -> str:
    """The kind of store a test runs on."""
    return str(request.param)
