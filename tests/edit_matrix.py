"""Which stages a real `dvc repro` runs after an edit, with scripts that take no time.

    python -m tests.edit_matrix [repository]

prints the stages that run after each edit below; with another checkout's folder, those of its dvc.yaml.
"""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

from tests import quick_dvc

ROOT = Path(__file__).resolve().parents[1]
#: Runs in the place of a stage's script: every output is new, so all that hangs on it runs too. Only files whose stems
#: kept.json names are as they were.
SCRIPT = """
import json, pathlib, sys, uuid
name = "@".join([sys.argv[1], *filter(None, ["-".join(sys.argv[2:])])])
kept = pathlib.Path("kept.json")
same = json.loads(kept.read_text()) if kept.is_file() else {}
for out in json.loads(pathlib.Path("outs.json").read_text())[name]:
    path = pathlib.Path(out)
    path = path if path.suffix else path / "made"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(same.get(path.stem, uuid.uuid4().hex))
"""
#: What stands in the files of the splits where an edit leaves them as they are.
SPLITS = {"train": "read by trainings", "valid": "read by trainings too", "test": "read by evaluations"}


#: Stages that run as they are: other stages read single files and folders of what these make.
REAL = ("settings", "tasks")


def replace_scripts(folder: Path, script: str, real: Collection[str] = REAL) -> None:
    """Let the dvc.yaml of a folder run this script, with a stage's name and its arguments, in the place of all others.

    `real` stages are what they are, and so is `code`, which reads the imports of the scripts.
    """

    def command(found: re.Match[str]) -> str:
        return found[0] if found[1] in real else f"python fake.py {found[1].replace('_', '-')}"

    text = (folder / "dvc.yaml").read_text(encoding="utf-8")
    (folder / "dvc.yaml").write_text(re.sub(r"python -m stages\.(\w+)", command, text), encoding="utf-8")
    (folder / "fake.py").write_text(script, encoding="utf-8")


def note_outs(folder: Path) -> None:
    """Tell the script what each stage writes."""
    (folder / "outs.json").write_text(json.dumps(written(quick_dvc.paths(folder))), encoding="utf-8")


def written(paths: dict[str, dict[str, list[str]]]) -> dict[str, list[str]]:
    """What each stage writes: its outputs, and in folders the files that other stages read."""
    read = {dep for found in paths.values() for dep in found["deps"] if Path(dep).suffix}
    return {
        stage: [
            *found["outs"],
            *(dep for dep in sorted(read) if any(_below(dep, out) for out in found["outs"])),
        ]
        for stage, found in paths.items()
    }


def _below(path: str, folder: str) -> bool:
    return path != folder and Path(path).is_relative_to(folder)


class Pipeline:
    """A copy of the pipeline in a folder of its own: dvc.yaml, the code and the preset tiny as they are.

    Only the commands differ: scripts that compute are not started, so stages/ keeps the imports that it has.
    """

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.folder = folder
        self.noted = ""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kept.json").write_text(json.dumps(SPLITS), encoding="utf-8")
        for name in (".dvcignore", "pipeline", "src", "stages"):
            if (root / name).is_dir():
                shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(root / name, folder / name)
        shutil.copyfile(root / "dvc.yaml", folder / "dvc.yaml")
        replace_scripts(folder, SCRIPT)
        tiny = (root / "presets" / "tiny.yaml").read_text(encoding="utf-8")
        head, model = tiny.split("  segatron-xl:\n", 1)  # of which one default less is asked for
        self.params = f"{head}  segatron-xl:\n{model.replace('training: {', 'training: {clip: 1.0, ', 1)}"
        self.edit(lambda text: text)
        lists = folder / "data" / "nbest" / "sample-speech"
        lists.mkdir(parents=True)
        for split in ("dev", "test"):
            (lists / f"{split}.json").write_text("{}")
        self.dvc("init", "--no-scm", "--quiet")

    def edit(self, change: Callable[[str], str]) -> None:
        """Write params.yaml, changed."""
        (self.folder / "params.yaml").write_text(change(self.params), encoding="utf-8")

    def edit_file(self, name: str, change: Callable[[str], str]) -> None:
        """Change another file."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert change(text) != text, name
        path.write_text(change(text), encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """Of its commands: its own code."""
        return {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(self.folder / "src"), str(self.folder)]),
            "DVC_NO_ANALYTICS": "1",
        }

    def start(self, *arguments: str) -> quick_dvc.Running:
        """A command of DVC, under way."""
        return quick_dvc.Running(quick_dvc.run, *arguments, folder=self.folder, environment=self.environment)

    def dvc(self, *arguments: str, fails: bool = False) -> str:
        """What a command of DVC says."""
        return quick_dvc.said(*arguments, folder=self.folder, environment=self.environment, fails=fails)

    def note_outs(self) -> None:
        """Tell the scripts what they write: params.yaml decides it."""
        self.noted = (self.folder / "params.yaml").read_text(encoding="utf-8")
        note_outs(self.folder)

    def repro(self) -> set[str]:
        """Bring everything up to date; returns the stages that ran."""
        if (self.folder / "params.yaml").read_text(encoding="utf-8") != self.noted:
            self.note_outs()
        return ran(self.dvc("repro"))

    def planned(self) -> dict[str, set[str]]:
        """By outcome the stages that the plan of what would run names."""
        found: dict[str, set[str]] = {"runs": set(), "may run": set(), "cached": set()}
        for stage, outcome in quick_dvc.planned(self.folder, self.environment):
            found[outcome].add(stage)
        return found

    @property
    def artifacts(self) -> Path:
        """What the experiment has made."""
        return self.folder / "artifacts" / "tiny"

    def made(self) -> list[Path]:
        """Every output, those of removed entries apart."""
        removed = self.artifacts / "removed"
        return [
            path for path in self.artifacts.rglob("*") if path.is_file() and not path.is_relative_to(removed)
        ]

    def cloned(self) -> Pipeline:
        """The same without what git ignores, and with what DVC brings of it."""
        own = self.copied(self.folder.with_name(f"{self.folder.name}-clone"))
        shutil.rmtree(own.folder / "artifacts")
        own.dvc("checkout")
        return own

    def copied(self, folder: Path) -> Pipeline:
        """The same in another folder."""
        own = copy.copy(self)
        own.folder = folder
        shutil.copytree(self.folder, folder, symlinks=True)
        return own


def ran(said: str) -> set[str]:
    """The stages that DVC says it ran."""
    return {line.split("'")[1] for line in said.splitlines() if line.startswith("Running stage")}


Edit = Callable[[Pipeline], None]


def code(name: str) -> Edit:
    """A further function in a module."""
    return lambda pipeline: pipeline.edit_file(name, lambda text: f"{text}\n\ndef edited() -> None: ...\n")


def changed(name: str, old: str, new: str) -> Edit:
    """A text in a file that is another."""
    return lambda pipeline: pipeline.edit_file(name, lambda text: text.replace(old, new, 1))


def setting(old: str, new: str) -> Edit:
    """A text in params.yaml that is another."""
    return changed("params.yaml", old, new)


def fewer(section: str, entry: str) -> Edit:
    """A section of params.yaml without one of its entries, and without the mentions of that entry in lists."""

    def edit(pipeline: Pipeline) -> None:
        from ruamel.yaml import YAML

        path = pipeline.folder / "params.yaml"
        settings = YAML(typ="safe", pure=True).load(path)
        del settings[section][entry]
        for names in (*settings["evaluate"].values(), settings["runtime"]["models"]):
            if entry in names:
                names.remove(entry)
        path.write_text(json.dumps(settings), encoding="utf-8")

    return edit


def second_lists(pipeline: Pipeline) -> None:
    """The entry of the lists once more, under another name."""
    text = (pipeline.folder / "params.yaml").read_text(encoding="utf-8")
    entry = text[text.index("  sample-speech:\n") : text.index("\ntasks:\n")]
    setting(entry, entry + entry.replace("sample-speech:", "second:", 1))(pipeline)


def other_documents(*splits: str) -> Edit:
    """The corpus's source is another file, in which documents of these splits differ."""

    def edit(pipeline: Pipeline) -> None:
        kept = {split: text for split, text in SPLITS.items() if split not in splits}
        (pipeline.folder / "kept.json").write_text(json.dumps(kept), encoding="utf-8")
        setting("sha256: a53f", "sha256: a53e")(pipeline)

    return edit


#: What is said of an edit -> the edit; it changes only what somebody is told.
WORDS: dict[str, Edit] = {
    "an error's reason": changed("src/quartet/files.py", "no such file", "file not found"),
    "an error's remedy": changed("src/quartet/arguments.py", "write [text]", "write a list"),
    "a refusal of a path": changed("src/quartet/paths.py", "write somewhere else", "name another place"),
    "a warning of a tuning": changed("src/quartet/training/tuning.py", "a step has all", "all steps have"),
    "a warning of a training": changed(
        "src/quartet/training/divergence.py", "_LOG.warning(", '_LOG.info("new",'
    ),
    "an assertion's text": changed("src/quartet/models/adaptive.py", ', "there is a cluster"', ""),
    "what an evaluation says": changed("src/quartet/tasks/sts/evaluation.py", ": Pearson {", ": r = {"),
    "what a script says": changed("stages/pretrain.py", "goes on where it was stopped", "goes on"),
    "a line of progress": changed("pipeline/tracking/progress.py", "say(", "say( "),
    "a refusal of a setting": changed("src/quartet/config/model.py", " must rise", " are to rise"),
    "a docstring that all import": changed("src/quartet/files.py", '"""', '"""Reworded. '),
    "a comment in a training": changed("src/quartet/training/fit.py", "\nimport", "\n# A comment.\nimport"),
}

#: What an edit is of -> the edit.
EDITS: dict[str, Edit] = {
    **WORDS,
    "a reader of corpora": code("src/quartet/text/wikipedia.py"),
    "a test document": other_documents("test"),
    "a training document": other_documents("train"),
    "an objective": code("src/quartet/objectives/lae.py"),
    "a format of N-best lists": code("src/quartet/nbest/formats/kaldi.py"),
    "the reranking": code("src/quartet/nbest/rerank.py"),
    "a measure of SQuAD": code("src/quartet/tasks/squad/metrics.py"),
    "a section of the report": changed(
        "src/quartet/tasks/wordsim/report.yaml", "title: Word", "title: Words"
    ),
    "the style of the page": changed("src/quartet/report/html/page.css", "{", "{ "),
    "what MLflow is told": code("pipeline/tracking/runs.py"),
    "a command that no stage uses": code("src/quartet/cli/rescore.py"),
    "the script of a stage": code("stages/sts.py"),
    "a check of params.yaml": code("src/quartet/config/loading.py"),
    "a default of one model's training": changed(
        "src/quartet/config/training.py", "clip: NotNegative = 1.0", "clip: NotNegative = 0.5"
    ),
    "a default of an evaluation": changed(
        "src/quartet/config/finetuning.py", "warmup: Share = 0.1", "warmup: Share = 0.2"
    ),
    "a number of one model": setting("steps: 30", "steps: 31"),
    "a number of an evaluation": setting("weights: exact", "weights: {start: 0.0, stop: 1.0, step: 0.5}"),
    "where lists come from, in words": setting("origin: ", "origin: here, "),
    "the licence of a corpus": setting("license: CC BY-SA 3.0", "license: CC BY-SA 4.0"),
    "how lists are read": setting("    hypotheses: 5", "    hypotheses: 4"),
    "how lists are judged": setting("strip_punctuation: true", "strip_punctuation: false"),
    "a number of a fine-tuning": setting(
        "squad: {epochs: 1, batch_size: 8", "squad: {epochs: 1, batch_size: 4"
    ),
    "systems weighed together": setting("combine: []", "combine: [[tta, ngram-3]]"),
    "input lengths": setting("input_lengths: [8, 32]", "input_lengths: [8, 16]"),
    "a second seed": setting("seeds: [1]", "seeds: [1, 2]"),
    "a file of word vectors": setting(
        "vectors: {}", "vectors: {glove: {source: glove.txt, sha256: null, format: glove, lowercase: false}}"
    ),
    "a second set of lists": second_lists,
    "one model less": fewer("models", "segatron-xl"),
    "one n-gram less": fewer("ngrams", "ngram-3"),
    "one set less": fewer("tasks", "wordsim353"),
    "another name for a model": setting("\n  segatron-xl:\n", "\n  segatron:\n"),
    "the licence of a set": setting("license: MIT", "license: CC0"),
    "a comment in params.yaml": setting("seeds:", "# a comment\nseeds:"),
    "the number of processes": setting("threads: 1", "threads: 1\nworkers: 1"),
}


def main() -> None:
    """Print a table: the edit, how many stages run, and which."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    with tempfile.TemporaryDirectory() as folder:
        done = Pipeline(Path(folder) / "base", root)
        print(f"nothing done before | {len(done.repro())}")
        for number, (name, edit) in enumerate(EDITS.items()):
            pipeline = done.copied(Path(folder) / str(number))
            edit(pipeline)
            stages = pipeline.repro()
            print(f"{name} | {len(stages)} | {' '.join(sorted(stages))}", flush=True)
            shutil.rmtree(pipeline.folder)


if __name__ == "__main__":
    main()
