"""The relations that graphmem knows without being told."""

from __future__ import annotations

from graphmem.ontology import Ontology, Relation

DEFAULT_ONTOLOGY = Ontology.of(
    Relation("LIVES_IN", one_target=True, synonyms=("RESIDES_IN", "LIVES_AT", "MOVED_TO"), source_types=("Person",), target_types=("Place",)),
    Relation("FROM", one_target=True, synonyms=("COMES_FROM", "BORN_IN")),
    Relation("WORKS_AT", one_target=True, synonyms=("WORKS_FOR", "EMPLOYED_BY"), source_types=("Person",)),
    Relation("EMPLOYS", inverse_of="WORKS_AT"),
    Relation("MARRIED_TO", one_target=True, symmetric=True),
    Relation("STATUS", one_target=True),
    Relation("DUE", one_target=True),
    Relation("SCHEDULED_FOR", one_target=True),
    Relation("VALUE", one_target=True),
    Relation("OWNED_BY", one_target=True),
)
