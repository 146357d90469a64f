"""Ids that outlive a rebuild, and what is told of the step from one layer to another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphmem.communities.overlap import kept_ids, moves

PARTITIONS = st.lists(st.integers(0, 5), min_size=0, max_size=25)


def parted(labels: list[int]) -> list[set[str]]:
    return [{f"e{n:02d}" for n, label in enumerate(labels) if label == one} for one in sorted(set(labels))]


@given(PARTITIONS)
def test_the_same_communities_keep_their_ids(labels: list[int]) -> None:
    """In whatever order they come again."""
    sets = parted(labels)
    old = {f"c{n}": members for n, members in enumerate(sets)}
    assert kept_ids(old, sets[::-1]) == list(old)[::-1]


@given(PARTITIONS, PARTITIONS)
def test_no_id_is_given_twice(one: list[int], other: list[int]) -> None:
    """Ids are unique, and whoever keeps one shares more than half of one side with it."""
    old = {f"c{n}": members for n, members in enumerate(parted(one))}
    new = parted(other)
    kept = kept_ids(old, new)
    given_out = [c for c in kept if c is not None]
    assert len(given_out) == len(set(given_out))
    for members, community in zip(new, kept, strict=True):
        if community is not None:
            assert 2 * len(members & old[community]) > min(len(members), len(old[community]))


def test_the_larger_piece_of_a_split_keeps_the_id() -> None:
    """The other piece is born; the larger part of a merger gives its id."""
    assert kept_ids({"a": set("1234567")}, [set("12"), set("34567")]) == [None, "a"]
    assert kept_ids({"a": set("123"), "b": set("45678")}, [set("12345678")]) == ["b"]


def test_a_stranger_keeps_nothing() -> None:
    """One member in common of many is not enough on either side."""
    assert kept_ids({"a": set("1234")}, [set("4567")]) == [None]


def test_each_kind_of_change_is_told() -> None:
    """Born, died, grew, shrank, split, merged, moved."""
    old = {"a": set("abcdef"), "b": set("gh"), "c": set("ij"), "d": set("kl"), "e": set("xy")}
    new = {"a": set("abcd"), "f": set("efz"), "b": set("ghij"), "d": set("klm")}
    told = moves(old, new)
    assert (told.born, told.died) == (("f",), ("c", "e"))
    assert (told.grew, told.shrank) == (("b", "d"), ("a",))
    assert told.split == {"a": ("a", "f")}
    assert told.merged == {"b": ("b", "c")}
    assert told.moved == {"e": ("a", "f"), "f": ("a", "f"), "i": ("c", "b"), "j": ("c", "b")}


@given(PARTITIONS)
def test_nothing_is_told_of_what_stays(labels: list[int]) -> None:
    """From a layer to itself there is no change."""
    same = {f"c{n}": members for n, members in enumerate(parted(labels))}
    told = moves(same, same)
    assert not any((told.born, told.died, told.grew, told.shrank, told.split, told.merged, told.moved))
