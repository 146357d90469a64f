"""Values as Cypher source. No text can end its literal, on any line, in any version of the language."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

_NAMED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(value: object) -> str:
    """The expression whose value a driver would send for `value`; a map without its nulls, which no property keeps.

    Raises `TypeError` for what is no value of a property, and for a key that is not a plain word.

    >>> print(literal({"said": "it's\\n\\u202e", "at": datetime(2024, 5, 1, tzinfo=UTC), "seen": [1, 2e20, True], "end": None}))
    {said: 'it\\'s\\n\\u202e', at: datetime('2024-05-01T00:00:00+00:00'), seen: [1, 2e20, true]}
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value).replace("+", "")
        case str():
            return f"'{_escaped(value)}'"
        case datetime():
            return f"datetime('{value.astimezone(UTC).isoformat()}')"
        case list() | tuple():
            return f"[{', '.join(map(literal, value))}]"
        case Mapping():
            return f"{{{', '.join(f'{_word(k)}: {literal(v)}' for k, v in value.items() if v is not None)}}}"
    raise TypeError(f"a {type(value).__name__} is no value of a property")


def _escaped(text: str) -> str:
    """Letters and signs as they are; what ends a literal, a line or a reader's trust as an escape."""
    if text.isprintable() and "\\" not in text and "'" not in text:
        return text
    return "".join(c if c.isprintable() and c not in _NAMED else _NAMED.get(c) or _units(c) for c in text)


def _units(character: str) -> str:
    """The character by its UTF-16 units, which is what every version of Cypher reads."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def _word(key: object) -> str:
    if not (isinstance(key, str) and key.isascii() and key.isidentifier()):
        raise TypeError(f"{key!r} is no key of a property")
    return key
