"""Headless Chromium for tests that look at pages; nothing it does by itself reaches the network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)


def lacking() -> str | None:
    """What this machine lacks to look at pages; None if nothing."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(missing)} (Debian: apt-get install chromium chromium-driver)" if missing else None


@contextmanager
def window(width: int = 1280, height: int = 800) -> Iterator[Any]:
    """A driver of a new window; what the page logs and asks of the network is kept. Without Chromium the test is skipped, or fails
    on a CI machine.
    """
    if (missing := lacking()) is not None:
        told = f"no browser to look with: {missing} is missing"
        pytest.fail(told) if os.environ.get("CI") else pytest.skip(told)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in (*_QUIET, f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver"))))
    try:
        yield running
    finally:
        running.quit()


def complaints(driver: Any) -> list[str]:
    """What the page told on its console, but for information."""
    return [row["message"] for row in driver.get_log("browser") if row["level"] not in ("INFO", "DEBUG")]


def asked_of_the_network(driver: Any) -> list[str]:
    """Addresses that the page asked for, but for files and data in itself."""
    import json

    events = [json.loads(row["message"])["message"] for row in driver.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith(("file:", "data:", "blob:"))]
