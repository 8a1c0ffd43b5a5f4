"""The source itself: nothing in it runs code that comes with data, or unpacks an archive to names that it holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.imports import ROOT, imports

SOURCES = [
    path
    for folder in ("src", "pipeline", "stages", "benchmarks", "docs", "data/nbest")
    for path in sorted((ROOT / folder).rglob("*.py"))
]

#: Modules that make objects, and so run code, of what they read, or that are known to be unsafe with others' files.
UNSAFE_MODULES = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "yaml",
    "code",
}
#: Of the functions that every module has.
UNSAFE_BUILTINS = {"eval", "exec", "compile", "__import__", "input"}
#: By the name at the end, whatever they are called on.
UNSAFE_CALLS = {
    **dict.fromkeys(("extract", "extractall", "unpack_archive"), "unpacks to names that the archive chooses"),
    **dict.fromkeys(("system", "popen", "spawnl", "spawnv", "execv", "execl"), "runs a shell or a program"),
    **dict.fromkeys(
        ("read_pickle", "to_pickle", "unsafe_load", "full_load", "load_all"), "makes objects of files"
    ),
    "mktemp": "names a file that another may make first",
}


def name(path: Path) -> str:
    """A path as an id of a test."""
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.Call) -> str:
    """What a call calls, with dots: ``torch.load``."""
    parts: list[str] = []
    inner = node.func
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    parts.append(inner.id if isinstance(inner, ast.Name) else "")
    return ".".join(reversed(parts))


def keyword(node: ast.Call, wanted: str) -> object:
    """The constant that a call gives under a name; None where it gives none, ... where it is no constant."""
    for given in node.keywords:
        if given.arg == wanted:
            return given.value.value if isinstance(given.value, ast.Constant) else ...
    return None


def findings(tree: ast.Module) -> Iterator[str]:
    """Everything in a module that must not be there."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        what, line = called(node), node.lineno
        last = what.rsplit(".", 1)[-1]
        if what in UNSAFE_BUILTINS:
            yield f"{line}: {what}"
        if last in UNSAFE_CALLS and "." in what and not what.startswith("re."):
            yield f"{line}: {what} {UNSAFE_CALLS[last]}"
        if what == "torch.load" and keyword(node, "weights_only") is not True:
            yield f"{line}: torch.load without weights_only=True"
        if last == "load_from_checkpoint" and keyword(node, "weights_only") is not True:
            yield f"{line}: {what} without weights_only=True"
        if (
            last == "fit"
            and keyword(node, "ckpt_path") is not None
            and keyword(node, "weights_only") is not True
        ):
            yield f"{line}: {what} resumes without weights_only=True"
        if what in ("np.load", "numpy.load") and keyword(node, "allow_pickle") is not False:
            yield f"{line}: {what} without allow_pickle=False"
        if last == "YAML" and keyword(node, "typ") not in ("safe", "rt"):
            yield f"{line}: YAML without typ=safe"
        if (
            last == "from_pretrained"
            and keyword(node, "trust_remote_code") is not False
            and "local_files_only" not in {given.arg for given in node.keywords}
        ):
            yield f"{line}: {what} may fetch, or run code that comes with a model"
        if keyword(node, "trust_remote_code") not in (None, False):
            yield f"{line}: {what} with trust_remote_code"
        if keyword(node, "shell") not in (None, False):
            yield f"{line}: {what} with a shell"
        if keyword(node, "verify") is False:
            yield f"{line}: {what} without a look at certificates"
        if last in ("hf_hub_download", "snapshot_download") and keyword(node, "revision") is None:
            yield f"{line}: {what} without a revision"


def test_nothing_runs_what_it_reads() -> None:
    assert [f"{name(path)}:{found}" for path in SOURCES for found in findings(parsed(path))] == []


def test_no_module_makes_objects_of_what_it_reads() -> None:
    used = {name(path): {module.split(".")[0] for module in imports(path)} for path in SOURCES}
    assert {
        path: modules & UNSAFE_MODULES for path, modules in used.items() if modules & UNSAFE_MODULES
    } == {}


def test_nothing_listens_to_other_machines() -> None:
    assert [name(path) for path in SOURCES if "0.0.0.0" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    "source",
    [
        "eval('1')",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "trainer.fit(module, ckpt_path=path)",
        "archive.extractall(folder)",
        "YAML().load(text)",
        "AutoModel.from_pretrained(name)",
        "getattr(library, kind).from_pretrained(folder, trust_remote_code=True)",
        "subprocess.run('ls', shell=True)",
        "os.system('ls')",
        "hf_hub_download('a', 'b')",
        "requests.get(url, verify=False)",
    ],
)
def test_the_look_at_the_source_sees(source: str) -> None:
    assert list(findings(ast.parse(source)))


def test_settings_are_read_by_the_safe_loader_alone() -> None:
    reader = ROOT / "src" / "quartet" / "config" / "loading.py"
    with_yaml = [path for path in SOURCES if any(module.startswith("ruamel") for module in imports(path))]
    assert reader in with_yaml
    for path in with_yaml:
        assert 'YAML(typ="safe"' in path.read_text(encoding="utf-8"), name(path)


def test_only_one_place_opens_addresses_and_only_http() -> None:
    used = {
        name(path) for path in SOURCES if imports(path) & {"urllib.request", "requests", "httpx", "aiohttp"}
    }
    assert used == {"pipeline/fetch.py"}
    text = (ROOT / "pipeline" / "fetch.py").read_text(encoding="utf-8")
    assert 'startswith(("http://", "https://"))' in text


def test_few_places_read_archives_and_they_unpack_to_no_file() -> None:
    used = {name(path) for path in SOURCES if imports(path) & {"zipfile", "tarfile"}}
    assert used <= {
        "src/quartet/tasks/blimp/data.py",
        "src/quartet/text/punkt_model.py",
        "src/quartet/text/resumable_work.py",
    }
    for path, call in (
        ("src/quartet/tasks/blimp/data.py", "archive.open("),
        ("src/quartet/text/punkt_model.py", "archive.read("),
    ):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert call in text and ".extract" not in text


def test_the_user_interface_answers_this_machine_alone() -> None:
    recipe = re.search(
        r"^ui:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert recipe is not None
    assert "--host 127.0.0.1" in recipe[1]
    said = (ROOT / "pipeline" / "preset.py").read_text(encoding="utf-8")
    assert "--host 127.0.0.1" in said
