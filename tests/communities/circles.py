"""Two circles of people, for tests of communities."""

from __future__ import annotations

START = "2024-01-01T09:00Z"
TRIANGLES = (("Ada", "Ben"), ("Ben", "Cleo"), ("Cleo", "Ada"), ("Xi", "Yan"), ("Yan", "Zoe"), ("Zoe", "Xi"), ("Ada", "Xi"))
Row = dict[str, object]


def knows(*pairs: tuple[str, str], **rest: object) -> list[Row]:
    """A fact a pair."""
    return [{"source": a, "relation": "knows", "target": b, "text": f"{a} knows {b}", **rest} for a, b in pairs]
