"""The trained models that the evaluations open."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.layout import Layout
from pipeline.params import Params, entry
from pipeline.run import choose_device, set_threads
from quartet.scoring.language_model import LanguageModel, load


def trained(params: Params, name: str) -> Iterator[LanguageModel]:
    """Open the model `name` of each seed in turn, on the device of the settings.

    Raises:
        InputError: there is no such model, or its folder is not whole.
    """
    entry(params.models, name, "models")
    set_threads(params.threads)
    device = choose_device(params.device)
    for seed in params.seeds:
        yield load(Layout(params.experiment).model(name, params, seed), device)
