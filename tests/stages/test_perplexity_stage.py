"""Perplexity by the script that DVC runs, at the length of the training and at those of Segatron's Figure 3."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import TOKENIZER, Layout
from pipeline.settings import read_params
from quartet.config.objectives import OBJECTIVES
from quartet.errors import InputError
from quartet.models.checkpoint import save_model
from quartet.results import Result, read_results
from quartet.tasks.perplexity.losses import read_losses, write_losses
from quartet.text.encoded_corpus import EncodedCorpus
from stages.compare_losses import compare_losses
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
    layout.segments("wikipedia-sample").parent.mkdir(parents=True)
    (workspace / "made" / "segments").rename(layout.segments("wikipedia-sample"))
    changes: dict[str, Any] = (
        {"max_length": LENGTHS[-1], "recurrence": {"memory": LENGTHS[-1]}} if kind == "segatron-xl" else {}
    )
    made = random_model(kind, tokenizer, **changes)
    model = layout.model(name, read_params(), 1)
    model.mkdir(parents=True)
    state = made.network.state_dict()
    origin = EncodedCorpus.open(folder, "train").origin
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
        assert {row.ci_low for row in each} == {None}, "four documents"
    shares = {row.value for (_, _, metric), row in found.items() if metric == "oov"}
    assert shares == {0.0}


def test_losses_are_kept_by_document(workspace: Path) -> None:
    found = rows(workspace, "tta", "tta")
    (losses,) = read_losses(Layout("tiny").losses("tta"))
    documents = EncodedCorpus.open(Layout("tiny").encoded("wikipedia-sample", "wordpiece-1k"), "test").doc_ids
    assert len(losses.tokens) == len(documents)
    loss = found["perplexity", "test", "loss"]
    assert (losses.seed, losses.dataset) == (loss.seed, loss.dataset)
    assert losses.tokenizer == "wordpiece-1k"
    assert losses.pseudo
    assert sum(losses.tokens) == loss.n
    assert sum(losses.nats) / sum(losses.tokens) == pytest.approx(loss.value)


@pytest.mark.parametrize("pseudo", [True, False])
def test_models_are_compared_where_they_predict_the_same_tokens_alike(pseudo: bool, workspace: Path) -> None:
    rows(workspace, "tta", "tta")
    layout = Layout("tiny")
    (losses,) = (dataclasses.replace(one, seed=1) for one in read_losses(layout.losses("tta")))
    write_losses(layout.losses("tta"), [losses])
    harder = tuple(nats + 0.25 * tokens for nats, tokens in zip(losses.nats, losses.tokens, strict=True))
    write_losses(layout.losses("segatron-xl"), [dataclasses.replace(losses, nats=harder, pseudo=pseudo)])
    compare_losses()
    found = read_results(layout.rows("compare-losses"))
    assert len(found) == pseudo, "a pseudo-loss is no loss"
    for one in found:
        assert (one.table, one.system) == ("perplexity-pairs", "tta - segatron-xl")
        assert (one.metric, one.n) == ("loss-difference", sum(losses.tokens))
        assert one.value == pytest.approx(-0.25)
        assert (one.ci_low, one.ci_high) == (None, None), "four documents"


def test_a_model_without_memory_has_one_length(workspace: Path) -> None:
    found = rows(workspace, "tta", "tta")
    assert {table for table, _, _ in found} == {"perplexity"}


def test_lengths_that_do_not_ascend_are_refused(workspace: Path) -> None:
    path = workspace / "params.yaml"
    path.write_text(path.read_text().replace("input_lengths: [8, 32]", "input_lengths: [32, 8]"))
    with pytest.raises(InputError, match=r"perplexity.*do not ascend"):
        read_params()


def test_scores_that_are_no_log_probabilities_have_no_perplexity(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(OBJECTIVES, "lae", dataclasses.replace(OBJECTIVES["lae"], normalised=False))
    assert rows(workspace, "tta", "tta") == {}
    assert "tta: scores of lae are no log-probabilities" in capsys.readouterr().err
    assert read_losses(Layout("tiny").losses("tta")) == []
