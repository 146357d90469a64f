"""ChatGPT's conversations.json."""

from pathlib import Path

import pytest
from exporting import node, talk, texts, written, zipped

from graphmem import importers
from graphmem.errors import InvalidInput

THREE = (
    node("m1", "root", "user", "I moved to Porto."),
    node("m2", "m1", "assistant", "How is it there?", 1704448930.0),
    node("m3", "m2", "user", "Rainy.", 1704448940.0),
)


def test_messages_have_time_session_source_and_key(tmp_path: Path) -> None:
    """The place names file, conversation and message; the time is exact."""
    file = written(tmp_path / "conversations.json", [talk(*THREE)])
    items = list(importers.read(file, timezone="Europe/Lisbon"))

    assert texts(items) == [("user", "I moved to Porto."), ("ChatGPT", "How is it there?"), ("user", "Rainy.")]
    assert items[0].row["reference_time"].isoformat() == "2024-01-05T10:02:00.500000+00:00"  # type: ignore[attr-defined]
    assert (items[0].row["session"], items[0].row["source"]) == ("Moving (c0ffee00)", "chatgpt/c0ffee00-1")
    assert [i.row["key"] for i in items] == [f"chatgpt/c0ffee00-1/m{n}" for n in (1, 2, 3)]
    assert items[2].place == f"{file}: conversation 1, message m3"


def test_only_the_branch_seen_last_is_read(tmp_path: Path) -> None:
    """What was edited or asked again is counted; `branches` reads it too."""
    file = written(tmp_path / "conversations.json", [talk(*THREE, node("m2b", "m1", "assistant", "Lovely!"), current="m3")])
    reading = importers.read(file)

    assert [t for _, t in texts(list(reading))] == ["I moved to Porto.", "How is it there?", "Rainy."]
    assert reading.left_out == {"messages of other branches": 1}
    assert [t for _, t in texts(list(importers.read(file, branches=True)))][-1] == "Lovely!"


def test_without_a_current_node_the_latest_message_leads(tmp_path: Path) -> None:
    """Also where the node named is not there."""
    file = written(tmp_path / "conversations.json", [talk(*THREE, node("m2b", "m1", "assistant", "Lovely!", 1704448935.0), current="gone")])

    assert [t for _, t in texts(list(importers.read(file)))] == ["I moved to Porto.", "How is it there?", "Rainy."]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    """A damaged tree gives each message once."""
    file = written(tmp_path / "conversations.json", [talk(node("a", "b", "user", "one"), node("b", "a", "user", "two"))])

    assert len(list(importers.read(file))) == 2


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        (node("x", "root", "system", "You are helpful."), "system messages"),
        (node("x", "root", "tool", "result"), "tool messages"),
        (node("x", "root", "assistant", "search('porto')", recipient="browser"), "tool messages"),
        (node("x", "root", "user", "x", metadata={"is_visually_hidden_from_conversation": True}), "hidden messages"),
        (node("x", "root", "assistant", "x", weight=0.0), "hidden messages"),
        (node("x", "root", "user", {"content_type": "user_editable_context", "user_profile": "x"}), "hidden messages"),
        (node("x", "root", "assistant", {"content_type": "thoughts", "thoughts": []}), "thoughts of the assistant"),
        (node("x", "root", "user", {"content_type": "multimodal_text", "parts": [{"asset_pointer": "file"}]}), "messages without text"),
        (node("x", "root", "user", "\u200e \n"), "messages without text"),
        ({"id": "x", "parent": "root", "message": "?"}, "messages that cannot be read"),
        ({"id": "x", "parent": "root", "message": {"author": 3, "content": None}}, "messages that cannot be read"),
    ],
)
def test_what_no_person_saw_or_said_is_counted(tmp_path: Path, left: dict[str, object], reason: str) -> None:
    """One reason each."""
    reading = importers.read(written(tmp_path / "conversations.json", [talk(left)]))

    assert list(reading) == []
    assert reading.left_out == {reason: 1}


def test_parts_that_were_typed_or_spoken_are_the_text(tmp_path: Path) -> None:
    """Images have none; marks of citations are not words."""
    parts = ["Look:", {"content_type": "image_asset_pointer"}, {"content_type": "audio_transcription", "text": "spoken"}]
    nodes = (
        node("a", "root", "user", {"content_type": "multimodal_text", "parts": parts}),
        node("b", "a", "assistant", "Rain\ue200cite\ue202turn0search1\ue201 and wind【4:0†source】."),
        node("c", "b", "assistant", {"content_type": "code", "text": "print(1)"}),
    )

    assert [t for _, t in texts(list(importers.read(written(tmp_path / "c.json", [talk(*nodes)]))))] == [
        "Look:\n\nspoken", "Rain and wind.", "print(1)"
    ]  # fmt: skip


def test_a_message_without_a_time_has_that_of_the_one_before(tmp_path: Path) -> None:
    """And the first one that of its conversation; hostile numbers are no time."""
    nodes = (node("a", "root", "user", "one", None), node("b", "a", "user", "two"), node("c", "b", "user", "three", 1e300))
    times = [str(i.row["reference_time"]) for i in importers.read(written(tmp_path / "c.json", [talk(*nodes)]))]

    assert times == ["2024-01-05 10:01:40+00:00", "2024-01-05 10:02:00.500000+00:00", "2024-01-05 10:02:00.500000+00:00"]


def test_the_user_may_have_a_name(tmp_path: Path) -> None:
    """`me` is who asks."""
    file = written(tmp_path / "conversations.json", [talk(*THREE)])

    assert {a for a, _ in texts(list(importers.read(file, me="Mira Okafor")))} == {"Mira Okafor", "ChatGPT"}


def test_the_zip_is_read_without_its_other_files(tmp_path: Path) -> None:
    """Also in a folder of the zip, and where large exports are cut in parts."""
    parts = {"out/conversations-000.json": [talk(*THREE)], "out/conversations-001.json": [talk(*THREE, conversation_id="two"), "odd"]}
    reading = importers.read(zipped(tmp_path / "export.zip", {**parts, "out/user.json": {"id": 1}, "out/chat.html": "<html>"}))

    assert len(list(reading)) == 6
    assert reading.formats == ("chatgpt",)
    assert reading.left_out == {"other files": 2, "entries that are no conversation": 1}


@pytest.mark.parametrize("cut", [200, 400, 641, -1])
def test_a_file_that_ends_too_early_is_an_error_with_its_place(tmp_path: Path, cut: int) -> None:
    """It says the element and the character, and what to do."""
    whole = written(tmp_path / "whole.json", [talk(*THREE), talk(*THREE, conversation_id="two")]).read_text("utf-8")
    file = written(tmp_path / "conversations.json", whole[:cut])
    with pytest.raises(InvalidInput, match=r"conversations\.json=.*ends too early, at character \d+, in element [12]; .*export it again"):
        list(importers.read(file, format="chatgpt"))


def test_a_message_whose_time_cannot_be_read_is_left_out_and_counted(tmp_path: Path) -> None:
    """A time that cannot be read gives way to that of the conversation; without one either, nothing says when it was said."""
    talks = [
        talk(node("a", "root", "user", "I live in Porto.", at=1e30)),
        talk(node("b", "root", "user", "Hi all.", at=1e30), create_time=None),
    ]
    reading = importers.read(written(tmp_path / "conversations.json", talks))

    [item] = reading
    assert (item.row["text"], str(item.row["reference_time"])) == ("I live in Porto.", "2024-01-05 10:01:40+00:00")
    assert reading.left_out == {"messages whose time cannot be read": 1, "times that cannot be read": 2}
