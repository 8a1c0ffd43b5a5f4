"""A trained model's folder to an exported one, which is held against the model before it gets its place."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from quartet.arguments import check_choice
from quartet.config.choices import WeightsChoice
from quartet.config.model import CONFIG, TOKENIZER, WEIGHTS
from quartet.errors import InputError
from quartet.export.arithmetic import Arithmetic, Float32, Int8
from quartet.export.card import EXPORT, FILES, ExportCard, Form, LogprobDifference, is_export
from quartet.export.folder import open_files, write_half
from quartet.export.graph import Graph, check_exportable
from quartet.export.scorer import ExportedLM
from quartet.files import atomic_dir, sha256, write_json
from quartet.paths import check_paths
from quartet.scoring.language_model import LanguageModel, load

#: The forms that are graphs.
ARITHMETICS: dict[Form, type[Arithmetic]] = {"onnx": Float32, "onnx-int8": Int8}
#: Nats by which a graph in single precision may be off at a token.
TOLERANCE = 1e-3
#: Nats per token, in the mean, that an export may be off: one beyond rounds too much, or its graph asks another output.
OTHER = 0.25
#: Seed of the made-up texts that model and export are compared on, and how many there are of each length.
SEED, REPEATS = 1, 2
#: Letters a token that they have at most: a vocabulary may hold long pieces that no text is cut into.
LETTERS = 5


#: All that an export consists of, in whichever form.
OWN_FILES = {EXPORT, CONFIG, TOKENIZER, *FILES.values()}


@dataclass(frozen=True)
class ExportResult:
    """What was written.

    Attributes:
        file: the graph or the weights.
        source_bytes, bytes: sizes of the trained weights and of the file.
    """

    card: ExportCard
    file: Path
    source_bytes: int
    bytes: int


def export(
    source: str | Path, out: str | Path, form: Form, weights: WeightsChoice | None = None
) -> ExportResult:
    """Write a trained model in another form, with its card and tokenizer: a folder that ``quartet.load`` opens.

    Args:
        source: the folder of a model that was trained here.
        out: the folder to write; the files of an older export there are replaced.
        weights: ``last`` or ``best``; None: those that the training's settings name.

    Raises:
        InputError: there is no such form, the source is no trained model or cannot have this form, `out` holds other
            things, what the form needs is not installed, or the export does not compute what the model does.
    """
    check_choice(form, FILES, "form")
    source, out = Path(source), Path(os.path.realpath(out))
    _check_place(source, out)
    model = load(source, weights=weights)
    if form in ARITHMETICS:
        check_exportable(model.card.model, source)
    name = FILES[form]
    with atomic_dir(out) as temporary:
        shutil.copyfile(source / TOKENIZER, temporary / TOKENIZER)
        write_json(temporary / CONFIG, dataclasses.asdict(model.card))
        if form in ARITHMETICS:
            Graph(model.network, ARITHMETICS[form]).write(temporary / name)
        else:
            write_half(model.network, temporary / name)
        card = ExportCard(
            form=form,
            source=model.fingerprint,
            difference=LogprobDifference(tokens=0, largest=0.0, mean=0.0),
            made_with=_versions(form),
            sha256={file: sha256(temporary / file) for file in (CONFIG, TOKENIZER, name)},
        )
        exported = open_files(temporary, card)
        card = dataclasses.replace(card, difference=_difference(model, exported, form))
        card.save(temporary)
        size = (temporary / name).stat().st_size
    source_size = (source / WEIGHTS[model.card.training.weights]).stat().st_size
    return ExportResult(card, out / name, source_size, size)


def _check_place(source: Path, out: Path) -> None:
    if is_export(source):
        raise InputError(source, "is an export itself", "give the folder of the model that was trained")
    check_paths(folder=("the export", out))
    held = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    if held and not is_export(out):
        raise InputError(out, f"holds other things than an export (no {EXPORT})", "name a new folder")
    others = [name for name in held if name not in OWN_FILES]
    if others:
        reason = f"holds {others[0]}, which no export wrote and a new one would delete"
        raise InputError(out, reason, "move it away, or name a new folder")


def _difference(model: LanguageModel, exported: LanguageModel | ExportedLM, form: Form) -> LogprobDifference:
    """How far the log-probabilities of made-up texts are apart; an MLM reads them intact, as its graph does.

    Raises:
        InputError: they are further apart than rounding explains, or rounding costs too much.
    """
    texts = made_up(model)
    ours, theirs = (np.concatenate(one.token_logprobs(texts, masked=False)) for one in (model, exported))
    apart = np.abs(ours - theirs)
    found = LogprobDifference(tokens=len(apart), largest=float(apart.max()), mean=float(apart.mean()))
    exact = form != "onnx" or found.largest <= TOLERANCE
    if not exact or not found.mean <= OTHER:
        raise InputError(
            model.name,
            f"its export is up to {found.largest:g} nats off at a token, {found.mean:g} in the mean",
            "install the versions of onnx and onnxruntime that Quartet was tested with"
            if form == "onnx"
            else "take onnx, which rounds less, or the model itself",
        )
    return found


def made_up(model: LanguageModel) -> Sequence[str]:
    """Words of the vocabulary at random, from one to more than fit an input."""
    random, tokenizer = np.random.default_rng(SEED), model.tokenizer
    longest = int(np.log2(model.card.model.max_length)) + 1
    texts = []
    for length in [2**power for power in range(longest + 1)] * REPEATS:
        ids = random.integers(tokenizer.n_specials, tokenizer.vocab_size, length)
        texts.append(tokenizer.decode(ids)[: LETTERS * length])
    return texts


def _versions(form: Form) -> dict[str, str]:
    packages = ["torch", "onnx", "onnxruntime"] if form in ARITHMETICS else ["torch", "safetensors"]
    return {name: importlib.metadata.version(name) for name in ("quartet", *packages)}
