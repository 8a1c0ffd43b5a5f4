"""A name for the code behind a result: two are equal only where every module that may run is the same.

The modules are found by following the imports of the sources, those within functions too, so nobody keeps a list of
them. What changes no result does not change the name: docstrings, comments, layout, imports for type checkers only;
what is said to whom (the texts of errors and assertions, and what builds them; log lines); the modules that only
refuse; and the fields and checks of settings (see `is_settings`), whose values a caller adds for itself.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

#: Top-level package -> the folder that it lies in.
Homes = Mapping[str, Path]
LIBRARY: Homes = {"quartet": Path(__file__).resolve().parents[1]}
#: What only refuses what users give, and says so: whatever passes is as it was.
REFUSING = ("quartet.errors", "quartet.arguments", "quartet.paths", "quartet.user_files")

#: Threads parse one after another, as CPython 3.11 needs (SystemError: AST constructor recursion depth mismatch), and
#: wait for a name that one of them computes.
_ONE_THREAD = RLock()

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


def fingerprint(
    *modules: str, without: Collection[str] = (), homes: Homes = LIBRARY, defaults: bool = False
) -> str:
    """A name for all code that the modules may run, themselves included.

    >>> fingerprint("quartet.errors") == fingerprint("quartet.errors", "quartet.errors")
    True

    Args:
        modules: dotted names, of what does the work.
        without: modules that are neither counted nor followed, and packages none of whose modules is.
        defaults: the fields of settings count too, for what fills them in.

    Raises:
        ValueError: there is no such module.
    """
    starts = []
    for name in modules:
        path = module_file(name, homes)
        if path is None:
            raise ValueError(f"{name} is no module of {', '.join(homes)}")
        starts.append(path)
    with _ONE_THREAD:
        return _fingerprint(tuple(starts), frozenset(without), tuple(homes.items()), defaults)


@cache
def _fingerprint(
    starts: tuple[Path, ...],
    without: frozenset[str],
    homes: tuple[tuple[str, Path], ...],
    defaults: bool,
) -> str:
    own = dict(homes)
    found = closure(starts, {*without, *REFUSING}, own)
    parts = {}
    for path, whole in found.items():
        if digest := _digest(path, whole, is_settings(path, own) and not defaults):
            parts[module_name(path, own)] = digest
    for file in _data_files([path for path, whole in found.items() if whole], own):
        home = next(home for home in own.values() if file.is_relative_to(home))
        parts[file.relative_to(home).as_posix()] = hashlib.sha256(file.read_bytes()).hexdigest()
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(parts.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


# ---------------------------------------------------------------------- which modules


def module_file(name: str, homes: Homes = LIBRARY) -> Path | None:
    """The file of a module of these packages; None for other people's modules and for names that are no module."""
    home = homes.get(name.split(".")[0])
    if home is None:
        return None
    return _module_file(name, home)


@cache
def _module_file(name: str, home: Path) -> Path | None:
    base = home.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


def module_name(path: Path, homes: Homes = LIBRARY) -> str:
    """The dotted name of a file; its stem for a file outside of these packages."""
    return _module_name(path, tuple(homes.items()))


@cache
def _module_name(path: Path, homes: tuple[tuple[str, Path], ...]) -> str:
    for package, home in homes:
        if path.is_relative_to(home / package):
            parts = path.relative_to(home).with_suffix("").parts
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return path.stem


def imports(path: Path, inside_functions: bool = True, homes: Homes = LIBRARY) -> frozenset[str]:
    """The dotted names of the modules that a file imports, ours and others', without those for type checkers only."""
    names = set()
    for node in _imports(path, inside_functions):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            origin = _origin(path, node, homes)
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                names.add(inner if module_file(inner, homes) else origin)
    return frozenset(names)


def closure(
    starts: Iterable[Path],
    without: Collection[str] = (),
    homes: Homes = LIBRARY,
    inside_functions: bool = True,
) -> dict[Path, bool]:
    """Every file that running `starts` may import, themselves included, and whether all of it may run.

    A package's __init__ runs when a module inside it is imported: the imports at its top count, those in its
    functions do not, unless the package is imported for itself. The top-level ones are the entrance for those who come
    from outside, and are left out.

    Args:
        without: dotted names of modules that are neither listed nor followed, and of packages of them.
    """
    found: dict[Path, bool] = {}
    pending = [(path, True) for path in starts]
    while pending:
        path, whole = pending.pop()
        if path in found and found[path] >= whole:
            continue
        found[path] = whole
        for name in imports(path, inside_functions and whole, homes):
            parts = name.split(".")
            for length in range(2, len(parts) + 1):
                part = ".".join(parts[:length])
                file = module_file(part, homes)
                if file is not None and not any(f"{part}.".startswith(f"{other}.") for other in without):
                    pending.append((file, length == len(parts)))
    return found


@cache
def _tree(path: Path) -> ast.Module:
    text = path.read_text(encoding="utf-8")
    with _ONE_THREAD:
        return ast.parse(text, str(path))


@cache
def _imports(path: Path, inside_functions: bool) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(_import_statements(_tree(path).body, inside_functions))


def _import_statements(
    body: Iterable[ast.AST], inside_functions: bool
) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and _for_type_checkers(node):
            yield from _import_statements(node.orelse, inside_functions)
        elif inside_functions or not isinstance(node, Function):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from _import_statements(getattr(node, field, ()), inside_functions)


def _for_type_checkers(node: ast.If) -> bool:
    test = node.test
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _origin(path: Path, node: ast.ImportFrom, homes: Homes) -> str:
    """What a ``from`` imports from, a relative one too."""
    if not node.level:
        return node.module or ""
    package = module_name(path, homes).split(".")
    package = package[: len(package) - node.level + (path.name == "__init__.py")]
    return ".".join([*package, *filter(None, [node.module])])


#: Data files that one package reads wherever they lie: an edit of what the report says of a task repeats no task.
READ_BY = {"report.yaml": "quartet.report"}


def _data_files(modules: Collection[Path], homes: Homes) -> set[Path]:
    """What lies beside modules and is no module: tables, templates, styles; in folders too that are no packages."""
    found: set[Path] = set()
    pending = list({path.parent for path in modules})
    while pending:
        for path in pending.pop().iterdir():
            if path.name.startswith((".", "__pycache__")) or path.name.endswith("~"):
                continue
            if path.is_dir():
                if not any(path.glob("*.py")):
                    pending.append(path)
            elif path.suffix not in (".py", ".pyc") and path.name not in READ_BY:
                found.add(path)
    packages = {module_name(path.parent / "__init__.py", homes) for path in modules}
    for name, reader in READ_BY.items():
        if reader in packages:
            found |= {path for package, home in homes.items() for path in (home / package).rglob(name)}
    return found


# ---------------------------------------------------------------------- what of a module counts


def is_settings(path: Path, homes: Homes = LIBRARY) -> bool:
    """Whether the classes of a module are settings: their fields get their values from a file that is complete."""
    return not {"config", "params"}.isdisjoint(module_name(path, homes).split("."))


@cache
def _digest(path: Path, whole: bool, settings: bool) -> str:
    """A hash of what counts of a module; empty where nothing does.

    Args:
        settings: neither fields nor checks count, as of modules of settings.
    """
    body = [node for node in _what_counts(_tree(path).body) if whole or not _passed_by(node)]
    body = [node for node in body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    text = "\n".join(_dump_all(body, settings))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else ""


def _passed_by(node: ast.stmt) -> bool:
    """Of a package on the way to a module in it: what only those use who import the package itself."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) and target.id.startswith("__") for target in node.targets)
    return isinstance(node, Definition)


def _what_counts(nodes: Sequence[Any]) -> Iterator[Any]:
    """Those of a list that may change a result: no texts that stand alone, nothing for type checkers or readers only.

    Names that are given values right before a ``raise``, with nothing between, are for what it says.
    """
    last = len(nodes) - 1
    if nodes and isinstance(nodes[-1], ast.Raise):
        while last and _names_something(nodes[last - 1]):
            last -= 1
        nodes = [*nodes[:last], nodes[-1]]
    for node in nodes:
        if isinstance(node, ast.If) and _for_type_checkers(node):
            yield from _what_counts(node.orelse)
        elif not _says(node):
            yield node


def _names_something(node: ast.AST) -> bool:
    """Whether a statement gives values to names, and to nothing else."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name)


def _says(node: ast.AST) -> bool:
    """Whether a statement is a text alone, as docstrings are, or a call of what only tells a reader something."""
    value = node.value if isinstance(node, ast.Expr) else None
    if isinstance(value, ast.Call):
        called = value.func
        if isinstance(called, ast.Attribute):
            owner = called.value.id.strip("_").lower() if isinstance(called.value, ast.Name) else ""
            return called.attr == "say" or (owner in LOGGERS and called.attr in LOG_CALLS)
        return isinstance(called, ast.Name) and called.id == "say"
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


#: A logger's names in lower case, without underlines, and its methods.
LOGGERS = frozenset({"log", "logger", "warnings"})
LOG_CALLS = frozenset({"debug", "info", "warning", "error", "exception", "warn"})


def _dump_all(nodes: Iterable[ast.AST], settings: bool) -> list[str]:
    """What counts of the definitions of a module, or of a class of settings: no private one that nothing else uses."""
    parts = [(_private_name(node), _dump(node, settings)) for node in nodes]
    while True:
        kept = [
            (name, text)
            for name, text in parts
            if name is None or any(f"='{name}'" in other for one, other in parts if one != name)
        ]
        if len(kept) == len(parts):
            return [text for _, text in kept]
        parts = kept


def _private_name(node: ast.AST) -> str | None:
    """The name of a definition that no other module uses; None for all else."""
    name = None
    if isinstance(node, Definition) and not node.decorator_list:
        name = node.name
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
    return name if name is not None and name.startswith("_") and not name.endswith("__") else None


def _dump(node: object, settings: bool) -> str:
    """What counts of a node as text, the same in every Python: fields that hold nothing are left out."""
    if isinstance(node, list):
        return f"[{', '.join([_dump(part, settings) for part in _what_counts(node)])}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if settings and isinstance(node, ast.ClassDef) and _is_dataclass(node):
        return _dump_settings(node)
    if isinstance(node, ast.Raise):
        return f"Raise({_dump(node.exc, settings)})"
    if isinstance(node, ast.Call) and _name(node.func).endswith("Error"):
        return f"Call({_name(node.func)})"
    fields = []
    for name in node._fields:
        value = getattr(node, name, None)
        if name == "values" and isinstance(node, ast.JoinedStr):
            # some versions of Python 3.12 have empty texts between the others
            value = [
                part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")
            ]
        # a place says whether it is read or written; an assertion may have a text
        if value is not None and value != [] and name not in ("ctx", "msg"):
            fields.append(f"{name}={_dump(value, settings)}")
    return f"{type(node).__name__}({', '.join(fields)})"


def _dump_settings(node: ast.ClassDef) -> str:
    """What counts of a class of settings: what is computed from its fields."""
    body = [
        part
        for part in _what_counts(node.body)
        if not isinstance(part, ast.AnnAssign) and getattr(part, "name", "") != "__post_init__"
    ]
    bases = ", ".join(_dump(base, True) for base in node.bases)
    return f"ClassDef({node.name}, [{bases}], [{', '.join(_dump_all(body, True))}])"


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any(
        "dataclass" in _name(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list
    )


def _name(node: ast.expr) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))
