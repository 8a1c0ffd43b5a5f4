"""Our own comparisons run, check what they compare, and count what they say they count."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.peers import hypotheses, paper_utilisation, recurrent, sentence, utilisation
from benchmarks.peers.models import plain_score
from benchmarks.peers.setup import BenchmarkSetup
from benchmarks.peers.training import RepeatableTraining, encode_sentences
from quartet.errors import InputError
from quartet.kernels import cross_entropy
from quartet.models.tta import TTA
from quartet.objectives.mlm import MaskedLM
from quartet.runtime.systems import OneByOneModel
from tests.benchmarks.peers_setup import SENTENCES, small_setup


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.peers.paired_times.STEADY_SECONDS", 0.0)


@pytest.fixture
def setup(tmp_path: Path) -> BenchmarkSetup:
    return small_setup(tmp_path)


@pytest.mark.parametrize("name", ["tta", "unilm", "bilm"])
def test_the_plain_score_is_the_score(setup: BenchmarkSetup, name: str) -> None:
    model = setup.model(name)
    for text in (SENTENCES[1], f"{SENTENCES[1]} ☃ {SENTENCES[2]}"):
        assert plain_score(model, text) == pytest.approx(model.score([text])[0], abs=1e-4)


def test_one_by_one_leaves_the_batched_model_as_it_was(setup: BenchmarkSetup) -> None:
    model = setup.model("bilm")
    plain = OneByOneModel.of(model)
    assert plain.network is model.network
    assert isinstance(plain.objective, MaskedLM) and isinstance(model.objective, MaskedLM)
    assert (plain.objective.plain, model.objective.plain) == (True, False)


def test_one_sentence_has_its_ratios_and_bounds(setup: BenchmarkSetup) -> None:
    found = sentence.one_sentence(setup)
    assert len(found.checks) == 3
    named = {figure.name: figure for figure in found.figures}
    assert len(named) == 14
    assert named["scores: biLM one by one / T-TA"].demand is not None
    assert named["scores: biLM batched / T-TA"].demand is None
    operations = named["vectors: biLM batched / T-TA, operations alone"]
    assert operations.least == operations.largest > 1
    assert all(figure.median > 0 for figure in found.figures)
    # output and feed-forward of the one layer (K, V and the first Q are looked up); scores have the head's two matrices
    dim, inner, vocabulary = setup.shape.dim, setup.shape.inner, setup.tokenizer.vocab_size
    layer = dim * dim + 2 * dim * inner
    assert found.sizes["weights_read_mb"]["vectors"] == pytest.approx(4e-6 * layer)
    head = dim * dim + dim * vocabulary
    assert found.sizes["weights_read_mb"]["scores"] == pytest.approx(4e-6 * (layer + head))


def test_a_model_that_scores_otherwise_than_its_equations_is_not_timed(
    setup: BenchmarkSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    shortened = TTA.represent_inner
    monkeypatch.setattr(TTA, "represent_inner", lambda self, *inputs: 1.5 * shortened(self, *inputs))
    for study in (sentence.one_sentence, hypotheses.study, hypotheses.products):
        with pytest.raises(InputError, match="nothing was timed"):
            study(setup)


def test_a_list_and_its_products(setup: BenchmarkSetup) -> None:
    found = hypotheses.study(setup)
    assert {name.split(",")[0] for name in found.seconds} == {"T-TA", "biLM batched", "uniLM"}
    assert (found.sizes["texts"], found.sizes["words"]) == (3, 12)
    (figure,) = hypotheses.products(setup).figures
    assert figure.name == "scores: T-TA / its matrix products"
    assert figure.median > 0


def test_growth_has_an_exponent_for_each_system_and_use(setup: BenchmarkSetup) -> None:
    found = sentence.growth(setup)
    assert len(found.figures) == 8
    assert [figure.name for figure in found.figures if figure.demand] == [
        "vectors: growth of T-TA's time with n",
        "scores: growth of T-TA's time with n",
    ]


def test_too_little_text_is_refused(setup: BenchmarkSetup) -> None:
    with pytest.raises(InputError, match=r"--texts: \d+ words, 99999 are needed"):
        setup.running(99999)
    with pytest.raises(InputError, match=r"--texts: \d+ sentences, 99999 are needed"):
        setup.spread(99999)


def test_sentences_are_taken_from_all_over_the_texts(tmp_path: Path) -> None:
    texts = [str(number) for number in range(10)]
    assert small_setup(tmp_path, sentences=texts).spread(4) == ["0", "2", "5", "7"]


def test_segatron_reads_what_transformer_xl_reads(setup: BenchmarkSetup) -> None:
    found = recurrent.study(setup)
    (figure,) = found.figures
    assert figure.name == "training step, tiny (d = 16): Segatron-XL / Transformer-XL"
    assert [check.difference for check in found.checks] == [0.0]


def test_an_epoch_trains_on_every_sentence_once(setup: BenchmarkSetup) -> None:
    corpus = encode_sentences(setup.folder / "corpus", SENTENCES, setup.tokenizer)
    epoch = RepeatableTraining(
        setup.model("tta").card.model, setup.tokenizer, corpus, 8, "fp32", "cpu", setup.folder
    )
    tokens = sum(len(ids) + 2 for ids in setup.tokenizer.encode_batch(SENTENCES))
    assert epoch.tokens() == tokens
    trained = epoch.train()
    assert (trained.run_tokens, trained.steps) == (tokens, epoch._steps)
    assert trained.steps == pytest.approx(len(SENTENCES) / 8, rel=0.2), "as many tokens as 8 sentences have"
    assert epoch.seconds() > 0
    assert not (setup.folder / "resume.ckpt").exists()


def test_a_share_of_the_peak_is_of_the_operations_in_the_seconds(
    setup: BenchmarkSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(utilisation, "matrix_product_peak", lambda device, precision: 4e9)
    monkeypatch.setattr(utilisation, "_an_operation", lambda epoch: 1e-9)
    found = utilisation.study(setup)
    assert [figure.median for figure in found.figures] == pytest.approx([25.0] * 3)
    assert found.sizes["gflop_a_second"]["T-TA, fp32"] == pytest.approx(1.0)


def test_an_operation_is_counted_as_the_pipeline_counts_it(
    setup: BenchmarkSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, float] = {}

    def flops(config: object, vocabulary: int, tokens: int, targets: int, length: float) -> float:
        asked.update(vocabulary=vocabulary, tokens=tokens, targets=targets, length=length)
        return 1e6

    monkeypatch.setattr(utilisation, "training_flops", flops)
    corpus = encode_sentences(setup.folder / "corpus", SENTENCES, setup.tokenizer)
    epoch = RepeatableTraining(
        setup.model("tta").card.model, setup.tokenizer, corpus, 8, "fp32", "cpu", setup.folder
    )
    assert 0 < utilisation._an_operation(epoch) < 1e-3
    own = [len(ids) for ids in setup.tokenizer.encode_batch(SENTENCES)]
    assert asked["vocabulary"] == setup.tokenizer.vocab_size
    assert (asked["tokens"], asked["targets"]) == (sum(own) + 2 * len(own), sum(own))
    assert asked["length"] == pytest.approx(sum((n + 2) ** 2 for n in own) / asked["tokens"])


@pytest.mark.parametrize("over", [False, True])
def test_a_group_of_trainings_is_told_of_one_by_one_until_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: bool
) -> None:
    monkeypatch.setattr(paper_utilisation, "WARM", 1)
    monkeypatch.setattr(paper_utilisation, "TIMED", 1)
    monkeypatch.setattr(paper_utilisation, "matrix_product_peak", lambda device, precision: 1e9)
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module, dynamic: None)
    monkeypatch.setattr(cross_entropy, "_compiled_tile", lambda: cross_entropy._of_tile)
    told: list[list[str]] = []
    ends = 0.0 if over else float("inf")
    setup = small_setup(
        tmp_path, ends=ends, tell=lambda found: told.append([figure.name for figure in found.figures])
    )
    found = paper_utilisation.STUDIES["streams"](setup)
    names = [figure.name for figure in found.figures]
    assert told == ([] if over else [names[:1], names[:2], names[:3], names])
    assert len(names) == (0 if over else 4)
