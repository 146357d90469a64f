"""The JSON schemas of answers: small, closed, every property required, every list and text bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphmem.llm.prompts.data import Payload, outline, rows

Schema = Mapping[str, object]

_MAX_ENUM = 200
_WHOLE = {"type": "integer", "minimum": 0}
_DATE: Schema = {"type": ["string", "null"], "maxLength": 40}


def _text(longest: int) -> Schema:
    return {"type": "string", "maxLength": longest}


def _list(items: Schema, most: int) -> Schema:
    return {"type": "array", "maxItems": most, "items": items}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _named(values: Sequence[str], longest: int) -> Schema:
    """One of these names; any text if there are none, or too many for a server to compile."""
    return {"type": "string", "enum": list(values)} if 0 < len(values) <= _MAX_ENUM else _text(longest)


def extract(payload: Payload) -> Schema:
    """Entities and facts. A closed ontology lists its types and relations; attributes of types and relations come as pairs of name
    and value."""
    ontology = outline(payload)
    closed = bool(ontology.get("closed"))
    types = [str(t["name"]) for t in rows(ontology, "types")]
    relations = [str(r["name"]).lower() for r in rows(ontology, "relations")]
    entity = {
        "name": _text(120),
        "type": _named([*types, "Value", "Entity"] if closed and types else [], 40),
        "aliases": _list(_text(120), 5),
    }
    fact = {
        "source": _text(120),
        "target": _text(120),
        "relation": _named(relations if closed else [], 60),
        "text": _text(400),
        "kind": _named(("holds", "ends", "denies"), 10),
        "valid_at": _DATE,
        "invalid_at": _DATE,
        "still": {"type": "boolean"},
    }
    for kind, owners in ((entity, "types"), (fact, "relations")):
        names = list(dict.fromkeys(str(a["name"]) for row in rows(ontology, owners) for a in rows(row, "attributes")))
        if names:
            kind["attributes"] = _list(_object(name=_named(names, 60), value=_text(300)), 20)
    most = 20 if len(str(payload.get("text") or "")) < 1_000 else 60
    return _object(entities=_list(_object(**entity), most), facts=_list(_object(**fact), most))


def resolve(payload: Payload) -> Schema:
    """Per name the id of a candidate, or null."""
    ids = sorted({str(c["id"]) for row in rows(payload, "new") for c in rows(row, "candidates")})
    known: Schema = {"type": ["string", "null"], **({"enum": [*ids, None]} if len(ids) <= _MAX_ENUM else {"maxLength": 8})}
    return _object(matches=_list(_object(new=_WHOLE, existing=known), len(rows(payload, "new"))))


def judge(payload: Payload) -> Schema:
    """Per new fact the ids of those that it repeats, and of those that it contradicts."""
    ids = _list(_named([str(f["id"]) for f in rows(payload, "facts")], 8), 12)
    return _object(judgements=_list(_object(new=_WHOLE, duplicates=ids, contradicts=ids), len(rows(payload, "new"))))


def community(payload: Payload) -> Schema:
    """A name and a summary."""
    return _object(name=_text(100), summary=_text(1_000))


def profile(payload: Payload) -> Schema:
    """The text, and the ids of the facts that it tells."""
    return _object(profile=_text(1_000), cites=_list(_named([str(f["id"]) for f in rows(payload, "facts")], 8), 60))
