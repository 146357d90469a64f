"""What the offline extractor reads from messages and texts, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem.errors import ModelError
from graphmem.llm.base import Ask
from graphmem.llm.offline import OfflineModel

pytestmark = pytest.mark.local
REFERENCE = "2025-05-14T12:00:00+00:00"
Fact = tuple[str, str, str, str, str | None, str | None]


@pytest.fixture(scope="module")
def model() -> OfflineModel:
    """One loaded pipeline for all tests."""
    return OfflineModel()


def payload(
    text: str, *, actor: str | None = "Mira", others: tuple[str, ...] = ("Tom",), recent: tuple[str, ...] = (), **more: object
) -> dict[str, object]:
    """An extract payload."""
    people = [actor, *others] if actor else []
    told = [{"actor": others[0], "text": t, "reference_time": REFERENCE} for t in recent]
    return {
        "kind": "message" if actor else "text",
        "text": text,
        "reference_time": REFERENCE,
        "zone": "UTC",
        "actor": actor,
        "participants": people,
        "recent": told,
        "known": [],
        "offset": 0,
        **more,
    }


def read(model: OfflineModel, text: str, **how: Any) -> tuple[dict[str, Any], list[Fact]]:
    """The reply, and its facts as (source, relation, target, kind, start, end)."""
    [answer] = model.answer([Ask("extract", 1, payload(text, **how))])
    value = answer.value
    assert isinstance(value, dict)
    names = [e["name"] for e in value["entities"]]
    return value, [
        (names[f["source"]], f["relation"], names[f["target"]], f["kind"], f["valid_at"], f["invalid_at"]) for f in value["facts"]
    ]


TOLD: list[tuple[str, Fact]] = [
    ("I moved to Lisbon in March.", ("Mira", "LIVES_IN", "Lisbon", "holds", "2025-03", None)),
    ("I'm moving to Porto next month.", ("Mira", "LIVES_IN", "Porto", "holds", "2025-06", None)),
    ("I started at Globex in August.", ("Mira", "WORKS_AT", "Globex", "holds", "2024-08", None)),
    ("I have been living in Berlin since 2019.", ("Mira", "LIVES_IN", "Berlin", "holds", "2019", None)),
    ("I worked at Acme from 2019 to 2021.", ("Mira", "WORKS_AT", "Acme", "holds", "2019", "2021")),
    ("I no longer work at Acme.", ("Mira", "WORKS_AT", "Acme", "ends", None, None)),
    ("I used to live in Ghent.", ("Mira", "LIVES_IN", "Ghent", "ends", None, None)),
    ("I left Acme in May.", ("Mira", "WORKS_AT", "Acme", "ends", None, "2025-05")),
    ("I never worked at Acme.", ("Mira", "WORKS_AT", "Acme", "denies", None, None)),
    ("The job at Globex fell through.", ("Mira", "WORKS_AT", "Globex", "ends", None, None)),
    ("I'm allergic to peanuts.", ("Mira", "ALLERGIC_TO", "peanuts", "holds", None, None)),
    ("My mom is a teacher.", ("Mira's mom", "WORKS_AS", "teacher", "holds", None, None)),
    ("I lost my job at Acme yesterday.", ("Mira", "WORKS_AT", "Acme", "ends", None, "2025-05-13")),
]


SAID: list[tuple[str, tuple[str, str, str, str]]] = [
    ("I joined the Aire Climbing Club last month.", ("Mira", "MEMBER_OF", "Aire Climbing Club", "holds")),
    ("I left the Aire Climbing Club.", ("Mira", "MEMBER_OF", "Aire Climbing Club", "ends")),
    ("I joined a gym last week.", ("Mira", "MEMBER_OF", "Mira's gym", "holds")),
    ("I sold the car.", ("Mira", "OWNS", "Mira's car", "ends")),
    ("I was promoted to team lead in May.", ("Mira", "WORKS_AS", "team lead", "holds")),
    ("I failed the military aptitude test.", ("Mira", "DID", "failed military aptitude test", "holds")),
    ("I'm offering one-on-one mentoring.", ("Mira", "DOES", "offering one-on-one mentoring", "holds")),
    ("I used to go horseback riding with my dad.", ("Mira", "DID", "used to go horseback riding with Mira's dad", "holds")),
    ("Friendship means a lot to me.", ("Mira", "VALUES", "Friendship", "holds")),
    ("We had a great time at the pride event last month.", ("Mira", "ATTENDED", "pride event", "holds")),
    ("I'm considering adopting a rescue dog.", ("Mira", "PLANS", "adopt rescue dog", "holds")),
    ("My store is doing well.", ("Mira", "OWNS", "Mira's store", "holds")),
    ("Lakeline is based in Geneva.", ("Lakeline", "LOCATED_IN", "Geneva", "holds")),
    ("I own the importer.", ("Mira", "RESPONSIBLE_FOR", "importer", "holds")),
]


@pytest.mark.parametrize(("text", "fact"), SAID)
def test_messages_tell_memberships_possessions_deeds_and_tastes(model: OfflineModel, text: str, fact: tuple[str, str, str, str]) -> None:
    """Clubs are no employers, common nouns belong to their owner, deeds without a relation of their own are phrases."""
    assert fact in [f[:4] for f in read(model, text)[1]]


@pytest.mark.parametrize(("text", "fact"), TOLD)
def test_messages_give_dated_facts_about_the_speaker(model: OfflineModel, text: str, fact: Fact) -> None:
    """Jobs and places: what holds, ends or is denied, and since or until when."""
    assert fact in read(model, text)[1]


GROUP: list[tuple[str, Fact]] = [
    ("The deadline moved to June 3.", ("deadline", "DUE", "2025-06-03", "holds", None, None)),
    ("We pushed the release to 20 June.", ("release", "DUE", "2025-06-20", "holds", None, None)),
    ("The demo is scheduled for Friday.", ("demo", "SCHEDULED_FOR", "2025-05-16", "holds", None, None)),
    ("Priya owns the importer.", ("Priya", "RESPONSIBLE_FOR", "importer", "holds", None, None)),
    ("Tom takes over billing from Ana.", ("Ana", "RESPONSIBLE_FOR", "billing", "ends", None, None)),
    ("The ticket is assigned to Tom.", ("ticket", "ASSIGNED_TO", "Tom", "holds", None, None)),
    ("The importer is blocked by the schema migration.", ("importer", "BLOCKED_BY", "schema migration", "holds", None, None)),
    ("The importer is unblocked now.", ("importer", "STATUS", "unblocked", "holds", None, None)),
    ("Priya stepped down as team lead.", ("Priya", "WORKS_AS", "team lead", "ends", None, None)),
    ("I'm done with the migration.", ("Mira", "WORKS_ON", "migration", "ends", None, None)),
    ("P95 latency dropped from 300ms to 120ms.", ("P95 latency", "VALUE", "120ms", "holds", None, None)),
]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Pre-launch risks: data updates, compliance, long-tail queries.",
            [("Pre-launch risks", "INCLUDES", i) for i in ("data updates", "compliance", "long-tail queries")],
        ),
        ("Add a retry to the importer.", [("Mira", "REQUESTS", "add retry to importer")]),
        ("The budget must be approved by Friday.", [("budget", "MUST", "be approved")]),
        ("The first phase will not connect to external systems.", [("first phase", "PLANNED", "not connect to external systems")]),
        ("The archive is back, so the forecast model is no longer blocked.", [("forecast model", "BLOCKED_BY", "archive")]),
    ],
)
def test_team_talk_gives_lists_requests_and_constraints(model: OfflineModel, text: str, facts: list[tuple[str, str, str]]) -> None:
    """Lists without a verb, imperatives, what must or will not be, and blocks that are over."""
    assert [f[:3] for f in read(model, text, others=("Tom", "Ana", "Priya"))[1]] == facts


def test_a_first_name_is_the_person_known_by_the_full_name(model: OfflineModel) -> None:
    """ "Ines" is Ines Duarte, in the fact and in its sentence."""
    known = [{"id": "e", "name": "Ines Duarte", "type": "Person", "aliases": []}]
    value, facts = read(model, "Ines owns the forecast model now.", known=known)
    assert [f[:3] for f in facts] == [("Ines Duarte", "RESPONSIBLE_FOR", "forecast model")]
    assert value["facts"][0]["text"] == "Ines Duarte owns the forecast model now"


def test_a_corrected_plan_keeps_only_its_new_date(model: OfflineModel) -> None:
    """The old start is denied before the new one is stated; another person's start is left alone."""
    recent = ("I'm joining Brightwell on 1 June.",)
    _, facts = read(model, "Correction: I'm joining Brightwell on 14 June, not 1 June.", others=("Tom", "Ana"), recent=recent)
    assert ("Mira", "WORKS_AT", "Brightwell", "holds", "2025-06-14", None) in facts
    assert not [f for f in facts if f[3] == "holds" and f[4] != "2025-06-14"]


def test_a_pet_named_after_it_was_spoken_of_is_the_speakers(model: OfflineModel) -> None:
    """ "Her name is Coco" answers a question about a puppy."""
    _, facts = read(model, "Her name is Coco.", recent=("What is your puppy's name?",))
    assert facts == [("Mira", "HAS_PET", "Coco", "holds", None, None)]


def test_news_and_forms_of_address_are_no_part_of_the_sentence(model: OfflineModel) -> None:
    """A fact's text begins with its subject."""
    texts = [read(model, t)[0]["facts"][0]["text"] for t in ("Some personal news: I live in Porto.", "For whoever asked, I live in Porto.")]
    assert texts == ["Mira lives in Porto"] * 2


@pytest.mark.parametrize(("text", "fact"), GROUP)
def test_team_talk_gives_deadlines_owners_blockers_and_values(model: OfflineModel, text: str, fact: Fact) -> None:
    """What a team agrees on, in a group of four."""
    assert fact in read(model, text, others=("Tom", "Ana", "Priya"))[1]


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Porto?",
        "If I move to Porto, I will sell the car.",
        "I wish I lived in Lisbon.",
        "I would love to visit Japan.",
        "Maybe I'll move to Porto.",
        '"I moved to Porto", she said.',
        "He lives in Ghent.",
        "Hey Tom! Thanks so much!",
        "Ich bin gestern nach Porto gezogen und wohne jetzt dort.",
        "我昨天搬到里斯本了。",
        "\x00\ud800 \u2028 🙂",
    ],
)
def test_what_is_not_stated_is_no_fact(model: OfflineModel, text: str) -> None:
    """Questions, conditions, wishes, doubts, quotations, unknown pronouns, chat and other languages."""
    assert read(model, text)[1] == []


def test_still_is_told(model: OfflineModel) -> None:
    """The fact says that the text says so."""
    value, _ = read(model, "I still live in Porto.")
    assert [f["still"] for f in value["facts"]] == [True]


def test_a_pronoun_means_the_last_person_who_fits(model: OfflineModel) -> None:
    """ "His sister" is the sister of the man named in the message before."""
    _, facts = read(model, "His sister Ivana keeps the accounts there.", recent=("Tomas from the boatyard came by, he repairs hulls.",))
    assert facts == [("Tomas", "SIBLING_OF", "Ivana", "holds", None, None)]


def test_a_correction_denies_the_old_date_and_states_the_new_one(model: OfflineModel) -> None:
    """ "It's 14 June, not 12" is about what the message before said."""
    _, facts = read(model, "Correction: it's 14 June, not 12.", others=("Tom", "Ana"), recent=("The launch is due on 12 June.",))
    assert [f[2:4] for f in facts] == [("2025-06-12", "denies"), ("2025-06-14", "holds")]


def test_a_relative_keeps_its_description_as_an_alias(model: OfflineModel) -> None:
    """ "My sister Ivana" can later be found as "Mira's sister"."""
    value, _ = read(model, "My sister Ivana lives in Ghent. She works at Quillon.")
    [ivana] = [e for e in value["entities"] if e["name"] == "Ivana"]
    assert ivana["aliases"] == ["Mira's sister"]
    assert ivana["span"] == [10, 15]


def test_narrative_text_gives_facts_about_named_people(model: OfflineModel) -> None:
    """No speaker: subjects are names, pronouns mean them."""
    _, facts = read(model, "Mira Tallis, the CEO of Brightpeak, lives in Ghent. She married Tom Orr in 2010.", actor=None)
    assert ("Mira Tallis", "LIVES_IN", "Ghent", "holds", None, None) in facts
    assert ("Mira Tallis", "MARRIED_TO", "Tom Orr", "holds", "2010", None) in facts


def test_spans_are_characters_of_the_text_as_it_came(model: OfflineModel) -> None:
    """Greetings, emoji and contractions before a name do not shift its span."""
    text = "Hey Tom! 🙂 I'm thrilled. I moved to Lisbon in March."
    value, _ = read(model, text)
    [lisbon] = [e for e in value["entities"] if e["name"] == "Lisbon"]
    assert text[slice(*lisbon["span"])] == "Lisbon"


def test_names_in_other_scripts_are_mentions_without_facts(model: OfflineModel) -> None:
    """Capitalised Cyrillic words and known names are entities."""
    value, facts = read(model, "Вчера приезжал Иван из Порту.", known=[{"id": "e", "name": "Порту", "type": "Place", "aliases": []}])
    assert facts == []
    assert {"Mira", "Иван"} <= {e["name"] for e in value["entities"]}


def test_other_prompts_have_no_opinion_or_an_error(model: OfflineModel) -> None:
    """Resolve finds nothing, judge contradicts nothing, anything else is refused by name."""
    resolve, judge = model.answer([Ask("resolve", 1, {}), Ask("judge", 1, {})])
    assert (resolve.value, judge.value) == ({"matches": []}, {"judgements": []})
    with pytest.raises(ModelError, match="summarise"):
        model.answer([Ask("summarise", 1, {})])
