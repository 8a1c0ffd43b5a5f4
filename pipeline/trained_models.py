"""The trained models that the evaluations open."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.layout import Layout
from pipeline.params import Params, entry
from pipeline.run import choose_device, set_threads
from quartet.errors import InputError
from quartet.files import sha256
from quartet.scoring.language_model import LanguageModel, load
from quartet.text.encoded_corpus import EncodedCorpus, split_manifest


def check_encoding(model: LanguageModel, corpus: EncodedCorpus) -> None:
    """Raise where an encoded corpus is not the one whose training split the model was trained on.

    Its test documents could then be among those that the model has seen.

    Raises:
        InputError: it is not; both are named.
    """
    assert corpus.origin is not None
    found = sha256(split_manifest(corpus.origin.folder, "train"))
    if found != model.card.encoding:
        raise InputError(
            corpus.origin.folder,
            f"has the training split {found[:12]}, "
            f"the model {model.name} was trained on {model.card.encoding[:12] or 'none'}",
            f"train the model again: dvc repro pretrain@{model.name}",
        )


def trained_models(params: Params, name: str) -> Iterator[LanguageModel]:
    """Open the model `name` of each seed in turn, on the device of the settings.

    Raises:
        InputError: there is no such model, or its folder is not whole.
    """
    entry(params.models, name, "models")
    set_threads(params.threads)
    device = choose_device(params.device)
    for seed in params.seeds:
        yield load(Layout(params.experiment).model(name, params, seed), device)
