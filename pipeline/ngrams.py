"""The n-gram models that the evaluations open."""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.params import Params, entry
from quartet.ngram.score import NgramLM, load


def ngram_model(params: Params, name: str) -> NgramLM:
    """Open the n-gram model `name`; what is resampled from its scores has the first seed.

    Raises:
        InputError: there is no such model, its folder is not whole, or KenLM is not installed.
    """
    entry(params.ngrams, name, "ngrams")
    return load(Layout(params.experiment).ngram(name), params.seeds[0])
