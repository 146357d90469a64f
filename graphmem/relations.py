"""The relations that graphmem knows from the start: how many values each takes, its other names, and which way it points."""

from __future__ import annotations

from graphmem.ontology import Ontology, Relation

_P, _O, _L, _V = ("Person",), ("Organization",), ("Place",), ("Value",)


def _one(name: str, *synonyms: str, source: tuple[str, ...] = (), target: tuple[str, ...] = ()) -> Relation:
    """A relation with one target at a time."""
    return Relation(name, one_target=True, synonyms=synonyms, source_types=source, target_types=target)


def _several(name: str, *synonyms: str, source: tuple[str, ...] = (), target: tuple[str, ...] = ()) -> Relation:
    return Relation(name, synonyms=synonyms, source_types=source, target_types=target)


def _inverse(name: str, of: str, *synonyms: str) -> Relation:
    return Relation(name, inverse_of=of, synonyms=synonyms)


def _mutual(name: str, *synonyms: str, one: bool = False) -> Relation:
    return Relation(name, one_target=one, symmetric=True, synonyms=synonyms, source_types=_P, target_types=_P)


_PEOPLE = (
    _one("LIVES_IN", "LIVES_AT", "RESIDES_IN", "RESIDES_AT", "MOVED_TO", source=_P, target=_L),
    _one("FROM", "COMES_FROM", "ORIGINATES_FROM", source=_P, target=_L),
    _one("BORN_IN", "BIRTHPLACE", source=_P, target=_L),
    _several("GREW_UP_IN", "RAISED_IN", source=_P, target=_L),
    _one("BORN_ON", "BIRTH_DATE", "DATE_OF_BIRTH", source=_P, target=_V),
    _one("WORKS_AT", "WORKS_FOR", "EMPLOYED_BY", "EMPLOYED_AT", source=_P, target=_O),
    _inverse("EMPLOYS", "WORKS_AT", "HAS_EMPLOYEE"),
    _several("WORKS_AS", "HAS_ROLE", "HAS_JOB", "HAS_JOB_TITLE", "HAS_OCCUPATION", "IS_A", source=_P, target=("Role",)),
    _several("WORKS_IN", "WORKS_IN_FIELD", source=_P),
    _several("WORKS_ON", source=_P),
    _several("WORKED_ON", source=_P),
    _several("STUDIES", "LEARNS", source=_P),
    _several("STUDIES_AT", "ATTENDS_SCHOOL", "ENROLLED_AT", source=_P, target=_O),
    _several("MEMBER_OF", "BELONGS_TO_GROUP", "PLAYS_FOR", source=_P),
    _inverse("HAS_MEMBER", "MEMBER_OF"),
    _several("VOLUNTEERS_AT", "VOLUNTEERS_FOR", source=_P),
    _several("FOUNDED", "FOUNDER_OF", "CO_FOUNDED"),
    _inverse("FOUNDED_BY", "FOUNDED"),
    _several("RUNS", source=_P),
    _several("OWNS", source=_P),
    _several("BOUGHT", "PURCHASED", source=_P),
    _several("RECEIVED", source=_P),
    _several("MADE", "CREATED", "WROTE", "AUTHOR_OF"),
    _inverse("MADE_BY", "MADE", "CREATED_BY", "WRITTEN_BY", "AUTHORED_BY"),
    _several("READ", source=_P),
    _several("WATCHED", source=_P),
    _several("PLAYS", source=_P),
    _several("SPEAKS", "SPEAKS_LANGUAGE", source=_P),
    _several("LIKES", "LOVES", "ENJOYS", "FAN_OF", source=_P),
    _several("DISLIKES", "HATES", source=_P),
    _several("INTERESTED_IN", "HAS_INTEREST_IN", source=_P),
    _several("ALLERGIC_TO", "HAS_ALLERGY_TO", source=_P),
    _several("HAS_CONDITION", "SUFFERS_FROM", "DIAGNOSED_WITH", source=_P),
    _several("VISITED", "TRAVELED_TO", "TRAVELLED_TO", source=_P),
    _several("ATTENDED", "PARTICIPATED_IN", "TOOK_PART_IN", source=_P),
    _several("ORGANIZED", "HOSTED", source=_P),
    _several("WON", source=_P),
    _several("PLANS", "PLANS_TO", "INTENDS_TO", source=_P),
)

_KIN = (
    _mutual("MARRIED_TO", "SPOUSE_OF", "HAS_SPOUSE", "HAS_HUSBAND", "HAS_WIFE", "HUSBAND_OF", "WIFE_OF", one=True),
    _mutual("ENGAGED_TO", one=True),
    _mutual("DATING", "IN_RELATIONSHIP_WITH", "PARTNER_OF"),
    _mutual("SIBLING_OF", "BROTHER_OF", "SISTER_OF", "HAS_SIBLING", "HAS_BROTHER", "HAS_SISTER"),
    _mutual("COUSIN_OF", "HAS_COUSIN"),
    _mutual("FRIEND_OF", "FRIENDS_WITH", "HAS_FRIEND"),
    _mutual("COLLEAGUE_OF"),
    Relation("WORKS_WITH", symmetric=True, synonyms=("COLLABORATES_WITH",)),
    _mutual("ROOMMATE_OF", "LIVES_WITH"),
    _mutual("NEIGHBOR_OF", "NEIGHBOUR_OF"),
    _mutual("IN_LAW_OF"),
    _mutual("KNOWS", "MET"),
    _several("PARENT_OF", "HAS_CHILD", "MOTHER_OF", "FATHER_OF", "HAS_SON", "HAS_DAUGHTER", source=_P, target=_P),
    _inverse("CHILD_OF", "PARENT_OF", "SON_OF", "DAUGHTER_OF", "HAS_PARENT", "HAS_MOTHER", "HAS_FATHER"),
    _several("GRANDPARENT_OF", "HAS_GRANDCHILD", source=_P, target=_P),
    _inverse("GRANDCHILD_OF", "GRANDPARENT_OF", "HAS_GRANDPARENT"),
    _several("AUNT_OR_UNCLE_OF", "AUNT_OF", "UNCLE_OF", source=_P, target=_P),
    _inverse("NIBLING_OF", "AUNT_OR_UNCLE_OF", "NIECE_OF", "NEPHEW_OF"),
    _several("HAS_PET", "OWNS_PET", source=_P),
    _several("MANAGED_BY", "REPORTS_TO", source=_P, target=_P),
    _inverse("MANAGES", "MANAGED_BY"),
    _several("MENTORED_BY", source=_P, target=_P),
    _inverse("MENTORS", "MENTORED_BY"),
)

_PROJECTS = (
    _one("STATUS", "HAS_STATUS", target=_V),
    _one("DUE", "DUE_ON", "DUE_BY", "HAS_DEADLINE", "DEADLINE", target=_V),
    _one("SCHEDULED_FOR", "SCHEDULED_ON", "TAKES_PLACE_ON", target=_V),
    _one("VALUE", "HAS_VALUE", "SET_TO", target=_V),
    _one("TARGET", "HAS_TARGET", target=_V),
    _one("VERSION", "HAS_VERSION", target=_V),
    _one("PRICE", "COSTS", target=_V),
    _one("OWNED_BY", "OWNER", "HAS_OWNER", "LED_BY", "MAINTAINED_BY"),
    _inverse("RESPONSIBLE_FOR", "OWNED_BY", "LEADS", "MAINTAINS", "OWNER_OF"),
    _one("ASSIGNED_TO", "ASSIGNEE", "HAS_ASSIGNEE"),
    _several("DEPENDS_ON", "REQUIRES"),
    _several("BLOCKED_BY"),
    _several("WAITS_FOR"),
    _inverse("BLOCKS", "BLOCKED_BY"),
    _several("USES", "USES_TOOL"),
    _several("SUPPORTS"),
    _several("CAUSED_BY"),
    _inverse("CAUSES", "CAUSED_BY"),
    _several("PART_OF", "COMPONENT_OF"),
    _inverse("HAS_PART", "PART_OF", "CONTAINS"),
    _one("LOCATED_IN", "LOCATED_AT", "BASED_IN"),
    _one("HEADQUARTERED_IN", source=_O, target=_L),
    _one("CEO_IS", "HAS_CEO", source=_O, target=_P),
    _several("ACQUIRED", source=_O, target=_O),
    _inverse("ACQUIRED_BY", "ACQUIRED"),
)

_COMMON = """LIVES_IN FROM BORN_IN BORN_ON WORKS_AT WORKS_AS WORKS_ON STUDIES STUDIES_AT MEMBER_OF MARRIED_TO ENGAGED_TO DATING FRIEND_OF
SIBLING_OF PARENT_OF HAS_PET MANAGED_BY LIKES DISLIKES INTERESTED_IN OWNS MADE VISITED ATTENDED PLANS HAS_CONDITION STATUS DUE SCHEDULED_FOR
OWNED_BY ASSIGNED_TO DEPENDS_ON BLOCKED_BY PART_OF LOCATED_IN USES PRICE VERSION CEO_IS"""
COMMON = tuple(_COMMON.split())
"""Those of the default relations that a language model is told of."""

DEFAULT_ONTOLOGY: Ontology = Ontology.of(*_PEOPLE, *_KIN, *_PROJECTS)
"""The default relations. A relation that is not listed is kept as given and takes several values.

>>> DEFAULT_ONTOLOGY.canonical("works for"), DEFAULT_ONTOLOGY.canonical("employs")
(('WORKS_AT', False), ('WORKS_AT', True))
>>> DEFAULT_ONTOLOGY.relation("lives in").one_target, DEFAULT_ONTOLOGY.relation("likes").one_target
(True, False)
"""
