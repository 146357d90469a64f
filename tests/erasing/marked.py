"""A memory with a word of its own in every kind of field, so that each can be looked for after it was erased."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.base import Ask
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel

EMBEDDER = HashingEmbedder()
GROUP = "main"


def word(kind: str) -> str:
    """A word that is nowhere else; words differ from their second letter on, so that an index cannot keep one by parts."""
    return "q" + "".join(chr(ord("a") + int(digit, 16)) for digit in hashlib.sha256(kind.encode()).hexdigest()[:14])


@dataclass
class Marked:
    """The words, by kind of field: those that are to go, and those that are to stay."""

    going: dict[str, str] = field(default_factory=dict)
    staying: dict[str, str] = field(default_factory=dict)

    def goes(self, kind: str) -> str:
        return self.going.setdefault(kind, word(kind))

    def stays(self, kind: str) -> str:
        return self.staying.setdefault(kind, word(f"stays: {kind}"))


class Script:
    """A model that is not local: what it answers is kept. Each text is read as the test says."""

    def __init__(self) -> None:
        self.said: dict[str, object] = {}
        self.model = ScriptedModel(
            {"extract": self.extract, "resolve": {"matches": []}, "judge": {"judgements": []}, "community": self.community},
            name="writer",
            local=False,
        )

    def extract(self, ask: Ask) -> object:
        return self.said[str(ask.payload["text"])]

    def community(self, ask: Ask) -> object:
        return {"name": f"Around {ask.payload['central'][0]}", "summary": " ".join(str(f["fact"]) for f in ask.payload["facts"])}  # type: ignore[index, union-attr]


def opened(where: object, script: Script, **more: object) -> Memory:
    """A memory that the script reads for."""
    return graphmem.open(where, model=script.model, embedder=EMBEDDER, clock=FixedClock("2026-01-15T12:00Z"), **more)  # type: ignore[arg-type]


def tell(mem: Memory, script: Script, text: str, facts: list[dict[str, object]], entities: list[dict[str, object]], **more: object) -> str:
    """Add a text that is read as given; the id of its episode."""
    script.said[text] = {"entities": entities, "facts": facts, "clauses": more.pop("clauses", [])}
    row = {"kind": "message" if "actor" in more else "text", "text": text, **more}
    return mem.add_many([row])[0].id


def remember(where: object, script: Script, marked: Marked, group: str = GROUP, **more: object) -> tuple[Memory, str]:
    """A memory of an episode with a word in each of its fields, of others beside it, of operations on them, and of communities
    that a model has named; and the id of that episode.
    """
    mem = opened(where, script, group=group, **more)
    circle = [("Ada", "Boris"), ("Boris", "Cleo"), ("Cleo", "Ada")]
    mem.add_facts([{"source": a, "relation": "knows", "target": b, "text": f"{a} knows {b} {marked.stays('fact')}"} for a, b in circle])
    m = marked.goes
    name, alias = f"Nora {m('name')}", m("alias").title()
    text = f"{name} told Ada that she keeps {m('body')}. They call her {alias}."
    episode = tell(
        mem,
        script,
        text,
        [
            {
                "source": 0,
                "target": 1,
                "relation": "knows",
                "text": f"{name} knows Ada, {m('sentence')}",
                "attributes": {"how": m("fact attribute")},
            },
            {"source": 0, "target": 2, "relation": f"keeps_{m('relation')}", "text": f"Nora keeps {m('thing')}"},
        ],
        [
            {"name": name, "type": "Person", "aliases": [alias], "attributes": {"motto": m("entity attribute")}},
            {"name": "Ada", "type": "Person"},
            {"name": m("thing"), "type": m("type").title()},
        ],
        clauses=[f"there are {m('clause')}"],
        actor=f"Nora {m('name')}",
        session=f"chat {m('session')}",
        source=f"{m('source')}.md",
        key=f"id {m('key')}",
        attributes={m("attribute name"): [m("attribute value"), {"deep": m("nested value")}]},
    )
    tell(
        mem,
        script,
        f"Ada lives in Porto with {marked.stays('body')}.",
        [{"source": 0, "target": 1, "relation": "LIVES_IN", "text": "Ada lives in Porto"}],
        [{"name": "Ada", "type": "Person"}, {"name": "Porto", "type": "Place"}],
        session="chat",
        source=marked.stays("source"),
    )
    nora = mem.entity(name).id
    mem.rename(nora, f"Nora {m('new name')}", reason=m("reason of a rename"), author=m("author of a rename"))
    mem.alias(nora, m("alias by hand"))
    mem.build_communities(names="model", algorithm="louvain")
    forgotten = mem.forget(episode=episode, reason=m("reason"), author=m("author"))
    mem.restore(forgotten, reason=m("reason of a restore"))
    mem.add_facts([{"source": "Ada", "relation": "likes", "target": "opera"}])
    other = mem.episodes()[0]
    mem.restore(mem.forget(episode=other.id, reason=f"as in: {text}"), reason=marked.stays("reason"))
    mem.build_communities(names="model", algorithm="louvain")
    return mem, episode


def left(raw: bytes, words: dict[str, str]) -> list[str]:
    """The kinds whose word is there, whole or without its first letter, in any case, as text or as UTF-16."""
    lower = raw.lower()
    return [kind for kind, w in words.items() if w[1:].encode() in lower or w.encode("utf-16-le") in lower]
