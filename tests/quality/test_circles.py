# SPDX-License-Identifier: Apache-2.0
"""No file depends on itself through the imports of Python or the includes of C++."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("generator", "cuda", "halfwarp", "benchmarks", "build_support")
# Imports that close a circle on purpose, each with the reason.
ALLOWED: dict[tuple[str, str], str] = {}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return each set of names that reach each other, sorted; by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    components = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for other in sorted(edges.get(name, ())):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == order[name]:
            members = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(members) > 1 or name in edges.get(name, ()):
                components.append(sorted(members))

    for name in sorted(edges):
        if name not in order:
            visit(name)
    return components


def module_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, tree: ast.AST) -> Iterator[str]:
    """Return the dotted names that a module imports anywhere in it: `from a import b` is `a.b`."""
    package = path.parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def python_edges(root: Path, paths: list[Path]) -> dict[str, set[str]]:
    """Map each module to the modules of the tree that it imports.

    A package that contains the importing module is loaded already, so naming it closes no
    circle.
    """
    modules = {module_of(path): path for path in paths}
    edges = {}
    for module, path in modules.items():
        targets = set()
        for name in imports(path, ast.parse((root / path).read_text())):
            target = name if name in modules else name.rpartition(".")[0]
            if target in modules and target != module and not module.startswith(f"{target}."):
                targets.add(target)
        edges[module] = targets
    return edges


def include_edges(root: Path, paths: list[Path]) -> dict[str, set[str]]:
    names = {path.relative_to("cpp").as_posix(): path for path in paths}
    return {
        name: {
            i
            for i in re.findall(r'^#include "([^"]+)"', (root / path).read_text(), re.M)
            if i in names
        }
        for name, path in names.items()
    }


def test_a_circle_is_found():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "d"}, "e": {"f"}, "f": set()}
    assert circles(edges) == [["a", "b", "c"], ["d"]]


def test_imports_are_read_in_all_their_forms(tmp_path):
    text = "import a.b\nfrom . import x\nfrom ..c import y\ndef f():\n    from p.q import z\n"
    names = sorted(imports(Path("p/r/s.py"), ast.parse(text)))
    assert names == ["a.b", "p.c.y", "p.q.z", "p.r.x"]


def test_no_module_imports_itself_indirectly(root, tracked):
    paths = [p for p in tracked if p.suffix == ".py" and p.parts[0] in FOLDERS]
    assert {p.parts[0] for p in paths} == set(FOLDERS)
    edges = python_edges(root, paths)
    for module, target in ALLOWED:
        assert target in edges[module], "no longer needed"
        edges[module].discard(target)
    assert circles(edges) == []


def test_no_header_includes_itself_indirectly(root, tracked):
    paths = [p for p in tracked if p.parts[0] == "cpp" and p.suffix in (".hpp", ".h", ".cpp")]
    assert len(paths) > 100
    assert circles(include_edges(root, paths)) == []
