"""Files and streams as episodes."""

import io
import json
import os
from pathlib import Path

import pytest
from terminal import Run

from graphmem.cli.files import Found, Given, located, read
from graphmem.errors import InvalidInput
from graphmem.importers import Item, Options, in_order_of_time

CHAT = "31/12/2023, 22:00 - Mira: I moved.\n31/12/2023, 22:01 - Mira added you\n"


def found(*paths: Path | str, at: str | None = "2025-01-01", **options: str) -> Found:
    """What `read` makes of these."""
    return read([str(p) for p in paths], Given(at), Options(**options), io.BytesIO())  # type: ignore[arg-type]


def rows(*paths: Path | str, stdin: bytes = b"") -> list[dict[str, object]]:
    """The episodes that `read` makes of these."""
    return [dict(i.row) for i in read([str(p) for p in paths], Given("2025-01-01"), Options(), io.BytesIO(stdin)).items]


def test_a_folder_is_read_by_name_and_without_hidden_files(tmp_path: Path) -> None:
    """Known endings only, also in folders below."""
    for name in ("b.txt", "a.md", "sub/c.json", ".git/d.txt", ".e.txt", "f.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")

    assert [r["source"] for r in rows(tmp_path)] == ["a.md", "b.txt", "c.json"]


def test_a_changed_file_is_a_new_episode(tmp_path: Path) -> None:
    """The key holds the content: what a file says now is not lost because it was read before."""
    note = tmp_path / "note.txt"
    note.write_text("one", encoding="utf-8")
    before = rows(note)[0]["key"]
    again = rows(note)[0]["key"]
    note.write_text("two", encoding="utf-8")

    assert before == again
    assert rows(note)[0]["key"] != before


def test_lines_have_keys_of_their_own(tmp_path: Path) -> None:
    """By id where they have one; equal lines without one are two episodes; a line added above changes no key."""
    chat = tmp_path / "chat.jsonl"
    same = '{"text": "ok"}'
    chat.write_text(f'{{"id": "m1", "text": "a"}}\n{same}\n{same}\n', encoding="utf-8")
    before = [r["key"] for r in rows(chat)]
    chat.write_text(f'{{"text": "new"}}\n{{"id": "m1", "text": "a"}}\n{same}\n{same}\n', encoding="utf-8")

    assert len(set(before)) == 3
    assert str(before[0]).endswith("chat.jsonl#m1")
    assert [r["key"] for r in rows(chat)][1:] == before


def test_two_streams_may_use_one_id() -> None:
    """Standard input has no name that could tell two streams apart, so the content does."""
    first = rows("-", stdin=b'{"id": 1, "text": "a"}')
    second = rows("-", stdin=b'{"id": 1, "text": "b"}')

    assert first[0]["key"] != second[0]["key"]


def test_separators_inside_json_are_no_line_ends(tmp_path: Path) -> None:
    """A raw U+2028 in a string stays in it."""
    text = "one\u2028two\x85three"

    assert rows("-", stdin=json.dumps({"text": text}, ensure_ascii=False).encode())[0]["text"] == text


@pytest.mark.parametrize(("body", "said"), [(b"{oops", "standard input:1"), (b"[1]", "standard input:1"), (b"\xff\xfe", "UTF-8")])
def test_what_is_not_an_episode_is_refused_with_its_place(body: bytes, said: str) -> None:
    """Before anything is recorded."""
    with pytest.raises(InvalidInput, match=said):
        rows("-", stdin=body)


def test_a_time_of_its_own_counts_before_the_given_one() -> None:
    """--at is for what has none."""
    found = rows("-", stdin=b'{"text": "a", "at": "2024-05-01"}\n{"text": "b"}')

    assert [r["reference_time"] for r in found] == ["2024-05-01", "2025-01-01"]


def test_an_archive_needs_every_time() -> None:
    """A line that does not say when cannot be put in order."""
    with pytest.raises(InvalidInput, match="chat:1"):
        in_order_of_time([Item("chat:1", {"text": "a"})], "UTC")


def test_errors_of_the_list_name_the_place() -> None:
    """`episodes[1].kind` is the kind in the second item's file and line."""
    items = [Item("a.jsonl:1", {}), Item("a.jsonl:7", {})]
    with pytest.raises(InvalidInput, match=r"a\.jsonl:7: kind="), located(items):
        raise InvalidInput("episodes[1].kind", "poem", "must be one of ...")


def test_exports_are_read_among_other_files(tmp_path: Path) -> None:
    """By what they hold; the files of one that is a folder are not read again as files."""
    (tmp_path / "WhatsApp Chat with Mira.txt").write_text(CHAT, encoding="utf-8")
    (tmp_path / "diary.txt").write_text("Rain.", encoding="utf-8")
    (tmp_path / "team" / "general").mkdir(parents=True)
    (tmp_path / "team" / "channels.json").write_text("[]", encoding="utf-8")
    (tmp_path / "team" / "general" / "2024-01-05.json").write_text('[{"user": "U1", "text": "hi", "ts": "1704448920.0"}]', encoding="utf-8")
    both = found(tmp_path)

    assert [i.row["text"] for i in both.items] == ["I moved.", "hi", "Rain."]
    assert (list(both.formats), both.left_out) == (["slack", "whatsapp"], {"system lines": 1})


def test_messages_of_an_export_come_oldest_first(tmp_path: Path) -> None:
    """ChatGPT's export begins with the newest conversation."""
    talks = [
        {
            "title": t,
            "mapping": {"a": {"parent": None, "message": {"author": {"role": "user"}, "create_time": at, "content": {"parts": [t]}}}},
        }
        for t, at in (("new", 1.75e9), ("old", 1.7e9))
    ]
    (tmp_path / "conversations.json").write_text(json.dumps(talks), encoding="utf-8")

    assert [i.row["text"] for i in found(tmp_path / "conversations.json").items] == ["old", "new"]


def test_a_message_without_a_time_has_the_given_one_or_that_of_the_file(tmp_path: Path) -> None:
    """As files have."""
    file = tmp_path / "conversations.json"
    message = {"author": {"role": "user"}, "content": {"parts": ["hi"]}}
    file.write_text(json.dumps([{"mapping": {"a": {"parent": None, "message": message}}}]), encoding="utf-8")
    os.utime(file, (1.7e9, 1.7e9))

    assert found(file).items[0].row["reference_time"] == "2025-01-01"
    assert found(file, at=None).items[0].row["reference_time"] == "2023-11-14T22:13:20+00:00"


def test_an_export_may_be_read_as_a_file(tmp_path: Path) -> None:
    """--format files: the text is one episode."""
    chat = tmp_path / "chat.txt"
    chat.write_text(CHAT, encoding="utf-8")

    assert [i.row["text"] for i in found(chat, format="files").items] == [CHAT]


def test_a_format_that_is_none_is_refused(tmp_path: Path) -> None:
    """The allowed ones are listed."""
    with pytest.raises(InvalidInput, match="--format='irc': must be chatgpt, claude, slack, whatsapp or files"):
        found(tmp_path, format="irc")


@pytest.mark.local
def test_an_export_is_recorded_once_at_its_own_times(run: Run, tmp_path: Path) -> None:
    """What is left out is said, and what the memory knew back then can be read."""
    chat, db = tmp_path / "WhatsApp Chat with Mira.txt", tmp_path / "new.db"
    chat.write_text(CHAT, encoding="utf-8")
    first, again = (run("ingest", chat, "--archive", "--db", db) for _ in range(2))
    counted = json.loads(run("ingest", chat, "--archive", "--db", db, "--json").out)

    assert first.code == 0, first.err
    assert first.out.splitlines()[:3] == [
        "1 recorded, 0 known already",
        "left out: system lines (1)",
        "WhatsApp names no time zone: its times were read in UTC; --timezone names another",
    ]
    assert again.out.startswith("0 recorded, 1 known already\n")
    assert (counted["formats"], counted["left_out"]) == (["whatsapp"], {"system lines": 1})
    assert json.loads(run("stats", "--system", "2024-01-02", "--db", db, "--json").out)["episodes"] == 1


def test_nothing_of_a_broken_export_is_recorded(run: Run, tmp_path: Path) -> None:
    """One line that names the place, and no memory."""
    file = tmp_path / "conversations.json"
    file.write_text('[{"chat_messages": [{"sender": "human", "text": "hi", "uuid": "a"}]}, {"chat_mess', encoding="utf-8")
    ended = run("ingest", file, "--db", tmp_path / "new.db")

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "conversations.json" in ended.err
    assert "in element 2" in ended.err
    assert not (tmp_path / "new.db").exists()


@pytest.mark.local
def test_days_that_nothing_decides_are_asked_for(run: Run, tmp_path: Path) -> None:
    """--day-first or --month-first."""
    chat, db = tmp_path / "chat.txt", tmp_path / "new.db"
    chat.write_text("03/04/2024, 10:00 - Ann: hi\n", encoding="utf-8")
    ended = run("ingest", chat, "--db", db)

    assert (ended.code, db.exists()) == (2, False)
    assert "--day-first or --month-first" in ended.err
    assert run("ingest", chat, "--month-first", "--db", db).code == 0
    assert "2024-03-04" in run("episodes", "--db", db, "--json").out
