"""What a question asks for, read from its words: dates, people, kind of answer. Rules only, no model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import cached_property

from graphmem.dates import find_dates
from graphmem.interval import Interval
from graphmem.names import key
from graphmem.search.words import words

_DAYS_AND_MONTHS = """yesterday today tonight tomorrow last next ago week weeks weekend weekends month months year years
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december"""
_DATE_WORDS = frozenset([*_DAYS_AND_MONTHS.split(), *map(str, range(1900, 2100))])
_ASCII_DATE_WORDS = frozenset(word.encode() for word in _DATE_WORDS)
_RUN = re.compile(r"\w+")
_LOWER_SPACED = bytes(ord(c.lower() if c.isalnum() or c == "_" else " ") for c in map(chr, range(128))) + bytes(128)
_WHEN = re.compile(
    r"\s*(?:(?:since |until |by )?when\b|(?:on |in )?what (?:date|day|month|year|time)\b|how (?:long|many (?:days|weeks|months|years))\b)",
    re.IGNORECASE,
)
_ASSISTANT_SAID = re.compile(
    r"(?<!can )(?<!could )(?<!would )(?<!will )\byou(?:r| have| had|'ve|'d)? (?:\w+ ){0,2}?"
    r"(?:recommend|suggest|mention|list|provid|explain|describ|advis|tell|told|said|say|g[ai]ve)\w*"
    r"|\b(?:our|the|my) (?:last|previous|earlier|past) (?:chat|conversation|discussion|talk)\b(?!s)"
    r"|\b(?:our|my) (?:chat|conversation|discussion)\b(?!s)"
    r"|\bremind me (?:what|which|who|how|of)\b",
    re.IGNORECASE,
)
_USER_SAID = re.compile(r"\bI(?:'ve| have| had)? (?:brought up|mention|discuss|said|say|asked|told you|talked)", re.IGNORECASE)
_WHOLE_STORY = re.compile(
    r"\b(?:(?:the|what|which) order\b|in (?:chronological )?order\b|chronolog|sequence of|timeline|summar(?:y|i[sz]e)\b|overview of)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\bhow many\b|\bboth\b|\b(?:what|which) (?:kind|type|sort)s?\b|\b(?:in )?what ways\b|\b(?:what|who|which) are\b|\bwho were\b"
    r"|\bwhere (?:has|have)\b",
    re.IGNORECASE,
)
_PLURAL_NOUN = re.compile(
    r"(?:what|which) (?:[\w'-]+ ){0,3}?(?!(?:is|was|does|has|this|his|us|plus|yes|always)\b)[a-z-]*[^\W_s]s "
    r"(?:has|have|had|do|does|did|is|are|was|were|would|will|can|could|[\w'-]+s?)\b",
    re.IGNORECASE,
)
_WHOLE = (
    r"(?:teams?|groups?|projects?|chats?|channels?|conversations?|discussions?|threads?|memory|notes?|data|documents?|records?|messages?"
    r"|people|everyone|everybody|everything|things|all|organi[sz]ations?|compan(?:y|ies)|famil(?:y|ies)|friends?|we|us|they|it|this|that|here)"
)
_THE = r"(?:(?:this|the|our|these|my|that|their|all) )*(?:\w+ )?"
_END = r"\s*[?.!]*\s*$"
_REQUEST = r"(?:^\W*|\b(?:give|write|provide|make|get|need|want|like|please|can you|could you|let me have)\b[^?.!]{0,40}?)"
_OVERVIEW = re.compile(
    rf"\bwhat(?:'s|’s| is| was| are| were)? {_THE}{_WHOLE} (?:all |mostly |mainly )?about{_END}"
    rf"|\bwhat (?:do|does|did|have|has|are|is) {_THE}{_WHOLE} (?:\w+ )?(?:talk|discuss|chat|writ|work|car|deal)\w*"
    rf"(?: (?:about|on|with|for))?{_END}"
    r"|\b(?:main|key|major|central|big(?:gest)?|most important|recurring|common|overall) (?:topic|theme|subject|thread|area|concern)s?\b"
    r"|\b(?:what|which|list|name|show) (?:\w+ ){0,3}?(?:topics|themes|circles|communities|clusters)\b"
    rf"|{_REQUEST}\b(?:summar(?:y|ies|i[sz]e)|overview|outline)\b"
    r"|\bbig picture\b|\bthe gist\b|\bat a glance\b|\bin a nutshell\b"
    rf"|\btell me (?:all |more )?about {_THE}{_WHOLE}{_END}"
    rf"|\bwho (?:is|are|was|were)(?: all)? (?:here|there|involved|in|on|part of)\b(?: {_THE}{_WHOLE})?{_END}"
    rf"|\bwho belongs together\b|\bwhat(?:'s|’s| is| was| has been) (?:going on|happening|been happening)\b(?: \w+)?{_END}",
    re.IGNORECASE,
)
_LONGEST_OVERVIEW = 500
# What an overview is asked for with: words that say nothing of what it is to be about.
_BARE = """
"main mainly key major central biggest big important recurring common overall general mostly topic theme subject thread area
concern team group project chat channel conversation discussion memory note data document record message people person
everyone everybody everything thing organisation organization company family friend member circle community cluster overview
summary summarise outline picture gist glance nutshell short brief quick give show list name tell write provide make want
need please explain describe know talk discuss chat work deal write happen happening going go involve part belong together
come key matter here there one all much many lot
"""
_GENERAL = re.compile(rf"(?:{_WHOLE}|topics?|themes?|subjects?|overview|summary|work|areas?)(?: {_WHOLE})*", re.IGNORECASE)
_INSTRUCTIONS = re.compile(
    r"\bmention (?:only )*(?:and only )?\w+ items?\b"
    r"|\b(?:can|could|would|will) you\b"
    r"(?: please| help me| tell me| give me| show me| remind me| provide| list| suggest| recommend| walk me through)*"
    r"|\bplease\b"
    r"|\b(?:a )?(?:comprehensive|complete|detailed|brief|full)? ?summary of\b"
    r"|\bthe order in which I (?:\w+ ){1,2}?(?=different|various|my|the|aspects|topics)"
    r"|\b(?:different|various) (?:aspects|parts|topics|features|stages|steps|concepts|areas) of\b"
    r"|\b(?:throughout|across|during|over|in) (?:all )?(?:of )?(?:our|my|the) (?:\w+ )?"
    r"(?:conversations?|chats?|discussions?|sessions?|messages?|requests?)\b"
    r"|\bin (?:chronological )?order\b",
    re.IGNORECASE,
)

_MAX_TERMS = 256

# The kind of answer asked for, and the entity types (lower case) that show it.
_PLACES = frozenset({"place", "location", "city", "country", "region", "facility", "gpe", "loc", "fac", "address"})
_PEOPLE = frozenset({"person", "people"})
_BODIES = frozenset({"organization", "organisation", "company", "org", "team", "school", "university", "brand"})
_WORKS = frozenset({"work", "creative work", "creativework", "work_of_art", "book", "movie", "film", "song", "game", "show"})
_ANSWERS = (
    (
        re.compile(
            r"\bwhere\b|\b(?:cit(?:y|ies)|(?:countr|count)(?:y|ies)|states?|places?|locations?|areas?|travel\w*|trips?)\b", re.IGNORECASE
        ),
        _PLACES,
    ),
    (re.compile(r"^\s*(?:with )?who(?:m|se)?\b|\b(?:friends?|people|names?)\b", re.IGNORECASE), _PEOPLE),
    (
        re.compile(r"\b(?:books?|movies?|films?|songs?|shows?|series|games?|titles?|bands?|artists?|authors?)\b", re.IGNORECASE),
        _WORKS | _PEOPLE | _BODIES,
    ),
    (re.compile(r"\b(?:compan(?:y|ies)|organi[sz]ations?|teams?|brands?|schools?|universit(?:y|ies))\b", re.IGNORECASE), _BODIES),
)


@dataclass(frozen=True)
class Question:
    """A question and what its words ask for.

    `windows` are the stretches of time its date words name, `speakers` the actors it names, `bare` the text without
    their names (and, where the whole story is asked for, without the instructions around the subject).
    """

    text: str
    windows: tuple[Interval, ...] = ()
    speakers: tuple[str, ...] = ()
    bare: str = ""

    @classmethod
    def read(cls, text: str, now: datetime, zone: tzinfo) -> Question:
        """Date words are resolved against `now` in `zone`."""
        windows = []
        for found in find_dates(text, now, zone):
            for unit in (found.unit, found.ahead):
                last = found.until.last if found.until is not None and unit is found.unit else unit.last if unit else None
                if unit is not None and last is not None and unit.first < last:
                    windows.append(Interval(unit.first, last))
        question = cls(text, tuple(dict.fromkeys(windows)))
        return replace(question, bare=question._subject())

    def naming(self, actors: Mapping[str, Collection[str]]) -> Question:
        """The same question with those of `actors` (name → other names) it names: by a whole name, or by a first name that
        only one of them has.
        """
        named: dict[str, str] = {}
        for actor in sorted(actors):
            for form in (actor, *sorted(actors[actor]), *_first_name(actor, actors)):
                if re.search(rf"(?<!\w){re.escape(form)}(?!\w)", self.text, re.IGNORECASE):
                    named[actor] = form
                    break
        if not named:
            return self
        forms = "|".join(re.escape(form) for form in sorted(named.values(), key=len, reverse=True))
        bare = re.sub(rf"(?<!\w)(?:{forms})(?:['’]s)?(?!\w)", " ", self._subject(), flags=re.IGNORECASE)
        bare = " ".join(bare.split())
        return replace(self, speakers=tuple(named), bare=bare if words(bare) else self.text)

    def _subject(self) -> str:
        if not self.wants_whole_story:
            return self.text
        subject = " ".join(_INSTRUCTIONS.sub(" ", self.text).split()).strip(" ?,.")
        return subject if words(subject) else self.text

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The words to search for, names included; of a long text, the first 256."""
        return tuple(words(self._subject())[:_MAX_TERMS])

    @cached_property
    def bare_terms(self) -> tuple[str, ...]:
        """The words without those of the speakers named."""
        return tuple(words(self.bare)[:_MAX_TERMS])

    @cached_property
    def every_term(self) -> tuple[str, ...]:
        """The words of both, each once."""
        return tuple(dict.fromkeys((*self.terms, *self.bare_terms)))

    @cached_property
    def asks_when(self) -> bool:
        return _WHEN.match(self.text) is not None

    @cached_property
    def asks_assistant(self) -> bool:
        """Whether it asks for what the assistant said, rather than the user."""
        return _ASSISTANT_SAID.search(self.text) is not None and _USER_SAID.search(self.text) is None and not self.wants_whole_story

    @cached_property
    def wants_whole_story(self) -> bool:
        """Whether an order of events or a summary is asked for: the evidence then lies in many sessions."""
        return _WHOLE_STORY.search(self.text) is not None

    @property
    def wants_overview(self) -> bool:
        """Whether it asks what all of it is about, and names no time."""
        return not self.windows and asks_overview(self.text)

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """Of an overview that is asked for, the words that say of what; () for one of everything."""
        bare = frozenset(words(_BARE))
        return tuple(t for t in self.terms if t not in bare)

    @cached_property
    def wants_several(self) -> bool:
        """Whether a list or a count is asked for."""
        return _PLURAL_NOUN.match(self.text.strip()) is not None or _SEVERAL.search(self.text) is not None

    @cached_property
    def answer_types(self) -> frozenset[str]:
        """Entity types, lower case, that an answer would show; empty if any."""
        return frozenset().union(*(types for pattern, types in _ANSWERS if pattern.search(self.text)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(t for t in self.terms if t.isdigit())


def asks_overview(text: str) -> bool:
    """Whether `text` asks what a memory, or a part of it that has no name, is about on the whole.

    >>> asks_overview("What are the main topics?"), asks_overview("Summarise what we know."), asks_overview("Where does Mira live?")
    (True, True, False)
    """
    return _OVERVIEW.search(text[:_LONGEST_OVERVIEW]) is not None


def is_general(name: str) -> bool:
    """Whether a name says no more than that all of it is meant: "the team" is nobody in particular.

    >>> is_general("team"), is_general("Tidewell")
    (True, False)
    """
    return _GENERAL.fullmatch(name.removeprefix("the ")) is not None


def has_date_word(text: str) -> bool:
    """Whether a word of `text` names or counts days, weeks, months or years.

    >>> has_date_word("We met last Sunday."), has_date_word("Not lasting."), has_date_word("In 2019")
    (True, False, True)
    """
    if text.isascii():
        return not _ASCII_DATE_WORDS.isdisjoint(text.encode().translate(_LOWER_SPACED).split())
    return not _DATE_WORDS.isdisjoint(_RUN.findall(text.lower()))


def _first_name(actor: str, actors: Collection[str]) -> tuple[str, ...]:
    first = actor.split()[0] if " " in actor.strip() else ""
    alone = len(first) > 2 and sum(key(a).split(" ")[0] == key(first) for a in actors) == 1
    return (first,) if alone else ()
