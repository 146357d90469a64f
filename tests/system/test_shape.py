"""The shape of the code: how long things may be, what is public, which way imports run, what the wheel holds."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

import graphmem

ROOT = Path(graphmem.__file__).parents[1]
PACKAGE = ROOT / "graphmem"
MODULE_LINES, FUNCTION_LINES, PARAMETERS = 500, 60, 8

# What is longer than it should be, with the length it has: an entry may shrink or go, never grow or come.
LONG_MODULES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}
MANY_PARAMETERS: dict[str, int] = {
    "graphmem.contexts.Contexts.context": 9,
    "graphmem.testing.samples.record": 9,
    "graphmem.view.View.episodes": 9,
    "graphmem.view.View.search": 9,
}

PUBLIC = {
    "graphmem": {
        "AsyncMemory", "Attribute", "EntityType", "EntityView", "Filters", "GraphmemError", "Memory", "Ontology", "Relation", "View",
        "__version__", "copy", "open", "reembed",
    },
    "graphmem.testing": {
        "ONTOLOGY", "FixedClock", "Oracle", "ScriptedModel", "Story", "ended", "fact", "never", "random_history", "rows_of", "stories",
        "unit",
    },
    "graphmem.importers": {"FORMATS", "Item", "Options", "Reading", "find", "in_order_of_time", "read"},
}  # fmt: skip


def sources() -> list[tuple[str, Path]]:
    """Module names and files of the package."""
    return [(str(p.relative_to(ROOT).with_suffix("")).replace(os.sep, "."), p) for p in sorted(PACKAGE.rglob("*.py"))]


def functions(tree: ast.AST, inside: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function with its dotted name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{inside}.{node.name}", node
            yield from functions(node, f"{inside}.{node.name}")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{inside}.{node.name}")


def over(measured: dict[str, int], limit: int) -> dict[str, int]:
    """What is over the limit."""
    return {name: size for name, size in measured.items() if size > limit}


def test_modules_are_of_a_size_to_read_in_one_go() -> None:
    """At most 500 lines."""
    assert over({name: len(path.read_text("utf-8").splitlines()) for name, path in sources()}, MODULE_LINES) == LONG_MODULES


def test_functions_fit_on_a_screen() -> None:
    """At most 60 lines of code, docstrings apart."""
    sizes = {}
    for module, path in sources():
        for name, node in functions(ast.parse(path.read_text("utf-8")), module):
            first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
            sizes[name] = (node.end_lineno or 0) - first.lineno + 1
    assert over(sizes, FUNCTION_LINES) == LONG_FUNCTIONS


def test_functions_take_few_parameters() -> None:
    """At most 8, `self` and `cls` apart; commands of the command line have an option each and do not count."""
    counts = {}
    for module, path in sources():
        if module.startswith("graphmem.cli."):
            continue
        for name, node in functions(ast.parse(path.read_text("utf-8")), module):
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            counts[name] = len([n for n in names if n not in ("self", "cls")])
    assert over(counts, PARAMETERS) == MANY_PARAMETERS


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_names_are_those_that_were_agreed(name: str) -> None:
    """What `__all__` says is there, and a name more or less is a decision."""
    module = importlib.import_module(name)
    assert set(module.__all__) == PUBLIC[name]
    assert all(getattr(module, public) is not None for public in module.__all__)


def test_every_public_method_says_what_it_gives() -> None:
    """Memory, View, EntityView and everything in `__all__` have docstrings."""
    missing = []
    for public in graphmem.__all__:
        thing = getattr(graphmem, public)
        for name, member in (
            [(public, thing), *((f"{public}.{n}", m) for n, m in vars(thing).items() if not n.startswith("_"))]
            if isinstance(thing, type)
            else []
        ):
            target = member.fget if isinstance(member, property) else member
            if (
                callable(target)
                and name.split(".")[-1] not in ("id", "name", "type", "aliases", "attributes", "to_dict")
                and not target.__doc__
            ):
                missing.append(name)
    assert missing == []


def test_importing_each_module_alone_works() -> None:
    """No module leans on another one having been imported before it: what is imported on importing makes no circle."""
    names = {m.name for m in pkgutil.walk_packages(graphmem.__path__, "graphmem.") if m.name != "graphmem.cli.__main__"} | {"graphmem"}
    program = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", program, *sorted(names)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    graph = networkx.DiGraph()
    for module, path in sources():
        name = module.removesuffix(".__init__")
        for target in imported_at_once(ast.parse(path.read_text("utf-8"))):
            while target not in names and "." in target:  # a name that a module holds
                target = target.rpartition(".")[0]
            while target in names and target != name and not name.startswith(f"{target}."):
                graph.add_edge(name, target)  # a package runs before what is in it
                target = target.rpartition(".")[0]
    assert graph.number_of_edges() > len(names)
    assert list(networkx.simple_cycles(graph)) == []


def imported_at_once(tree: ast.AST) -> Iterator[str]:
    """What is imported when a module is, by its full name: not what only functions or type checkers import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            yield from imported_at_once(node)


def test_imports_run_one_way() -> None:
    """The contracts of pyproject.toml."""
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_statements_live_in_statement_files() -> None:
    """No SQL in Python beyond what opens a database: every statement is named, and every file of them ships."""
    found = []
    for module, path in sources():
        if module == "graphmem.stores.sqlite.connect":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH)\s", node.value)
            ):
                found.append(f"{module}:{node.lineno}")
    assert found == []
    assert list((PACKAGE / "stores" / "sql").glob("*.sql"))


def test_only_settings_reads_the_environment_and_only_the_clock_reads_the_time() -> None:
    """One reader of each; ids are never random."""
    words = re.compile(
        r"os\.environ|os\.getenv|getenv\(|datetime\.now|utcnow|time\.time\(|uuid4|uuid1\(|random\.random|getpass|gethostname"
    )
    found = {module for module, path in sources() if words.search(re.sub(r'"""(?s:.*?)"""', "", path.read_text("utf-8")))}
    assert found <= {"graphmem.settings", "graphmem.runtime"}


@pytest.mark.slow
def test_the_wheel_holds_what_the_package_needs(tmp_path: Path) -> None:
    """Statements, samples, weights and the marker for type checkers; no tests, no benchmarks."""
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--quiet", "--wheel-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if built.returncode != 0 and "hatchling" in built.stderr and not os.environ.get("CI"):
        pytest.skip("hatchling cannot be had here")
    assert built.returncode == 0, built.stderr[-2000:]
    [wheel] = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {str(p.relative_to(ROOT)) for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert wanted <= held
    assert "graphmem/py.typed" in held
    assert any(n.startswith("graphmem/stores/sql/") for n in held)
    assert {n.split("/")[0] for n in held} == {"graphmem", f"graphmem-{graphmem.__version__}.dist-info"}


def test_no_two_files_of_tests_have_one_name() -> None:
    """Their folders are no packages: pytest would collect only the first."""
    names = [p.name for p in (ROOT / "tests").rglob("test_*.py")]
    assert [n for n in sorted(set(names)) if names.count(n) > 1] == []
