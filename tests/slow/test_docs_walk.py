"""The pages that use DVC, walked word by word: their commands one after another, in a repository of its own.

The stages take no time here: each writes something that depends on its inputs and on the settings. What they really
compute is the matter of other tests; what DVC makes of the commands is this one's.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quartet.config.loading import read_yaml
from tests import quick_dvc
from tests.committed import copy_project
from tests.documents import FENCE, lines_of
from tests.edit_matrix import replace_scripts, written
from tests.imports import ROOT

#: What a shell runs of a page; the lines of other programs are left out.
PROGRAMS = re.compile(r"(?:[A-Z_]+=\S+ )*(?:dvc|git|cp|sed|wait)\b")
#: What only a shell understands, but for `&&` between commands.
SHELLS = re.compile(r"[|;<>`$!]|(?<!&)&(?!&)")
#: Stands for every script of stages/, and is told the stage's name.
SCRIPT = """
import hashlib, json, pathlib, re, shutil, sys
name = "@".join([sys.argv[1], *filter(None, ["-".join(sys.argv[2:])])])
settings = pathlib.Path("params.yaml").read_bytes()
(experiment,) = re.findall(r"^experiment: ([\\w-]+)", settings.decode(), re.MULTILINE)
text = hashlib.sha256(settings).hexdigest()
for out in json.loads(pathlib.Path("outs.json").read_text())[experiment][name]:
    path = pathlib.Path(out)
    before = pathlib.Path("reports/sample") / path.name
    if path.name == "metrics":
        path.mkdir(parents=True, exist_ok=True)
        (path / "tta.json").write_text(json.dumps({"loss": {"valid": int(text[:6], 16)}}))
    elif path.parent.parent.name == "reports" and before.is_dir() and path != before:
        shutil.copytree(before, path, dirs_exist_ok=True)
    else:
        (path if path.suffix else path / "made").parent.mkdir(parents=True, exist_ok=True)
        (path if path.suffix else path / "made").write_text(name + text)
"""


class Walk:
    """A clone of the repository whose stages take no time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = quick_dvc.put_first_in_path(folder.with_name("bin"))
        copy_project(folder, "tests/", "reports/small")
        replace_scripts(folder, SCRIPT)
        (folder / "dvc.lock").unlink()
        self.run("git init -q -b main")
        for setting in ("user.name test", "user.email test@localhost", "commit.gpgsign false"):
            self.run(f"git config {setting}")

    def shorten(self, name: str) -> str:
        """Take the evaluation sets and what is evaluated on them out of a file of settings; returns what is left."""
        path = self.folder / name
        head, rest = path.read_text(encoding="utf-8").split("\ntasks:\n")
        evaluate = re.search(r"\nevaluate:\n(?:  .*\n)+", rest)
        assert evaluate is not None
        emptied = re.sub(r"(\n  (?!rerank)\w+): \[.*\]", r"\1: []", evaluate[0])
        path.write_text(head + "\ntasks: {}\n" + emptied + rest[evaluate.end() :], encoding="utf-8")
        return path.read_text(encoding="utf-8")

    def save(self, preset: str = "tiny") -> None:
        """Note what the stages of params.yaml and of a preset write, make what they read, and commit everything."""
        params = self.folder / "params.yaml"
        kept = params.read_text(encoding="utf-8")
        outs: dict[str, dict[str, list[str]]] = {}
        for settings in ((self.folder / "presets" / f"{preset}.yaml").read_text(encoding="utf-8"), kept):
            params.write_text(settings, encoding="utf-8")
            outs[read_yaml(params)["experiment"]] = self._outs()
        (self.folder / "outs.json").write_text(json.dumps(outs))
        self.run("git add -A")
        self.run("git commit -q -m all")

    def _outs(self) -> dict[str, list[str]]:
        paths = quick_dvc.paths(self.folder)
        for path in {self.folder / name for found in paths.values() for name in found["deps"]}:
            if not path.exists() and "artifacts" not in path.parts:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
        return written(paths)

    def run(self, line: str) -> str:
        """What a line of the shell says, or several; none must fail."""
        if SHELLS.search(line):
            return self._shell(line)
        said = []
        for command in re.split(r" && |\n", line):
            program, *arguments = shlex.split(command, comments=True)
            if program == "dvc":
                said.append(quick_dvc.said(*arguments, folder=self.folder, environment=self.environment))
            else:
                said.append(self._shell(command))
        return "".join(said)

    @property
    def environment(self) -> dict[str, str]:
        """Of the commands: its own library."""
        own = {"PATH": self.path, "PYTHONPATH": str(self.folder / "src"), "DVC_NO_ANALYTICS": "1"}
        return os.environ | own

    def _shell(self, line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def page(self, name: str) -> Iterator[tuple[str, str]]:
        """(command, what it says) of a page's commands in their order; a script is one command."""
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        for kind, block in FENCE.findall(text):
            lines = [line for line in lines_of(kind, block) if PROGRAMS.match(line)]
            for command in lines if kind == "console" else ["\n".join(["set -e", *lines])] if lines else []:
                yield command, self.run(command)
                if "queue start" in command:
                    self.wait()

    def wait(self) -> None:
        """Until the queue of experiments is empty."""
        started = time.monotonic()
        while re.search("Queued|Running", said := self.run("dvc queue status")):
            assert time.monotonic() - started < 600, said
            time.sleep(1)


@pytest.fixture
def walk(tmp_path: Path) -> Walk:
    return Walk(tmp_path / "quartet")


def test_ablations(walk: Walk) -> None:
    tiny = walk.shorten("presets/tiny.yaml")
    (walk.folder / "params.yaml").write_text(tiny.replace("experiment: tiny", "experiment: sample"))
    walk.save()
    walk.run("dvc repro && git add -A && git commit -qm run")
    said = dict([*walk.page("pipeline.md"), *walk.page("ablations.md")])
    first = next(line for line in said if line.startswith("sed"))
    assert "models.tta.layers" in said["dvc params diff"], first
    assert "tta.json" in said["dvc metrics diff"]
    assert "Stage 'pretrain@tta' is cached" in said["dvc repro"], "the last one, with the edit taken back"
    assert "tta.json" in said["dvc metrics diff HEAD six-layers"]
    assert said["dvc queue status"].count("Success") == 2
    shown = said[next(line for line in said if line.startswith("dvc exp show"))]
    assert "six-layers" in shown
    assert "['token', 'sentence']" in shown
    assert walk.run("dvc queue status").count("Queued") == 4, "the last section's"
    walk.run("dvc queue remove --all")
    assert list((walk.folder / "artifacts" / "sample" / "models").iterdir()), "is there again"
    assert walk.run("git branch --show-current").strip() == "main"


def test_two_ablations_merged(walk: Walk) -> None:
    """Anna's is of a model, Ben's of an n-gram: the merge has both; what Ben ran is in a cache that they share."""
    tiny = walk.shorten("presets/tiny.yaml")
    (walk.folder / "params.yaml").write_text(tiny.replace("experiment: tiny", "experiment: sample"))
    walk.save()
    walk.run("dvc repro && git add -A && git commit -qm run")
    for branch, edit in (("ben", "s/order: 3/order: 2/"), ("anna", "0,/steps: 30/s//steps: 31/")):
        walk.run(f"git switch -q -c {branch} main && dvc checkout && sed -i '{edit}' params.yaml")
        walk.run(f"dvc repro && git add -A && git commit -qm {branch}")
    page = (ROOT / "docs" / "teams.md").read_text(encoding="utf-8")
    lines = next(lines_of(*block) for block in FENCE.findall(page) if "git merge ben" in block[1])
    merge, *rest = [line.partition("#")[0].strip() for line in lines]
    assert "CONFLICT" in walk.run(f"{merge} || true")
    lock = (walk.folder / "dvc.lock").read_bytes()
    walk.run("! dvc repro")
    assert (walk.folder / "dvc.lock").read_bytes() == lock, "it is left to its user"
    said = {line: walk.run(line.replace("git commit", "git commit --no-edit")) for line in rest}
    assert "Stage 'ngram@ngram-3' is cached" in said["dvc repro"]
    assert "Stage 'pretrain@tta' didn't change" in said["dvc repro"]
    assert "Running stage 'report'" in said["dvc repro"]
    settings = read_yaml(walk.folder / "params.yaml")
    assert settings["ngrams"]["ngram-3"]["order"] == 2
    assert settings["models"]["tta"]["training"]["steps"] == 31
    assert walk.run("dvc status").strip() == quick_dvc.UP_TO_DATE and not walk.run("git status --porcelain")


def test_a_corpus_of_ones_own(walk: Walk) -> None:
    text = (ROOT / "docs" / "corpus.md").read_text(encoding="utf-8")
    for section in ("corpora", "tokenizers"):
        entry = re.search(rf"^{section}:\n((?:  .*\n)+?)(?=models|```)", text, re.MULTILINE)
        assert entry is not None
        path = walk.folder / "params.yaml"
        settings = path.read_text(encoding="utf-8")
        path.write_text(settings.replace(f"\n{section}:\n", f"\n{section}:\n{entry[1]}", 1), encoding="utf-8")
    (walk.folder / "data" / "my-books").mkdir()
    (walk.folder / "data" / "my-books" / "one.txt").write_text("A book.\n")
    walk.save()
    said = dict(walk.page("corpus.md"))
    for stage in (
        "download@my-books",
        "segment@my-books",
        "tokenizer@pieces-8k",
        "encode@my-books-pieces-8k",
    ):
        assert f"Running stage '{stage}'" in said["dvc repro encode@my-books-pieces-8k"]


@pytest.mark.parametrize(
    ("name", "stage"),
    [("scale.md", "pretrain@segabert"), ("reliability.md", "pretrain@bilm"), ("paper-scale.md", "report")],
)
def test_scripts_of_other_pages(walk: Walk, name: str, stage: str) -> None:
    walk.shorten("params.yaml")
    walk.save("paper-tta-wiki")
    assert f"Running stage '{stage}'" in "".join(said for _, said in walk.page(name))
