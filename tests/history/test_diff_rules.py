"""Each rule of time, decision and act is named where it made a change, with the words or the author behind it."""

from __future__ import annotations

import pytest
from test_diff_properties import instants, view_of, write

from graphmem.history.lines import Diff
from graphmem.stores.memory import MemoryStore
from graphmem.testing import Story, ended, fact, never

CASES = {
    "single": (
        Story("")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022"))
        .say("2024-09-01", fact("Mira WORKS_AT Globex", since="2024-08")),
        {
            "ended Acme": "a single-valued relation: Globex from 2024-08 ends Acme",
            "added Globex": "said to hold since 2024-08",
        },
    ),
    "left": (
        Story("").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2020")).say("2024-05-20", ended("Mira WORKS_AT Acme", "2024-04")),
        {"ended Acme": "said to have ended by 2024-04"},
    ),
    "over": (
        Story("").say("2024-03-01", "Mira WORKS_AT Acme").say("2024-05-20", ended("Mira WORKS_AT Acme")),
        {"ended Acme": "said to be over on 2024-05-19"},
    ),
    "denied": (
        Story("").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2020")).say("2024-05-20", never("Mira WORKS_AT Acme")),
        {"corrected Acme": "denied"},
    ),
    "denied rival": (
        Story("")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2020"), fact("Mira WORKS_AT Globex", since="2022"))
        .say("2024-05-20", never("Mira WORKS_AT Globex")),
        {"corrected Globex": "denied", "reopened Acme": "denied what ended it: Mira WORKS_AT Globex"},
    ),
    "planned": (
        Story("").say("2025-01-10", "Mira WORKS_AT Acme").say("2025-05-14", fact("Mira WORKS_AT Globex", since="2025-09-01")),
        {"added Globex": "planned for 2025-09-01", "ended Acme": "a single-valued relation: Globex from 2025-09-01 ends Acme"},
    ),
    "cancelled": (
        Story("")
        .say("2025-05-14", "Mira WORKS_AT Acme", fact("Mira WORKS_AT Globex", since="2025-09-01"))
        .say("2025-07-01", ended("Mira WORKS_AT Globex")),
        {"corrected Globex": "plan cancelled", "reopened Acme": "plan cancelled: Mira WORKS_AT Globex"},
    ),
    "moved": (
        Story("")
        .say("2025-05-14", "Mira WORKS_AT Acme", fact("Mira WORKS_AT Globex", since="2025-09-01"))
        .say("2025-07-01", fact("Mira WORKS_AT Globex", since="2025-11-01")),
        {
            "corrected Globex": "plan moved from 2025-09-01 to 2025-11-01",
            "extended Acme": "Globex begins later, 2025-11-01: plan moved",
        },
    ),
    "finer": (
        Story("")
        .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2020"))
        .say("2024-02-01", fact("Mira WORKS_AT Acme", since="2020-03")),
        {"corrected Acme": "a finer date: 2020-03 for 2020"},
    ),
    "later said": (
        Story("")
        .say("2024-05-01", fact("Mira WORKS_AT Acme", since="2024-05-01"))
        .say("2024-05-02", fact("Mira WORKS_AT Globex", since="2024-05-01")),
        {"corrected Acme": "said later of the same time: Globex instead of Acme", "added Globex": "said to hold since 2024-05-01"},
    ),
    "earlier": (
        Story("").say("2024-03-01", "Mira LIVES_IN Lisbon").say("2024-06-01", fact("Mira LIVES_IN Lisbon", since="2019", still=True)),
        {"extended Lisbon": "said to hold since 2019"},
    ),
    "old news": (
        Story("")
        .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2022"))
        .say("2025-01-01", fact("Mira WORKS_AT Initech", since="2021")),
        {"added Initech": "said to hold since 2021, until Acme from 2022"},
    ),
    "judged": (
        Story("").say("2019-01-01", fact("Mira LIKES jazz")).say("2022-01-01", fact("Mira DISLIKES jazz", excludes=["e1.0"])),
        {"ended jazz": "judged contradictory by a rule: Mira DISLIKES jazz", "added jazz": "seen on 2022-01-01"},
    ),
    "judged by the model": (
        Story("").say("2019-01-01", fact("Mira LIKES jazz")).say("2022-01-01", fact("Mira AVOIDS jazz", excludes=["e1.0"])),
        {"ended jazz": "judged contradictory by the model: Mira AVOIDS jazz", "added jazz": "seen on 2022-01-01"},
    ),
    "forgotten": (
        Story("")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022"))
        .say("2024-09-01", fact("Mira WORKS_AT Globex", since="2024-08"))
        .do("forget", "e2"),
        {"forgotten Globex": "forgotten", "reopened Acme": "what ended it was forgotten", "forgotten entity Globex": "forgotten"},
    ),
    "restored": (
        Story("").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022")).do("forget", "e1").do("restore", "o2"),
        {
            "restored Acme": "restored",
            "restored entity Acme": "restored",
            "restored entity Mira": "restored",
        },
    ),
    "restore undone": (
        Story("")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022"))
        .say("2024-09-01", fact("Mira WORKS_AT Globex", since="2024-08"))
        .do("forget", "e2")
        .do("restore", "o3")
        .do("restore", "o4"),
        {
            "forgotten Globex": "restore undone",
            "reopened Acme": "follows: restore undone",
            "forgotten entity Globex": "restore undone",
        },
    ),
    "restored again": (
        Story("")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022"))
        .do("forget", "e1")
        .do("restore", "o2")
        .do("restore", "o3")
        .do("restore", "o4"),
        {"restored Acme": "restored", "restored entity Acme": "restored", "restored entity Mira": "restored"},
    ),
    "end undone": (
        Story("").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022")).do("end", "e1.0", at="2024-05-01").do("restore", "o2"),
        {"reopened Acme": "undone: ended by hand"},
    ),
    "end done again": (
        Story("")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022"))
        .do("end", "e1.0", at="2024-05-01")
        .do("restore", "o2")
        .do("restore", "o3"),
        {"ended Acme": "undo undone: ended by hand"},
    ),
    "confirm undone": (
        Story("")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022", until="2023"))
        .do("confirm", "e1.0", at="2025-01-01")
        .do("restore", "o2"),
        {"corrected Acme": "undone: confirmed by hand"},
    ),
    "correct undone": (
        Story("").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022")).do("correct", "e1.0", start="2023").do("restore", "o2"),
        {"extended Acme": "undone: corrected by hand"},
    ),
    "merge undone": (
        Story("")
        .say("2024-03-01", fact("Bea LIVES_IN Porto", since="2022"))
        .say("2024-04-01", "Beatriz LIKES tea")
        .do("merge", "Bea", "Beatriz")
        .do("restore", "o3"),
        {
            "restored tea": "undone: merged: Bea and Beatriz",
            "restored entity Beatriz": "undone: merged",
            "corrected entity Bea": "undone: merged: fewer names",
        },
    ),
    "merge done again": (
        Story("")
        .say("2024-03-01", fact("Bea LIVES_IN Porto", since="2022"))
        .say("2024-04-01", "Beatriz LIKES tea")
        .do("merge", "Bea", "Beatriz")
        .do("restore", "o3")
        .do("restore", "o4"),
        {
            "merged tea": "undo undone: merged: Bea and Beatriz",
            "merged entity Beatriz": "undo undone: merged: is Bea",
            "extended entity Bea": "undo undone: merged: also called Beatriz",
        },
    ),
    "rename undone": (
        Story("").say("2024-04-01", "Bea LIKES tea").do("rename", "Bea", name="Beatriz").do("restore", "o2"),
        {"corrected entity Bea": "undone: renamed: called Bea, not Beatriz"},
    ),
    "by hand": (
        Story("").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022")).do("end", "e1.0", at="2024-05-01"),
        {"ended Acme": "ended by hand"},
    ),
    "corrected by hand": (
        Story("").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022")).do("correct", "e1.0", start="2023"),
        {"corrected Acme": "corrected by hand"},
    ),
    "merged": (
        Story("")
        .say("2024-03-01", fact("Bea LIVES_IN Porto", since="2022"))
        .say("2024-04-01", "Beatriz LIKES tea")
        .do("merge", "Bea", "Beatriz"),
        {
            "merged tea": "merged: Bea and Beatriz",
            "merged entity Beatriz": "merged: is Bea",
            "extended entity Bea": "merged: also called Beatriz",
        },
    ),
    "linked": (
        Story("").say("2024-04-01", "Beatriz LIKES tea").say("2024-05-01", "Bea LIVES_IN Porto", links=[("Bea", "Beatriz")]),
        {
            "added Porto": "seen on 2024-05-01",
            "merged tea": "Bea and Beatriz are one",
            "merged entity Beatriz": "Bea and Beatriz are one",
            "added entity Bea": "Bea and Beatriz are one",
            "added entity Porto": "first named",
        },
    ),
    "renamed": (
        Story("").say("2024-04-01", "Bea LIKES tea").do("rename", "Bea", name="Beatriz"),
        {"corrected entity Bea": "renamed: called Beatriz, not Bea"},
    ),
    "said again": (
        Story("").say("2024-03-01", "Mira LIKES jazz").say("2024-04-01", "Mira LIKES jazz"),
        {"confirmed jazz": "said again"},
    ),
}


def last_step(story: Story) -> Diff:
    """What the last entry of a story changed."""
    store, log = MemoryStore(), story.log()
    write(store, log)
    before, last = instants(log)[-2:]
    return view_of(store).diff(system=(before, last))


def named(diff: Diff) -> dict[str, str]:
    """Change and target → rule; of entities that are new nothing where facts tell of them."""
    return {
        f"{line.kind.value} {line.to_dict()['before' if line.after is None else 'after']['target']}"  # type: ignore[index]
        if line.item == "fact"
        else f"{line.kind.value} entity {line.id}": line.rule
        for line in diff
    }


@pytest.mark.parametrize("case", CASES)
def test_the_rule_that_made_a_change_is_named(case: str) -> None:
    """The last step of a story, every line of it."""
    story, expected = CASES[case]
    found = named(last_step(story))
    if "added entity Bea" not in expected:
        found = {change: rule for change, rule in found.items() if not change.startswith("added entity")}
    assert found == expected
