"""Mistakes of params.yaml that else one stage finds, often after hours of trainings: the first stage looks for them.

Nothing is fetched and no model is opened. What is not here yet is left to the stage that brings it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pipeline.fetch import PACKAGE, package_file
from pipeline.layout import Layout
from pipeline.params import Params, TaskEntry
from quartet.errors import InputError
from quartet.hugging_face import check_folder, hub_name
from quartet.tasks.classification.data import read_labelled
from quartet.text.punkt_languages import check_curated, check_published

#: More threads or processes than these are a slip of the keyboard, and end a process of torch without a word.
MOST_THREADS = 1024


def check_values(params: Params, place: str) -> None:
    """Look at what params.yaml shows by itself.

    Raises:
        InputError: there are too many threads or processes, or Punkt knows no such language.
    """
    for key in ("threads", "workers"):
        if getattr(params, key) > MOST_THREADS:
            reason = f"{getattr(params, key)} is more than {MOST_THREADS:,}"
            raise InputError(f"{place}: {key}", reason, "write the number of cores, or 0")
    for name, corpus in params.corpora.items():
        try:
            if params.segmentation.punkt == "published":
                check_published(corpus.language)
            if params.segmentation.curated:
                check_curated(corpus.language)
        except InputError as error:
            raise InputError(
                f"{place}: corpora.{name}.language", f"{corpus.language!r}: {error.reason}", error.remedy
            ) from None


def check_files(params: Params, place: str) -> None:
    """Look at the models and sets that are here.

    Raises:
        InputError: a ``pretrained`` entry names no model, or a labelled set is too small for ``finetune.folds``.
    """
    layout = Layout(params.experiment)
    for name, entry in params.pretrained.items():
        try:
            if Path(entry.source).is_dir():
                check_folder(Path(entry.source))
            elif not layout.pretrained(name).is_dir():  # brought before, perhaps on another machine
                hub_name(entry.source)
        except InputError as error:
            raise InputError(
                f"{place}: pretrained.{name}.source", f"{entry.source}: {error.reason}", error.remedy
            ) from None
    for name, task in params.tasks.items():
        labels = _labels(task, Path(params.data.root)) if task.kind == "classification" else None
        if labels and params.finetune.folds > min(labels.values()):
            rarest = min(labels, key=lambda label: labels[label])
            raise InputError(
                f"{place}: finetune.folds",
                f"{params.finetune.folds} folds, but {name} has {labels[rarest]} texts of the label {rarest!r}",
                f"write 2 to {labels[rarest]}" if labels[rarest] > 1 else f"take {name} out",
            )


def _labels(task: TaskEntry, root: Path) -> Counter[str] | None:
    """How often a set has each label; None where its file is not here, or is no such set, which its stage says."""
    source = task.files["texts"].source
    try:
        path = package_file(source) if source.startswith(PACKAGE) else root / source
        return Counter(example.label for example in read_labelled(path))
    except InputError:
        return None
