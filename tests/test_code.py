"""The name of the code behind a result, by sources written for it and by the project's own."""

from __future__ import annotations

import ast
import dataclasses
import os
import subprocess
import sys
import threading
import types
import typing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pipeline.code
from pipeline.code import AROUND, HOMES, READING, check, digests, forget, write
from pipeline.params import Params
from pipeline.tracking.stage import same_code
from quartet import code
from quartet.errors import InputError
from quartet.files import read_json
from tests.imports import ROOT

#: Module -> source of a package `quartet` of which `quartet.work` is asked for.
SOURCES = {
    "quartet/__init__.py": "from quartet.entrance import load\n",
    "quartet/entrance.py": "load = 1\n",
    "quartet/work.py": (
        '"""Works."""\nfrom typing import TYPE_CHECKING\nfrom quartet.rooms import table\n'
        "if TYPE_CHECKING:\n    from quartet import hints\n"
        "def work():\n    from quartet.late import value\n    return value\n"
    ),
    "quartet/hints.py": "a = 1\n",
    "quartet/late.py": "from quartet.rooms.config import Settings\nvalue = 2\n",
    "quartet/rooms/__init__.py": "from quartet.rooms import registry\ndef unused():\n    import quartet.idle\n",
    "quartet/rooms/registry.py": "names = {}\n",
    "quartet/rooms/table.py": "from .beside import more\ntable = 3\n",
    "quartet/rooms/beside.py": "more = 4\n",
    "quartet/rooms/data/words.yaml": "a: 1\n",
    "quartet/rooms/config.py": (
        "from dataclasses import dataclass\n@dataclass\nclass Settings:\n"
        '    """What is set."""\n    rate: float = 0.1\n    def half(self):\n        return self.rate / 2\n'
    ),
    "quartet/idle.py": "b = 5\n",
    "quartet/rooms/report.yaml": "title: A\n",
    "quartet/report/__init__.py": "",
    "quartet/report/spec.py": "c = 6\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    yield tmp_path
    forget()


def name(package: Path) -> str:
    forget()
    return code.fingerprint("quartet.work", homes={"quartet": package})


def edited(package: Path, module: str, old: str, new: str) -> bool:
    """Whether the name is another after an edit, which is taken back."""
    before, path = name(package), package / module
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    after = name(package)
    path.write_text(text)
    assert name(package) == before
    return after != before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("quartet/work.py", "return value", "return -value"),
        ("quartet/late.py", "2", "3"),
        ("quartet/rooms/registry.py", "{}", "{1: 2}"),
        ("quartet/rooms/table.py", "3", "4"),
        ("quartet/rooms/beside.py", "4", "5"),
        ("quartet/rooms/data/words.yaml", "1", "2"),
        ("quartet/rooms/config.py", "/ 2", "/ 3"),
    ],
)
def test_an_edit_of_what_may_run_changes_the_name(package: Path, module: str, old: str, new: str) -> None:
    assert edited(package, module, old, new)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("quartet/work.py", "Works.", "Works well."),
        ("quartet/work.py", "\ndef work", "\n# A comment.\n\n\ndef work"),
        ("quartet/work.py", "quartet import hints", "quartet import hints, idle"),
        ("quartet/hints.py", "1", "2"),
        ("quartet/idle.py", "5", "6"),
        ("quartet/entrance.py", "1", "2"),
        ("quartet/rooms/__init__.py", "quartet.idle", "quartet.other"),
        ("quartet/rooms/config.py", "What is set.", "What is set here."),
        ("quartet/rooms/config.py", "0.1", "0.2"),
        ("quartet/rooms/config.py", "    rate", "    size: int = 1\n    rate"),
    ],
)
def test_an_edit_of_anything_else_does_not(package: Path, module: str, old: str, new: str) -> None:
    assert not edited(package, module, old, new)


#: Code and an edit of it that changes only what somebody is told.
TOLD = {
    "an error's text": ("raise ValueError('old')", "raise ValueError('new', 1)"),
    "an error that is returned": ("e = KeyError('old')", "e = KeyError('new')"),
    "what builds an error's text": (
        "if size:\n        t = 'old'\n        raise ValueError(t)",
        "if size:\n        t = 'new'\n        t += '!'\n        raise ValueError(t)",
    ),
    "what an error is raised from": ("raise ValueError", "raise ValueError from None"),
    "an assertion's text": ("assert size, 'old'", "assert size"),
    "a log line": ("logger.warning('old %s', size)", "logger.info('new')"),
    "what a stage says": ("run.say('old')", "run.say('new')"),
    "a helper of errors": ("raise ValueError(_old(size))", "raise ValueError('new')"),
}


@pytest.mark.parametrize(("old", "new"), TOLD.values(), ids=TOLD)
def test_what_somebody_is_told_does_not_count(package: Path, old: str, new: str) -> None:
    helper = "_OLD = 1\ndef _old(size):\n    return f'{size}{_OLD}'\n"
    text = f"import logging\nlogger = logging.getLogger()\n{helper}def late(size, run):\n    {old}\n    return size\n"
    (package / "quartet/late.py").write_text(text)
    assert not edited(package, "quartet/late.py", old, new)
    assert not edited(package, "quartet/late.py", helper, "")
    assert edited(package, "quartet/late.py", "return size", "return -size")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("raise ValueError(size)", "raise KeyError(size)"),  # somebody may catch it
        ("raise ValueError(size)", "pass"),
        (
            "half = size / 2\n    if half:\n        return half\n    raise ValueError",
            "half = size / 3\n    if half:\n        return half\n    raise ValueError",
        ),
        ("run.size = 2\n    raise ValueError", "run.size = 3\n    raise ValueError"),
        ("assert size", "assert not size"),
        ("run.tell('old')", "run.tell('new')"),
        ("return _used(size)", "return size"),
        ("size *= 2\n    yield size", "size *= 3\n    yield size"),
    ],
)
def test_what_decides_counts(package: Path, old: str, new: str) -> None:
    text = f"def _used(size):\n    return size\ndef late(size, run):\n    {old}\n"
    (package / "quartet/late.py").write_text(text)
    assert edited(package, "quartet/late.py", old, new)


def test_a_private_helper_counts_where_it_is_used(package: Path) -> None:
    (package / "quartet/late.py").write_text("def _half(size):\n    return size / 2\nvalue = _half(1)\n")
    assert edited(package, "quartet/late.py", "/ 2", "/ 3")


@pytest.mark.parametrize("module", code.REFUSING)
def test_what_only_refuses_is_there_and_does_not_count(package: Path, module: str) -> None:
    assert code.module_file(module) is not None
    path = Path(*module.split(".")).with_suffix(".py")
    (package / path).write_text("def check(size): ...\n")
    (package / "quartet/late.py").write_text(f"from {module} import check\nvalue = 2\n")
    assert not edited(package, str(path), "...", "raise ValueError")


def test_no_check_of_a_settings_class_counts(package: Path) -> None:
    path = package / "quartet/rooms/config.py"
    check = "    def __post_init__(self):\n        self._check('old')\n    def _check(self, text):\n        pass\n"
    path.write_text(path.read_text() + check)
    assert not edited(package, "quartet/rooms/config.py", check, "")
    assert edited(package, "quartet/rooms/config.py", "/ 2", "/ 3")


def test_no_code_builds_settings_with_defaults_of_its_own() -> None:
    """A default would decide something there, and stands neither in settings.json nor in a digest."""
    optional = {
        kind.__name__: {
            field.name
            for field in dataclasses.fields(kind)
            if field.init
            and (field.default, field.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
        }
        for kind in settings_classes(Params, {})
    }
    for path in stage_files():
        if code.is_settings(path, HOMES):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and code._name(node.func) in optional:
                given = {word.arg for word in node.keywords}
                assert None in given or optional[code._name(node.func)] <= given, f"{path}:{node.lineno}"


def test_a_default_counts_for_what_fills_it_in(package: Path) -> None:
    homes, path = {"quartet": package}, package / "quartet/rooms/config.py"
    before = code.fingerprint("quartet.work", homes=homes, defaults=True)
    path.write_text(path.read_text().replace("0.1", "0.2"))
    forget()
    assert code.fingerprint("quartet.work", homes=homes, defaults=True) != before


def test_what_the_report_says_of_a_task_counts_for_the_report_alone(package: Path) -> None:
    def names() -> list[str]:
        forget()
        return [
            code.fingerprint(one, homes={"quartet": package})
            for one in ("quartet.work", "quartet.report.spec")
        ]

    before = names()
    (package / "quartet/rooms/report.yaml").write_text("title: B\n")
    edited_work, edited_report = names()
    assert edited_work == before[0]
    assert edited_report != before[1]
    (package / "environment").mkdir()
    (package / "environment/report.yaml").write_text("title: of another package\n")
    assert names() == [edited_work, edited_report]


def test_what_is_left_out_is_not_followed(package: Path) -> None:
    homes = {"quartet": package}
    start = package / "quartet" / "work.py"
    found = code.closure([start], ["quartet.rooms"], homes)
    assert {path.name for path in found} == {"work.py", "late.py"}
    assert code.fingerprint("quartet.work", without=["quartet.rooms"], homes=homes) != name(package)
    with pytest.raises(ValueError, match=r"quartet\.wrok is no module"):
        code.fingerprint("quartet.wrok", homes=homes)


def stage_files() -> set[Path]:
    """Every file that a stage's digest is of."""
    scripts = (code.module_file(f"stages.{stage}", HOMES) for stage in digests())
    return set(code.closure([path for path in scripts if path], (*AROUND, READING), HOMES))


def of_others(call: ast.Call) -> bool:
    """Whether the name that is imported begins with a package that is none of ours, whatever comes behind it."""
    name = call.args[0]
    start = name.values[0] if isinstance(name, ast.JoinedStr) else name
    package = str(start.value).partition(".") if isinstance(start, ast.Constant) else ("", "", "")
    return bool(package[1]) and package[0] not in HOMES


def test_no_stage_imports_what_cannot_be_seen() -> None:
    """A module by a name that is made at run time, or the library's entrance, which `closure` leaves out.

    `rescore` of a model is for users: no stage calls it.
    """
    for path in stage_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and function.name == "rescore":
                function.body = [ast.Pass()]
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            used = getattr(called, "id", getattr(called, "attr", ""))
            if used in ("import_module", "__import__"):
                assert called is not None and of_others(node), path
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & set(HOMES), path
            if isinstance(node, ast.ImportFrom) and node.module in HOMES:
                modules = [code.module_file(f"{node.module}.{alias.name}", HOMES) for alias in node.names]
                assert all(modules), path


def settings_classes(kind: Any, found: dict[type, None]) -> dict[type, None]:
    """The classes below a type of settings."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in found:
        found[kind] = None
        for base in kind.__mro__[1:]:
            settings_classes(base, found)
        for inner in typing.get_type_hints(kind).values():
            settings_classes(inner, found)
    for inner in typing.get_args(kind):
        settings_classes(inner, found)
    return found


def test_fields_are_left_out_of_the_classes_of_params_alone() -> None:
    """A default of any other class decides something, and no file of settings has it."""
    known = {f"{kind.__module__}.{kind.__qualname__}" for kind in settings_classes(Params, {})}
    left_out = {
        f"{code.module_name(path, HOMES)}.{node.name}"
        for path in stage_files()
        if code.is_settings(path, HOMES)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and code._is_dataclass(node)
        and any(isinstance(part, ast.AnnAssign) and part.value for part in node.body)
    }
    assert left_out <= known, left_out - known
    assert {
        "quartet.config.training.TrainingConfig",
        "quartet.config.finetuning.FinetuneSettings",
    } <= left_out


def test_every_script_has_a_digest() -> None:
    assert set(digests()) == {path.stem for path in (ROOT / "stages").glob("[!_]*.py")}


@pytest.fixture
def project(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script of stages/ that imports the package, its digest written down; DVC runs it."""
    (package / "stages").mkdir()
    (package / "stages" / "work.py").write_text("import quartet.work\n")
    (package / "pipeline").mkdir()
    monkeypatch.setattr(pipeline.code, "HOMES", dict.fromkeys(HOMES, package))
    monkeypatch.setattr(pipeline.code, "ROOT", package)
    monkeypatch.setenv("DVC_STAGE", "work")
    monkeypatch.chdir(package)
    write()
    return package


def test_an_edit_meanwhile_ends_the_stages_that_import_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, idle = project / "quartet" / "late.py", project / "quartet" / "idle.py"
    before = late.read_text()
    check("work")
    late.write_text(f'"""Reworded."""\n{before}')
    idle.write_text("b = 6\n")
    check("work")
    for text in (before.replace("2", "3"), before + "(", ""):
        late.write_text(text)
        with pytest.raises(InputError, match=r"stages/work\.py: it, or a module .* was edited while DVC ran"):
            check("work")
    monkeypatch.delenv("DVC_STAGE")
    check("work")  # what a hand runs is noted nowhere
    monkeypatch.setenv("DVC_STAGE", "work")
    late.write_text(before)
    check("work")


def test_a_stage_of_edited_code_does_no_work(project: Path) -> None:
    (project / "quartet" / "late.py").write_text("value = 3\n")
    with pytest.raises(InputError, match="was edited while DVC ran"), same_code("work"):
        raise AssertionError("it worked")


@pytest.mark.parametrize("text", ["value = 3\n", "value = (\n"])
def test_work_that_is_done_is_kept_where_code_was_edited_meanwhile(
    project: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    late = project / "quartet" / "late.py"
    with same_code("work"):
        late.write_text(f'"""Reworded."""\n{late.read_text()}')
    assert "edited" not in capsys.readouterr().err
    with same_code("work"):
        late.write_text(text)
    assert "work: its code was edited while it ran" in capsys.readouterr().err


def test_work_of_two_states_of_the_code_is_not_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is edited before the stage imports it, as those within functions are."""
    late = project / "quartet" / "late.py"
    with pytest.raises(InputError, match="imported after that"), same_code("work"):
        late.write_text("value = 3\n")
        module = types.ModuleType("late")
        module.__file__ = str(late)
        monkeypatch.setitem(sys.modules, "quartet.late", module)


def test_names_are_of_the_code_that_was_read(project: Path) -> None:
    """A tuning that is kept while its stage runs is not kept under the name of code that came later."""
    first = name(project)
    forget()
    check("work", read=True)
    late = project / "quartet" / "late.py"
    late.write_text(late.read_text().replace("2", "3"))
    assert code.fingerprint("quartet.work", homes={"quartet": project}) == first != name(project)


def test_digests_are_of_one_state(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = project / "quartet" / "late.py"
    texts = [late.read_text().replace("2", "3")]

    def edited() -> dict[str, str]:
        found = digests()
        if texts:
            late.write_text(texts.pop())
        return found

    monkeypatch.setattr(pipeline.code, "digests", edited)
    write()
    check("work")
    forget()
    assert read_json(pipeline.code.DIGESTS)["work"] == digests()["work"]


#: What the trees of Python 3.11, 3.12 and 3.13 have differently: empty fields, and empty texts within format strings.
VARIED = """
def shown(value: float, width: int = 3, *rest: int) -> str:
    match rest:
        case []:
            return f"{value:.{width}f}{value!r:>{width}}"
    return "" if None is ... else f"{rest=}"

class Empty: ...
"""


def test_the_name_is_the_same_in_every_python(tmp_path: Path) -> None:
    """Of those that Quartet runs in: DVC finds nothing to do where another one has run everything."""
    (tmp_path / "varied").mkdir()
    (tmp_path / "varied" / "__init__.py").write_text(VARIED)
    assert code.fingerprint("varied", homes={"varied": tmp_path}) == "99c3eb6c2627fdbb"


def test_the_name_is_the_same_in_every_process(package: Path) -> None:
    """Paths have another order in the sets of each process."""
    for number in range(6):
        (package / "quartet" / "rooms" / "data" / f"{number}.yaml").write_text(f"a: {number}\n")
    script = (
        "import pathlib, sys; from quartet import code; "
        "print(code.fingerprint('quartet.work', homes={'quartet': pathlib.Path(sys.argv[1])}))"
    )
    names = [
        subprocess.run(
            [sys.executable, "-c", script, package],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in "12"
    ]
    assert names == [name(package)] * 2


def test_the_hash_of_all_modules_is_the_same_whatever_the_order_of_the_disk(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline.code, "HOMES", {"quartet": package})
    listed, found = Path.rglob, set()
    for back in (False, True):

        def in_order(folder: Path, pattern: str, back: bool = back) -> Iterator[Path]:
            return iter(sorted(listed(folder, pattern), reverse=back))

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rglob", in_order)
            found.add(pipeline.code.sources())
    assert len(found) == 1


def test_threads_that_ask_first_compute_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython 3.11 cannot parse in several threads at once."""
    forget()
    computed: list[int] = []
    closure = code.closure

    def counted(*arguments: Any) -> dict[Path, bool]:
        computed.append(threading.get_ident())
        return closure(*arguments)

    monkeypatch.setattr(code, "closure", counted)
    threads = 8
    start = threading.Barrier(threads)

    def ask(_: int) -> str:
        start.wait()
        return code.fingerprint("quartet.scoring.engine")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(threads) as pool:
            assert len(set(pool.map(ask, range(threads)))) == 1
    finally:
        sys.setswitchinterval(before)
    assert len(computed) == 1


def test_files_are_parsed_in_threads() -> None:
    forget()
    files = sorted((ROOT / "src" / "quartet").rglob("*.py"))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            trees = list(pool.map(code._tree, files))
    finally:
        sys.setswitchinterval(before)
    assert [len(tree.body) > 0 for tree in trees] == [path.stat().st_size > 0 for path in files]
