"""Who is who, and which operations count."""

from __future__ import annotations

from graphmem.belief.fold import fact_id
from graphmem.belief.identity import Identity, active_operations, resolve_identity
from graphmem.model import FactKey
from graphmem.testing import Story


def test_the_least_id_of_those_merged_is_canonical() -> None:
    """Through a chain of merges; others are themselves."""
    identity = resolve_identity(Story("").do("merge", "c", "b").do("merge", "d", "c").do("merge", "a", "d").log())
    assert [identity.canonical(entity) for entity in "abcde"] == ["a", "a", "a", "a", "e"]
    assert identity.members("c") == {"a", "b", "c", "d"}
    assert identity.members("e") == {"e"}


def test_merges_come_before_links_and_distinct_bars_both() -> None:
    """A link that would bring a barred pair together, directly or through others, is skipped."""
    story = Story("").say("2024", links=[("a", "b")]).do("merge", "b", "c").do("distinct", "a", "c")
    identity = resolve_identity(story.log())
    assert identity.canonical("a") == "a"
    assert identity.canonical("c") == "b"


def test_distinct_undone_lets_the_link_count_again() -> None:
    """Restoring the `distinct` takes it away."""
    story = Story("").say("2024", links=[("a", "b")]).do("distinct", "b", "a")
    assert resolve_identity(story.log()).canonical("b") == "b"
    assert resolve_identity(story.do("restore", "o2").log()).canonical("b") == "a"


def test_an_entity_is_not_distinct_from_itself() -> None:
    """Such a bar bars nothing."""
    assert resolve_identity(Story("").do("distinct", "a", "a").do("merge", "a", "b").log()).canonical("b") == "a"


def test_a_split_moves_the_mentions_of_its_episodes() -> None:
    """Before merging; splits of splits follow one another, and links of the episode move along."""
    story = Story("").say("2024", links=[("jo", "bo")]).do("split", "jo", "e1", entity="jo2").do("split", "jo2", "e1", entity="jo3")
    identity = resolve_identity(story.log())
    assert (identity.at("jo", "e1"), identity.at("jo", "e2")) == ("jo3", "jo")
    assert identity.canonical("jo3") == "bo"
    assert identity.canonical("jo") == "jo"


def test_links_of_a_forgotten_episode_do_not_count() -> None:
    """Until it is restored."""
    story = Story("").say("2024", links=[("a", "b")]).do("forget", "e1")
    assert resolve_identity(story.log()).canonical("b") == "b"
    assert resolve_identity(story.do("restore", "o2").log()).canonical("b") == "a"


def test_a_restore_undoes_earlier_operations_and_may_be_undone() -> None:
    """The third restore brings the first back."""
    story = Story("").do("merge", "a", "b").do("restore", "o1").do("restore", "o2").do("restore", "o3")
    for length, active in ((1, ["o1"]), (2, ["o2"]), (3, ["o1", "o3"]), (4, ["o2", "o4"])):
        assert [operation.id for operation in active_operations(story.log()[:length])] == active


def test_erasing_cannot_be_undone() -> None:
    """A restore of it changes nothing."""
    log = Story("").do("erase", "e1").do("restore", "o1").log()
    assert [operation.id for operation in active_operations(log)] == ["o1", "o2"]


def test_joining_many_is_one_group_whatever_the_order() -> None:
    """Large groups take in small ones."""
    pairs = [(f"{n:03}", f"{n + 1:03}") for n in range(300)]
    for order in (pairs, pairs[::-1], pairs[::2] + pairs[1::2]):
        assert Identity.joining(order).canonical("300") == "000"


def test_a_fact_id_depends_on_group_and_key_alone() -> None:
    """Each part counts."""
    key = FactKey("LIKES", "mira", "jazz")
    others = [key._replace(**{field: "x"}) for field in key._fields]
    ids = {fact_id("main", key), fact_id("other", key), *(fact_id("main", other) for other in others)}
    assert len(ids) == 6
    assert fact_id("main", key) == fact_id("main", FactKey(*key))
