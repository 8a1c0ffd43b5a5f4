"""A translator's folder: opened by us and by transformers alike, and refused where it is not whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional as F

from quartet.errors import InputError
from quartet.kernels.linear import Linear
from quartet.recognise.translation import (
    CARD,
    TOKENIZER,
    WEIGHTS,
    Translator,
    build,
    fill,
    load_translator,
    save_translator,
    weights,
)
from quartet.recognise.vocabulary import PieceTokenizer
from tests.recognise import toy

#: Of a logit (the largest is 8), between transformers' products and ours: by MKL and by oneDNN on processors other than
#: Intel's, where they sum up in another order. Measured: 2.4e-6 at most on an AMD EPYC with AVX-512, none on Intel's.
#: A bias that is off by 0.001 in one place moves them by 2.8e-4.
ROUNDING = 2e-5

INPUT = {"input_ids": torch.tensor([[300, 301, 6]]), "decoder_input_ids": torch.tensor([[5, 302, 303]])}


@pytest.fixture
def folder(toy_translator: Translator, tmp_path: Path) -> Path:
    save_translator(tmp_path, toy_translator)
    return tmp_path


def test_what_is_saved_is_opened_again(toy_translator: Translator, folder: Path) -> None:
    opened = load_translator(folder)
    assert opened.card == toy_translator.card
    assert opened.tokenizer.sha256 == toy_translator.tokenizer.sha256
    assert not opened.network.training
    assert torch.equal(opened.network(**INPUT).logits, toy_translator.network(**INPUT).logits)


def test_transformers_opens_it_too(toy_translator: Translator, folder: Path) -> None:
    theirs = transformers.MarianMTModel.from_pretrained(folder, local_files_only=True).eval()
    found, expected = theirs(**INPUT).logits, toy_translator.network(**INPUT).logits
    torch.testing.assert_close(found, expected, rtol=0, atol=ROUNDING)
    assert theirs.config._attn_implementation == "sdpa", "which knows nothing of ours"


def test_in_bfloat16_a_cpu_attends_in_float32(
    toy_translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    attended, taken = F.scaled_dot_product_attention, []

    def watch(query: Tensor, *rest: Any, **settings: Any) -> Tensor:
        taken.append(query.dtype)
        return attended(query, *rest, **settings)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watch)
    wide = toy_translator.network(**INPUT).logits
    with torch.autocast("cpu", torch.bfloat16):
        short = toy_translator.network(**INPUT).logits
    assert taken == [torch.float32] * 2 * 3 * toy.MODEL.layers, "the encoder's, the decoder's own and across"
    assert torch.equal(short, short.bfloat16().float()), "the products are made in bfloat16"
    assert torch.allclose(short.float(), wide, atol=0.1)


def test_each_tensor_is_saved_once_and_shared_ones_stay_shared(toy_translator: Translator) -> None:
    tensors = weights(toy_translator.network)
    assert (
        sum(tensor.numel() for tensor in tensors.values()) == toy_translator.card.parameters + 340
    )  # the fixed bias
    network = build(toy.MODEL, 340)
    fill(network, tensors)
    assert network.lm_head.weight is network.model.encoder.embed_tokens.weight
    assert torch.equal(network.lm_head.weight, toy_translator.network.lm_head.weight)


def test_its_products_go_to_the_quicker_library() -> None:
    network = build(toy.MODEL, 340)
    assert isinstance(network.lm_head, Linear)
    assert not [name for name, module in network.named_modules() if type(module) is nn.Linear]


def test_an_output_layer_of_its_own_is_saved_too(tmp_path: Path, toy_translator: Translator) -> None:
    model = replace(toy.MODEL, tie_embeddings=False)
    network = build(model, 340).eval()
    assert network.lm_head.weight is not network.model.shared.weight
    card = replace(toy_translator.card, model=model)
    save_translator(tmp_path, Translator(network, toy_translator.tokenizer, card))
    assert torch.equal(load_translator(tmp_path).network(**INPUT).logits, network(**INPUT).logits)


def test_an_id_decodes_to_the_tokenizers_piece(folder: Path) -> None:
    assert PieceTokenizer.load(folder / TOKENIZER).decode(INPUT["input_ids"][0].tolist())


def test_a_folder_that_is_not_whole_is_refused(folder: Path, tmp_path: Path) -> None:
    whole = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    card = json.loads(whole[CARD])

    def refused(name: str, content: bytes | None, match: str) -> None:
        for each, data in whole.items():
            (folder / each).write_bytes(data)
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content)
        with pytest.raises(InputError, match=match):
            load_translator(folder)

    refused(CARD, None, r"not a translator: it has no translator\.json")
    refused(CARD, b"{", "not valid JSON")
    refused(CARD, json.dumps({**card, "steps": "many"}).encode(), r"translator\.json: steps")
    of_another_size = json.dumps({**card, "model": {**card["model"], "dim": 32}}).encode()
    refused(CARD, of_another_size, r"tensor \S+ has shape (\(.*?\)) where .* need (?!\1)\(")
    refused(TOKENIZER, None, "cannot be read")
    refused(WEIGHTS, None, "not a whole safetensors file")
    refused(WEIGHTS, whole[WEIGHTS][:-7], "not a whole safetensors file")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(InputError, match=r"transformers: translators need it .*pip install -e '\.\[hf\]'"):
        build(toy.MODEL, 340)
