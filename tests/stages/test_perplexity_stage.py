"""Perplexity by the script that DVC runs, at the length of the training and at those of Segatron's Figure 3."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import TOKENIZER, Layout
from pipeline.params import load
from quartet.errors import InputError
from quartet.models.checkpoint import save_model
from quartet.results import Result, read_results
from quartet.text.encoded import EncodedCorpus
from stages.perplexity import perplexity
from tests.scoring.test_language_model import random_model
from tests.small_corpus import encode_small

LENGTHS = (4, 8, 24)


def rows(workspace: Path, name: str, kind: str) -> dict[tuple[str, str, str], Result]:
    """What the stage writes of a model with random weights that was trained on 24 tokens, with as many in memory."""
    path = workspace / "params.yaml"
    lengths = f"input_lengths: {list(LENGTHS)}"
    path.write_text(path.read_text().replace("input_lengths: [8, 32]", lengths))
    layout = Layout("tiny")
    folder = layout.encoded("wikipedia-sample", "wordpiece-1k")
    tokenizer, _ = encode_small(workspace / "made")
    folder.parent.mkdir(parents=True)
    (workspace / "made" / "encoded").rename(folder)
    changes: dict[str, Any] = (
        {"max_length": LENGTHS[-1], "recurrence": {"memory": LENGTHS[-1]}} if kind == "segatron-xl" else {}
    )
    made = random_model(kind, tokenizer, **changes)
    model = layout.model(name, load(), 1)
    model.mkdir(parents=True)
    state = made.network.state_dict()
    origin = EncodedCorpus.open(folder, "test").origin
    assert origin is not None
    card = dataclasses.replace(made.card, encoding=origin.sha256)
    save_model(model, {"last": state, "best": state}, card, tokenizer)
    assert (model / TOKENIZER).is_file()
    perplexity(name)
    return {(row.table, row.split, row.metric): row for row in read_results(layout.rows("perplexity", name))}


def test_a_model_with_memory_is_read_at_every_length(workspace: Path) -> None:
    found = rows(workspace, "segatron-xl", "segatron-xl")
    splits = {split for table, split, _ in found if table == "input-length"}
    assert splits == {f"{length}-tokens" for length in LENGTHS}
    for metric in ("loss", "ppl", "ppl-word"):
        as_trained = found["perplexity", "test", metric]
        each = [found["input-length", f"{length}-tokens", metric] for length in LENGTHS]
        assert each[-1].value == pytest.approx(as_trained.value, rel=1e-5), "the length of the training"
        assert {row.n for row in each} == {as_trained.n}, "the same tokens at every length"
        assert each[0].value != pytest.approx(each[-1].value, rel=1e-5)
        assert all(row.ci_low is not None and row.ci_low <= row.value for row in each)


def test_a_model_without_memory_has_one_length(workspace: Path) -> None:
    found = rows(workspace, "tta", "tta")
    assert {table for table, _, _ in found} == {"perplexity"}


def test_lengths_that_do_not_ascend_are_refused(workspace: Path) -> None:
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("input_lengths: [8, 32]", "input_lengths: [32, 8]"))
    with pytest.raises(InputError, match=r"perplexity.*do not ascend"):
        load()
