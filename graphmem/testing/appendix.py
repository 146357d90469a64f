"""The stories that say what time means in graphmem, with their right answers: each store and each fold must give these rows."""

from __future__ import annotations

from graphmem.testing.histories import Story, ended, fact, never


def _story(number: int, title: str) -> Story:
    return Story(f"{number:02d} {title}")


def _three_jobs(number: int, title: str, third: str) -> Story:
    return (
        _story(number, title)
        .say("2020-02-01", fact("Mira WORKS_AT Acme", since="2020"))
        .say("2021-02-01", fact("Mira WORKS_AT Globex", since="2021"))
        .say("2023-02-01", fact(f"Mira WORKS_AT {third}", since="2023"))
    )


def _plan(number: int, title: str) -> Story:
    return _story(number, title).say("2025-01-10", "Mira WORKS_AT Acme").say("2025-05-14", fact("Mira WORKS_AT Globex", since="2025-09-01"))


def _taste(number: int, title: str) -> Story:
    return _story(number, title).say("2019", "Mira LIKES jazz").say("2022", fact("Mira DISLIKES jazz", excludes=["e1.0"]))


def stories() -> list[Story]:
    """The stories, numbered in their titles."""
    return [*_starts(), *_ends(), *_relations(), *_acts()]


def _starts() -> list[Story]:
    return [
        _story(1, "a new job ends the old one")
        .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022"))
        .say("2024-09-01", fact("Mira WORKS_AT Globex", since="2024-08"))
        .gives("Mira WORKS_AT Acme [2022, 2024-08)", "Mira WORKS_AT Globex [2024-08, ∞)"),
        _three_jobs(2, "back at the first job", "Acme").gives(
            "Mira WORKS_AT Acme [2020, 2021)", "Mira WORKS_AT Globex [2021, 2023)", "Mira WORKS_AT Acme [2023, ∞)"
        ),
        _story(3, "an older job is told later")
        .say("2024", fact("Mira WORKS_AT Acme", since="2022"))
        .say("2025", fact("Mira WORKS_AT Initech", since="2021"))
        .gives("Mira WORKS_AT Initech [2021, 2022)", "Mira WORKS_AT Acme [2022, ∞)"),
        _story(4, "letters without dates")
        .say("2024-03-01", "Mira LIVES_IN Lisbon")
        .say("2021-06-01", "Mira LIVES_IN Porto")
        .say("2019-01-10", "Mira LIVES_IN Lisbon")
        .gives("Mira LIVES_IN Lisbon [2019-01-10, 2021-06)", "Mira LIVES_IN Porto [2021-06, 2024-03)", "Mira LIVES_IN Lisbon [2024-03, ∞)"),
        _story(5, "still, since 2019")
        .say("2024-03-01", "Mira LIVES_IN Lisbon")
        .say("2024-06-01", fact("Mira LIVES_IN Lisbon", since="2019", still=True))
        .gives("Mira LIVES_IN Lisbon [2019, ∞)"),
        _story(6, "a dated job before an undated one")
        .say("2024-03-01", "Mira WORKS_AT Acme")
        .say("2024-05-01", fact("Mira WORKS_AT Globex", since="2023"))
        .gives("Mira WORKS_AT Globex [2023, 2024-03)", "Mira WORKS_AT Acme [2024-03, ∞)"),
        _story(7, "a dated job that still holds")
        .say("2024-03-01", "Mira WORKS_AT Acme")
        .say("2024-05-01", fact("Mira WORKS_AT Globex", since="2023", still=True))
        .gives("Mira WORKS_AT Globex [2023, 2024-03)", "Mira WORKS_AT Acme [2024-03, 2024-05)", "Mira WORKS_AT Globex [2024-05, ∞)"),
        _story(8, "the later said of equal starts")
        .say("2024-05-01T10:00", fact("Mira WORKS_AT Acme", since="2024-05-01"))
        .say("2024-05-01T11:00", fact("Mira WORKS_AT Globex", since="2024-05-01"))
        .gives("Mira WORKS_AT Globex [2024-05, ∞)"),
        _story(9, "a finer date")
        .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2020"))
        .say("2024-02-01", fact("Mira WORKS_AT Acme", since="2020-03"))
        .gives("Mira WORKS_AT Acme [2020-03, ∞)"),
        _story(15, "not 2022, since 2023")
        .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2022"))
        .say("2024-02-01", never("Mira WORKS_AT Acme"), fact("Mira WORKS_AT Acme", since="2023"))
        .gives("Mira WORKS_AT Acme [2023, ∞)"),
        _plan(16, "a start ahead").gives("Mira WORKS_AT Acme [2025-01-10, 2025-09)", "Mira WORKS_AT Globex [2025-09, ∞)"),
        _plan(17, "a plan falls through").say("2025-07-01", ended("Mira WORKS_AT Globex")).gives("Mira WORKS_AT Acme [2025-01-10, ∞)"),
        _plan(18, "a plan is moved")
        .say("2025-07-01", fact("Mira WORKS_AT Globex", since="2025-11-01"))
        .gives("Mira WORKS_AT Acme [2025-01-10, 2025-11)", "Mira WORKS_AT Globex [2025-11, ∞)"),
    ]


def _ends() -> list[Story]:
    since_2020 = fact("Mira WORKS_AT Acme", since="2020")
    summer = fact("Mira LIVES_IN Porto", since="2020-06", until="2020-08")
    return [
        _story(10, "until last month")
        .say("2024-05-20", fact("Mira WORKS_AT Acme", until="2024-04"))
        .gives("Mira WORKS_AT Acme [unknown, 2024-05)"),
        _story(11, "an end without a start, beside other jobs")
        .say("2024-01-01", fact("Mira WORKS_AT Globex", since="2010", until="2014"))
        .say("2024-02-01", fact("Mira WORKS_AT Acme", until="2019"))
        .say("2024-03-01", fact("Mira WORKS_AT Initech", since="2021"))
        .gives("Mira WORKS_AT Globex [2010, 2015)", "Mira WORKS_AT Acme [2015, 2020)", "Mira WORKS_AT Initech [2021, ∞)"),
        _story(12, "left in May, told in May")
        .say("2023", since_2020)
        .say("2024-05-20", ended("Mira WORKS_AT Acme", "2024-05"))
        .gives("Mira WORKS_AT Acme [2020, 2024-05-20)"),
        _story(13, "in April, not May")
        .say("2023", since_2020)
        .say("2024-06-10", ended("Mira WORKS_AT Acme", "2024-05"))
        .say("2024-06-11", ended("Mira WORKS_AT Acme", "2024-04"))
        .gives("Mira WORKS_AT Acme [2020, 2024-05)"),
        _story(14, "no longer, after a dated end")
        .say("2020-06-01", fact("Mira WORKS_AT Acme", since="2018"))
        .say("2021-02-01", ended("Mira WORKS_AT Acme", "2020"))
        .say("2025", ended("Mira WORKS_AT Acme"))
        .gives("Mira WORKS_AT Acme [2018, 2021)"),
        _story(19, "a lease is extended")
        .say("2023", fact("Mira RENTS Loft", since="2023", until="2024"))
        .say("2024", fact("Mira RENTS Loft", since="2023", until="2026"))
        .gives("Mira RENTS Loft [2023, 2027)"),
        _story(20, "a summer elsewhere")
        .say("2024-03-01", fact("Mira LIVES_IN Lisbon", since="2018"))
        .say("2024-05-01", summer)
        .gives("Mira LIVES_IN Lisbon [2018, 2020-06)", "Mira LIVES_IN Porto [2020-06, 2020-09)"),
        _story(21, "a summer elsewhere, still in Lisbon")
        .say("2024-03-01", fact("Mira LIVES_IN Lisbon", since="2018", still=True))
        .say("2024-05-01", summer)
        .gives("Mira LIVES_IN Lisbon [2018, 2020-06)", "Mira LIVES_IN Porto [2020-06, 2020-09)", "Mira LIVES_IN Lisbon [2024-03, ∞)"),
        _story(22, "nothing resumes by itself")
        .say("2015-02-01", fact("Mira WORKS_AT Acme", since="2015"))
        .say("2019-02-01", fact("Mira WORKS_AT Globex", since="2019"))
        .say("2021-07-01", ended("Mira WORKS_AT Globex", "2021-06"))
        .gives("Mira WORKS_AT Acme [2015, 2019)", "Mira WORKS_AT Globex [2019, 2021-07)"),
    ]


def _relations() -> list[Story]:
    return [
        _story(23, "several values")
        .say("2024-01-01", "Mira LIKES jazz")
        .say("2024-02-01", "Mira LIKES opera")
        .gives("Mira LIKES jazz [2024, ∞)", "Mira LIKES opera [2024-02, ∞)"),
        _story(24, "two jobs in one sentence")
        .say("2024-01-01", "Mira WORKS_AT Acme", "Mira WORKS_AT Globex")
        .gives("Mira WORKS_AT Globex [2024, ∞)", any_order=False),
        _story(25, "a marriage, from either side")
        .say("2015", fact("Mira MARRIED_TO Tom", since="2010"))
        .say("2019-01-01", fact("Tom MARRIED_TO Ana", since="2018"))
        .say("2019-02-01", fact("Ana MARRIED_TO Tom", since="2018"))
        .gives("Mira MARRIED_TO Tom [2010, 2018)", "Tom MARRIED_TO Ana [2018, ∞)"),
        _story(26, "an inverse relation")
        .say("2024-01-01", fact("Acme EMPLOYS Mira", since="2022"))
        .say("2024-02-01", "Mira WORKS_AT Acme")
        .gives("Mira WORKS_AT Acme [2022, ∞)"),
        _taste(27, "a judged contradiction, then true again")
        .say("2023", "Mira LIKES jazz")
        .gives("Mira LIKES jazz [2019, 2022)", "Mira DISLIKES jazz [2022, 2023)", "Mira LIKES jazz [2023, ∞)"),
        _story(30, "the rent goes up")
        .say("2023", fact("Mira RENTS Loft", text="Mira rents the Loft for 900"))
        .say("2024", fact("Mira RENTS Loft", text="Mira rents the Loft for 1,000", excludes=["e1.0"]))
        .gives("Mira RENTS Loft [2023, 2024)", "Mira RENTS Loft [2024, ∞)"),
    ]


def _acts() -> list[Story]:
    lisbon = ("2018-05-01", "Mira LIVES_IN Lisboa"), ("2020-05-01", "Mira LIVES_IN Lisbon")
    acme = fact("Mira WORKS_AT Acme", since="2022")
    return [
        _taste(28, "the contradicting episode is forgotten").do("forget", "e2").gives("Mira LIKES jazz [2019, ∞)"),
        _taste(29, "the judged assertion is forgotten, its fact lives")
        .say("2020", "Mira LIKES jazz")
        .do("forget", "e1")
        .gives("Mira LIKES jazz [2020, 2022)", "Mira DISLIKES jazz [2022, ∞)"),
        _story(31, "two names merged")
        .say(*lisbon[0])
        .say(*lisbon[1])
        .do("merge", "Lisboa", "Lisbon")
        .gives("Mira LIVES_IN Lisboa [2018-05, ∞)"),
        _story(32, "a merge undone")
        .say(*lisbon[0])
        .say(*lisbon[1])
        .do("merge", "Lisboa", "Lisbon")
        .do("restore", "o3")
        .gives("Mira LIVES_IN Lisboa [2018-05, 2020-05)", "Mira LIVES_IN Lisbon [2020-05, ∞)"),
        _three_jobs(33, "the middle episode is forgotten", "Acme").do("forget", "e2").gives("Mira WORKS_AT Acme [2020, ∞)"),
        _story(34, "the first of two is forgotten")
        .say("2022-02-01", acme)
        .say("2024-02-01", "Mira WORKS_AT Acme")
        .do("forget", "e1")
        .gives("Mira WORKS_AT Acme [2024-02, ∞)"),
        _story(35, "restored after later episodes")
        .say("2022-02-01", acme)
        .do("forget", "e1")
        .say("2024-09-01", fact("Mira WORKS_AT Globex", since="2024-08"))
        .do("restore", "o2")
        .gives("Mira WORKS_AT Acme [2022, 2024-08)", "Mira WORKS_AT Globex [2024-08, ∞)"),
        _story(36, "a correction outlives what it corrected")
        .say("2024-01-01", acme)
        .do("correct", "e1.0", start="2023")
        .say("2024-09-01", acme)
        .gives("Mira WORKS_AT Acme [2023, ∞)"),
        _three_jobs(37, "the middle episode is erased", "Initech")
        .erase("e2")
        .gives("Mira WORKS_AT Acme [2020, 2023)", "Mira WORKS_AT Initech [2023, ∞)"),
    ]
