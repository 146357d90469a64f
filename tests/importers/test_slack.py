"""Slack's export."""

from pathlib import Path

import pytest
from exporting import PEOPLE, post, slack, texts, written, zipped

from graphmem import importers
from graphmem.errors import InvalidInput


def from_slack(tmp_path: Path, files: dict[str, object]) -> importers.Reading:
    """What is read from a zip of these."""
    return importers.read(zipped(tmp_path / "export.zip", files))


def test_messages_have_time_session_source_and_key(tmp_path: Path) -> None:
    """People by their full names, channels by theirs."""
    [item] = from_slack(tmp_path, slack(post("I moved.")))

    assert (item.row["actor"], item.row["session"], item.row["source"]) == ("Mira Okafor", "general", "slack/general")
    assert str(item.row["reference_time"]) == "2024-01-05 10:02:00.000100+00:00"
    assert item.row["key"] == "slack/C1/1704448920.000100"
    assert item.place.endswith("export.zip/general/2024-01-05.json: message 1")


def test_a_folder_reads_as_its_zip(tmp_path: Path) -> None:
    """The same items, but for their places; also one level down in the zip."""
    files = slack(post("one"), post("two", "1704448921.000000", "U2"))
    for name, value in files.items():
        written(tmp_path / "folder" / name, value)
    deeper = {f"My team export/{name}": value for name, value in files.items()}
    folder = [i.row for i in importers.read(tmp_path / "folder")]

    assert folder == [i.row for i in from_slack(tmp_path, files)] == [i.row for i in from_slack(tmp_path, deeper)]
    assert [r["actor"] for r in folder] == ["Mira Okafor", "Danylo K"]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("thanks <@U1>!", "thanks Mira Okafor!"),
        ("<@U9|nina> and <@U8>", "nina and U8"),
        ("see <#C1|general>, <#C9|old>", "see #general, #old"),
        ("<https://example.org/p|the plan>", "the plan (https://example.org/p)"),
        ("<https://example.org/>, <http://example.org|example.org>", "https://example.org/, http://example.org"),
        ("<mailto:a@example.org|a@example.org>", "a@example.org"),
        ("<!here> <!subteam^S1|@crew> <!date^1704448920^{date}|5 January>", "@here @crew 5 January"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("1 < 2 and <unclosed", "1 < 2 and <unclosed"),
    ],
)
def test_markup_is_read_as_people_see_it(tmp_path: Path, typed: str, read: str) -> None:
    """Names for ids, addresses with what they are called."""
    assert [i.row["text"] for i in from_slack(tmp_path, slack(post(typed)))] == [read]


def test_people_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """By their handles."""
    found = from_slack(tmp_path, slack(post("a", user="U3"), post("b", "1704448921.0", "U4")))

    assert texts(list(found)) == [("Lee (lee1)", "a"), ("Lee (lee2)", "b")]


def test_a_thread_is_a_session_of_its_own(tmp_path: Path) -> None:
    """Its first message too; one that nobody answered is the channel's."""
    root, alone = post("Who owns it?", reply_count=1, thread_ts="1704448920.000100"), post("hi", "1704448921.0", thread_ts="1704448921.0")
    reply = post("I do.", "1704448930.0", "U2", thread_ts="1704448920.000100", subtype="thread_broadcast")

    assert [i.row["session"] for i in from_slack(tmp_path, slack(root, alone, reply))] == [
        "general/1704448920.000100", "general", "general/1704448920.000100"
    ]  # fmt: skip


def test_an_edited_message_is_new(tmp_path: Path) -> None:
    """An export after the edit says something else; its time stays that of the message."""
    [before] = from_slack(tmp_path, slack(post("Porto")))
    [after] = from_slack(tmp_path, slack(post("Lisbon", edited={"user": "U1", "ts": "1704449000.0"})))

    assert before.row["key"] != after.row["key"]
    assert before.row["reference_time"] == after.row["reference_time"]


def test_bots_speak_under_their_names(tmp_path: Path) -> None:
    """From their text, blocks or attachments; a preview of a link is nobody's words."""
    bot = {"type": "message", "subtype": "bot_message", "bot_id": "B1"}
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Deployed by <@U1>"}}]
    found = from_slack(
        tmp_path,
        slack(
            {**bot, "ts": "1.0", "username": "CI", "text": "passed"},
            {**bot, "ts": "2.0", "bot_profile": {"name": "Deploys"}, "text": "", "blocks": blocks},
            {**bot, "ts": "3.0", "text": "", "attachments": [{"title": "Login loops", "text": "closed"}, {"from_url": "x", "text": "no"}]},
            {**bot, "ts": "4.0", "text": "", "attachments": [{"fallback": "short"}]},
        ),
    )

    assert texts(list(found)) == [("CI", "passed"), ("Deploys", "Deployed by Mira Okafor"), ("B1", "Login loops\nclosed"), ("B1", "short")]


def test_guests_speak_under_the_name_of_their_message(tmp_path: Path) -> None:
    """Who is not in users.json brings a profile."""
    found = from_slack(tmp_path, slack(post("hi", user="U7", user_profile={"real_name": "Guest Star"})))

    assert texts(list(found)) == [("Guest Star", "hi")]


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        (post("joined", subtype="channel_join"), "system messages"),
        (post("x", hidden=True), "system messages"),
        (post("This message was deleted.", subtype="tombstone"), "deleted messages"),
        (post(" "), "messages without text"),
        ("odd", "messages that cannot be read"),
        (post("x", ts="soon"), "messages that cannot be read"),
        ({"type": "message", "text": ["x"], "ts": "1.0", "blocks": {"text": 3}, "attachments": 3, "edited": 1}, "messages without text"),
    ],
)
def test_what_nobody_said_is_counted(tmp_path: Path, left: object, reason: str) -> None:
    """One reason each; files are counted apart."""
    reading = from_slack(tmp_path, slack(left, post("fine", "1704448999.0", files=[{"name": "a.png"}])))

    assert [i.row["text"] for i in reading] == ["fine"]
    assert reading.left_out == {reason: 1, "files": 1}


def test_a_message_that_is_there_twice_is_one(tmp_path: Path) -> None:
    """A channel and a time make a message."""
    assert len(list(from_slack(tmp_path, slack(post("a"), post("a"))))) == 1


def test_direct_messages_are_called_by_who_is_in_them(tmp_path: Path) -> None:
    """Folders of the ids of dms.json, and of the names of mpims.json."""
    lists: dict[str, object] = {
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
        "mpims.json": [{"id": "G1", "name": "mpdm-mira--danylo--lee-1", "members": ["U2", "U1", "U3"]}],
        "groups.json": [{"id": "G2", "name": "secret"}],
    }
    days = {f"{folder}/2024-01-06.json": [post(folder)] for folder in ("D1", "mpdm-mira--danylo--lee-1", "secret")}
    found = {str(i.row["text"]): (i.row["session"], i.row["key"]) for i in from_slack(tmp_path, {"users.json": PEOPLE, **lists, **days})}

    assert found == {
        "D1": ("Danylo K, Mira Okafor", "slack/D1/1704448920.000100"),
        "mpdm-mira--danylo--lee-1": ("Danylo K, Lee (lee1), Mira Okafor", "slack/G1/1704448920.000100"),
        "secret": ("secret", "slack/G2/1704448920.000100"),
    }


def test_a_channel_without_lists_needs_the_format_named(tmp_path: Path) -> None:
    """Then folders name channels, and ids people."""
    file = written(tmp_path / "general" / "2024-01-05.json", [post("hi <@U2>")])
    [item] = importers.read(tmp_path, format="slack")

    assert (item.row["actor"], item.row["text"], item.row["session"]) == ("U1", "hi U2", "general")
    with pytest.raises(InvalidInput, match="a folder or a zip"):
        importers.read(file, format="slack")


@pytest.mark.parametrize("name", ["users.json", "channels.json", "general/2024-01-05.json"])
def test_a_broken_file_is_named(tmp_path: Path, name: str) -> None:
    """Whichever it is."""
    with pytest.raises(InvalidInput, match=rf"{name}=.*JSON"):
        list(from_slack(tmp_path, {**slack(post("hi")), name: '[{"id": '}))
