"""A language model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

from graphmem.endpoint.waiting import Waiting
from graphmem.llm.endpoint.model import EndpointModel

__all__ = ["EndpointModel", "Waiting"]
