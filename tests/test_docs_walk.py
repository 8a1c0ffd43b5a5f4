"""The pages that use DVC, walked word by word: their commands one after another, in a repository of its own.

The stages take no time here: each writes something that depends on its inputs and on the settings. What they really
compute is the matter of other tests; what DVC makes of the commands is this one's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.params.yaml_file import read_yaml
from tests.documents import FENCE, lines_of
from tests.imports import ROOT

#: What a shell runs of a page; the lines of other programs are left out.
PROGRAMS = re.compile(r"(?:[A-Z_]+=\S+ )*(?:dvc|git|cp|sed|wait)\b")
#: Stands for every script of stages/.
SCRIPT = """
import hashlib, json, pathlib, shutil, sys
import yaml
stage = sys.argv[0].rsplit("/", 1)[-1].removesuffix(".py")
name = f"{stage}@{'-'.join(sys.argv[1:])}" if sys.argv[1:] else stage
settings = pathlib.Path("params.yaml").read_bytes()
experiment = yaml.safe_load(settings)["experiment"]
text = hashlib.sha256(settings).hexdigest()
for out in json.loads(pathlib.Path("outs.json").read_text())[experiment][name]:
    path = pathlib.Path(out)
    before = pathlib.Path("reports/sample") / path.name
    if path.name == "metrics":
        path.mkdir(parents=True, exist_ok=True)
        (path / "tta.json").write_text(json.dumps({"loss": {"valid": int(text[:6], 16)}}))
    elif path.parent.parent.name == "reports" and before.is_dir():
        shutil.copytree(before, path, dirs_exist_ok=True)
    else:
        (path if path.suffix else path / "made").parent.mkdir(parents=True, exist_ok=True)
        (path if path.suffix else path / "made").write_text(name + text)
"""


class Walk:
    """A clone of the repository whose stages take no time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if listed.returncode:
            pytest.skip("not a git checkout: it cannot be copied")
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file() and not name.startswith(("tests/", "weights/", "reports/small/")):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)
        for script in (folder / "stages").glob("[!_]*.py"):
            script.write_text(SCRIPT)
        (folder / "dvc.lock").unlink()
        self.run("git init -q -b main")
        for setting in ("user.name test", "user.email test@localhost", "commit.gpgsign false"):
            self.run(f"git config {setting}")

    def shorten(self) -> None:
        """Leave reranking alone in the preset tiny, and let params.yaml be the same under the name sample."""
        path = self.folder / "presets" / "tiny.yaml"
        text = path.read_text(encoding="utf-8")
        for stage in ("sts", "wordsim", "finetune", "glue", "nli", "squad", "race", "blimp", "attention"):
            text, times = re.subn(rf"\n  {stage}: \[tta\]", f"\n  {stage}: []", text)
            assert times == 1, stage
        text = text[: text.index("\ntasks:\n")] + "\ntasks: {}\n" + text[text.index("\nevaluate:\n") :]
        path.write_text(text, encoding="utf-8")
        renamed = text.replace("experiment: tiny", "experiment: sample")
        (self.folder / "params.yaml").write_text(renamed, encoding="utf-8")

    def save(self) -> None:
        """Note what each stage of the present presets writes, and commit everything."""
        kept = (self.folder / "params.yaml").read_text(encoding="utf-8")
        outs: dict[str, dict[str, list[str]]] = {}
        for preset in (kept, *(path.read_text() for path in (self.folder / "presets").glob("tiny.yaml"))):
            (self.folder / "params.yaml").write_text(preset, encoding="utf-8")
            outs[read_yaml(self.folder / "params.yaml")["experiment"]] = self._outs()
        (self.folder / "params.yaml").write_text(kept, encoding="utf-8")
        (self.folder / "outs.json").write_text(json.dumps(outs))
        self.run("git add -A")
        self.run("git commit -q -m all")

    def _outs(self) -> dict[str, list[str]]:
        from dvc.repo import Repo

        with Repo(self.folder) as repo:
            return {stage.name: [out.def_path for out in stage.outs] for stage in repo.index.stages}

    def run(self, line: str) -> str:
        """What a line of the shell says; it must not fail."""
        environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "DVC_NO_ANALYTICS": "1",
        }
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=environment,
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
    walk.shorten()
    walk.save()
    walk.run("dvc repro && git add -A && git commit -qm run")
    said = dict(walk.page("ablations.md"))
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
    ("name", "stage"), [("scale.md", "pretrain@segabert"), ("reliability.md", "pretrain@bilm")]
)
def test_scripts_of_other_pages(walk: Walk, name: str, stage: str) -> None:
    walk.save()
    assert f"Running stage '{stage}'" in "".join(said for _, said in walk.page(name))
