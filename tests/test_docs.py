"""Every command of README.md and docs/ works, every path and link that they name is there.

Run for real: the command ``quartet`` (beside a small model with random weights in the place of the trained one), and in
tests/slow/test_docs_dvc.py what only reads a repository (``dvc metrics``, ``params``, ``plots`` and ``dag``).
Held against what exists: what trains, downloads or pushes (``make``, ``dvc repro``, ``dvc exp``, ``dvc queue``,
``python -m``), by its target, stage, setting, module and options.
"""

from __future__ import annotations

import importlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from quartet import cli
from quartet.config.loading import read_yaml
from quartet.models.checkpoint import save_model
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from tests.documents import NOT_RUN, PAGES, RUN, SHOWN, Command, blocks, commands, paths
from tests.imports import ROOT
from tests.scoring.test_language_model import random_model

#: What is run, by its first words; all other commands are held against what exists.
RUN_DVC = ("metrics", "params", "plots", "dag")
COMMANDS = commands()
SMALL_MODEL = "artifacts/tiny/models/tta"


def of(program: str, run: bool | None = None) -> list[Command]:
    """The commands of a program: those that are run, or those that are not."""
    found = [one for one in COMMANDS if one.words[0] == program and run in (None, one.whole and is_run(one))]
    assert found, program
    return found


def is_run(one: Command) -> bool:
    """Whether a command is one of those that are run."""
    if one.words[0] == "dvc":
        return one.words[1] in RUN_DVC and (len(one.words) > 2 or one.words[1] == "dag")
    return one.words[0] == "quartet" and one.block


def test_the_other_commands_of_dvc_are_known() -> None:
    from dvc.cli import parse_args

    stages = read_yaml(ROOT / "dvc.yaml")["stages"]
    params = read_yaml(ROOT / "presets" / "sample.yaml")
    for one in of("dvc", run=False):
        found = parse_args(list(one.words[1:]))
        if one.words[1] in ("repro", "status", "dag") and one.block:  # in a sentence a stage may be any
            for target in getattr(found, "targets", None) or [getattr(found, "target", None)]:
                assert target is None or target.split("@")[0] in stages, target
        for setting in getattr(found, "set_param", None) or []:
            section: Any = params
            for key in setting.lstrip("+").split("=")[0].split("."):
                assert setting.startswith("+") or key in section, f"{setting}: params.yaml has no {key}"
                section = section.get(key, {})


@pytest.fixture(scope="module")
def trained(
    small_corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder as after `make repro`, as far as `quartet` needs it: models, lists and sentences."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "weights").symlink_to(ROOT / "weights")
    model = random_model("tta", small_corpus[0])
    (folder / SMALL_MODEL).mkdir(parents=True)
    state = model.network.state_dict()
    save_model(folder / SMALL_MODEL, {"last": state, "best": state}, model.card, model.tokenizer)
    lists = folder / "data" / "nbest" / "sample-speech"
    lists.mkdir(parents=True)
    for name in ("dev", "test"):
        whole = json.loads((ROOT / "data/nbest/sample-speech" / f"{name}.json").read_text(encoding="utf-8"))
        few = dict(list(whole.items())[:4])
        (lists / f"{name}.json").write_text(json.dumps(few), encoding="utf-8")
    (folder / "sentences.txt").write_text("the old mill\na small boat\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "one", of("quartet", run=True), ids=lambda one: f"{Path(one.page).stem}-{one.shown}"[:90]
)
def test_a_command_of_quartet_runs(one: Command, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the pages: a later command may read what an earlier one wrote."""
    monkeypatch.chdir(trained)
    given = Path(one.stdin).read_bytes() if one.stdin else b""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
    if "export" in one.words:
        pytest.importorskip("onnx", reason="the extra export is not installed")
    with pytest.raises(SystemExit) as stop:
        cli.main(list(one.words[1:]))
    assert not stop.value.code, one.shown


def known_options(parser: Any, words: tuple[str, ...]) -> None:
    """Fail where a word is an option that the command has not."""
    if isinstance(parser, TyperGroup):
        name = next(word for word in words if not word.startswith("-"))
        assert name in parser.commands, name
        parser, words = parser.commands[name], words[words.index(name) + 1 :]
    options = {"--help"} | {name for one in parser.params for name in (*one.opts, *one.secondary_opts)}
    asked = {word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
    assert asked <= options, asked - options


def test_a_block_says_what_it_is_and_what_cannot_run_says_why() -> None:
    found = blocks()
    assert {one.kind for one in found} <= {*RUN, *SHOWN}
    assert all(one.kind in RUN for one in found if one.not_run), "what only shows something is run by nobody"
    marks = sum(len(NOT_RUN.findall(page.read_text(encoding="utf-8"))) for page in PAGES)
    assert marks == sum(bool(one.not_run) for one in found), "a mark stands right before its block"


def test_the_other_options_of_quartet_are_known() -> None:
    for one in of("quartet", run=False):
        if one.words[1:] != ("...",):
            known_options(get_command(cli.app), one.words[1:])


def test_a_module_is_there_with_its_options() -> None:
    for one in of("python"):
        if one.words[1] != "-m":
            assert (ROOT / one.words[1]).is_file(), one.shown
            continue
        name, options = one.words[2], one.words[3:]
        if name in ("pytest", "pip", "venv"):
            continue
        spec = importlib.util.find_spec(name)
        assert spec is not None, name
        main = f"{name}.__main__" if spec.submodule_search_locations else name
        module = importlib.import_module(main)
        if hasattr(module, "app"):
            known_options(get_command(module.app), options)
        else:
            source = Path(module.__file__ or "").read_text(encoding="utf-8")
            for option in (word for word in options if word.startswith("--")):
                parameter = option.strip("-").replace("-", "_")  # argparse's, or a parameter's name
                assert f'"{option}"' in source or re.search(rf"\b{parameter}: ", source), option


def test_the_options_of_mlflow_are_known() -> None:
    from mlflow.cli import cli as mlflow

    for one in of("mlflow"):
        parser, words = mlflow, list(one.words[1:])
        while (commands := getattr(parser, "commands", {})) and words:
            name = words.pop(0)
            assert name in commands, one.shown
            parser = commands[name]
        options = {name for option in parser.params for name in option.opts + option.secondary_opts}
        asked = {word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
        assert asked <= options, one.shown


def test_a_target_of_make_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for one in of("make"):
        for word in one.words[1:]:
            name, sign, value = word.partition("=")
            if not sign:
                assert re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE), name
            elif name == "PRESET" and not one.shown.endswith("name"):
                assert (ROOT / "presets" / f"{value}.yaml").is_file(), value
            else:
                assert re.search(rf"^{name} \?=", makefile, re.MULTILINE), name


def test_every_path_of_the_project_is_there() -> None:
    named = list(paths())
    assert len(named) > 50
    assert [(page, path) for page, path in named if not any(ROOT.glob(path.rstrip("/")))] == []


def names_of_code() -> list[tuple[str, tuple[str, ...]]]:
    """What docs/extending.md says is in which files: the names of a table's line, and of a sentence `X` of `file`."""
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 and line.startswith("| `"):
            files = tuple(name for name in re.findall(r"`([^`]+\.py)`", cells[0]) if (ROOT / name).is_file())
            quoted = re.findall(r"`(\w+)`(?! in `)", cells[1]) if files else []
            found += [
                (name, files) for name in quoted if not name.islower() or "_" in name or len(files) == 1
            ]
    found += [(name, (path,)) for name, path in re.findall(r"`(\w+)`(?: of| in)\s`([^`]+\.py)`", text)]
    return sorted(set(found))


def test_what_an_addition_touches_is_in_the_named_file() -> None:
    names = names_of_code()
    assert names
    for name, files in names:
        assert any(re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8")) for file in files), (
            name
        )


def test_sizes_of_presets_are_those_of_the_presets() -> None:
    page = (ROOT / "docs" / "corpus.md").read_text(encoding="utf-8")
    quoted = re.findall(r"`(\w+)` \([^()]*?([\d,]+) pieces,\s+width (\d+)\)", page)
    assert len(quoted) == 2
    for preset, pieces, width in quoted:
        settings = read_yaml(ROOT / "presets" / f"{preset}.yaml")
        sizes = {entry["vocab_size"] for entry in settings["tokenizers"].values() if "vocab_size" in entry}
        assert int(pieces.replace(",", "")) in sizes, preset
        assert int(width) in {model["dim"] for model in settings["models"].values()}, preset


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(((?!http|#)[^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_readme_leads_to_every_page() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f"docs/{page.name}" in text, page.name
