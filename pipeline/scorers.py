"""What can score a text: trained models, n-gram models and those that come trained, by their names in params.yaml.

Stages of trained models alone import `pipeline.trained_models` instead: else an edit of how n-gram models or those of
Hugging Face are opened would repeat every fine-tuning.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.run import choose_device, set_threads
from pipeline.trained_models import trained_models
from quartet.export.card import is_export, load_export_card
from quartet.ngram.score import load
from quartet.scorers import AnyScorer, open_scorer

Scorer = AnyScorer


def scorers(params: Params, name: str) -> Iterator[tuple[Scorer, int]]:
    """Open the model `name` of each seed in turn, or the one model of that name which has no seeds.

    Yields:
        The scorer, and the seed of what is resampled from its scores: its own, or the first of params.yaml.

    Raises:
        InputError: there is no such model, or its folder is not whole.
    """
    if name in params.ngrams:
        yield load(Layout(params.experiment).ngram(name), params.seeds[0]), params.seeds[0]
    elif name in params.pretrained:
        set_threads(params.threads)
        folder = Layout(params.experiment).pretrained(name)
        yield open_scorer(str(folder), _device(folder, params.device)), params.seeds[0]
    else:
        for model in trained_models(params, name):
            yield model, model.seed


def _device(folder: Path, wanted: str) -> str:
    """That of the settings; an exported graph computes on the CPU whatever computes the others."""
    graph = is_export(folder) and load_export_card(folder).form != "fp16"
    return "cpu" if graph else choose_device(wanted)
