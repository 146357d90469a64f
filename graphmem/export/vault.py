"""A folder of Markdown pages, as Obsidian and agents read it: an index, a page an entity, a page a day; linked both ways."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, tzinfo
from pathlib import Path

from graphmem.export.filenames import FileNames
from graphmem.export.plaintext import stamp, utf8_text
from graphmem.export.selection import Cut, Step
from graphmem.export.tables import visible_episodes
from graphmem.model import VALUE_TYPE, EntityVersion, Episode
from graphmem.results import FactItem, shorten

INDEX = "MEMORY.md"
INDEX_LINES = 200
INDEX_BYTES = 25_000
_SPECIAL = re.compile(r"[\\`*_\[\]#|$~^]|^=|==+|%%+|^(?:[-+]|\d+[.)])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def write_vault(cut: Cut, folder: Path, step: Step, zone: tzinfo) -> None:
    """`MEMORY.md`, `entities/`, `days/`. Facts that hold at the point come first, former ones under a heading of their own."""
    (folder / "entities").mkdir()
    (folder / "days").mkdir()
    facts = _by_entity(cut, step)
    pages = _Pages(cut)
    days = _days(cut, zone)
    told: dict[str, list[date]] = defaultdict(list)
    for day, episodes in days.items():
        mentioned = pages.mentioned(episodes)
        for entity_id in mentioned:
            told[entity_id].append(day)
        _write(folder / "days" / f"{day.isoformat()}.md", pages.day(day, episodes, mentioned, zone))
    for entity in pages.entities.values():
        _write(
            folder / "entities" / f"{pages.files.of(entity.id, entity.name)}.md", pages.entity(entity, facts[entity.id], told[entity.id])
        )
    _write(folder / INDEX, pages.index(facts, days))


def _by_entity(cut: Cut, step: Step) -> Mapping[str, list[FactItem]]:
    found: dict[str, list[FactItem]] = defaultdict(list)
    for fact in cut.facts():
        for end in dict.fromkeys((fact.source_id, fact.target_id)):
            found[end].append(fact)
        step()
    return found


def _days(cut: Cut, zone: tzinfo) -> dict[date, list[Episode]]:
    days: dict[date, list[Episode]] = defaultdict(list)
    for episode in visible_episodes(cut):
        days[episode.reference_time.astimezone(zone).date()].append(episode)
    return dict(sorted(days.items()))


class _Pages:
    """The pages' texts, with links between them."""

    def __init__(self, cut: Cut) -> None:
        self._cut = cut
        self.files = FileNames()
        self.entities = {e.id: e for e in cut.entities.values() if e.type != VALUE_TYPE}

    def link(self, id: str, shown: str) -> str:
        """A wiki link to an entity's page; only the name of one that has no page."""
        entity = self.entities.get(id)
        return f"[[entities/{self.files.of(id, entity.name)}|{_label(shown)}]]" if entity else markdown(shown)

    def mentioned(self, episodes: Sequence[Episode]) -> list[str]:
        """Entities with a page that these episodes mention, by name."""
        found = self._cut.reader.mentions(self._cut.groups, self._cut.at, episodes=[e.id for e in episodes])
        return sorted({m.entity for m in found} & self.entities.keys(), key=lambda i: (self.entities[i].name, i))

    def entity(self, entity: EntityVersion, facts: Sequence[FactItem], days: Sequence[date]) -> Iterable[str]:
        """The page of an entity."""
        yield from _front_matter(
            {
                "id": entity.id,
                "type": entity.type,
                "aliases": list(entity.aliases),
                "group": entity.group,
                "since": stamp(entity.system.start),
            }
        )
        yield f"# {markdown(entity.name)}"
        for heading, listed in (
            ("Holds", [f for f in facts if self._cut.holds(f)]),
            ("Before and after", [f for f in facts if not self._cut.holds(f)]),
        ):
            if listed:
                yield from ("", f"## {heading}", "")
                yield from (self._fact(f, entity.id) for f in listed)
        if days:
            yield from ("", "## Days", "", *(f"- [[days/{day.isoformat()}|{day.isoformat()}]]" for day in sorted(set(days))))

    def day(self, day: date, episodes: Sequence[Episode], mentioned: Sequence[str], zone: tzinfo) -> Iterable[str]:
        """The page of a day."""
        yield from _front_matter({"date": day.isoformat(), "episodes": [e.id for e in episodes]})
        yield f"# {day.isoformat()}"
        if mentioned:
            yield from ("", ", ".join(self.link(i, self.entities[i].name) for i in mentioned))
        for episode in episodes:
            who = f" {markdown(episode.actor)}" if episode.actor else ""
            yield from ("", f"**{episode.reference_time.astimezone(zone):%H:%M}{who}**", "")
            yield from (f"> {markdown(line)}" for line in utf8_text(episode.body).splitlines() or [""])

    def index(self, facts: Mapping[str, Sequence[FactItem]], days: Mapping[date, Sequence[Episode]]) -> Iterable[str]:
        """The first page: the entities with most facts that hold, within what an agent reads at once."""
        head = [
            "# Memory",
            "",
            f"{len(self.entities)} entities, {len(days)} days. Each entity has a page in `entities/`, each day in `days/`.",
            "",
        ]
        ranked = sorted(self.entities.values(), key=lambda e: (-sum(map(self._cut.holds, facts[e.id])), e.name, e.id))
        lines, size = list(head), sum(len(line.encode()) + 1 for line in head)
        for n, entity in enumerate(ranked):
            holding = [f for f in facts[entity.id] if self._cut.holds(f)]
            told = f": {markdown(shorten(holding[-1].text, 90))}" if holding else ""
            line = f"- {self.link(entity.id, entity.name)} ({markdown(entity.type)}, {len(holding)} facts){told}"
            rest = f"- and {len(ranked) - n} more in `entities/`"
            if len(lines) + 2 > INDEX_LINES or size + len(line.encode()) + len(rest) + 2 > INDEX_BYTES:
                return [*lines, rest]
            lines.append(line)
            size += len(line.encode()) + 1
        return lines

    def _fact(self, fact: FactItem, page: str) -> str:
        other, shown = (fact.target_id, fact.target) if fact.source_id == page else (fact.source_id, fact.source)
        return f"- {markdown(fact.text)} ({self.link(other, shown)}, {fact.period})"


def markdown(text: str) -> str:
    """Text on one line that means nothing to Markdown, to Obsidian or to HTML.

    >>> markdown("# [[x]] <b>")
    '\\\\# \\\\[\\\\[x\\\\]\\\\] &lt;b&gt;'
    """
    line = " ".join(utf8_text(text).replace("\x00", "\ufffd").split())
    return "".join(_HTML.get(c, c) for c in _SPECIAL.sub(_escaped, line))


def _escaped(found: re.Match[str]) -> str:
    text = found[0]
    return f"{text[:-1]}\\{text[-1]}" if text[0].isdigit() else "".join(f"\\{c}" for c in text)


def _label(text: str) -> str:
    """The shown part of a wiki link, where backslashes do not escape."""
    line = " ".join(utf8_text(text).replace("\x00", "\ufffd").split())
    return re.sub(r"[\[\]|]", " ", "".join(_HTML.get(c, c) for c in shorten(line, 100))).strip() or "unnamed"


def _front_matter(values: Mapping[str, object]) -> Iterable[str]:
    """YAML whose values are JSON, which YAML reads: nothing in them can end it."""
    yield "---"
    yield from (f"{name}: {json.dumps(value)}" for name, value in values.items())
    yield from ("---", "")


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace", newline="\n")
