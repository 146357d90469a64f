"""The page where a notebook or a script shows it."""

from __future__ import annotations

import html
import re
import sys
import tempfile
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path

from graphmem.errors import InvalidInput

_WIDTH = re.compile(r"\d{1,5}(px|%|em|vw)?")


@dataclass(frozen=True)
class Frame:
    """A page that a notebook shows in a frame which cannot reach the notebook; `open` shows it in the browser."""

    page: str = field(repr=False)
    width: str
    height: int

    def __post_init__(self) -> None:
        if not isinstance(self.width, str) or not _WIDTH.fullmatch(self.width):
            raise InvalidInput("width", self.width, "must be like '100%' or '800px'")

    def _repr_html_(self) -> str:
        source = html.escape(self.page, quote=True)
        style = f"width: {self.width}; height: {self.height}px; border: 1px solid #ccc; border-radius: 6px"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{source}"></iframe>'

    def open(self) -> Path:
        """Write the page to a temporary file and open it in the browser; returns the file."""
        with tempfile.NamedTemporaryFile("w", prefix="graphmem-", suffix=".html", delete=False, encoding="utf-8") as out:
            out.write(self.page)
        path = Path(out.name)
        webbrowser.open(path.as_uri())
        return path


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    return "ipykernel" in sys.modules
