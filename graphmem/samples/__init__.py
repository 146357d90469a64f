"""A small team's half year, invented: what `graphmem demo` reads and the documentation shows.

Four people build a ticket app for ferries. They move, hand things over, put dates off and correct themselves, in 69
chat messages, two records and one report. The questions come with the answers that are right at given points in time.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

__all__ = ["episodes", "questions", "records", "report", "team_chat"]


def episodes() -> list[dict[str, Any]]:
    """Everything, oldest first, as `Memory.add_many` takes it; each is recorded at its own time.

    Times are in UTC, so that "1 May" is the same day whoever says it.
    """
    rows: list[dict[str, Any]] = [{**m, "kind": "message", "source": "team_chat.jsonl", "key": m["id"]} for m in team_chat()]
    rows += [{"kind": "json", "value": r["body"], "at": r["at"], "source": r["source"], "key": r["source"]} for r in records()]
    rows.append({"kind": "text", **report(), "key": "report.md"})
    for row in rows:
        row.pop("id", None)
        row["reference_time"] = row["recorded_at"] = datetime.fromisoformat(row.pop("at")).astimezone(UTC)
    return sorted(rows, key=lambda row: row["recorded_at"])


def team_chat() -> list[dict[str, str]]:
    """The messages, oldest first: `id`, `at` (ISO 8601 with offset), `actor`, `session` (the channel), `text`.

    >>> team_chat()[0]["actor"]
    'Mira Okafor'
    """
    return [json.loads(line) for line in _read("team_chat.jsonl").split("\n") if line]


def records() -> list[dict[str, Any]]:
    """Two JSON records, oldest first, a person's and an issue's: `at`, `source`, `body` (the record itself)."""
    return [json.loads(_read(name)) for name in ("person.json", "issue.json")]


def report() -> dict[str, str]:
    """One report in plain text: `at`, `source`, `text`."""
    return {"at": "2025-05-30T15:00:00+01:00", "source": "report.md", "text": _read("report.md")}


def questions() -> list[dict[str, Any]]:
    """Questions with right answers: `id`, `question`, `why`, `answers`.

    An answer is right at `valid` (null: that of `system`) and `system` (null: now). There, a fact holds whose sentence or
    ends say `expect`, and none answers with `reject`; `expect` null means that nothing answers the question.
    """
    loaded: list[dict[str, Any]] = json.loads(_read("questions.json"))
    return loaded


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
