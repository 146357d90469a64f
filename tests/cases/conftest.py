"""Every case runs in a process far from UTC."""

import pytest


@pytest.fixture(autouse=True)
def _far_from_utc(los_angeles: None) -> None:
    """A zone of the process that leaks into a stored instant shows."""
