"""Files and streams as episodes."""

import io
import json
from pathlib import Path

import pytest

from graphmem.cli.files import Item, in_order_of_time, located, read
from graphmem.errors import InvalidInput

NOTHING = io.BytesIO()


def rows(*paths: Path | str, stdin: bytes = b"") -> list[dict[str, object]]:
    """What `read` makes of these."""
    return [dict(i.row) for i in read([str(p) for p in paths], at="2025-01-01", session=None, stdin=io.BytesIO(stdin))]


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
