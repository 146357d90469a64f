"""Which exports are found, and how files, folders and zips are read."""

from __future__ import annotations

import json
import random
import stat
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from exporting import chat, node, post, said, slack, talk, texts, written, zipped

import graphmem
from graphmem import importers
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.importers import tree
from graphmem.importers.arrays import elements
from graphmem.runtime import FixedClock
from graphmem.testing import ScriptedModel

CHAT = "31/12/2023, 22:00 - Mira: I moved.\n"
OPTIONS = importers.Options()


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("anything.json", [talk(node("a", "root", "user", "hi"))], "chatgpt"),
        ("anything.json", [chat(said("a", "human", "hi"))], "claude"),
        ("anything.json", chat(said("a", "human", "hi")), "claude"),
        ("anything.txt", CHAT, "whatsapp"),
    ],
)
def test_a_file_is_known_by_what_it_holds(tmp_path: Path, name: str, content: object, format: str) -> None:
    """Not by its name; one conversation alone is an export too."""
    reading = importers.read(written(tmp_path / name, content))

    assert (reading.formats, len(list(reading))) == ((format,), 1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", {"mapping": {"properties": {}}}),
        ("a.json", [1, 2]),
        ("a.txt", "31/12/2023, 22:00 - dentist\nbring papers\n"),
        ("a.txt", "My diary. 31/12/2023, 22:00 - Mira: hi"),
        ("a.txt", "2024-01-05 10:00 - INFO: started"),
        ("a.md", CHAT),
    ],
)
def test_other_files_are_no_export(tmp_path: Path, name: str, content: object) -> None:
    """`find` says so, and `read` is an error with the next step."""
    file = written(tmp_path / name, content)

    assert importers.find(file, OPTIONS) is None
    with pytest.raises(InvalidInput, match=r"holds no export of ChatGPT, Claude, Slack or WhatsApp; name its --format"):
        importers.read(file)


def test_a_folder_may_hold_several(tmp_path: Path) -> None:
    """Each claims its own files, hidden ones belong to none."""
    for name, value in slack(post("one")).items():
        written(tmp_path / "work" / name, value)
    written(tmp_path / "gpt" / "conversations.json", [talk(node("a", "root", "user", "two"))])
    written(tmp_path / "gpt" / "user.json", {})
    written(tmp_path / "with Mira.txt", CHAT)
    written(tmp_path / ".old" / "with Mira.txt", CHAT)
    written(tmp_path / "notes.txt", "milk")
    reading = importers.read(tmp_path)

    assert [t for _, t in texts(list(reading))] == ["one", "two", "I moved."]
    assert reading.formats == ("slack", "chatgpt", "whatsapp")
    assert reading.left_out == {"other files": 1}
    assert sorted(reading.files) == sorted(
        ["with Mira.txt", "gpt/conversations.json", "gpt/user.json", *(f"work/{name}" for name in slack())]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("format", "said"),
    [
        ("slack", r"no CHANNEL/YYYY-MM-DD\.json"),
        ("chatgpt", r"no conversations\.json"),
        ("whatsapp", r"no \.txt file"),
        ("irc", "must be one of"),
    ],
)
def test_a_format_that_is_not_there_is_an_error(tmp_path: Path, format: str, said: str) -> None:
    """It says what was looked for."""
    written(tmp_path / "notes.md", "milk")
    with pytest.raises(InvalidInput, match=said):
        importers.read(tmp_path, format=format)


@pytest.mark.parametrize(
    ("format", "content"),
    [("claude", [talk(node("a", "root", "user", "hi"))]), ("chatgpt", [chat()]), ("chatgpt", []), ("claude", {"a": 1})],
)
def test_a_format_that_the_file_is_not_of_is_an_error(tmp_path: Path, format: str, content: object) -> None:
    """Rather than nothing read."""
    with pytest.raises(InvalidInput, match=r"conversations\.json=None: holds no conversation of (Claude|ChatGPT); leave out --format"):
        list(importers.read(written(tmp_path / "conversations.json", content), format=format))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_json_in_other_encodings_is_read(tmp_path: Path, encoding: str) -> None:
    """With and without a byte order mark."""
    file = tmp_path / "conversations.json"
    file.write_bytes(json.dumps([talk(node("a", "root", "user", "blåbär 🫐"))], ensure_ascii=False).encode(encoding))

    assert texts(list(importers.read(file))) == [("user", "blåbär 🫐")]


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """As is a zone that is none."""
    with pytest.raises(InvalidInput, match="no such file or folder"):
        importers.read(tmp_path / "gone.zip")
    with pytest.raises(InvalidInput, match="timezone"):
        importers.read(written(tmp_path / "a.txt", CHAT), timezone="Mars/Base")


def test_nothing_of_a_zip_is_written_to_disk(tmp_path: Path) -> None:
    """Whatever its files are called; names that climb are not read at all."""
    hostile: dict[str, object] = {"../../up.txt": CHAT, "/abs/a\x1b[31m.txt": CHAT, "C:\\x\\b.txt": CHAT, "__MACOSX/._c.txt": CHAT}
    (tmp_path / "in").mkdir()
    made = zipped(tmp_path / "in" / "a.zip", hostile)
    with zipfile.ZipFile(made, "a") as more:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        more.writestr(link, "/etc/passwd")
    before = sorted(tmp_path.rglob("*"))

    assert len(list(importers.read(made))) == 2
    assert sorted(tmp_path.rglob("*")) == before


def test_a_zip_that_swells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in pieces, and no further than a zip of its size can mean; a small one swells in peace."""
    monkeypatch.setattr(tree, "FREE", 1 << 21)
    bomb, small = (zipped(tmp_path / f"{size}.zip", {"_chat.txt": CHAT + "a" * size}) for size in (30_000_000, 1_000_000))
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=r"_chat\.txt=None: the zip unpacks to more than 100 times its size; if you trust it"):
        list(importers.read(bomb))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 12_000_000
    assert len(list(importers.read(small))) == 1


def damaged(path: Path) -> Iterator[tuple[str, Path]]:
    """Zips that cannot be read, and what the error says."""
    whole = zipped(path / "whole.zip", {"_chat.txt": CHAT * 400}).read_bytes()
    middle = len(whole) // 3
    (path / "flipped.zip").write_bytes(whole[:middle] + bytes(b ^ 0xFF for b in whole[middle : middle + 8]) + whole[middle + 8 :])
    yield "cannot be read|unusual", path / "flipped.zip"
    (path / "cut.zip").write_bytes(whole[:middle])
    yield "is no whole zip; download or copy it again", path / "cut.zip"
    locked = bytearray(whole)
    locked[6] |= 1
    locked[whole.rindex(b"PK\x01\x02") + 8] |= 1
    (path / "locked.zip").write_bytes(locked)
    yield "is encrypted; unpack the zip", path / "locked.zip"
    with zipfile.ZipFile(path / "bz.zip", "w", zipfile.ZIP_BZIP2) as made:
        made.writestr("_chat.txt", CHAT)
    yield "compressed in an unusual way; unpack the zip", path / "bz.zip"


def test_zips_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    """Damaged, encrypted, packed otherwise: each says what to do."""
    for expected, file in damaged(tmp_path):
        with pytest.raises(InvalidInput, match=expected):
            list(importers.read(file, format="whatsapp"))


def test_a_zip_without_an_export_is_an_error(tmp_path: Path) -> None:
    """Notes in a zip are to be unpacked."""
    with pytest.raises(InvalidInput, match="holds no export"):
        importers.find(zipped(tmp_path / "a.zip", {"a.md": "milk"}), OPTIONS)


def pieces(text: str, size: int) -> Iterator[str]:
    """The text in pieces."""
    return (text[i : i + size] for i in range(0, len(text), size))


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_an_array_is_read_however_it_arrives(size: int) -> None:
    """Cut in numbers, escapes and strings."""
    values = [12345, -1.5e-7, 'a\u00e9\\"\n', {"x": [None, True, {"y": "z" * 50}]}, [], "", 7]
    text = "\n [ " + " ,\t".join(json.dumps(v) for v in values) + " ] \n"

    assert list(elements(pieces(text, size), "x")) == values
    assert list(elements(pieces(" [ ] ", size), "x")) == []
    assert list(elements(pieces(" 12345 ", size), "x")) == [12345]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" \n", "is empty; export it again"),
        ("[1, 2", "ends too early, at character 5, in element 2"),
        ('[1, "ab', "ends too early, at character 4, in element 2"),
        ("[1,]", "must be JSON; Expecting value at character 3, in element 2"),
        ("[1 2]", "Expecting ',' delimiter at character 4, in element 1"),
        ("[1] x", "Extra data at character 4"),
        ('{"a": 1} {}', "Extra data at character 9"),
        ("[{'a': 1}, " + "1, " * 50 + "1]", "must be JSON; Expecting property name"),
        ("[" * 100_000, "nested too deeply|recursion"),
        ("[" + "9" * 5000 + "]", "integer string conversion"),
    ],
)
def test_an_array_that_is_wrong_is_named(text: str, said: str) -> None:
    """Where, and what to do."""
    with pytest.raises(InvalidInput, match=said):
        list(elements(pieces(text, 3), "x"))


def test_a_large_array_takes_little_memory() -> None:
    """40 MB, in the memory of a few pieces."""
    one = json.dumps({"text": "a" * 4000}) + ","
    count = 10_000
    stream = iter(["[", *[one] * (count - 1), one[:-1], "]"])
    tracemalloc.start()
    found = sum(1 for _ in elements(stream, "x"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found == count
    assert peak < 4_000_000


EXPORTS: dict[str, object] = {
    "chatgpt": [talk(node("a", "root", "user", "one"), node("b", "a", "assistant", "two"))],
    "claude": [chat(said("a", "human", "one"), said("b", "assistant", [{"type": "text", "text": "two"}]))],
    "slack": [post("one <@U1>"), post("two", "5.0", thread_ts="4.0", files=[], edited={"ts": "6.0"})],
}  # fmt: skip
EMPTY: dict[str, object] = {"chatgpt": talk(node("n", None, "tool", "")), "claude": chat()}
ODD: list[object] = [
    None,
    True,
    -1,
    1e308,
    10**30,
    "",
    "\ud800",
    "\x00",
    "x" * 3000,
    [],
    [[]],
    json.loads("[" * 900 + "]" * 900),
    {},
    {"text": {}},
    ["a", {"b": 1}],
]


def scrambled(value: object, dice: random.Random) -> object:
    """The value with something odd somewhere in it."""
    if dice.random() < 0.04:
        return dice.choice(ODD)
    if isinstance(value, dict):
        return {k: scrambled(v, dice) for k, v in value.items() if dice.random() > 0.02}
    if isinstance(value, list):
        return [scrambled(v, dice) for v in value]
    return value


@pytest.mark.parametrize("format", EXPORTS)
def test_whatever_an_export_holds_is_read_recorded_or_counted(tmp_path: Path, format: str) -> None:
    """Scrambled values are no other error than `InvalidInput`, and what is read can be recorded."""
    dice = random.Random(7)
    name = "general/2024-01-05.json" if format == "slack" else "conversations.json"
    rows: dict[object, object] = {}
    for _ in range(150):
        written(tmp_path / name, [*[scrambled(v, dice) for v in EXPORTS[format]], *([] if format == "slack" else [EMPTY[format]])])  # type: ignore[attr-defined]
        rows |= {(i.row["key"], str(i.row)): i.row for i in importers.read(tmp_path, format=format)}
    model = ScriptedModel({"extract": lambda ask: {}})
    with graphmem.open(":memory:", model=model, embedder=HashingEmbedder(16), clock=FixedClock("2026-01-15T12:00:00Z")) as memory:
        results = memory.add_many(list(rows.values()), progress=False)  # type: ignore[arg-type]

    assert len(results) == len(rows) > 5


@pytest.mark.parametrize(
    "filling", [" ", "\t\u200e", "<", "\u200e<edited ", "\ue200", "【1†", "```\n", "<!", "&amp;", "\u200e[", ": ", "\n", "(a.jpg "]
)
def test_no_text_takes_longer_than_its_length(tmp_path: Path, filling: str) -> None:
    """Patterns that try every way to read a text would take hours for these."""
    text = "a" + filling * 100_000 + "b"
    files: dict[str, object] = {
        "chatgpt": [talk(node("a", "root", "assistant", text))], "claude": [chat(said("a", "human", text))],
        "slack": [post(text)], "whatsapp": f"31/12/2023, 22:00 - Mira: {text}\n",
    }  # fmt: skip
    names = {"slack": "general/2024-01-05.json", "whatsapp": "chat.txt"}
    before = time.process_time()
    for kind, content in files.items():
        written(tmp_path / kind / names.get(kind, "conversations.json"), content)
        assert len(list(importers.read(tmp_path / kind, format=kind))) == 1

    assert time.process_time() - before < 5


def test_an_import_again_changes_nothing(tmp_path: Path, open_memory: Callable[..., graphmem.Memory]) -> None:
    """And a newer export adds what is new in it."""
    first = slack(post("one"), post("two", "1704448921.000000"))
    newer = {**first, "general/2024-01-06.json": [post("three", "1704535321.000000")]}
    memory = open_memory(model=ScriptedModel({"extract": lambda ask: {}}))
    for files, created in ((first, 2), (first, 0), (newer, 1)):
        items = importers.in_order_of_time(list(importers.read(zipped(tmp_path / "a.zip", files))))
        assert sum(r.created for r in memory.add_many([i.row for i in items])) == created

    assert len(memory.as_of(system="2024-01-06").episodes()) == 2


def test_what_is_not_there_for_a_format_that_was_named(tmp_path: Path) -> None:
    """Whoever named the format is not asked to name it."""
    (tmp_path / "a.md").write_text("Mira lives in Porto.", encoding="utf-8")

    with pytest.raises(InvalidInput, match=r"holds no \.txt file; leave out --format, or give"):
        importers.read(tmp_path, format="whatsapp")
