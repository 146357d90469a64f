"""What Neo4j Browser takes: the style, the guide, the saved queries, and the server that gives them."""

from __future__ import annotations

import http.client
import io
import json
import re
import signal
import socket
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from graphmem.browser import contents, page, post_connect, queries, serving, zipped
from graphmem.errors import InvalidInput

ROOT = Path(__file__).parents[2]
BROWSER = ROOT / "cypher" / "browser"
PARAMETERS = {"group_id", "name", "day", "since", "fact", "episode"}
OURS = [b"/graphmem.grass", b"/guide.html", b"/queries.zip", b"/", b"/index.html"]


class Guide(HTMLParser):
    """The guide as a tree is read: every tag closed, and what its blocks and links do."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.slides = 0
        self.commands: list[str] = []
        self.blocks: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        given = dict(attrs)
        self.slides += tag == "slide"
        self.commands += [given["data-exec"] or ""] if "data-exec" in given else []
        if tag == "pre":
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["pre"]:
            self.blocks[-1] += data


def asked(address: str, path: bytes, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """The answer to a request whose path no client has tidied up."""
    parts = urlsplit(address)
    with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=10) as connection:
        connection.sendall(method.encode() + b" " + path + b" HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:7474\r\n\r\n")
        answer = http.client.HTTPResponse(connection, method=method)
        answer.begin()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()


def test_every_saved_query_says_what_it_shows_and_what_it_needs() -> None:
    """A short title, a sentence, the parameters to set; all of them known ones, and always the group."""
    titles = []
    for name, text in queries().items():
        title, about, needs, *rest = text.split("\n")
        assert re.fullmatch(r"// [A-Z].{3,25}", title), name
        assert re.fullmatch(r"// [A-Z].*\.", about), name
        used = set(re.findall(r"\$(\w+)", "\n".join(rest)))
        assert "group_id" in used <= PARAMETERS, name
        assert set(re.findall(r":param (\w+) =>", needs)) == used, name
        assert re.search(r"\bLIMIT \d+$", text.strip()) or name == "log/sizes.cypher", name
        titles.append(title)
    assert len(set(titles)) == len(titles) == len(list((BROWSER / "queries").rglob("*.*")))


def test_the_zip_holds_a_folder_of_single_queries_for_each_folder() -> None:
    """As Browser reads it, and the same bytes each time."""
    with zipfile.ZipFile(io.BytesIO(zipped())) as packed:
        found = {name: packed.read(name).decode() for name in packed.namelist()}
    assert found == {f"graphmem {name}": text for name, text in queries().items()}
    assert {name.count("/") for name in found} == {1}
    assert all(";" not in re.sub(r"//.*|'[^']*'", "", text) for text in found.values())
    assert zipped() == zipped()


def test_the_style_holds_rules_and_nothing_else() -> None:
    """Browser drops rules beside a comment and fails on an open brace."""
    text = (BROWSER / "graphmem.grass").read_text()
    rule = r'(node|relationship)(\.[A-Za-z_]+)? \{\n(  [a-z-]+: ("[^"\n]*"|[#\w]+);\n)+\}\n'
    assert re.fullmatch(rf"({rule}\n)*{rule}", text)
    selectors = re.findall(r"^(.*) \{$", text, re.M)
    assert len(set(selectors)) == len(selectors)
    books = set(re.findall(r":(Graphmem[A-Za-z]+)", "".join(p.read_text() for p in BROWSER.parent.glob("**/*.cypher"))))
    assert len(books) > 10
    assert {f"node.{label}" for label in books} <= {*selectors}
    assert {"node.Entity", "node.Person", "node.Episodic", "node.Community", "relationship.RELATES_TO", "relationship.MENTIONS"} <= {
        *selectors
    }


def test_the_guide_shows_the_saved_queries_themselves() -> None:
    """Its blocks are saved queries or commands; nothing is left to fill in, no tag is left open."""
    guide = Guide(contents("http://localhost:1234")["guide.html"].decode())
    saved = {"\n".join(line for line in text.strip().split("\n") if not line.startswith("//")) for text in queries().values()}
    shown = [block for block in guide.blocks if not block.startswith(":param")]
    assert guide.slides == 8
    assert len(shown) == len(set(shown)) >= 10
    assert set(shown) <= saved
    assert guide.commands == ["style http://localhost:1234/graphmem.grass", "config autoComplete: false"]
    assert all(b"{{" not in body for name, body in contents("x").items() if name.endswith(".html"))


@pytest.mark.parametrize("group", ["main", "it's", '"><script>alert(1)</script>', "g'\") DETACH DELETE n //", "a\\b", "группа"])
def test_a_group_is_only_a_string_in_the_guide(group: str) -> None:
    """Neither HTML nor Cypher: one block sets it, and its string reads back as the group."""
    text = contents("http://localhost:1", group)["guide.html"].decode()
    block = Guide(text).blocks[0]
    assert "<script" not in text
    literal, _ = json.JSONDecoder().raw_decode(block.removeprefix(":param {group_id: "))
    assert literal == group


def test_only_these_files_are_served(tmp_path: Path) -> None:
    """By their exact names; with headers that let another origin read them."""
    with serving(port=0) as address:
        for path in (*OURS, b"/guide.html?x=1"):
            status, headers, body = asked(address, path)
            assert (status, headers["access-control-allow-origin"]) == (200, "*"), path
            assert body
            assert asked(address, path, "HEAD")[1]["content-length"] == str(len(body))
        assert asked(address, b"/guide.html")[2] == contents(address)["guide.html"]
        outside = [
            b"/../schema/0001_initial.cypher",
            b"/..%2f..%2fpyproject.toml",
            b"//etc/passwd",
            b"/etc/passwd",
            b"/queries/",
            b"/queries",
        ]
        for path in (
            *outside,
            b"/queries/look/now.cypher",
            b"/%2e%2e/write.cypher",
            b"/guide.html/",
            b"/\xff",
            b"/GUIDE.HTML",
            b"guide.html/..",
        ):
            assert asked(address, path)[::2] == (404, b""), path
        status, headers, _ = asked(address, b"/graphmem.grass", "OPTIONS")
        assert (status, headers["access-control-allow-headers"], headers["access-control-allow-private-network"]) == (204, "*", "true")
        assert asked(address, b"/graphmem.grass", "POST")[0] == 501
        port = urlsplit(address).port or 0
        with pytest.raises(InvalidInput, match=f"port={port}"), serving(port=port):
            pass
    with pytest.raises(OSError):
        asked(address, b"/")


@pytest.mark.parametrize(
    ("server", "start"),
    [
        ("neo4j://localhost:7687", "http://localhost:7474/browser/?dbms=neo4j://localhost:7687&"),
        ("bolt://10.0.0.1", "http://10.0.0.1:7474/browser/?dbms=bolt://10.0.0.1&"),
        ("neo4j+s://db.example.org:7687", "https://db.example.org:7473/browser/?dbms=neo4j%2Bs://db.example.org:7687&"),
        ("bolt://[::1]:7687", "http://[::1]:7474/browser/?dbms=bolt://[::1]:7687&"),
        ("http://localhost:8080/browser/", "http://localhost:8080/browser/?"),
        ("https://host/browser?x=1", "https://host/browser/?"),
    ],
)
def test_browser_is_opened_with_the_guide(server: str, start: str) -> None:
    """At the address given, or where Neo4j serves it."""
    assert page(server, "http://localhost:1") == f"{start}cmd=play&arg=http://localhost:1/guide.html"


@pytest.mark.parametrize(
    "server", ["notes.db", "", "ftp://x", "neo4j://", "bolt://u:secret@h", "http://[", "neo4j://h:99999999", "javascript:alert(1)"]
)
def test_what_is_no_address_is_refused(server: str) -> None:
    """By name, without its password."""
    with pytest.raises(InvalidInput, match="must be an address") as refused:
        page(server, "http://localhost:1")
    assert "secret" not in str(refused.value)


def test_the_command_serves_until_it_is_interrupted() -> None:
    """It prints where everything is, and ends quietly."""
    command = [sys.executable, "-m", "graphmem.cli", "browser", "--neo4j", "http://localhost:1/browser/", "--port", "0", "--no-open"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(5)]
        address = lines[1].split()[-1].rstrip("/")
        assert asked(address, b"/queries.zip")[2] == zipped()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert lines[0].endswith(f"http://localhost:1/browser/?cmd=play&arg={address}/guide.html\n")
    assert lines[3].strip() == f"browser.post_connect_cmd={post_connect(address)}"
    assert (out, err, process.returncode) == ("ended\n", "", 0)
