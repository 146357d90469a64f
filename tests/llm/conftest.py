"""What the tests of endpoints share: a question, waits that take no time, and the key that must never be seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from graphmem.endpoint.waiting import Waiting
from graphmem.llm.base import Ask
from graphmem.llm.endpoint import EndpointModel
from graphmem.testing import FixedClock
from graphmem.testing.endpoint import Reply, Request, ScriptedEndpoint

KEY = "sk-proj-Zq7very0secret0key"
NOTHING = {"entities": [], "facts": []}


class Kit:
    """Servers that are closed at the end, models that talk to them, and the waits that these would have made."""

    key, nothing = KEY, json.dumps(NOTHING)

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.waits: list[float] = []

    @property
    def waiting(self) -> Waiting:
        """Waits that are only written down; the jitter is always at its highest."""
        return Waiting(sleep=self.waits.append, jitter=lambda: 1.0, clock=FixedClock("2026-01-15T12:00:00Z"))

    def serve(self, *replies: Reply, **how: object) -> ScriptedEndpoint:
        """An endpoint with these replies; then with an answer in which nothing is found."""
        how.setdefault("answer", lambda request: NOTHING)
        return self._stack.enter_context(ScriptedEndpoint(replies, **how))  # type: ignore[arg-type]

    def model(self, endpoint: ScriptedEndpoint | str, **how: object) -> EndpointModel:
        """A model behind it."""
        url = endpoint if isinstance(endpoint, str) else endpoint.base_url
        options: dict[str, object] = {"api_key": KEY, "waiting": self.waiting, "timeout": 10.0, **how}
        model = EndpointModel("some-model", base_url=url, **options)  # type: ignore[arg-type]
        self._stack.callback(model.close)
        return model

    @staticmethod
    def ask(text: str = "Mira lives in Porto.") -> Ask:
        """What extraction asks about a text."""
        return Ask("extract", 1, {"kind": "text", "text": text, "reference_time": "2025-01-08T00:00:00+00:00", "zone": "UTC"})

    @staticmethod
    def asked_about(request: Request, texts: list[str]) -> str:
        """Which of the texts a request is about."""
        [text] = [t for t in texts if t in request.user]
        return text


@pytest.fixture
def kit() -> Iterator[Kit]:
    """Servers and models of one test."""
    with ExitStack() as stack:
        yield Kit(stack)
