"""What a verb's pattern means for the object at hand: "join" a call, a gym or Globex are three things, "start" a day is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import ORGANIZATION, PLACE, VALUE
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.patterns import Pattern
from graphmem.llm.offline.people import kin_word
from graphmem.llm.offline.scene import Scene
from graphmem.llm.offline.titles import called

if TYPE_CHECKING:
    from spacy.tokens import Token

Meaning = tuple[str, str]
"""A relation and the type of its target."""


class Fit:
    """An object in its clause, and what the narrowing rules ask about it."""

    def __init__(self, clause: Clause, pattern: Pattern, token: Token, scene: Scene) -> None:
        self.clause = clause
        self.token = token
        self.scene = scene
        self.meaning: Meaning = (pattern.relation, pattern.target)
        self.lemma: str = token.lemma_.lower()
        self.is_proper: bool = token.pos_ == "PROPN"
        self.is_place: bool = token.ent_type_ in ("GPE", "LOC", "FAC")
        self.is_modified = self.is_proper or any(c.dep_ in ("compound", "amod", "poss") for c in token.children)
        self.kin = kin_word(token)
        self.in_group = scene.turn.in_group
        self.happened = clause.past or clause.perfect
        self.is_habit = clause.top.tag_ in ("VBP", "VBZ") and not clause.perfect

    @property
    def is_named(self) -> bool:
        """Whether the object has a name: it is one, or is called something."""
        return self.is_proper or (self.scene.has_names and called(self.token) is not None)

    def among(self, *lists: str) -> bool:
        """Whether the object is in one of these lists of the lexicon's section on people."""
        return any(self.lemma in words("people", name) for name in lists)


def narrowed(fit: Fit) -> Meaning | None:
    """The relation and target type that the pattern has for this object; None if the object does not fit."""
    if fit.meaning[0] in ("READ", "WATCHED", "MADE", "PLAYS", "BOUGHT") and _is_generic(fit):
        return None
    rule = _RULES.get(fit.meaning[0])
    return fit.meaning if rule is None else rule(fit)


def _is_generic(fit: Fit) -> bool:
    """ "I read a book", "we bought snacks": what is soon forgotten, unless it is dated."""
    if fit.meaning[0] == "BOUGHT":
        return fit.among("consumables")
    if not fit.among("generic") or fit.is_named or fit.scene.dates_of(fit.clause.top):
        return False
    return not any(
        c.dep_ in ("compound", "amod", "poss", "nmod") or (c.dep_ == "prep" and c.lower_ in ("of", "about", "on", "by"))
        for c in fit.token.children
    )


def _home(fit: Fit) -> Meaning | None:
    town = fit.lemma in ("city", "town", "village", "country", "countryside", "suburb")
    # "from obese to overweight": where others write capitals, a small letter begins no name
    is_name = fit.is_proper and (fit.token.text[:1].isupper() or not any(c.isupper() for c in fit.scene.turn.text))
    return fit.meaning if is_name or fit.is_place or fit.among("belongings") or town else None


def _visit(fit: Fit) -> Meaning | None:
    if fit.among("events"):
        return "ATTENDED", "Event"
    if fit.clause.progressive and not fit.happened:
        return None  # "we are checking out a trail": not yet
    if fit.kin or fit.is_habit or fit.lemma in ("bed", "sleep", "school", "work", "store", "gym", "option", "idea"):
        return None
    if fit.clause.lemma == "hit":
        return fit.meaning if fit.among("sites") else None
    looked_at = fit.clause.lemma in ("explore", "check", "tour", "take")
    return fit.meaning if fit.is_proper or fit.is_place or fit.among("sites") or (fit.is_modified and not looked_at) else None


def _employer(fit: Fit) -> Meaning | None:
    if fit.lemma == "home" or (fit.lemma == "job" and fit.clause.lemma not in ("quit", "lose")):
        return None
    if fit.token.ent_type_ in ("DATE", "TIME") or (
        fit.clause.key in ("start", "begin", "quit") and not fit.is_proper and fit.lemma != "job"
    ):
        return None
    if fit.clause.lemma == "serve" and not (fit.is_proper or fit.token.pos_ == "PROPN"):
        return None
    return None if _is_lent(fit) else fit.meaning


def _is_lent(fit: Fit) -> bool:
    """ "Joined Eastleigh on loan": the club that lends somebody stays the employer."""
    return any(fit.scene.doc[i].lower_ == "loan" for i in fit.scene.clause_tokens(fit.clause.top))


def _membership(fit: Fit) -> Meaning | None:
    stranger = fit.scene.cast.person(fit.token.text) is None
    if (fit.token.ent_type_ == "PERSON" and not stranger) or _is_lent(fit):
        return None
    if fit.clause.lemma == "leave":
        if fit.token.ent_type_ in ("GPE", "LOC"):
            return "LIVES_IN", PLACE
        if fit.is_proper and stranger and not fit.among("groups"):
            return "WORKS_AT", ORGANIZATION
        return fit.meaning if fit.among("groups") else None
    if fit.lemma in ("company", "startup", "firm", "agency"):
        return "WORKS_AT", ORGANIZATION
    of_members = fit.among("groups") or fit.lemma in ("party", "movement", "church")
    if fit.clause.lemma == "join" and fit.is_proper and not of_members and fit.token.ent_type_ != "GPE":
        return "WORKS_AT", ORGANIZATION
    if fit.lemma in ("call", "meeting", "conversation", "discussion", "hand", "force"):
        return None
    if fit.clause.lemma == "sign" and not (fit.is_proper or fit.among("groups", "events")):
        return None
    return ("ATTENDED", "Event") if fit.among("events") else fit.meaning


def _possession(fit: Fit) -> Meaning | None:
    if fit.clause.lemma == "sell" and not _is_parted_with(fit):
        return None
    at_work = fit.in_group or fit.scene.turn.kind == "text" or fit.lemma in words("states", "work_things")
    if fit.clause.lemma == "own" and not fit.among("belongings") and at_work:
        return "RESPONSIBLE_FOR", "Thing"
    if fit.kin and lexicon().kin[fit.kin] == "HAS_PET":
        return "HAS_PET", "Animal"
    return None if fit.kin or (fit.clause.lemma == "adopt" and not fit.among("belongings") and not fit.is_proper) else fit.meaning


def _is_parted_with(fit: Fit) -> bool:
    """Whether selling is giving up a thing one had ("sold my car"), not a trade ("I sell candles", "sold twelve jars of jam")."""
    one = fit.token.tag_ in ("NN", "NNP") and any(c.dep_ in ("det", "poss") and c.lower_ not in ("a", "an") for c in fit.token.children)
    return one and fit.happened and not fit.clause.progressive


def _study(fit: Fit) -> Meaning | None:
    return None if fit.lemma in ("class", "course", "lesson", "workshop", "lot", "more") and not fit.is_modified else fit.meaning


def _venture(fit: Fit) -> Meaning | None:
    if fit.among("events") or fit.lemma in ("run", "fundraiser", "drive", "campaign"):
        return "ORGANIZED", "Event"
    return (
        fit.meaning if fit.is_proper or fit.among("belongings", "groups", "ventures") or fit.clause.lemma not in ("open", "set") else None
    )


def _run(fit: Fit) -> Meaning | None:
    if fit.lemma in ("marathon", "race", "triathlon"):
        return "ATTENDED", "Event"
    return fit.meaning if fit.is_proper or fit.among("belongings", "groups", "ventures") else None


def _making(fit: Fit) -> Meaning | None:
    if fit.lemma in (
        "wish",
        "move",
        "art",
        "mistake",
        "progress",
        "point",
        "plan",
        "sense",
        "effort",
        "decision",
        "sure",
        "list",
        "call",
        "path",
        "way",
    ):
        return None
    if fit.clause.lemma == "finish" and not fit.among("works"):
        return None
    if fit.in_group and fit.clause.lemma in words("verbs", "work"):
        return None  # work done in a team has its own rule
    if fit.clause.progressive and not fit.clause.past:
        return "WORKS_ON", "Project"
    return None if fit.is_habit else fit.meaning


def _happening(fit: Fit) -> Meaning | None:
    """What is bought, read, won, attended: done once, not as a habit."""
    if fit.is_habit or (fit.meaning[0] == "RECEIVED" and fit.kin) or (fit.in_group and fit.clause.lemma in words("verbs", "work")):
        return None
    if fit.meaning[0] == "ATTENDED":
        if fit.clause.lemma in ("go", "take") and not fit.among("outings", "events"):
            return None
        if fit.clause.lemma in ("perform", "celebrate") and not (fit.is_proper or fit.among("events")):
            return None
    return fit.meaning


def _taste(fit: Fit) -> Meaning | None:
    if fit.token.pos_ == "PRON":
        return None
    if fit.meaning[0] == "LIKES":
        shown = any(c.lower_ in ("the", "your", "this", "that", "how") for c in fit.token.children)
        owned = any(c.dep_ == "poss" and c.lower_ == "my" for c in fit.token.children)
        if shown or (fit.clause.progressive and not owned) or (fit.clause.past and not fit.clause.perfect):
            return None
    return fit.meaning


def _search(fit: Fit) -> Meaning | None:
    return None if fit.clause.past or fit.lemma == "forward" else fit.meaning


def _acquaintance(fit: Fit) -> Meaning | None:
    return fit.meaning if fit.is_proper and not fit.in_group else None


def _play(fit: Fit) -> Meaning | None:
    return None if fit.lemma in ("role", "part") or (fit.clause.past and not fit.is_proper) else fit.meaning


def _project(fit: Fit) -> Meaning | None:
    if fit.clause.lemma in ("look", "research") and not fit.in_group:
        return None if fit.lemma in words("phrases", "plain") else ("INTERESTED_IN", "Topic")
    return fit.meaning if fit.in_group or fit.is_modified else None


def _partner(fit: Fit) -> Meaning | None:
    return fit.meaning if fit.token.ent_type_ == "PERSON" or fit.kin or fit.among("jobs") else (fit.meaning[0], ORGANIZATION)


def _need(fit: Fit) -> Meaning | None:
    telling = fit.is_modified or (fit.in_group and fit.clause.who != "person")
    return fit.meaning if telling and not fit.clause.past and not fit.clause.negated else None


def _office(fit: Fit) -> Meaning | None:
    return fit.meaning if fit.lemma in ("office", "mayor", "president", "council", "board", "seat", "senate", "governor") else None


def _personal(rule: Callable[[Fit], Meaning | None]) -> Callable[[Fit], Meaning | None]:
    """Verbs that say something of what a person did or is doing, not of what a team does."""

    def read(fit: Fit) -> Meaning | None:
        return None if fit.in_group or not (fit.happened or fit.clause.progressive) else rule(fit)

    return read


def _doing(fit: Fit) -> Meaning | None:
    if (
        not fit.is_modified
        or fit.token.pos_ not in ("NOUN", "PROPN")
        or fit.lemma in ("ok", "okay", "fine", "job", "thing", "research", "work")
    ):
        return None
    return ("DID" if fit.clause.past else "DOES"), "Topic"


def _beginning(fit: Fit) -> Meaning | None:
    if fit.among("ventures"):
        return "FOUNDED", ORGANIZATION
    if fit.among("groups"):
        return "MEMBER_OF", ORGANIZATION
    return fit.meaning if fit.is_modified and fit.lemma not in ("day", "conversation") else None


def _trying(fit: Fit) -> Meaning | None:
    return fit.meaning if fit.is_modified and fit.happened else None


def _losing(fit: Fit) -> Meaning | None:
    if fit.lemma == "job":
        # "Losing my job was hard" tells neither which one it was nor when.
        return None if fit.clause.verb.tag_ == "VBG" and not fit.clause.progressive else ("WORKS_AT", ORGANIZATION)
    return fit.meaning if fit.happened and (fit.kin or fit.among("belongings")) else None


def _raising(fit: Fit) -> Meaning | None:
    counted = any(t.like_num for t in fit.token.subtree)
    return (fit.meaning[0], VALUE) if fit.lemma in ("money", "fund", "dollar") or counted else None


def _charge(fit: Fit) -> Meaning | None:
    """Handling something is a duty as a habit, a deed once it is done; who led something need not lead it now."""
    told = fit.clause.kind == "ends" or fit.scene.when(fit.clause.top, ahead=False).role in ("range", "until")
    over = fit.clause.past and not fit.clause.perfect and not told
    deed = (
        over if fit.clause.lemma in ("lead", "oversee", "head") else fit.clause.lemma in ("handle", "manage", "maintain") and fit.happened
    )
    return None if deed or fit.lemma in ("life", "time", "stress", "emotion", "situation") else fit.meaning


def _field(fit: Fit) -> Meaning | None:
    return None if fit.lemma in ("term", "run", "time", "period", "phase", "future", "past", "meantime", "interim", "way") else fit.meaning


def _part(fit: Fit) -> Meaning | None:
    """What a thing has is a part of it if it is a thing too ("the page has a search box"), not a quality ("high precision")."""
    concrete = fit.is_named or any(c.dep_ in ("compound", "nummod") for c in fit.token.children)
    if any(c.lower_ == "no" for c in fit.token.children):
        return None
    return fit.meaning if fit.in_group and concrete and not fit.clause.past and not fit.clause.negated else None


def _giving(fit: Fit) -> Meaning | None:
    return fit.meaning if fit.lemma in ("speech", "talk", "presentation", "lecture", "sermon", "keynote") else None


_RULES: dict[str, Callable[[Fit], Meaning | None]] = {
    **dict.fromkeys(("LIVES_IN", "FROM", "BORN_IN", "GREW_UP_IN", "HEADQUARTERED_IN"), _home),
    **dict.fromkeys(("RECEIVED", "BOUGHT", "WATCHED", "READ", "WON", "ORGANIZED", "ATTENDED", "DONATED_TO"), _happening),
    **dict.fromkeys(("LIKES", "DISLIKES", "INTERESTED_IN", "MEETS"), _taste),
    **dict.fromkeys(("WORKS_AT", "ACQUIRED"), _employer),
    "RESPONSIBLE_FOR": _charge,
    "WORKS_IN": _field,
    "HAS_PART": _part,
    "VISITED": _visit,
    "MEMBER_OF": _membership,
    "OWNS": _possession,
    "STUDIES": _study,
    "FOUNDED": _venture,
    "RUNS": _run,
    "MADE": _making,
    "SEEKS": _search,
    "KNOWS": _acquaintance,
    "PLAYS": _play,
    "WORKS_ON": _project,
    "RUNS_FOR": _office,
    "NEEDS": _need,
    "WORKS_WITH": _partner,
    "DOES": _personal(_doing),
    "STARTED": _personal(_beginning),
    "TRIED": _personal(_trying),
    "LOST": _personal(_losing),
    "RAISED": _personal(_raising),
    "GAVE": _personal(_giving),
}
