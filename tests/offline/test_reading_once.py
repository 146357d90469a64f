"""The offline model reads each text once, and what hastens the parser changes nothing of what it says."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem import samples
from graphmem.llm.base import Ask
from graphmem.llm.offline.attributes import RuleTable
from graphmem.llm.offline.model import OfflineModel, pipeline

pytestmark = pytest.mark.local
ODD = (
    "",
    " \n\n ",
    "y'all ain't gonna go, c'mon, nothin' doin', let's   see; she got ta leave 'em, 'nuff said",
    "There is a house that they'd have had, but it gets cold.",
    "Я переехал в Порто. 我搬到了波尔图。",
)


def test_the_table_finds_what_the_attribute_ruler_finds():
    """Rule by rule and token by token, a second time from the table as well."""
    nlp = pipeline()
    ruler: Any = nlp.get_pipe("attribute_ruler")
    table = RuleTable(ruler)
    texts = [*ODD, *(str(e["text"]) for e in samples.episodes() if e.get("text"))]
    with nlp.select_pipes(disable=["attribute_ruler", "lemmatizer", "ner"]):
        docs = list(nlp.pipe(texts))
    expected = [ruler.match(doc) for doc in docs]
    assert sum(map(len, expected)) > 1000
    assert [table.match(doc) for doc in docs] == expected
    assert [table.match(doc) for doc in docs] == expected


def test_the_loaded_pipeline_says_the_same_as_the_installed_one():
    """Parts of speech, forms and lemmas."""
    texts = [*ODD, *(str(e["text"]) for e in samples.episodes()[:30] if e.get("text"))]
    said = [
        [[(t.text, t.pos_, t.tag_, t.lemma_, str(t.morph)) for t in doc] for doc in nlp.pipe(texts)]
        for nlp in (pipeline(), OfflineModel()._loaded())
    ]
    assert said[0] == said[1]


def asked(text: str, recent: list[tuple[str, str]]) -> Ask:
    """An extract question of Mira's, in a chat with Tom."""
    at = "2025-05-14T12:00:00+00:00"
    told = [{"actor": actor, "text": said, "reference_time": at} for actor, said in recent]
    people = ["Mira", "Tom"]
    return Ask(
        "extract", 1, {"kind": "message", "text": text, "reference_time": at, "actor": "Mira", "participants": people, "recent": told}
    )


def test_a_message_read_just_before_is_not_parsed_again_to_point_back_at_it():
    """Neither in the same batch nor in the next, and the reply is that of a model that reads it anew."""
    first = ("Tom", "Tomas from the boatyard came by.")
    then = "He lives in Porto."
    model = OfflineModel()
    nlp = model._loaded()
    read: list[str] = []
    make_doc = nlp.make_doc
    nlp.make_doc = lambda text: (read.append(text), make_doc(text))[1]  # type: ignore[method-assign]
    together = model.answer([asked(first[1], []), asked(then, [first])])
    later = model.answer([asked("His boat is new.", [first])])
    assert read == [first[1], then, "His boat is new."]
    assert together[1].value == OfflineModel().answer([asked(then, [first])])[0].value
    assert later[0].value == OfflineModel().answer([asked("His boat is new.", [first])])[0].value
    assert "Tomas" in [e["name"] for e in together[1].value["entities"]]  # type: ignore[index,call-overload]
