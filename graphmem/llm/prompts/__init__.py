"""What is said to a language model: short prompts in files, the data fenced, and the shape that an answer must have."""

from __future__ import annotations

from graphmem.llm.prompts.render import Prompt, rendered

__all__ = ["Prompt", "rendered"]
