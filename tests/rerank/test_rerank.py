"""Search results in another order: by name, by object, in turn, and when a reranker fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, ModelUnavailable, NotFound
from graphmem.rerank import MMR, Asked, EpisodeMentions, NodeDistance, Reranker
from graphmem.rerank.chosen import chosen
from graphmem.search.hits import Hit
from graphmem.view import View


@dataclass
class Given:
    """A reranker that gives what it was made with, for as many hits as there are."""

    numbers: Sequence[object]
    name: str = "given"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> Sequence[float]:
        return list(self.numbers)[: len(hits)]  # type: ignore[arg-type]


class Shortest:
    """Prefers short texts."""

    name = "shortest"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> Sequence[float]:
        return [-float(len(hit.text)) for hit in hits]


class Broken:
    """A reranker whose model is away."""

    name = "broken"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> Sequence[float]:
        raise ModelUnavailable("the model is away")


def ids(view: View, query: str, **options: object) -> list[str]:
    """What is found, in order."""
    return [hit.id for hit in view.search(query, **options)]  # type: ignore[arg-type]


def test_hits_come_in_the_order_of_the_scores_and_show_both_ranks(town: graphmem.Memory) -> None:
    """The reasons hold rank and score before and after; the score of the hit is the new one."""
    before = town.search("red bicycles", limit=5)
    after = town.search("red bicycles", limit=5, rerank=Shortest())

    assert [hit.id for hit in after] != [hit.id for hit in before]
    for rank, hit in enumerate(after, 1):
        first, second = hit.reasons[-2:]
        assert (first.leg, second.leg) == ("search", "shortest")
        assert second.rank == rank
        assert hit.score == second.score
    assert [hit.score for hit in after] == sorted((hit.score for hit in after), reverse=True)
    known = {hit.id: (rank, hit.score) for rank, hit in enumerate(town.search("red bicycles", limit=50), 1)}
    assert all((hit.reasons[-2].rank, hit.reasons[-2].score) == known[hit.id] for hit in after)


def test_what_belongs_in_front_comes_from_behind_the_limit(town: graphmem.Memory) -> None:
    """A limit of one ranks far more than one."""
    query = "Globex sells red bicycles too"
    kinds = ("fact", "episode")
    shortest = min(len(hit.text) for hit in town.search(query, kinds=kinds, limit=50))

    assert shortest < len(town.search(query, kinds=kinds, limit=1)[0].text)
    assert len(town.search(query, kinds=kinds, limit=1, rerank=Shortest())[0].text) == shortest


def test_equal_scores_keep_the_order_before(town: graphmem.Memory) -> None:
    """Nothing is decided by chance."""
    assert ids(town, "red bicycles", rerank=Given([1.0] * 50)) == ids(town, "red bicycles")


def test_rerankers_of_a_list_work_in_turn(town: graphmem.Memory) -> None:
    """The last one decides, and where it does not the one before."""
    flat = Given([0.5] * 50, name="flat")

    assert ids(town, "red bicycles", rerank=[Shortest(), flat]) == ids(town, "red bicycles", rerank=Shortest())
    hit = town.search("red bicycles", rerank=[Shortest(), flat])[0]
    assert [reason.leg for reason in hit.reasons[-3:]] == ["search", "shortest", "flat"]


@pytest.mark.parametrize(
    "reranker",
    [
        Broken(),
        Given([1.0]),
        Given([float("nan")] * 50),
        Given([float("inf")] + [0.0] * 49),
        Given(["high"] * 50),
        Given([10**400] * 50),
        Given([[1.0, 2.0]] * 50),
        Given([None] * 50),
    ],
    ids=["away", "too few", "nan", "infinite", "text", "huge", "pairs", "none"],
)
def test_a_reranker_that_fails_costs_the_reranking_and_not_the_search(town: graphmem.Memory, reranker: Reranker) -> None:
    """The order before, the same reasons, and a warning by the reranker's name."""
    plain = town.search("red bicycles", limit=4)
    found = town.search("red bicycles", limit=4, rerank=reranker)

    assert [(h.id, h.score, h.reasons) for h in found] == [(h.id, h.score, h.reasons) for h in plain]
    (warning,) = found.warnings
    assert (warning.code, warning.raw) == ("rerank_failed", reranker.name)


def test_after_a_failure_the_next_one_still_works(town: graphmem.Memory) -> None:
    """Each on its own."""
    found = town.search("red bicycles", rerank=[Broken(), Shortest()])

    assert [h.id for h in found] == ids(town, "red bicycles", rerank=Shortest())
    assert [r.leg for r in found[0].reasons[-2:]] == ["search", "shortest"]
    assert [w.code for w in found.warnings] == ["rerank_failed"]


def test_an_error_of_the_callers_own_reranker_is_raised(town: graphmem.Memory) -> None:
    """A mistake in its code does not hide behind a warning."""

    class Mistaken:
        name = "mistaken"

        def scores(self, asked: Asked, hits: Sequence[Hit]) -> Sequence[float]:
            return [float(hit.nothing) for hit in hits]  # type: ignore[attr-defined]

    with pytest.raises(AttributeError):
        town.search("red bicycles", rerank=Mistaken())


def test_nothing_found_asks_no_reranker(town: graphmem.Memory) -> None:
    """Also a broken one leaves no warning then."""
    found = town.search("red bicycles", group="nobody", rerank=Broken())

    assert list(found) == []
    assert found.warnings == ()


def test_context_packs_what_comes_first(town: graphmem.Memory) -> None:
    """The budget goes to the hits that the reranker prefers."""
    town.add_message("Tom", "Acme sells red bicycles", key="long", reference_time="2025-01-01")

    class OnlyKayaks:
        name = "kayaks"

        def scores(self, asked: Asked, hits: Sequence[Hit]) -> Sequence[float]:
            return [float("kayaks" in hit.text) for hit in hits]

    assert "kayaks" not in town.context("red bicycles", max_tokens=60).text
    assert "kayaks" in town.context("red bicycles", max_tokens=60, rerank=OnlyKayaks()).text


def test_distance_is_counted_in_facts_from_the_centre(town: graphmem.Memory) -> None:
    """1 for itself, then 1/2, 1/3; what no fact leads to comes last."""
    found = town.search("Mira Tom Ana Ben Lea Acme", kinds=["entity"], limit=20, rerank=NodeDistance("Ana"))

    scores = {hit.item.name: hit.score for hit in found}  # type: ignore[union-attr]
    people = {name: round(scores[name], 4) for name in ("Ana", "Tom", "Ben", "Mira", "Lea")}
    assert people == {"Ana": 1.0, "Tom": 0.5, "Ben": 0.5, "Mira": 0.3333, "Lea": 0.3333}
    assert scores["Acme"] == 0.0
    assert found[0].item.name == "Ana"  # type: ignore[union-attr]
    near = town.search("Mira Tom Ana Ben Lea", kinds=["entity"], limit=20, rerank=NodeDistance("Ana", most=1))
    assert {hit.item.name for hit in near if hit.score == 0} >= {"Mira", "Lea"}  # type: ignore[union-attr]


def test_distance_of_facts_and_episodes_is_that_of_what_they_name(town: graphmem.Memory) -> None:
    """A fact of the centre and the episode that says it are at the centre."""
    facts = town.search("who knows whom", kinds=["fact"], limit=20, rerank="node_distance:Mira")
    scores = {hit.text: hit.score for hit in facts}
    assert [scores[t] for t in ("Mira knows Tom", "Tom knows Ana", "Ana knows Ben")] == [1.0, 0.5, pytest.approx(1 / 3)]

    episodes = town.search("knows", kinds=["episode"], limit=20, rerank="node_distance:Mira")
    at_centre = {hit.id for hit in episodes if hit.score == 1.0}
    assert at_centre == {e.id for e in town.episodes(entity="Mira")}
    assert at_centre


def test_distance_is_measured_at_the_point_that_is_read(open_memory: Callable[..., graphmem.Memory]) -> None:
    """A fact that holds no more leads nowhere."""
    memory = open_memory()
    memory.add_facts(
        [
            {"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2020", "invalid_at": "2022"},
            {"source": "Tom", "relation": "works_at", "target": "Acme", "valid_at": "2019"},
        ]
    )

    def distance(view: View) -> float:
        (score,) = [h.score for h in view.search("Tom", kinds=["entity"], rerank=NodeDistance("Mira")) if h.text.startswith("Tom")]
        return score

    assert distance(memory) == 0.0
    assert distance(memory.as_of(valid="2021-05-01")) == pytest.approx(1 / 3)


def test_an_unknown_centre_is_the_callers_mistake(town: graphmem.Memory) -> None:
    """As for every other read by name."""
    with pytest.raises(NotFound, match="Nobody"):
        town.search("red bicycles", rerank=NodeDistance("Nobody"))


def test_mentions_count_episodes(town: graphmem.Memory) -> None:
    """Of entities those that mention them, of facts those that they cite; one that was forgotten no longer counts."""
    entities = town.search("Acme Globex", kinds=["entity"], limit=20, rerank=EpisodeMentions())
    counted = {hit.item.name: hit.score for hit in entities}  # type: ignore[union-attr]
    assert (counted["Acme"], counted["Globex"]) == (4.0, 1.0)

    facts = town.search("Globex sells bicycles", kinds=["fact"], limit=20, rerank="episode_mentions")
    assert (facts[0].text, facts[0].score) == ("Acme sells red bicycles", 3.0)
    assert all(hit.score == len(hit.episodes) for hit in facts)

    town.forget(episode=facts[0].episodes[0])
    again = town.search("Globex sells bicycles", kinds=["fact"], limit=20, rerank="episode_mentions")
    assert again[0].score == 2.0
    assert {h.score for h in town.search("bicycles", kinds=["episode"], rerank="episode_mentions")} == {1.0}


def test_mmr_follows_its_definition(town: graphmem.Memory) -> None:
    """Against the formula, hit by hit, from the texts' own vectors."""
    embedder, query = HashingEmbedder(64), "red bicycles"
    texts = [hit.text for hit in town.search(query, kinds=["fact"], limit=50)]
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    (asked,) = embedder.embed([query])
    taken: list[str] = []
    values = []
    while len(taken) < len(texts):

        def worth(text: str) -> float:
            nearest = max((float(vectors[text] @ vectors[other]) for other in taken), default=0.0)
            return 0.6 * float(vectors[text] @ asked) - 0.4 * max(nearest, 0.0)

        best = max((t for t in texts if t not in taken), key=worth)
        values.append(worth(best))
        taken.append(best)

    found = town.search(query, kinds=["fact"], limit=50, rerank=MMR(lambda_=0.6))
    assert [hit.text for hit in found] == taken
    np.testing.assert_allclose([hit.score for hit in found], values, atol=2e-3)


def test_mmr_puts_the_repeated_behind_the_different(town: graphmem.Memory) -> None:
    """Three messages say the same; without it they lead, with it one of them does."""
    plain = [hit.text for hit in town.search("Acme sells", kinds=["episode"], limit=3)]
    varied = [hit.text for hit in town.search("Acme sells", kinds=["episode"], limit=3, rerank="mmr:0.5")]

    assert len(set(varied)) == 3 > len(set(plain))


def test_mmr_of_relevance_alone_orders_by_cosine(town: graphmem.Memory) -> None:
    """`lambda_=1` is plain nearness."""
    found = town.search("blue kayaks", limit=50, rerank="mmr:1")
    embedder = HashingEmbedder(64)
    cosines = {h.text: float(embedder.embed([h.text])[0] @ embedder.embed(["blue kayaks"])[0]) for h in found if h.kind == "fact"}

    assert [h.text for h in found if h.kind == "fact"] == sorted(cosines, key=lambda text: -cosines[text])


def test_hits_of_every_kind_are_ranked_together(town: graphmem.Memory) -> None:
    """Vectors of facts, entities and episodes are of one space."""
    found = town.search("Acme sells red bicycles", limit=30, rerank="mmr:1")

    assert {hit.kind for hit in found} == {"fact", "entity", "episode"}
    assert all(hit.score > 0 for hit in found[:3])


def test_names_and_objects_mean_the_same(town: graphmem.Memory) -> None:
    """A string is short for the object."""
    for name, reranker in (("mmr", MMR()), ("mmr:0.2", MMR(0.2)), ("node_distance:Tom", NodeDistance("Tom"))):
        assert ids(town, "red bicycles", rerank=name) == ids(town, "red bicycles", rerank=reranker)
    assert ids(town, "red bicycles", rerank=None) == ids(town, "red bicycles", rerank=[]) == ids(town, "red bicycles")


def test_a_cross_encoder_is_made_once_for_its_name() -> None:
    """So that not every search loads a model."""
    assert chosen("cross_encoder:some-model") == chosen("cross_encoder:some-model")


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "best",
        "mmr:x",
        "mmr:2",
        "mmr:nan",
        "node_distance",
        "node_distance: ",
        "episode_mentions:3",
        "cross_encoder:",
        7,
        MMR,
        [None],
        ["mmr", 3],
    ],
)
def test_what_names_no_reranker_is_refused(town: graphmem.Memory, wrong: object) -> None:
    """With what is allowed, and before anything is searched."""
    with pytest.raises(InvalidInput):
        town.search("red bicycles", rerank=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", ["x", "2", "nan"])
def test_a_wrong_weight_is_named_as_it_was_given(weight: str) -> None:
    """Not by the argument that it stands for."""
    with pytest.raises(InvalidInput, match=f"rerank='mmr:{weight}'"):
        chosen(f"mmr:{weight}")


def test_wrong_arguments_are_named() -> None:
    """At once, not in the middle of a search."""
    for make in (lambda: MMR(1.5), lambda: MMR("high"), lambda: NodeDistance(" "), lambda: NodeDistance("Mira", most=0)):  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            make()


def test_the_package_loads_what_is_asked_for() -> None:
    """A name that it has not is an error, as of any module."""
    import graphmem.rerank

    assert [getattr(graphmem.rerank, name) for name in graphmem.rerank.__all__]
    with pytest.raises(AttributeError, match="nothing"):
        _ = graphmem.rerank.nothing
