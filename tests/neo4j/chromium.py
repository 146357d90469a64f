"""Neo4j Browser in a real Chromium, driven as somebody at it would: connect, paste, run, click, drop a file."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import headless

T = TypeVar("T")
SECONDS = 60.0
AGAIN = 5.0
_DROP = """
const bytes = Uint8Array.from(atob(arguments[0]), c => c.charCodeAt(0));
const held = new DataTransfer();
held.items.add(new File([bytes], arguments[1]));
document.querySelector('.filedrop').dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: held}));
"""
_PICTURE = """
const text = node => [...node.querySelectorAll('text')].map(t => t.textContent.trim()).filter(Boolean).join(' ');
const frame = document.querySelector('[data-testid=frame]');
const circle = node => node.querySelector('circle.b-outline');
return [...frame.querySelectorAll('g.node')].map(n => [text(n), circle(n).getAttribute('fill'), parseFloat(circle(n).getAttribute('r'))]);
"""
_ARROWS = """
const frame = document.querySelector('[data-testid=frame]');
return [...frame.querySelectorAll('g.relationship')].map(r => r.textContent.trim());
"""


class Page:
    """One window of Browser; `greeting` is what it showed when somebody connected, `files` where it has our files from."""

    files = greeting = ""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def all(self, selector: str) -> list[Any]:
        """The elements there are."""
        return list(self.driver.find_elements("css selector", selector))

    def until(self, found: Callable[[], T]) -> T:
        """What `found` gives once it is neither false nor an error; the page changes under one's feet."""
        from selenium.common.exceptions import WebDriverException

        deadline = time.perf_counter() + SECONDS
        while True:
            try:
                if value := found():
                    return value
                last: object = "nothing"
            except WebDriverException as error:
                last = error
            if time.perf_counter() > deadline:
                raise AssertionError(f"waited {SECONDS} s; {last}; the page says: {self.text()[-1500:]}")
            time.sleep(0.1)

    def text(self) -> str:
        """All that can be read."""
        return str(self.driver.execute_script("return document.body.innerText"))

    def frame(self) -> str:
        """What the newest frame says."""
        frames = self.all("[data-testid=frame]")
        return str(frames[0].get_attribute("innerText")) if frames else ""

    def again(self, act: Callable[[], object], shows: Callable[[], object]) -> None:
        """Act, and act again every few seconds until it shows: a click on what moves just then misses, here as by hand."""
        acted: float | None = None

        def shown() -> bool:
            nonlocal acted
            if acted is not None and shows():
                return True
            if (acted is None or time.perf_counter() - acted > AGAIN) and act():
                acted = time.perf_counter()
            return False

        self.until(shown)

    def click(self, selector: str, shows: Callable[[], object], saying: str = "") -> None:
        """Click the first such element that says this, until it shows."""

        def clicked() -> bool:
            for element in self.all(selector):
                if saying in (element.get_attribute("innerText") or ""):
                    self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
                    element.click()
                    return True
            return False

        self.again(clicked, shows)

    def connect(self, address: str, user: str, password: str) -> None:
        """Fill in the form; bolt's scheme is chosen beside the address."""
        from selenium.webdriver.common.keys import Keys

        for field, value in (("boltaddress", address), ("username", user), ("password", password)):
            element = self.until(lambda field=field: self.all(f"[data-testid={field}]"))[0]  # type: ignore[misc]
            element.send_keys(Keys.CONTROL, "a")
            element.send_keys(value)
        self.click("[data-testid=connect]", lambda: "You are connected as user" in self.text())

    def run(self, text: str, shows: Callable[[], object]) -> None:
        """Clear the stream, paste into the editor, run, and wait for what it shows."""
        self.paste(":clear")
        self.run_editor(lambda: not self.all("[data-testid=frame]"))
        self.paste(text)
        self.run_editor(shows)

    def paste(self, text: str) -> None:
        """Put this into the editor, for what was there."""
        from selenium.webdriver.common.keys import Keys

        def pasted() -> bool:
            for area in self.all("[data-testid=activeEditor] textarea"):
                area.send_keys(Keys.CONTROL, "a")
                area.send_keys(Keys.DELETE)
                self.driver.execute_cdp_cmd("Input.insertText", {"text": text})
                return True
            return False

        self.again(pasted, self.runs)

    def runs(self) -> list[Any]:
        """The button that runs what is in the editor, if something is."""
        return [button for button in self.all("[data-testid=editor-Run]") if button.is_enabled()]

    def run_editor(self, shows: Callable[[], object]) -> None:
        """Run what is in the editor, and wait for what it shows."""

        def clicked() -> bool:
            for button in self.runs():
                button.click()
                return True
            return False

        self.again(clicked, shows)

    def picture(self) -> dict[str, tuple[str, float]]:
        """Caption to colour and radius of the nodes that the newest frame draws."""
        return {caption: (colour, radius) for caption, colour, radius in self.driver.execute_script(_PICTURE)}

    def arrows(self) -> list[str]:
        """Captions of the relationships that the newest frame draws."""
        return sorted(self.driver.execute_script(_ARROWS))

    def parameters(self) -> dict[str, Any]:
        """What `:params` lists."""
        self.run(":params", lambda: "{" in self.frame())
        shown = self.frame()
        return dict(json.loads(shown[shown.index("{") : shown.rindex("}") + 1]))

    def drop(self, content: bytes, name: str) -> None:
        """Drop a file on the page."""
        self.driver.execute_script(_DROP, base64.b64encode(content).decode(), name)

    def shot(self, path: Path) -> None:
        """A picture of the window."""
        self.driver.save_screenshot(str(path))


@contextmanager
def chromium() -> Iterator[Page]:
    """A window; it ends with the block."""
    with headless.window(1500, 1000) as driver:
        yield Page(driver)
