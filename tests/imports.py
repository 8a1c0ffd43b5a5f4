"""What a module of this repository imports, read from the sources: nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Package -> the folder that holds it.
HOMES = {"quartet": ROOT / "src", "pipeline": ROOT, "stages": ROOT}


def module_file(name: str) -> Path | None:
    """The file of a module of ours; None for other people's modules and for names that are no module."""
    home = HOMES.get(name.split(".")[0])
    if home is None:
        return None
    base = home.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _type_checking(node: ast.If) -> bool:
    test = node.test
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _statements(body: list[ast.stmt], inside_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and _type_checking(node):
            yield from _statements(node.orelse, inside_functions)
        elif inside_functions or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody", "handlers"):
                inner = getattr(node, field, [])
                for part in inner:
                    yield from _statements(
                        part.body if isinstance(part, ast.ExceptHandler) else [part], inside_functions
                    )


def imports(path: Path, inside_functions: bool = True) -> set[str]:
    """The dotted names of the modules that a file imports, ours and others', without those for type checkers only."""
    names: set[str] = set()
    for node in _statements(_tree(path).body, inside_functions):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            assert node.level == 0 and node.module, f"{path}: relative imports hide where they go"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if module_file(inner) else node.module)
    return names


def closure(
    start: Path, stop: frozenset[Path] = frozenset(), inside_functions: bool = True
) -> dict[Path, set[str]]:
    """Every file of ours that running `start` may import, itself included, with the modules that each imports.

    A package's __init__ runs when a module inside it is imported: the imports at its top count, those in its
    functions do not, unless the package is imported for itself. Files in `stop` are neither listed nor followed.
    """
    found: dict[Path, set[str]] = {}
    pending = [(start, inside_functions)]
    while pending:
        path, whole = pending.pop()
        names = imports(path, whole)
        if path in stop or (path in found and names <= found[path]):
            continue
        found.setdefault(path, set()).update(names)
        for name in names:
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                file = module_file(".".join(parts[:length]))
                if file is not None:
                    pending.append((file, inside_functions and length == len(parts)))
    return found
