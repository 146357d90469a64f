"""The page: one file with everything in it, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from graphmem.errors import MissingExtra
from graphmem.export.selection import Cut
from graphmem.export.viewer.data import page_data

_ASSETS = files("graphmem.export.viewer") / "assets"
INSTALL_LINE = "pip install 'graphmem[view]'"


def write_page(cut: Cut, path: Path, now: datetime) -> None:
    """Write the viewer's page."""
    path.write_text(page(cut, now), encoding="utf-8", newline="\n")


def page(cut: Cut, now: datetime) -> str:
    """The viewer's page as text.

    What comes from episodes is in one block of JSON that no browser runs, and is shown as text only. Scripts are allowed by their
    digests, so that nothing else would run even if it got in; nothing is loaded from anywhere.
    """
    drawing, viewer, style = _bokeh(), _asset("viewer.js"), _asset("viewer.css")
    data = json.dumps(page_data(cut, now), separators=(",", ":")).replace("<", "\\u003c")
    scripts = " ".join(_digest(script) for script in (*drawing, viewer))
    policy = f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:"
    parts = {
        "policy": html.escape(policy, quote=False),
        "style": style,
        "data": data,
        "scripts": "".join(f"<script>{script}</script>\n" for script in (*drawing, viewer)),
    }
    text = _asset("page.html")
    for name in ("policy", "style", "scripts", "data"):  # the data last: nothing in it is taken for a place to fill
        text = text.replace(f"{{{{{name}}}}}", parts[name], 1)
    return text


def _bokeh() -> tuple[str, ...]:
    """BokehJS, as the Python package carries it."""
    try:
        from bokeh.resources import Resources
    except ImportError as error:
        raise MissingExtra(f"the viewer needs bokeh, which carries the library that draws: {INSTALL_LINE}") from error
    return tuple(script.replace("</script", "<\\/script") for script in Resources(mode="inline", components=["bokeh", "bokeh-api"]).js_raw)


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
