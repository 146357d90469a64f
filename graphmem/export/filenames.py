"""Names of things as names of files: readable, and safe on every system."""

from __future__ import annotations

import re
import unicodedata

_FORBIDDEN = re.compile(r'[\\/:*?"<>|#^\[\]`%&{}$!@=+~;,]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]) *(?=\.|$)", re.IGNORECASE)
_LONGEST = 80


class FileNames:
    """Gives each id a file name made of its name; two ids never share one, also where upper and lower case are one."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, id: str, name: str) -> str:
        """The name of the file for `id`, without a suffix."""
        if id not in self._given:
            stem = file_stem(name) or "unnamed"
            while stem.casefold() in self._taken:
                stem = f"{stem[:_LONGEST]} ({id.rpartition('_')[2]})" if f"({id.rpartition('_')[2]})" not in stem else f"{stem}-"
            self._taken.add(stem.casefold())
            self._given[id] = stem
        return self._given[id]


def file_stem(name: str) -> str:
    """`name` without what a file system or a wiki link gives a meaning to; "" if nothing is left.

    >>> file_stem("../etc/passwd"), file_stem("NUL"), file_stem("nul.tar"), file_stem("Café Zoë")
    ('etc passwd', 'NUL_', 'nul_.tar', 'Café Zoë')
    """
    shown = "".join(c if unicodedata.category(c)[0] not in "C" else " " for c in unicodedata.normalize("NFC", name))
    stem = " ".join(_FORBIDDEN.sub(" ", shown).split()).strip(". ")
    while len(stem.encode()) > _LONGEST * 2 or len(stem) > _LONGEST:
        stem = stem[:-1]
    stem = stem.strip(". ")
    reserved = _RESERVED.match(stem)  # Windows looks at what is before the first dot
    return stem if reserved is None else f"{reserved[1]}_{stem[reserved.end() :]}"
