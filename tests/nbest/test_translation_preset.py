"""The preset paper-nmt against appendix A.2 of the T-TA paper, and the size of every preset's translators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from pipeline.layout import Layout
from pipeline.settings import read_params
from quartet.config.recognise import TranslatorEntry
from quartet.errors import InputError
from tests.imports import ROOT

PRESETS = ROOT / "presets"
TRANSLATORS = {
    f"{path.stem}/{name}": translator
    for path in sorted(PRESETS.glob("*.yaml"))
    for name, translator in read_params(path).translators.items()
}
PAPER = {name: one for name, one in TRANSLATORS.items() if name.startswith("paper-nmt/")}

#: What appendix A.2 says.
PUBLISHED: dict[str, Any] = {
    "layers": 6,
    "dim": 512,
    "heads": 8,
    "max_length": 256,
    "tie_embeddings": True,
    "tokenizer.vocab_size": 2**15,  # "32k"
    "training.steps": 250_000,
    "training.schedule": "inverse-sqrt",
    "training.learning_rate": 2.5e-4,
    "beam.size": 50,
}
#: What tensor2tensor's transformer_base_single_gpu says.
TENSOR2TENSOR: dict[str, Any] = {
    "inner": 2048,
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "inner_dropout": 0.1,
    "activation": "relu",
    "label_smoothing": 0.1,
    "training.batch_size": 1024,
    "training.betas": (0.9, 0.997),
    "training.epsilon": 1e-9,
    "training.clip": 0.0,
    "training.weight_decay": 0.0,
    "beam.extra_tokens": 100,
}


def setting(translator: TranslatorEntry, key: str) -> Any:
    """The value of a dotted key."""
    value: Any = translator
    for part in key.split("."):
        value = getattr(value, part)
    return value


def expected_parameters(translator: TranslatorEntry) -> int:
    """Counted by hand: one table of embeddings, and for each layer its attentions, feed-forward parts and norms."""
    dim, inner, vocabulary = translator.dim, translator.inner, translator.tokenizer.vocab_size
    attention = 4 * (dim * dim + dim)  # query, key, value and output, each with its bias
    feed_forward = dim * inner + inner + inner * dim + dim
    norm = 2 * dim
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    tables = 1 if translator.tie_embeddings else 2
    return tables * vocabulary * dim + translator.layers * (encoder + decoder)


def test_the_languages_are_the_papers() -> None:
    assert {name: one.languages for name, one in PAPER.items()} == {
        "paper-nmt/wmt-de-en": ("de", "en"),
        "paper-nmt/wmt-fr-en": ("fr", "en"),
    }


def test_the_lists_are_those_that_the_translators_make() -> None:
    params = read_params(PRESETS / "paper-nmt.yaml")
    layout = Layout(params.experiment)
    folders = {Path(params.data.root) / lists.folder for lists in params.nbest.values()}
    assert folders == {layout.translations(name) for name in params.translators}
    assert {lists.metric for lists in params.nbest.values()} == {"bleu"}
    assert set(params.evaluate["rerank"]) == {*params.models, *params.ngrams}  # Table 2, without BERT


@pytest.mark.parametrize("name", PAPER)
def test_every_number_is_the_papers_or_tensor2tensors(name: str) -> None:
    for key, value in {**PUBLISHED, **TENSOR2TENSOR}.items():
        assert setting(PAPER[name], key) == value, key
    assert PAPER[name].training.warmup * PAPER[name].training.steps == 16_000
    assert PAPER[name].training.schedule_steps == 0


def test_a_number_that_is_not_the_papers_says_so() -> None:
    lines = (PRESETS / "paper-nmt.yaml").read_text(encoding="utf-8").splitlines()
    for key in TENSOR2TENSOR:
        last = key.rpartition(".")[2]
        (line, *_) = [
            each for each in lines[lines.index("translators:") :] if each.strip().startswith(f"{last}:")
        ]
        assert "not in the paper: tensor2tensor's" in line, line


@pytest.mark.parametrize("name", TRANSLATORS)
def test_every_translator_can_be_built_and_has_the_parameters_of_its_sizes(name: str) -> None:
    from quartet.recognise.translation import build, parameter_count

    translator = TRANSLATORS[name]
    with torch.device("meta"):
        network = build(translator.config, translator.tokenizer.vocab_size)
    assert {parameter.device.type for parameter in network.parameters()} == {"meta"}
    assert parameter_count(network) == expected_parameters(translator)


def test_the_papers_systems_have_61_million_parameters() -> None:
    """32,768 x 512 embeddings, 6 x 3,152,384 in the encoder and 6 x 4,204,032 in the decoder."""
    assert {expected_parameters(one) for one in PAPER.values()} == {16_777_216 + 18_914_304 + 25_224_192}


#: What stands under translators, what takes its place, what is said.
MISTAKES = {
    "heads": ("heads: 8", "heads: 7", ": heads must divide dim: 512 / 7 is not whole"),
    "dim": ("dim: 512\n    heads: 8", "dim: 7\n    heads: 7", ": dim 7 must be even"),
    "another kind": ("kind: bpe", "kind: unigram", ".tokenizer.kind: Input should be 'bpe'"),
    "no room for bytes": (
        "vocab_size: 32768",
        "vocab_size: 263",
        ".tokenizer.vocab_size: Input should be greater than 263",
    ),
    "one beam": ("size: 50", "size: 1", ".beam.size: Input should be greater than or equal to 2"),
    "one file": ("newstest2013.de, data/wmt/newstest2013.en]", "newstest2013.de]", ".test[1]: missing"),
    "a language model's setting": (
        "      clip: 0.0",
        "      max_selected: 80\n      clip: 0.0",
        ": training.max_selected means nothing for a translator: take it out",
    ),
    "an unknown key": (
        "extra_tokens: 100",
        "extra_token: 100",
        ".beam.extra_token: unknown key; the nearest known key is 'extra_tokens'",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_translator_names_the_key(tmp_path: Path, name: str) -> None:
    old, new, said = MISTAKES[name]
    before, section = (PRESETS / "paper-nmt.yaml").read_text(encoding="utf-8").split("\ntranslators:\n")
    assert old in section
    path = tmp_path / "params.yaml"
    path.write_text(f"{before}\ntranslators:\n{section.replace(old, new, 1)}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_params(path)
    assert f"translators.wmt-de-en{said}" in str(caught.value)


def test_a_translators_name_is_checked(tmp_path: Path) -> None:
    text = (PRESETS / "paper-nmt.yaml").read_text(encoding="utf-8")
    (tmp_path / "params.yaml").write_text(text.replace("wmt-de-en: &", "wmt.de: &", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"translators\.wmt\.de: 'wmt\.de' cannot be a name"):
        read_params(tmp_path / "params.yaml")
