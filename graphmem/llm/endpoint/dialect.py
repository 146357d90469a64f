"""What an endpoint understands of a request: learned from what it refuses, and remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from graphmem.endpoint.faults import Problem, Trouble
from graphmem.llm.prompts import Prompt

_NAMES_FORMAT = re.compile(r"response_format|json_schema|json_object|json mode|schema|structured[ _]output|grammar")
_MAY_BE_FORMAT = frozenset({Trouble.REQUEST, Trouble.MODEL, Trouble.PATH, Trouble.SERVER})
_BOUNDS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "format", "uniqueItems", "default", "examples"}
)


class Format(IntEnum):
    """How the shape of an answer is asked for, the strictest first."""

    SCHEMA = 0
    PLAIN_SCHEMA = 1
    """Without the bounds that some endpoints do not take."""
    OBJECT = 2
    TEXT = 3


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to say a request. `without` gives the next one to try after a refusal."""

    format: Format = Format.SCHEMA
    tokens: str = "max_tokens"
    temperature: bool = True

    def body(self, model: str, prompt: Prompt, max_tokens: int) -> dict[str, object]:
        """The request for a prompt."""
        system = prompt.system
        if self.format >= Format.OBJECT:
            schema = json.dumps(prompt.schema, ensure_ascii=False)
            system = f"{system}\n\nAnswer with one JSON object and nothing else. It must fit this JSON schema:\n{schema}"
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt.user}]
        body: dict[str, object] = {"model": model, "messages": messages, self.tokens: max_tokens}
        if self.temperature:
            body["temperature"] = 0
        if self.format <= Format.PLAIN_SCHEMA:
            schema_sent = prompt.schema if self.format is Format.SCHEMA else unbounded(prompt.schema)
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": prompt.name, "strict": True, "schema": schema_sent}}
        elif self.format is Format.OBJECT:
            body["response_format"] = {"type": "json_object"}
        return body

    def without(self, problem: Problem) -> Dialect | None:
        """The dialect without what the endpoint refuses by name; None if it names nothing of it.

        >>> from graphmem.endpoint.faults import of_status
        >>> Dialect().without(of_status(400, '{"error": "temperature is not supported"}')).temperature
        False
        """
        if problem.status not in (400, 404, 415, 422, 500, 501) or problem.trouble not in _MAY_BE_FORMAT:
            return None
        if self.tokens == "max_tokens" and "max_completion_tokens" in problem.text:
            return replace(self, tokens="max_completion_tokens")
        if self.temperature and "temperature" in problem.text:
            return replace(self, temperature=False)
        if self.format is not Format.TEXT and _NAMES_FORMAT.search(problem.text):
            return self.looser()
        return None

    def looser(self) -> Dialect | None:
        """The dialect that asks for the next less strict format; None after the last."""
        return None if self.format is Format.TEXT else replace(self, format=Format(self.format + 1))

    def plainer(self) -> Dialect | None:
        """The dialect of the next looser format that is another one to a model; None after the last.

        >>> Dialect().plainer().format
        <Format.OBJECT: 2>
        """
        looser = self.looser()
        return looser.looser() if looser is not None and looser.format is Format.PLAIN_SCHEMA else looser

    def joined(self, other: Dialect) -> Dialect:
        """What both have learned."""
        tokens = self.tokens if self.tokens != "max_tokens" else other.tokens
        return Dialect(max(self.format, other.format), tokens, self.temperature and other.temperature)


def unbounded(schema: object) -> object:
    """A JSON schema without bounds on lengths, numbers and patterns.

    >>> unbounded({"type": "object", "properties": {"format": {"type": "string", "maxLength": 9}}})
    {'type': 'object', 'properties': {'format': {'type': 'string'}}}
    """
    if isinstance(schema, Mapping):
        kept = {k: v for k, v in schema.items() if k not in _BOUNDS}
        return {k: {n: unbounded(s) for n, s in v.items()} if k in ("properties", "$defs") else unbounded(v) for k, v in kept.items()}
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return [unbounded(item) for item in schema]
    return schema
