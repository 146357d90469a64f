"""The page of the public interface, made from the code: `python tests/system/api_page.py` writes docs/api.md."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
HEAD = """# Public interface

Every public name with its parameters and what it gives. What begins with an underscore, and what is not here, may change.
Everything is typed: the package carries `py.typed`.
"""
SECTIONS: dict[str, tuple[str, ...]] = {
    "Opening": (
        "graphmem:open",
        "graphmem:reembed",
        "graphmem.ingest.reembed:Reembedded",
        "graphmem:copy",
        "graphmem.ingest.copying:Copied",
    ),
    "Memory": ("graphmem:Memory",),
    "Reading at a point in time": ("graphmem:View", "graphmem:EntityView", "graphmem:Filters"),
    "What comes back": (
        "graphmem.results:WriteResult",
        "graphmem.results:Listing",
        "graphmem.results:FactItem",
        "graphmem.results:EntityItem",
        "graphmem.results:EpisodeItem",
        "graphmem.results:TimelineEntry",
        "graphmem.results:Duplicate",
        "graphmem.results:Hits",
        "graphmem.results:Hit",
        "graphmem.history.lines:Diff",
        "graphmem.history.lines:Line",
        "graphmem.history.lines:Cause",
        "graphmem.history.audit:Why",
        "graphmem.history.audit:Evidence",
        "graphmem.history.audit:History",
        "graphmem.history.audit:Entry",
        "graphmem.history.replaying:Replayed",
        "graphmem.search.context:Context",
        "graphmem.search.explained:Explanation",
        "graphmem.search.explained:WhyNot",
        "graphmem.search.explained:Obstacle",
        "graphmem.model:Usage",
        "graphmem.model:Change",
        "graphmem.model:Warn",
    ),
    "Asynchronous": ("graphmem:AsyncMemory", "graphmem.aio:AsyncView", "graphmem.aio:AsyncEntityView"),
    "Ontology": ("graphmem:Ontology", "graphmem:Relation", "graphmem:EntityType", "graphmem:Attribute"),
    "Language models": (
        "graphmem.llm.base:LanguageModel",
        "graphmem.llm.base:Ask",
        "graphmem.llm.base:Answer",
        "graphmem.llm.endpoint:EndpointModel",
        "graphmem.llm.recorded:RecordedModel",
    ),
    "Embedders": (
        "graphmem.embed.base:Embedder",
        "graphmem.embed.onnx:LocalEmbedder",
        "graphmem.embed.endpoint:EndpointEmbedder",
        "graphmem.embed.sentence_transformers:SentenceTransformerEmbedder",
    ),
    "Rerankers": (
        "graphmem.rerank:Reranker",
        "graphmem.rerank:Asked",
        "graphmem.rerank:MMR",
        "graphmem.rerank:NodeDistance",
        "graphmem.rerank:EpisodeMentions",
        "graphmem.rerank:CrossEncoder",
        "graphmem.rerank:EndpointReranker",
    ),
    "For tests": (
        "graphmem.testing:ScriptedModel",
        "graphmem.testing:FixedClock",
        "graphmem.embed.hashing:HashingEmbedder",
        "graphmem.testing.endpoint:ScriptedEndpoint",
    ),
}

# Their methods are those of `Memory`, `View` and `EntityView`, awaited.
MIRRORS = ("graphmem:AsyncMemory", "graphmem.aio:AsyncView", "graphmem.aio:AsyncEntityView")


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in names:
            parts += _described(name)
    return "\n".join(parts)


def _described(name: str) -> Iterator[str]:
    module, _, path = name.partition(":")
    thing: Any = import_module(module)
    for part in path.split("."):
        thing = getattr(thing, part)
    shown = f"graphmem.{path}" if module == "graphmem" else f"{module}.{path}"
    if not inspect.isclass(thing):
        yield f"### `{shown}`\n\n```py\n{_signature(path.rpartition('.')[2], thing)}\n```\n\n{_said(thing)}\n"
        return
    bare = getattr(thing, "_is_protocol", False) or thing.__name__ in ("Memory", "View", "EntityView")
    made = "" if bare else f"```py\n{_signature(thing.__name__, thing)}\n```\n\n"
    yield f"### `{shown}`\n\n{made}{_said(thing)}\n"
    if name in MIRRORS:
        return
    for member, value in _members(thing):
        if isinstance(value, property):
            yield f"- **`{member}`**{_line(value)}"
        else:
            function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
            yield f"\n#### `{member}`\n\n```py\n{_signature(member, function)}\n```\n\n{_said(function)}\n"


def _members(thing: type) -> list[tuple[str, Any]]:
    """Public methods and properties, in the order of the code, inherited ones of our own after them."""
    seen: dict[str, Any] = {}
    for base in thing.__mro__:
        if base.__module__.startswith("graphmem"):
            for name, value in vars(base).items():
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | staticmethod | classmethod)):
                    seen.setdefault(name, value)
    return list(seen.items())


def _signature(name: str, thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    rows, star = [], False
    for p in signature.parameters.values():
        if p.name in ("self", "cls") or p.name.startswith("_"):
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            rows.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        annotated = "" if p.annotation is p.empty else f": {_named(p.annotation)}"
        rows.append(f"{prefix}{p.name}{annotated}" + ("" if p.default is p.empty else f" = {_default(p.default)}"))
    returns = "" if signature.return_annotation in (signature.empty, None, "None") and name[:1].isupper() else _returns(signature)
    line = f"{name}({', '.join(rows)}){returns}"
    return line if len(line) <= 110 else f"{name}(\n" + "".join(f"    {row},\n" for row in rows) + f"){returns}"


def _returns(signature: inspect.Signature) -> str:
    return "" if signature.return_annotation is signature.empty else f" -> {_named(signature.return_annotation)}"


def _named(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _default(value: object) -> str:
    shown = repr(value)
    return "…" if shown.startswith("<") or " object at 0x" in shown else shown


def _said(thing: Any) -> str:
    """The docstring, its example as a block."""
    said = inspect.cleandoc(inspect.getdoc(thing) or "")
    text, example = [], []
    for line in said.splitlines():
        (example if example or line.startswith(">>>") else text).append(line)
    shown = "\n".join(text).strip()
    if example:
        shown += "\n\n```pycon\n" + "\n".join(example).strip() + "\n```"
    return textwrap.dedent(shown)


def _line(thing: property) -> str:
    said = inspect.getdoc(thing)
    return f": {' '.join(said.split())}" if said else ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
