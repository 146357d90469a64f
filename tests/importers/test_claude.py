"""Claude's conversations.json."""

from pathlib import Path

import pytest
from exporting import chat, said, texts, written, zipped

from graphmem import importers


def test_messages_have_time_session_source_and_key(tmp_path: Path) -> None:
    """By the ids of the export."""
    file = written(tmp_path / "conversations.json", [chat(said("m1", "human", "I'm allergic."), said("m2", "assistant", "Noted."))])
    items = list(importers.read(file))

    assert texts(items) == [("user", "I'm allergic."), ("Claude (assistant)", "Noted.")]
    assert str(items[0].row["reference_time"]) == "2024-01-05 10:02:00.250000+00:00"
    assert (items[0].row["session"], items[0].row["source"], items[0].row["key"]) == (
        "Peanuts (facade00)", "claude/facade00-1", "claude/facade00-1/m1"
    )  # fmt: skip
    assert items[1].place == f"{file}: conversation 1, message 2"


def test_blocks_of_text_are_the_text(tmp_path: Path) -> None:
    """Thoughts, tools and attachments are counted; the flat text of older exports counts where there are no blocks."""
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "One."},
        {"type": "tool_use"},
        {"type": "text", "text": "Two."},
    ]
    flat = "Three.\n```\nThis block is not supported on your current device yet.\n```"
    reading = importers.read(
        written(
            tmp_path / "conversations.json",
            [chat(said("a", "assistant", blocks), said("b", "assistant", flat), said("c", "human", [], attachments=[{"file_name": "x"}]))],
        )
    )

    assert [t for _, t in texts(list(reading))] == ["One.\n\nTwo.", "Three."]
    assert reading.left_out == {
        "thoughts of the assistant": 1, "tool calls and their results": 1, "attachments": 1, "messages without text": 1
    }  # fmt: skip


def test_only_the_branch_seen_last_is_read(tmp_path: Path) -> None:
    """The leaf named, or else the last message, leads back to the first; exports without parents have one branch."""
    messages = [
        said("a", "human", "one", parent_message_uuid="root"),
        said("b", "assistant", "two", parent_message_uuid="a"),
        said("c", "assistant", "two again", parent_message_uuid="a"),
    ]
    last, named = [chat(*messages)], [chat(*messages, current_leaf_message_uuid="b")]

    assert [t for _, t in texts(list(importers.read(written(tmp_path / "a.json", last))))] == ["one", "two again"]
    assert [t for _, t in texts(list(importers.read(written(tmp_path / "b.json", named))))] == ["one", "two"]
    assert len(list(importers.read(tmp_path / "b.json", branches=True))) == 3


def test_the_owner_of_the_account_speaks_under_their_name(tmp_path: Path) -> None:
    """Where users.json beside the conversations knows it; `me` counts before."""
    users = [{"uuid": "acc", "full_name": "Mira Okafor"}]
    export = zipped(tmp_path / "data.zip", {"users.json": users, "conversations.json": [chat(said("a", "human", "hello"))]})

    assert texts(list(importers.read(export))) == [("Mira Okafor", "hello")]
    assert texts(list(importers.read(export, me="Ann"))) == [("Ann", "hello")]


@pytest.mark.parametrize("odd", ["text", 7, None, said("x", "robot", "hi"), said("x", ["human"], "hi"), {"uuid": [1], "sender": "human"}])
def test_what_is_no_message_is_counted(tmp_path: Path, odd: object) -> None:
    """The others are read."""
    blocks = [{"type": ["text"], "text": "no"}, "no", {"type": "text", "text": 3}, {"type": "text", "text": "yes"}]
    reading = importers.read(written(tmp_path / "conversations.json", [chat(odd, said("y", "human", blocks))]))

    assert [t for _, t in texts(list(reading))] == ["yes"]
    assert reading.left_out.total() == 1


def test_a_message_whose_time_cannot_be_read_is_left_out_and_counted(tmp_path: Path) -> None:
    """Else it would count as said on the day of the import."""
    chats = [chat(said("a", "human", "I live in Porto.", at="nope"), created_at=None), chat(said("b", "human", "I live in Rome."))]
    reading = importers.read(written(tmp_path / "conversations.json", chats))

    assert texts(list(reading)) == [("user", "I live in Rome.")]
    assert reading.left_out == {"messages whose time cannot be read": 1, "times that cannot be read": 1}


def test_a_time_that_cannot_be_read_gives_way_to_the_one_before_and_is_counted(tmp_path: Path) -> None:
    """That of the message before, or of the conversation."""
    messages = [said("a", "human", "one", at="nope"), said("b", "assistant", "two"), said("c", "human", "three", at="2024-13-01")]
    reading = importers.read(written(tmp_path / "conversations.json", [chat(*messages)]))

    assert [str(i.row["reference_time"])[11:19] for i in reading] == ["10:00:00", "10:02:00", "10:02:00"]
    assert reading.left_out == {"times that cannot be read": 2}
