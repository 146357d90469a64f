"""From an ask to the words, the schema and the length of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graphmem.errors import ModelError
from graphmem.llm.base import Ask
from graphmem.llm.prompts import data, schemas
from graphmem.llm.prompts.fence import fenced
from graphmem.llm.prompts.texts import words


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to send for an ask: two messages, the JSON schema of the answer, and how many tokens an answer may take.

    The schema is fit for strict mode: every property is required, none may be added. Whatever comes back, also text that
    only holds JSON somewhere, goes into the `Answer` as it is: it is read tolerantly.
    """

    name: str
    version: int
    system: str
    user: str
    schema: Mapping[str, object]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one prompt is made of a payload."""

    places: Callable[[Mapping[str, object]], Mapping[str, str]]
    data: Callable[[Mapping[str, object]], object]
    schema: Callable[[Mapping[str, object]], Mapping[str, object]]
    length: Callable[[Mapping[str, object]], int]


_KINDS = {
    "extract": _Kind(data.extract_places, data.extract_data, schemas.extract, data.extract_length),
    "resolve": _Kind(data.no_places, data.resolve_data, schemas.resolve, data.resolve_length),
    "judge": _Kind(data.no_places, data.judge_data, schemas.judge, data.judge_length),
    "community": _Kind(data.no_places, data.community_data, schemas.community, data.community_length),
    "profile": _Kind(data.no_places, data.profile_data, schemas.profile, data.profile_length),
}


def rendered(ask: Ask) -> Prompt:
    """The prompt of an ask. An ask whose payload holds `repair` shows the first answer and what was wrong with it.

    Raises `ModelError` for a prompt that has no words.
    """
    kind = _KINDS.get(ask.prompt)
    if kind is None:
        raise ModelError(f"no prompt is called {ask.prompt!r}; there are {', '.join(_KINDS)}")
    text = words(ask.prompt)
    user = fenced(kind.data(ask.payload))
    repair = ask.payload.get("repair")
    if isinstance(repair, Mapping):
        user += "\n\n" + words("repair").text + "\n" + fenced(data.repair_data(repair))
    return Prompt(ask.prompt, text.version, text.filled(kind.places(ask.payload)), user, kind.schema(ask.payload), kind.length(ask.payload))
