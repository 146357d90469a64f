"""Reaching a server: who it is, what it can do, and which schema is in it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlsplit

from graphmem import statements
from graphmem.errors import InvalidInput, MissingExtra, SchemaTooNew, StoreUnavailable
from graphmem.settings import Secret
from graphmem.statements import Statement
from graphmem.stores.neo4j.session import Connection, folder, named, translated

EXTRA_LINE = "pip install 'graphmem[neo4j]'"
SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
_OLDEST = (5, 26)
_FILTERS_SINCE = (2026, 2)
_INDEX_SECONDS = 300
_POOL, _CONNECT_SECONDS = 100, 15.0


class Network(TypedDict, total=False):
    """How the server is reached; what is left out or None has its default.

    `ca` is a file of certificates in PEM that are trusted instead of the system's, `pool` the connections that a handle may
    have at once, `connect_timeout` the seconds until a server counts as not reached and that a free connection is waited for.
    """

    ca: str | Path | None
    pool: int | None
    connect_timeout: float | None


def connect(uri: str, auth: tuple[str, str | Secret] | None, database: str | None, network: Network | None = None) -> Connection:
    """A driver for the address, not used yet."""
    network = network or {}
    if find_spec("neo4j") is None:
        raise MissingExtra(f"a memory in Neo4j needs its driver: {EXTRA_LINE}")
    parts = urlsplit(uri)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise InvalidInput("where", _shown(uri), f"must be an address like neo4j://localhost:7687, with one of {', '.join(SCHEMES)}")
    if "@" in uri:  # also where a password that holds a slash ends what is read as the host
        raise InvalidInput(
            "where",
            _shown(uri),
            "must not hold a user or a password; pass auth=(user, password), or set GRAPHMEM_NEO4J_USER and GRAPHMEM_NEO4J_PASSWORD",
        )
    from neo4j import GraphDatabase

    where = f"{parts.scheme}://{parts.netloc}" + (f" database {database!r}" if database else "")
    given = None if auth is None else (auth[0], auth[1].reveal() if isinstance(auth[1], Secret) else auth[1])
    with translated(where):
        address, trust = _trusting(uri, network.get("ca"))
        seconds = network.get("connect_timeout") or _CONNECT_SECONDS
        driver = GraphDatabase.driver(
            address,
            auth=given,
            user_agent="graphmem",
            max_connection_pool_size=network.get("pool") or _POOL,
            connection_timeout=seconds,
            connection_acquisition_timeout=2 * seconds,  # also holds the time to reach the server and to be let in
            notifications_min_severity="OFF",
            warn_notification_severity=None,
            max_connection_lifetime=600,
            **trust,
        )
    return Connection(driver, database, where)


def _trusting(uri: str, ca: str | Path | None) -> tuple[str, dict[str, Any]]:
    """The address and the driver's settings with which only these certificates are trusted."""
    if ca is None:
        return uri, {}
    from neo4j import TrustCustomCAs

    scheme, _, rest = uri.partition("://")
    if not scheme.endswith("+s"):
        raise InvalidInput("ca", str(ca), f"is for an address like neo4j+s:// or bolt+s://, and this is {scheme}://")
    if not Path(ca).is_file():
        raise InvalidInput("ca", str(ca), "must be a file of certificates in PEM, and there is none")
    return f"{scheme.removesuffix('+s')}://{rest}", {"encrypted": True, "trusted_certificates": TrustCustomCAs(str(ca))}


def prepare(connection: Connection) -> bool:
    """Check the server, make or migrate the schema; whether its vector indexes filter.

    Raises `StoreUnavailable` or `SchemaTooNew`.
    """
    known = named()
    found = connection.rows(known["server"], {})
    version = _version(found[0]["version"]) if found else (0, 0)
    if version < _OLDEST:
        raise StoreUnavailable(
            f"{connection.where}: Neo4j {found[0]['version'] if found else '?'} is too old; graphmem needs 5.26 or newer"
        )
    filtered = version >= _FILTERS_SINCE
    kept = connection.rows(known["schema_version"], {})[0]
    have, newest = kept["version"] or 0, max(migrations())
    if have > newest:
        raise SchemaTooNew(f"{connection.where}: has schema {have}, this graphmem knows up to {newest}; install a newer graphmem")
    if have == newest and kept["filtered"] == filtered:
        return filtered
    steps = [statement for number, step in migrations().items() if number > have for statement in step.values()]
    if have and kept["filtered"] != filtered:  # the server is of another version than the one that made the indexes
        steps += schema("vectors_dropped").values()
    if have < newest or kept["filtered"] != filtered:
        steps += schema("vectors_filtered" if filtered else "vectors_plain").values()
    if have:
        connection.rows(known["one_store"], {})
    for statement in steps:
        connection.make(statement)
    connection.rows(known["await_indexes"], {"seconds": _INDEX_SECONDS})
    connection.rows(known["keep_schema_version"], {"version": newest, "filtered": filtered})
    return filtered


def migrations() -> dict[int, Mapping[str, Statement]]:
    """The schema's steps by version: the statements of `schema/NNNN_name.cypher`. Each can be done again."""
    steps = {
        int(f.name.partition("_")[0]): statements.load([f])
        for f in (folder() / "schema").iterdir()
        if f.name.endswith(".cypher") and f.name[:4].isdigit()
    }
    return dict(sorted(steps.items()))


def schema(name: str) -> dict[str, Statement]:
    """The statements of a file of the schema that is no step of it."""
    return statements.load([folder() / "schema" / f"{name}.cypher"])


def _version(told: str) -> tuple[int, int]:
    major, _, rest = told.partition(".")
    minor = rest.partition(".")[0].partition("-")[0]
    return (int(major) if major.isdigit() else 0, int(minor) if minor.isdigit() else 0)


def _shown(uri: str) -> str:
    """The address without what may be a password."""
    before, _, rest = uri.rpartition("@")
    scheme, slashes, _ = before.partition("://")
    return f"{scheme}{slashes}{rest}" if slashes else rest
