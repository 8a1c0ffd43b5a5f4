"""What a module of this repository imports, read from the sources: nothing is run."""

from __future__ import annotations

from pathlib import Path

from pipeline.code import HOMES
from quartet import code

ROOT = Path(__file__).resolve().parents[1]


def module_file(name: str) -> Path | None:
    """The file of a module of ours; None for other people's modules and for names that are no module."""
    return code.module_file(name, HOMES)


def imports(path: Path, inside_functions: bool = True) -> set[str]:
    """The dotted names of the modules that a file imports, ours and others', without those for type checkers only."""
    return set(code.imports(path, inside_functions, HOMES))


def closure(start: Path, inside_functions: bool = True) -> dict[Path, set[str]]:
    """Every file of ours that running `start` may import, itself included, with the modules that each imports."""
    found = code.closure([start], homes=HOMES, inside_functions=inside_functions)
    return {path: imports(path, inside_functions and whole) for path, whole in found.items()}
