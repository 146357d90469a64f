"""What of a payload goes into a prompt: the places of its words, the fenced data, and how long an answer may get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from graphmem.relations import COMMON, DEFAULT_ONTOLOGY

Payload = Mapping[str, object]

_COMMON = frozenset(COMMON)
_TYPES = "Person, Organization, Place, Event, Product, Work, Animal, Role, Topic or another short noun."
_MAX_ANSWER = 2_000
_MAX_ERROR = 300
_MAX_CONTEXT = 1_000
_MAX_INSTRUCTIONS = 4_000
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


# ------------------------------------------------------------------------------------------------ extract


def extract_places(payload: Payload) -> Mapping[str, str]:
    """The words that the owner's ontology and instructions fill in."""
    ontology = outline(payload)
    closed = bool(ontology.get("closed"))
    types, relations = list(rows(ontology, "types")), list(rows(ontology, "relations"))
    names = ", ".join(_relations(relations, closed))
    told = str(payload.get("instructions") or "").strip()[:_MAX_INSTRUCTIONS]
    of_types, of_relations = (any(rows(row, "attributes") for row in listed) for listed in (types, relations))
    return {
        "types": f"{'; '.join(_type(t) for t in types)}. {'No other.' if closed else 'Else another short noun.'}" if types else _TYPES,
        "attributes": "attributes: those of the type that the text gives, each as name and value.\n" if of_types else "",
        "fact_attributes": "attributes: those of the relation that the text gives, each as name and value.\n" if of_relations else "",
        "relations": f"{names}. {'No other.' if closed else 'Else a short English verb_phrase.'}"
        if names
        else "a short English verb_phrase.",
        "example": ',"attributes":[]' if of_types else "",
        "fact_example": ',"attributes":[]' if of_relations else "",
        "instructions": f"\nFrom the owner of the memory:\n{told}" if told else "",
    }


def outline(payload: Payload) -> Mapping[str, object]:
    """The ontology that goes with a payload: its own, else the default one."""
    given = payload.get("ontology")
    return given if isinstance(given, Mapping) else DEFAULT_ONTOLOGY.outline()


def rows(of: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    """The rows of an outline under that name."""
    found = of.get(name)
    return found if isinstance(found, list) else []


def _type(row: Mapping[str, object]) -> str:
    about = f" = {row['description']}" if row.get("description") else ""
    attributes = _attributes(row)
    return f"{row['name']}{about}" + (f" ({attributes})" if attributes else "")


def _attributes(row: Mapping[str, object]) -> str:
    listed = ", ".join(_attribute(a) for a in rows(row, "attributes"))
    return f"attributes: {listed}" if listed else ""


def _attribute(row: Mapping[str, object]) -> str:
    choices = row.get("choices")
    kind = "|".join(map(str, choices)) if isinstance(choices, list) else "" if row.get("type") == "str" else str(row.get("type"))
    said = ", ".join(part for part in (kind, str(row.get("description") or "")) if part)
    return f"{row['name']}: {said}" if said else str(row["name"])


def _relations(listed: Sequence[Mapping[str, object]], closed: bool) -> list[str]:
    """The owner's own relations with their ends; of the default ones the common names, unless there are no others."""
    default = {str(r["name"]): r for r in rows(DEFAULT_ONTOLOGY.outline(), "relations")}
    own = [r for r in listed if closed or default.get(str(r["name"])) != r]
    return [*map(_relation, own), *(str(r["name"]).lower() for r in listed if r not in own and r["name"] in _COMMON)]


def _relation(row: Mapping[str, object]) -> str:
    ends = [" or ".join(map(str, e)) if isinstance(e, list) and e else "" for e in (row.get("source"), row.get("target"))]
    arrow = f"{ends[0] or 'any'} → {ends[1] or 'any'}" if any(ends) else ""
    said = "; ".join(part for part in (arrow, str(row.get("description") or ""), _attributes(row)) if part)
    return str(row["name"]).lower() + (f" ({said})" if said else "")


def extract_data(payload: Payload) -> object:
    """The text with its time, speaker, recent episodes and known names; what is empty is left out."""
    time, day = _moment(payload.get("reference_time"))
    speaker = payload.get("actor")
    people = [p for p in _list(payload, "participants") if p != speaker]
    known = [_entity(e) for e in _mappings(payload, "known")]
    parts = {
        "time": time,
        "speaker": speaker,
        "people": people,
        "source": payload.get("source"),
        "known": known,
        "recent": [_said(e, day) for e in _mappings(payload, "recent")],
        "text": payload.get("text"),
    }
    return {name: value for name, value in parts.items() if value}


def _entity(row: Mapping[str, object]) -> str:
    """A known entity by its name, with its type if that says something."""
    return f"{row['name']}" if row.get("type") in (None, "", "Entity", "Thing") else f"{row['name']} ({row['type']})"


def _said(episode: Mapping[str, object], day: str) -> str:
    """An earlier episode as one line; its day only if it is another one."""
    _, other = _moment(episode.get("reference_time"))
    actor = episode.get("actor")
    return f"{'' if other == day else f'[{other}] '}{f'{actor}: ' if actor else ''}{episode.get('text')}"


def _moment(raw: object) -> tuple[str, str]:
    """The instant to show, to the minute and with its weekday, and the day alone."""
    try:
        moment = datetime.fromisoformat(str(raw))
    except ValueError:
        return str(raw), ""
    return f"{_DAYS[moment.weekday()]} {moment.isoformat(timespec='minutes').replace('+00:00', 'Z')}", moment.date().isoformat()


def extract_length(payload: Payload) -> int:
    """Room for the facts of the text: a long text has more."""
    return min(8_000, 1_000 + 2 * len(str(payload.get("text") or "")))


# ------------------------------------------------------------------------------------------------ profile


def profile_data(payload: Payload) -> object:
    """The thing and its facts, with short ids."""
    facts = [_filled(row, ("id", "text", "from")) for row in _mappings(payload, "facts")]
    return {**_filled(payload, ("name", "type")), "facts": facts}


def profile_length(payload: Payload) -> int:
    """Room for the text and its citations."""
    return 400


# ------------------------------------------------------------------------------------------------ resolve, judge, community, repair


def no_places(payload: Payload) -> Mapping[str, str]:
    """These words have no places."""
    return {}


def resolve_data(payload: Payload) -> object:
    """The names in question, each with whom it may be, and the beginning of the text they stand in."""
    new = []
    for row in _mappings(payload, "new"):
        candidates = [_filled(c, ("id", "name", "type", "aliases")) for c in _mappings(row, "candidates")]
        new.append({**_filled(row, ("new", "name", "type")), "candidates": candidates})
    return {**_filled({**payload, "text": str(payload.get("text") or "")[:_MAX_CONTEXT]}, ("speaker", "text")), "new": new}


def resolve_length(payload: Payload) -> int:
    """Room for one short row per name."""
    return 100 + 40 * len(_list(payload, "new"))


def judge_data(payload: Payload) -> object:
    """The new facts and the known ones with their names, dates and status."""
    new = [{"new": row.get("new"), **_claim(row), "candidates": row.get("candidates")} for row in _mappings(payload, "new")]
    facts = [{"id": row.get("id"), **_claim(row)} for row in _mappings(payload, "facts")]
    return {"time": _moment(payload.get("reference_time"))[0], "facts": facts, "new": new}


def _claim(row: Mapping[str, object]) -> Mapping[str, object]:
    about = f"{row.get('source')} {str(row.get('relation')).lower()} {row.get('target')}"
    kind = row.get("kind")
    return _filled(
        {
            "fact": about,
            "text": row.get("text"),
            "kind": None if kind == "holds" else kind,
            "from": row.get("valid_at"),
            "to": row.get("invalid_at"),
            "status": row.get("status"),
        }
    )


def judge_length(payload: Payload) -> int:
    """Room for one row per new fact, with a few ids."""
    return 100 + 80 * len(_list(payload, "new"))


def community_data(payload: Payload) -> object:
    """Who is central, what is told of the parts, and the facts; what is empty is left out."""
    return _filled(payload, ("central", "parts", "facts"))


def community_length(payload: Payload) -> int:
    """Room for a title and a few sentences, in any script."""
    return 700


def repair_data(repair: Mapping[str, object]) -> object:
    """The answer that could not be read, its middle left out if it is long, and why."""
    answer = str(repair.get("answer") or "")
    if len(answer) > _MAX_ANSWER:
        answer = f"{answer[: _MAX_ANSWER // 2]} … {answer[-_MAX_ANSWER // 2 :]}"
    return {"answer": answer, "reason": str(repair.get("error") or "")[:_MAX_ERROR]}


def _list(of: Mapping[str, object], name: str) -> Sequence[object]:
    found = of.get(name)
    return found if isinstance(found, list | tuple) else []


def _mappings(of: Mapping[str, object], name: str) -> Iterator[Mapping[str, object]]:
    return (row for row in _list(of, name) if isinstance(row, Mapping))


def _filled(row: Mapping[str, object], names: Sequence[str] | None = None) -> dict[str, object]:
    """The fields of a row that say something."""
    return {n: row[n] for n in (names or tuple(row)) if row.get(n) not in (None, "", [], ())}
