"""What a memory is opened with: what cannot be is refused when it is opened, by name and with what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import graphmem
from graphmem import EntityType, Relation
from graphmem.embed.endpoint import EndpointEmbedder
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.llm.endpoint import EndpointModel
from graphmem.testing import FixedClock, ScriptedModel

URL = "http://localhost:9/v1"


def opened(**given: Any) -> graphmem.Memory:
    """A memory of these arguments, else of those that need nothing."""
    return graphmem.open(**{"model": ScriptedModel({}), "embedder": HashingEmbedder(), **given})


class Boat(BaseModel):
    """Something that floats."""

    berth: str | None = None


@pytest.mark.parametrize(
    ("one", "listed"),
    [(Boat, [Boat]), (Relation("MOORED_AT"), [Relation("MOORED_AT")]), (EntityType("Boat"), [EntityType("Boat")])],
    ids=["class", "relation", "type"],
)
def test_a_single_class_relation_or_type_is_an_ontology_of_one(one: Any, listed: Any) -> None:
    """It is easily given without a list around it."""
    assert opened(ontology=one)._defaults.ontology == opened(ontology=listed)._defaults.ontology


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        *(("ontology", wrong) for wrong in (5, "Person", b"x", [5], [None], [int], int, True)),
        *(("timezone", wrong) for wrong in (None, 5, ["UTC"])),
        *(("where", wrong) for wrong in (None, 5, b"x")),
        *(("clock", wrong) for wrong in (5, 0, "now", FixedClock)),
        *(("model", wrong) for wrong in (5, b"x", [], ScriptedModel)),
        *(("embedder", wrong) for wrong in (5, b"x", [], HashingEmbedder)),
        *(("instructions", wrong) for wrong in (5, ["be brief"])),
        *(("communities", wrong) for wrong in (True, "yes", [])),
    ],
)
def test_an_argument_that_cannot_be_is_refused_on_opening(argument: str, wrong: Any) -> None:
    """Not at the first write or search."""
    with pytest.raises(InvalidInput, match=f"^{argument}=.*must be|^{argument}=.*is a"):
        opened(**{argument: wrong})


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        *(("base_url", wrong) for wrong in (5, 0, b"http://localhost", [])),
        *(("api_key", wrong) for wrong in (5, 0, b"key", ["key"])),
        *(("timeout", wrong) for wrong in ("5", True, -1, [])),
    ],
)
def test_how_an_endpoint_is_reached_is_checked_on_opening(argument: str, wrong: Any) -> None:
    """A key or address of another type is not passed over, and not shown."""
    with pytest.raises(InvalidInput, match=f"^{argument}=") as told:
        opened(**{"model": "openai:some-model", "base_url": URL, "api_key": "k", argument: wrong})
    assert argument == "timeout" or "'***'" in str(told.value)


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        *(("auth", wrong) for wrong in ("user", ("user",), ("user", 5), 5)),
        *(("database", wrong) for wrong in (5, ["db"])),
        *(("ca", wrong) for wrong in (5, b"ca.pem")),
        *((name, wrong) for name in ("pool", "connect_timeout", "write_timeout") for wrong in ("5", True, 0, [])),
    ],
)
def test_how_a_server_is_reached_is_checked_before_it_is_called(argument: str, wrong: Any) -> None:
    """No connection is tried."""
    with pytest.raises(InvalidInput, match=f"^{argument}="):
        opened(where="bolt://127.0.0.1:9", **{"auth": ("neo4j", "secret"), argument: wrong})


@pytest.mark.parametrize("name", [EndpointModel, EndpointEmbedder])
@pytest.mark.parametrize(("argument", "wrong"), [("base_url", 5), ("api_key", 5), ("proxy", 5), ("timeout", True), ("timeout", "5")])
def test_an_endpoint_is_made_of_what_can_be(name: Any, argument: str, wrong: Any) -> None:
    """Whoever makes it."""
    with pytest.raises(InvalidInput, match=f"^{argument}="):
        name("some-model", **{"base_url": URL, argument: wrong})


@pytest.mark.parametrize(("argument", "wrong"), [(a, w) for a in ("batch", "dimension") for w in ("x", 0, 1.5, True)] + [("batch", None)])
def test_an_embedder_sends_and_gets_whole_numbers(argument: str, wrong: Any) -> None:
    """Of texts at a time, and of numbers in a vector."""
    with pytest.raises(InvalidInput, match=f"^{argument}=.*must be an integer of 1 or more"):
        EndpointEmbedder("some-embedder", base_url=URL, **{argument: wrong})


def test_what_is_re_embedded_or_copied_is_a_place(tmp_path: Path) -> None:
    """A path or an address; and the embedder is one."""
    with opened(where=tmp_path / "m.db") as mem:
        mem.add_facts([{"source": "Mira", "relation": "knows", "target": "Ivo"}])
    wrong: Any
    for wrong in (None, 5, b"x"):
        with pytest.raises(InvalidInput, match=r"^where="):
            graphmem.reembed(wrong, embedder=HashingEmbedder())
        with pytest.raises(InvalidInput, match=r"^source="):
            graphmem.copy(wrong, tmp_path / "n.db")
        with pytest.raises(InvalidInput, match=r"^target="):
            graphmem.copy(tmp_path / "m.db", wrong)
    for wrong in (5, b"x", HashingEmbedder):
        with pytest.raises(InvalidInput, match=r"^embedder="):
            graphmem.reembed(tmp_path / "m.db", embedder=wrong)
