"""A folder of Markdown pages, as Obsidian and agents read it: an index, a page an entity, a community, a day; linked both ways."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, tzinfo
from pathlib import Path

from graphmem.communities.results import CommunityItem
from graphmem.export.filenames import FileNames
from graphmem.export.plaintext import stamp
from graphmem.export.selection import Cut
from graphmem.export.tables import visible_episodes
from graphmem.interval import in_zone
from graphmem.model import VALUE_TYPE, EntityVersion, Episode
from graphmem.results import FactItem, shorten
from graphmem.shown import utf8_text

INDEX = "MEMORY.md"
INDEX_LINES = 200
INDEX_BYTES = 25_000
_SPECIAL = re.compile(r"[\\`*_\[\]#|$~^]|^=|==+|%%+|^(?:[-+]|\d+[.)])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def write_vault(cut: Cut, folder: Path, zone: tzinfo) -> None:
    """`MEMORY.md`, `entities/`, `communities/`, `days/`. Facts that hold at the point come first, former ones under a heading of
    their own."""
    for kind in ("entities", "communities", "days"):
        (folder / kind).mkdir()
    facts = _by_entity(cut)
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
    for community in cut.communities:
        _write(folder / f"{pages.place(community)}.md", pages.community(community))
    _write(folder / INDEX, pages.index(facts, days))


def _by_entity(cut: Cut) -> Mapping[str, list[FactItem]]:
    found: dict[str, list[FactItem]] = defaultdict(list)
    for fact in cut.facts():
        for end in dict.fromkeys((fact.source_id, fact.target_id)):
            found[end].append(fact)
    return found


def _days(cut: Cut, zone: tzinfo) -> dict[date, list[Episode]]:
    days: dict[date, list[Episode]] = defaultdict(list)
    for episode in visible_episodes(cut):
        days[in_zone(episode.reference_time, zone).date()].append(episode)
    return dict(sorted(days.items()))


class _Pages:
    """The pages' texts, with links between them."""

    def __init__(self, cut: Cut) -> None:
        self._cut = cut
        self.files, self._circles = FileNames(), FileNames()
        self._inside: dict[str | None, list[CommunityItem]] = defaultdict(list)
        for community in cut.communities:
            self._inside[community.parent].append(community)
        self.entities = {e.id: e for e in cut.entities.values() if e.type != VALUE_TYPE}

    def link(self, id: str, shown: str) -> str:
        """A wiki link to an entity's page; only the name of one that has no page."""
        entity = self.entities.get(id)
        return f"[[entities/{self.files.of(id, entity.name)}|{_label(shown)}]]" if entity else markdown(shown)

    def place(self, community: CommunityItem) -> str:
        """Where the page of a community is, without its suffix."""
        return f"communities/{self._circles.of(community.id, community.name)}"

    def _circle(self, community: CommunityItem) -> str:
        return f"[[{self.place(community)}|{_label(community.name)}]]"

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
        if entity.id in self._cut.homes:
            yield from ("", f"Community: {self._circle(self._cut.homes[entity.id])}")
        for heading, listed in (
            ("Holds", [f for f in facts if self._cut.holds(f)]),
            ("Before and after", [f for f in facts if not self._cut.holds(f)]),
        ):
            if listed:
                yield from ("", f"## {heading}", "")
                yield from (self._fact(f, entity.id) for f in listed)
        if days:
            yield from ("", "## Days", "", *(f"- [[days/{day.isoformat()}|{day.isoformat()}]]" for day in sorted(set(days))))

    def community(self, community: CommunityItem) -> Iterable[str]:
        """The page of a community: what it is, what it is part of, what is part of it, who is in it."""
        front = {"id": community.id, "level": community.level, "size": community.size, "group": community.group}
        yield from _front_matter(front | ({"computed": True} if community.computed else {}))
        yield f"# {markdown(community.name)}"
        if community.summary:
            yield from ("", markdown(community.summary))
        if around := [c for c in self._cut.communities if c.id == community.parent]:
            yield from ("", f"Part of {self._circle(around[0])}")
        if inside := self._inside[community.id]:
            yield from ("", "## Parts", "", *(f"- {self._circle(c)} ({c.size} members)" for c in inside))
        yield from ("", "## Members", "", *(f"- {self.link(m.id, m.name)}" for m in community.members))

    def day(self, day: date, episodes: Sequence[Episode], mentioned: Sequence[str], zone: tzinfo) -> Iterable[str]:
        """The page of a day."""
        yield from _front_matter({"date": day.isoformat(), "episodes": [e.id for e in episodes]})
        yield f"# {day.isoformat()}"
        if mentioned:
            yield from ("", ", ".join(self.link(i, self.entities[i].name) for i in mentioned))
        for episode in episodes:
            who = f" {markdown(episode.actor)}" if episode.actor else ""
            yield from ("", f"**{in_zone(episode.reference_time, zone):%H:%M}{who}**", "")
            yield from (f"> {markdown(line)}" for line in utf8_text(episode.body).splitlines() or [""])

    def index(self, facts: Mapping[str, Sequence[FactItem]], days: Mapping[date, Sequence[Episode]]) -> Iterable[str]:
        """The first page: the largest communities and the entities with most facts that hold, within what an agent reads at once."""
        circles = self._inside[None]
        counted = f"{len(self.entities)} entities, {len(self._cut.communities)} communities, {len(days)} days"
        head = ["# Memory", "", f"{counted}. Each has a page, in `entities/`, `communities/` and `days/`.", ""]
        if circles:
            shown = [f"- {self._circle(c)} ({c.size} members)" for c in circles[:INDEX_LINES]]
            listed = _fitting(shown, len(circles), "communities", INDEX_LINES // 4, INDEX_BYTES // 4)
            head += ["## Communities", "", *listed, "", "## Entities", ""]
        ranked = sorted(self.entities.values(), key=lambda e: (-sum(map(self._cut.holds, facts[e.id])), e.name, e.id))
        lines = (self._indexed(entity, [f for f in facts[entity.id] if self._cut.holds(f)]) for entity in ranked)
        room = INDEX_BYTES - sum(len(line.encode()) + 1 for line in head)
        return [*head, *_fitting(lines, len(ranked), "entities", INDEX_LINES - len(head), room)]

    def _indexed(self, entity: EntityVersion, holding: Sequence[FactItem]) -> str:
        told = f": {markdown(shorten(holding[-1].text, 90))}" if holding else ""
        return f"- {self.link(entity.id, entity.name)} ({markdown(entity.type)}, {len(holding)} facts){told}"

    def _fact(self, fact: FactItem, page: str) -> str:
        other, shown = (fact.target_id, fact.target) if fact.source_id == page else (fact.source_id, fact.source)
        return f"- {markdown(fact.text)} ({self.link(other, shown)}, {fact.period})"


def _fitting(lines: Iterable[str], count: int, folder: str, most_lines: int, most_bytes: int) -> list[str]:
    """As many of `count` lines as there is room for, and one that says how many are left where they do not all fit."""
    kept, size = list[str](), 0
    for line in lines:
        rest = f"- and {count - len(kept)} more in `{folder}/`"
        if len(kept) + 2 > most_lines or size + len(line.encode()) + len(rest) + 2 > most_bytes:
            return [*kept, rest]
        kept.append(line)
        size += len(line.encode()) + 1
    return kept


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
