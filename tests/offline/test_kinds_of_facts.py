"""Kinds of sentences that a reader of many messages would get wrong by the letter, and what they give."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem.llm.base import Ask
from graphmem.llm.offline import OfflineModel

pytestmark = pytest.mark.local
Fact = tuple[str, str]
PAIR, GROUP = ("Tom",), ("Tom", "Ana", "Priya")


@pytest.fixture(scope="module")
def model() -> OfflineModel:
    """One loaded pipeline for all tests."""
    return OfflineModel()


def read(model: OfflineModel, text: str, others: tuple[str, ...] = PAIR, recent: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The facts that Mira's message gives, with the names of their ends."""
    at = "2025-05-14T12:00:00+00:00"
    payload = {
        "kind": "message",
        "text": text,
        "reference_time": at,
        "zone": "UTC",
        "actor": "Mira",
        "participants": ["Mira", *others],
        "recent": [{"actor": others[0], "text": said, "reference_time": at} for said in recent],
        "known": [],
        "offset": 0,
    }
    [answer] = model.answer([Ask("extract", 1, payload)])
    value: Any = answer.value
    named = [e["name"] for e in value["entities"]]
    return [{**f, "source": named[f["source"]], "target": named[f["target"]]} for f in value["facts"]]


def told(model: OfflineModel, text: str, others: tuple[str, ...] = PAIR) -> list[Fact]:
    """Relation and target of each fact."""
    return [(f["relation"], f["target"]) for f in read(model, text, others)]


LISTS: list[tuple[str, list[str]]] = [
    ("Sprint goals: payment retries, audit trail, faster exports.", ["payment retries", "audit trail", "faster exports"]),
    ("Two release paths: Build image → Sign package → Upload.", ["Build image", "Sign package", "Upload"]),
    ("Weekly metric report: cache hit rate 91%, error rate 1.7%, latency P95 = 80ms.", []),
    ("Now check these points: login flow, refunds, dark mode.", []),
]


@pytest.mark.parametrize(("text", "items"), LISTS)
def test_lists_have_a_heading_that_names_something_and_no_metrics(model: OfflineModel, text: str, items: list[str]) -> None:
    """A number with a unit is read as a value, an imperative is no heading."""
    assert [t for r, t in told(model, text, GROUP) if r == "INCLUDES"] == items


MEMBERSHIPS: list[tuple[str, list[str]]] = [
    ("My message board is full of old postcards.", []),
    ("My book club meets on Mondays.", ["Mira's book club"]),
    ("I joined a chess forum last week.", ["Mira's chess forum"]),
    ("I signed up for a lawn mower.", []),
]


@pytest.mark.parametrize(("text", "groups"), MEMBERSHIPS)
def test_a_board_on_the_wall_has_no_members(model: OfflineModel, text: str, groups: list[str]) -> None:
    """Who owns a thing named like a group is no member of it; who joins one is."""
    assert [t for r, t in told(model, text) if r == "MEMBER_OF"] == groups


NAMES: list[tuple[str, Fact]] = [
    ('We love "Stone Harbor Nights".', ("LIKES", "Stone Harbor Nights")),
    ('I am reading "The Quiet Orchard".', ("READ", "The Quiet Orchard")),
    ("I usually play HEX:DUO on Sundays.", ("PLAYS", "HEX:DUO")),
    ("I am playing a puzzle game called Lanternfall.", ("PLAYS", "Lanternfall")),
    ('I watched a documentary called "Salt and Rope" yesterday.', ("WATCHED", "Salt and Rope")),
]


@pytest.mark.parametrize(("text", "fact"), NAMES)
def test_titles_and_names_are_kept_whole(model: OfflineModel, text: str, fact: Fact) -> None:
    """Quoted titles, names with signs inside, and what something is called."""
    assert fact in told(model, text)


def test_a_version_keeps_its_number(model: OfflineModel) -> None:
    """ "version 0.3" is not "version"."""
    assert ("WORKED_ON", "version 0.3") in told(model, "I released version 0.3 yesterday.", GROUP)


@pytest.mark.parametrize("text", ["I picked up a magazine.", "I handled the rounding separately.", "I managed the queue yesterday."])
def test_light_verbs_make_nobody_responsible(model: OfflineModel, text: str) -> None:
    """What was picked up or handled once is no duty."""
    assert "RESPONSIBLE_FOR" not in {r for r, _ in told(model, text, GROUP)}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I lead the search team.", ("RESPONSIBLE_FOR", "search team")),
        ("I handle the nightly export.", ("RESPONSIBLE_FOR", "nightly export")),
        ("I'll handle the nightly export.", ("PLANS", "handle nightly export")),
    ],
)
def test_duties_are_habits_and_plans_stay_plans(model: OfflineModel, text: str, fact: Fact) -> None:
    """Present tense and "lead" are duties, "will" is a plan."""
    assert fact in told(model, text, GROUP)


def test_what_somebody_likes_doing_is_told_once(model: OfflineModel) -> None:
    """No habit beside the liking of the same clause."""
    facts = told(model, "I love sketching, swimming or playing card games.")
    assert ("LIKES", "swimming") in facts
    assert ("LIKES", "playing card games") in facts
    assert {r for r, _ in facts} == {"LIKES"}


def test_a_request_that_only_announces_what_follows_is_left_to_it(model: OfflineModel) -> None:
    """ "Add a new rule: we need to …" gives the need."""
    assert told(model, "Add a new rule: we need to encrypt the backup folder.", GROUP) == [("NEEDS", "encrypt backup folder")]


BARE = ["I read a book.", "We watched a movie together.", "I made some food.", "I bought coffee and snacks for everyone."]


@pytest.mark.parametrize("text", BARE)
def test_bare_generic_things_and_treats_are_not_worth_remembering(model: OfflineModel, text: str) -> None:
    """Without a name, a modifier or a date they say nothing."""
    assert told(model, text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I read a book yesterday.", ("READ", "book")),
        ("I watched a silent movie.", ("WATCHED", "silent movie")),
        ("I bought a telescope.", ("BOUGHT", "Mira's telescope")),
    ],
)
def test_dated_modified_and_lasting_things_stay(model: OfflineModel, text: str, fact: Fact) -> None:
    """A date or a modifier of its own is enough."""
    assert fact in told(model, text)


@pytest.mark.parametrize("text", ["I am learning some related techniques.", 'We are building "hope".'])
def test_what_points_elsewhere_or_is_only_so_called_is_no_target(model: OfflineModel, text: str) -> None:
    """ "Related techniques" are related to something said elsewhere."""
    assert told(model, text, GROUP) == []


@pytest.mark.parametrize("text", ["I still have that toy cat.", "My plush rabbit is on the shelf."])
def test_toys_are_no_pets(model: OfflineModel, text: str) -> None:
    """A stuffed animal is a thing."""
    assert "HAS_PET" not in {r for r, _ in told(model, text)}


COORDINATED: list[tuple[str, list[Fact]]] = [
    ("I'm allergic to most nuts and cats with long hair.", [("ALLERGIC_TO", "most nuts"), ("ALLERGIC_TO", "cats with long hair")]),
    ("I love horror and spy movies.", [("LIKES", "horror movies"), ("LIKES", "spy movies")]),
    ("I love pizza and board games.", [("LIKES", "pizza"), ("LIKES", "board games")]),
]


@pytest.mark.parametrize(("text", "facts"), COORDINATED)
def test_coordinated_nouns_have_what_belongs_to_each(model: OfflineModel, text: str, facts: list[Fact]) -> None:
    """What follows the last noun is the last one's; genres share their head, other nouns do not."""
    assert told(model, text) == facts


def test_a_gerund_whose_complement_only_points_is_no_pastime(model: OfflineModel) -> None:
    """ "Retreating to that place" is told of somewhere else."""
    assert told(model, "I love retreating to that place.") == []


def test_what_is_under_way_after_a_coming_date_is_planned(model: OfflineModel) -> None:
    """The weekend of the sentence before has not come."""
    facts = told(model, "We are hiking with friends next weekend. We're checking out a hidden waterfall trail.")
    assert "VISITED" not in {r for r, _ in facts}
    assert ("PLANS", "check out hidden waterfall trail") in facts


MEASURED: list[tuple[str, str, str]] = [
    ("I doubled the batch size, resulting in a memory usage of 41%.", "memory usage", "41%"),
    ("The latency here is steady at P95 = 52ms.", "latency P95", "52ms"),
]


@pytest.mark.parametrize(("text", "metric", "value"), MEASURED)
def test_a_value_belongs_to_a_metric_not_to_a_clause(model: OfflineModel, text: str, metric: str, value: str) -> None:
    """The verb of the sentence is no part of the metric's name."""
    assert [(f["source"], f["target"]) for f in read(model, text, GROUP) if f["relation"] == "VALUE"] == [(metric, value)]


def test_a_stretch_of_time_is_no_field_of_work(model: OfflineModel) -> None:
    """Nobody works in the short run."""
    assert "WORKS_IN" not in {r for r, _ in told(model, "In the short term, I work on the importer.", GROUP)}


def test_a_request_takes_no_date_from_the_next_clause(model: OfflineModel) -> None:
    """Tomorrow is when details come, not by when it is asked for."""
    [request] = [f for f in read(model, "Set the retry limit to 5 first; details tomorrow.", GROUP) if f["relation"] == "REQUESTS"]
    assert request["invalid_at"] is None


def test_responsibility_is_taken_for_something(model: OfflineModel) -> None:
    """The plan keeps what it is about."""
    assert told(model, "I'll take responsibility for writing the user guide.", GROUP) == [
        ("PLANS", "take responsibility for writing user guide")
    ]


def test_a_heading_is_no_subject(model: OfflineModel) -> None:
    """What comes after "Pilot report:" is not said of the report."""
    assert "Pilot report" not in {f["source"] for f in read(model, "Pilot report: an order was mistakenly closed.", GROUP)}


def test_an_order_that_follows_is_no_part_of_the_fact(model: OfflineModel) -> None:
    """The sentence ends with what it tells."""
    assert [f["text"] for f in read(model, "Ana Ruiz joined Brightpeak today, please be kind to her.", GROUP)] == [
        "Ana Ruiz joined Brightpeak today"
    ]


@pytest.mark.parametrize("text", ["We did the sums, we save half."])
def test_amounts_of_nothing_are_no_habit(model: OfflineModel, text: str) -> None:
    """Half of what is not said."""
    assert told(model, text, GROUP) == []


def test_a_blocker_told_by_its_noun_is_the_one_that_was_told_in_full(model: OfflineModel) -> None:
    """ "The registry is back" ends the block by the package registry."""
    recent = ("The build is blocked by the package registry.",)
    [fact] = read(model, "The registry is back, so the build is no longer blocked.", GROUP, recent)
    assert (fact["source"], fact["relation"], fact["target"], fact["kind"]) == ("build", "BLOCKED_BY", "package registry", "ends")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The settings page has a search box.", ("HAS_PART", "search box")),
        ("Refunds must have a second signature.", ("MUST", "have second signature")),
        ("I suggest running a short load test.", ("SUGGESTS", "running short load test")),
        ("Our sales bot needs to remember the customer's budget.", ("NEEDS", "remember customer's budget")),
        ("I added audit logs for the export.", ("WORKED_ON", "audit logs for the export")),
        ("The search page is online, the first tests look good.", ("STATUS", "online")),
    ],
)
def test_team_talk_gives_parts_proposals_and_what_things_need(model: OfflineModel, text: str, fact: Fact) -> None:
    """Things have parts and needs, members propose."""
    assert fact in told(model, text, GROUP)


@pytest.mark.parametrize(
    "text", ["I moved from Lisbon to Porto.", "I have moved from Lisbon to Porto.", "I relocated from Lisbon to Porto."]
)
def test_a_move_from_one_place_to_another_tells_both(model: OfflineModel, text: str) -> None:
    """With a date or without."""
    assert [(f["target"], f["kind"]) for f in read(model, text)] == [("Lisbon", "ends"), ("Porto", "holds")]


@pytest.mark.parametrize(
    "text", ["After losing my job, I wanted to travel.", "Losing my job was hard.", "You've moved from obese to overweight."]
)
def test_what_was_lost_some_time_ago_ends_nothing_now(model: OfflineModel, text: str) -> None:
    """Which job it was, and when, is not said; and what is no place is no home."""
    assert [f for f in read(model, text) if f["relation"] in ("WORKS_AT", "LIVES_IN")] == []


def test_a_lost_job_is_told_with_its_day_or_its_name(model: OfflineModel) -> None:
    """One of both is enough."""
    assert [(f["target"], f["kind"]) for f in read(model, "I lost my job yesterday.")] == [("Mira's job", "ends")]
    assert [(f["target"], f["kind"]) for f in read(model, "I lost my job at Acme.")] == [("Acme", "ends")]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Next goals: weight around 75kg, waist circumference below 90cm.", {("TARGET", "75kg"), ("TARGET", "< 90cm")}),
        ("Latency P95 is 1.6s, cache hit rate above 80%.", {("VALUE", "1.6s"), ("TARGET", "> 80%")}),
        ("P95 latency is 1.6s, the goal is 1.4s.", {("VALUE", "1.6s")}),
    ],
)
def test_what_is_aimed_at_is_no_measured_value(model: OfflineModel, text: str, facts: set[Fact]) -> None:
    """A goal ends no value that was measured."""
    assert {f for f in told(model, text, GROUP) if f[0] in ("VALUE", "TARGET")} == facts


def said_by_assistant(model: OfflineModel, text: str) -> list[tuple[str, str, str]]:
    """Source, relation and target of what an assistant's message to its user gives."""
    at = "2025-05-14T12:00:00+00:00"
    payload = {"kind": "message", "text": text, "reference_time": at, "actor": "assistant", "participants": ["assistant", "user"]}
    [answer] = model.answer([Ask("extract", 1, payload)])
    value: Any = answer.value
    named = [e["name"] for e in value["entities"]]
    return [(named[f["source"]], f["relation"], named[f["target"]]) for f in value["facts"]]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Post this: I'm hosting a quiz night tomorrow, and I live in Ghent.", []),
        ("**Resume**\n\n*Ghent | 2010 - Present*\n\n- **Led** a crew of twelve welders", []),
        ("As you live in Ghent, take the tram.", [("user", "LIVES_IN", "Ghent")]),
        ("Noted. Henrik Maas lives in Ghent.", [("Henrik Maas", "LIVES_IN", "Ghent")]),
    ],
)
def test_an_assistants_i_is_nobody(model: OfflineModel, text: str, facts: list[tuple[str, str, str]]) -> None:
    """What an assistant drafts in the first person is nobody's; what it says of its user and of others counts."""
    assert said_by_assistant(model, text) == facts


def test_an_assistants_lessons_are_no_states(model: OfflineModel) -> None:
    """What holds of things of a kind changes nothing; what the assistant tells of one thing does."""
    assert said_by_assistant(model, "Varnish is typically applied. Varnish is sufficient for oak.") == []
    assert said_by_assistant(model, "The deployment is blocked.") == [("deployment", "STATUS", "blocked")]


DUTIES: list[tuple[str, list[Fact]]] = [
    ("I led the night shift.", []),
    ("Tom oversaw the stock count.", []),
    ("I have led the night shift since 2021.", [("holds", "night shift")]),
    ("I led the night shift from 2019 to 2021.", [("holds", "night shift")]),
    ("I used to lead the night shift.", [("ends", "night shift")]),
]


@pytest.mark.parametrize(("text", "facts"), DUTIES)
def test_who_led_something_need_not_lead_it_now(model: OfflineModel, text: str, facts: list[Fact]) -> None:
    """The simple past tells a deed, unless it says from when to when or that it is over."""
    assert [(f["kind"], f["target"]) for f in read(model, text, GROUP) if f["relation"] == "RESPONSIBLE_FOR"] == facts


def test_what_was_done_to_a_thing_is_no_state_of_it(model: OfflineModel) -> None:
    """Who designed a chapel left it in no state that the next deed ends; of what one works on, "was migrated" is a stage."""
    assert "STATUS" not in {r for r, _ in told(model, "The chapel was designed by Ines Brandt.")}
    assert "STATUS" not in {r for r, _ in told(model, "The mill passed through several owners.")}
    assert ("STATUS", "migrated") in told(model, "The database was migrated.")
    assert ("STATUS", "rebuilt") in told(model, "The search index was rebuilt.", GROUP)


STATES: list[tuple[str, list[tuple[str, str | None, str | None]]]] = [
    ("I was pregnant.", []),
    ("I was ill last week.", [("ill", "2025-05-05/2025-05-11", "2025-05-05/2025-05-11")]),
    ("I got sick last week.", [("sick", "2025-05-05/2025-05-11", None)]),
    ("I am pregnant.", [("pregnant", None, None)]),
]


@pytest.mark.parametrize(("text", "states"), STATES)
def test_a_state_of_the_past_does_not_last(model: OfflineModel, text: str, states: list[tuple[str, str | None, str | None]]) -> None:
    """ "Was" tells no state of today: without a date it says nothing that lasts, with one it held then."""
    assert [(f["target"], f["valid_at"], f["invalid_at"]) for f in read(model, text) if f["relation"] == "STATUS"] == states


SEASONS: list[tuple[str, str | None]] = [
    ("The pool is open Monday to Friday.", None),
    ("The ferry is available from mid-April to October.", None),
    ("The pool is closed from 24 December to 2 January.", "2025-01-02"),
]


@pytest.mark.parametrize(("text", "end"), SEASONS)
def test_hours_and_seasons_end_nothing(model: OfflineModel, text: str, end: str | None) -> None:
    """Days of the week and months without a year come round again; days of a month are a stretch."""
    [fact] = read(model, text)
    assert (fact["relation"], fact["invalid_at"]) == ("STATUS", end)


def test_what_comes_after_is_not_over(model: OfflineModel) -> None:
    """ "After I'm done with" ends nothing yet."""
    assert ("ends", "harbour report") in {(f["kind"], f["target"]) for f in read(model, "I'm done with the harbour report.")}
    assert not read(model, "I'll head home after I'm done with the harbour report.")


def test_dates_in_brackets_are_those_of_what_they_follow(model: OfflineModel) -> None:
    """A list with a date in brackets for each, and the years of a life, date no membership and no deed."""
    listed = "Ines Brandt is a member of the Board of Trade, the Harbour Council (2011-2014), the Pilots Society (2016-2018)."
    assert {f["invalid_at"] for f in read(model, listed) if f["target"] == "Board of Trade"} <= {None}
    assert {f["invalid_at"] for f in read(model, "Henrik Maas married Vera Holm (1845-1915) in Ghent.")} <= {None}
    assert {f["invalid_at"] for f in read(model, "Henrik Maas served as mayor (1950-1955).") if f["relation"] == "WORKS_AS"} == {"1955"}


def test_joining_a_party_is_no_job(model: OfflineModel) -> None:
    """A member of a party has an employer besides."""
    facts = told(model, "Henrik Maas joined the Harbour Party in 2010.")
    assert "WORKS_AT" not in {r for r, _ in facts}


def test_a_plan_for_the_season_that_is_almost_over_means_the_next(model: OfflineModel) -> None:
    """On 14 May a plan for the spring is one for next year's."""
    [fact] = read(model, "I'm planning to renovate the kitchen in the spring.")
    assert (fact["relation"], fact["invalid_at"]) == ("PLANS", "2026-03/2026-05")


SALES: list[tuple[str, list[str]]] = [
    ("I sold my boat.", ["Mira's boat"]),
    ("I have sold the flat.", ["Mira's flat"]),
    ("I sell candles and soaps.", []),
    ("I sold knives last summer.", []),
    ("I've been selling my jewelry at markets.", []),
    ("I sold 15 jars of my jam on 2 May.", []),
]


@pytest.mark.parametrize(("text", "ended"), SALES)
def test_a_trade_is_no_loss(model: OfflineModel, text: str, ended: list[str]) -> None:
    """Who sells candles has them still; who sold the boat has none."""
    assert [f["target"] for f in read(model, text) if f["kind"] == "ends"] == ended


@pytest.mark.parametrize(
    "text",
    [
        "I'm trying to switch from Brelk to Quillon.",
        "I arranged for Tom to marry Vera Holm.",
        "Try this:\n```python\ntimeout = 120\n```\nThen restart.",
        "I'm planning my meals for next week.",
    ],
)
def test_attempts_code_and_arrangements_end_nothing(model: OfflineModel, text: str) -> None:
    """What one tries, arranges or writes in code is no state that ends another."""
    assert not {(f["kind"], f["relation"]) for f in read(model, text)} & {
        ("ends", "USES"),
        ("holds", "MARRIED_TO"),
        ("holds", "VALUE"),
        ("holds", "DUE"),
    }


def test_whose_husband_is_told_only_where_one_can_be_meant(model: OfflineModel) -> None:
    """Of two people named before "her", either may be meant."""
    assert "MARRIED_TO" not in {r for r, _ in told(model, "Paula Brandt met Vera Holm and her husband Ilya Maas.")}
    before = ("Tomas from the boatyard came by, he repairs hulls.",)
    [wife] = [f for f in read(model, "His wife Vera paints boats.", recent=before) if f["relation"] == "MARRIED_TO"]
    assert (wife["source"], wife["target"]) == ("Tomas", "Vera")


def test_of_two_times_a_plan_lasts_to_the_later(model: OfflineModel) -> None:
    """A trip in July or August is ahead until August is over."""
    [fact] = read(model, "I'm planning a trip to Oslo in July or August.")
    assert (fact["relation"], fact["invalid_at"]) == ("PLANS", "2025-08")


def test_a_deed_of_the_past_lies_in_the_past(model: OfflineModel) -> None:
    """ "Three years later" counts from what was told before, which the sentence does not date."""
    [fact] = read(model, "Vera Holm died three years later.")
    assert (fact["relation"], fact["target"], fact["valid_at"]) == ("STATUS", "died", None)


@pytest.mark.parametrize(
    "text", ["Sieves are being used to sort the grain.", "I've been doing well with the essay.", "The essay was used to test them."]
)
def test_words_like_those_of_an_end_end_nothing(model: OfflineModel, text: str) -> None:
    """ "Being used to" is not "used to", "doing well with" not "done with"."""
    assert "ends" not in {f["kind"] for f in read(model, text)}


def test_somebody_married_under_no_name_is_left_open(model: OfflineModel) -> None:
    """The mayor's daughter may be the wife that is named later."""
    assert "MARRIED_TO" not in {r for r, _ in told(model, "Henrik married the mayor's daughter.")}


def test_her_husband_is_that_of_whom_the_sentence_names(model: OfflineModel) -> None:
    """A name before "her" that the recogniser does not know is still whom it means."""
    text = "Her mother, Paula Brandt, was devout. Zhenya's love of clay was nurtured by her husband, Ilya Maas."
    assert ("Paula Brandt", "Ilya Maas") not in {(f["source"], f["target"]) for f in read(model, text)}


LASTED: list[tuple[str, list[tuple[str, str | None, str | None]]]] = [
    ("I worked at Brelk.", []),
    ("I worked at Brelk in 2015.", [("WORKS_AT", "2015", "2015")]),
    ("I worked at Brelk last week.", [("WORKS_AT", "2025-05-05/2025-05-11", None)]),
    ("I lived in Ghent in 2010.", [("LIVES_IN", "2010", "2010")]),
    ("I was married to Tom in 2019.", [("MARRIED_TO", "2019", None)]),
    ("I moved to Ghent.", [("LIVES_IN", None, None)]),
    ("I joined Brelk on loan.", []),
]


@pytest.mark.parametrize(("text", "facts"), LASTED)
def test_where_one_worked_or_lived_once_is_not_where_one_does(
    model: OfflineModel, text: str, facts: list[tuple[str, str | None, str | None]]
) -> None:
    """ "Worked" and "lived" of no time, or of years ago, begin nothing that lasts; "moved" does."""
    kinds = ("WORKS_AT", "LIVES_IN", "MARRIED_TO")
    assert [(f["relation"], f["valid_at"], f["invalid_at"]) for f in read(model, text) if f["relation"] in kinds] == facts


def test_what_a_thing_was_is_told_because_it_counts(model: OfflineModel) -> None:
    """The past of a page or a value is news of it, unlike that of a person."""
    assert ("STATUS", "down") in told(model, "The billing page was down.", GROUP)


def narrated(model: OfflineModel, text: str) -> list[Fact]:
    """Relation and target of each fact of a text that nobody says."""
    [answer] = model.answer([Ask("extract", 1, {"kind": "text", "text": text, "reference_time": "2025-05-14T12:00:00+00:00"})])
    value: Any = answer.value
    return [(f["relation"], value["entities"][f["target"]]["name"]) for f in value["facts"]]


def test_what_a_life_story_does_not_date_is_not_of_today(model: OfflineModel) -> None:
    """Beside years long past, "joined" and "moved" happened at some time in the story; a note without them tells of now."""
    story = narrated(model, "Henrik Maas left Brelk in 1997. Henrik Maas joined Quillon. Henrik Maas lives in Ghent.")
    assert not {("WORKS_AT", "Quillon")} & set(story)
    assert {("WORKS_AT", "Brelk"), ("LIVES_IN", "Ghent")} <= set(story)
    assert ("WORKS_AT", "Quillon") in narrated(model, "Henrik Maas joined Quillon.")
    assert ("LIVES_IN", "Ghent") in narrated(model, "Begun in 2021, the yard grew. Henrik Maas moved to Ghent in April.")


def test_a_date_is_that_of_the_deed_it_stands_with(model: OfflineModel) -> None:
    """The years of studying are not those of the work that came after."""
    facts = read(model, "After studying in Ghent from 2003 to 2007, Henrik Maas worked at Quillon.")
    assert not [f for f in facts if f["relation"] == "WORKS_AT"]


def test_years_of_a_beginning_or_of_several_are_no_end(model: OfflineModel) -> None:
    """ "Began working in 1891" goes on; "in 1896 and 1897" is not over after the first."""
    for text in ("In 1991 Tom began working for Quillon.", "Tom worked for Quillon in 1996 and 1997."):
        assert {f["invalid_at"] for f in read(model, text) if f["relation"] == "WORKS_AT"} <= {None}


def test_this_month_or_next_lasts_to_the_next(model: OfflineModel) -> None:
    """A plan for this month or next is ahead until the next is over."""
    [fact] = read(model, "I want to visit Oslo this month or next.")
    assert (fact["relation"], fact["invalid_at"]) == ("PLANS", "2025-06")


def test_what_comes_every_week_is_not_over_after_the_next(model: OfflineModel) -> None:
    """ "Every Tuesday" is no date."""
    assert {f["invalid_at"] for f in read(model, "I have a pottery class every Tuesday.")} <= {None}


def test_a_size_alone_is_the_size_of_nothing(model: OfflineModel) -> None:
    """Two brushes have two sizes."""
    assert "VALUE" not in {r for r, _ in told(model, "I like the liner brush, size 2. I like the mop brush, size 8.")}


def test_who_is_sacked_has_the_post_no_more(model: OfflineModel) -> None:
    """ "Sacked as harbour master" ends the role."""
    facts = read(model, "Henrik Maas was sacked as harbour master in 2015.")
    assert [(f["kind"], f["relation"], f["target"], f["invalid_at"]) for f in facts] == [("ends", "WORKS_AS", "harbour master", "2015")]


def test_where_a_story_is_set_is_no_state_of_it(model: OfflineModel) -> None:
    """A show set in the fifties is not in a state that its release ends."""
    assert "STATUS" not in {r for r, _ in told(model, "The show is set in the late 1950s.")}
