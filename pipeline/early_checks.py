"""Mistakes of params.yaml that else one stage finds, often after hours of trainings: the first stage looks for them.

Nothing is fetched and no model is opened. What is not here yet is left to the stage that brings it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pipeline.fetch import PACKAGE, package_file
from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params, TaskEntry
from pipeline.run import choose_device
from pipeline.tracking.progress import say
from quartet.config.training import ON_GPU_ONLY
from quartet.errors import InputError
from quartet.files import read_json
from quartet.hugging_face import check_folder, hub_name, model_files
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


def check_device(params: Params, place: str) -> None:
    """Compare ``device`` and each training's precision with this machine, unless ``trainer.launch`` names others.

    A machine without a GPU may prepare the text, or evaluate the models, of trainings that another one runs with
    ``device: auto``: it is only warned.

    Raises:
        InputError: there is no GPU and ``device`` is cuda, or ``device`` is cpu and a precision needs a GPU.
    """
    trainings = {f"models.{name}": model.training for name, model in params.models.items()}
    trainings |= {f"translators.{name}": one.training for name, one in params.translators.items()}
    needing = {key: one.precision for key, one in trainings.items() if one.precision in ON_GPU_ONLY}
    if params.trainer.launch or (params.device == "auto" and not needing):
        return
    if choose_device(params.device) != "cpu":
        return
    for key, precision in needing.items():
        found = InputError(
            f"{place}: {key}.training.precision",
            f"{precision} needs a GPU, and the device here is the CPU",
            "write bf16 or fp32, or device: auto on a machine with a GPU",
        )
        if params.device == "cpu":
            raise found
        say(f"warning: {found}")


def check_files(params: Params, place: str) -> None:
    """Look at the models and sets that are here.

    Raises:
        InputError: a ``pretrained`` entry or an ``init_from`` names no model, or a labelled set is too small for
            ``finetune.folds``.
    """
    layout = Layout(params.experiment)
    for name, entry in params.pretrained.items():
        if not _taken(layout.pretrained(name), entry.source):
            _check_model(entry.source, check_folder, f"{place}: pretrained.{name}.source")
    for name, model in params.models.items():
        if model.init_from is not None and not (layout.models / name).is_dir():
            _check_model(model.init_from, model_files, f"{place}: models.{name}.init_from")
    for name, task in params.tasks.items():
        labels = _labels(task, Path(params.data.root)) if task.kind == "classification" else None
        if labels and params.finetune.folds > min(labels.values()):
            rarest = min(labels, key=lambda label: labels[label])
            raise InputError(
                f"{place}: finetune.folds",
                f"{params.finetune.folds} folds, but {name} has {labels[rarest]} texts of the label {rarest!r}",
                f"write 2 to {labels[rarest]}" if labels[rarest] > 1 else f"take {name} out",
            )


def _taken(folder: Path, source: str) -> bool:
    """Whether a model was copied from a source before, perhaps on another machine, and is not here to be looked at."""
    if Path(source).is_dir() or not (folder / MANIFEST).is_file():
        return False
    manifest = read_json(folder / MANIFEST)
    return isinstance(manifest, dict) and manifest.get("source") == source


def _check_model(source: str, check: Callable[[Path], object], place: str) -> None:
    try:
        if Path(source).is_dir():
            check(Path(source))
        else:
            hub_name(source)
    except InputError as error:
        raise InputError(place, f"{source}: {error.reason}", error.remedy) from None


def _labels(task: TaskEntry, root: Path) -> Counter[str] | None:
    """How often a set has each label; None where its file is not here, or is no such set, which its stage says."""
    source = task.files["texts"].source
    try:
        path = package_file(source) if source.startswith(PACKAGE) else root / source
        return Counter(example.label for example in read_labelled(path))
    except InputError:
        return None
