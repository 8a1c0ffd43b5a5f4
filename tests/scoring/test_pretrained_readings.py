"""Vectors of models of Hugging Face, against loops over `transformers` that read one input at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from quartet.errors import InputError
from quartet.scoring import device
from quartet.scoring.network_reader import LAYERS, Layer
from quartet.scoring.pretrained_lm import PretrainedLM, load_pretrained
from quartet.scoring.windows import even_parts, full_parts
from tests.bert import TEXTS, save_bert, save_byte_level, transformers

MASKED, CAUSAL = ("bert", "roberta"), ("gpt2",)
#: Tokens that an input of each model may have, beside the special ones in front and behind.
ROOM = {"bert": 38, "roberta": 38, "gpt2": 39}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {kind: tmp_path_factory.mktemp("models") / kind for kind in (*MASKED, *CAUSAL)}
    for kind, folder in made.items():
        folder.mkdir()
        save_bert(folder) if kind == "bert" else save_byte_level(folder, kind)
    return made


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, PretrainedLM]:
    return {kind: load_pretrained(str(folder)) for kind, folder in folders.items()}


@torch.no_grad()
def naive(folder: Path, kind: str, text: str, layer: Layer, masked: bool) -> np.ndarray:
    """The mean over a text's tokens, or the vector of a special one, by the base model's outputs for one input."""
    library = transformers()
    tokenizer: Any = library.AutoTokenizer.from_pretrained(folder)
    model = library.AutoModel.from_pretrained(folder).eval()
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    before = [tokenizer.bos_token_id if kind in CAUSAL else tokenizer.cls_token_id]
    after = [] if kind in CAUSAL else [tokenizer.sep_token_id]
    room = ROOM[kind]
    if kind in CAUSAL and layer == "last":
        after, room = [tokenizer.eos_token_id], room - 1
    parts = (full_parts if kind in CAUSAL else even_parts)(len(ids), room)
    found: list[np.ndarray] = []
    for low, high in parts:
        framed = torch.tensor([[*before, *ids[low:high], *after]])
        output = model(framed, output_hidden_states=True)
        states = {
            "embed": output.hidden_states[0],
            "table": model.get_input_embeddings()(framed),
        }.get(layer, output.last_hidden_state)[0]
        if layer in ("first", "last"):
            wanted = low == 0 if layer == "first" else high == len(ids)
            found += [states[0 if layer == "first" else -1].numpy()] if wanted else []
            continue
        for place in range(1, 1 + high - low):
            if masked and layer == "context" and kind in MASKED:
                copy = framed.clone()
                copy[0, place] = tokenizer.mask_token_id
                states = model(copy).last_hidden_state[0]
            found.append(states[place].numpy())
    return np.mean(found, axis=0) if found else np.zeros(24)


READINGS = [(kind, layer, True) for kind in (*MASKED, *CAUSAL) for layer in LAYERS] + [
    (kind, "context", False) for kind in MASKED
]


@pytest.mark.parametrize(("kind", "layer", "masked"), READINGS)
def test_the_vectors_are_those_of_the_naive_loop(
    folders: dict[str, Path], models: dict[str, PretrainedLM], kind: str, layer: Layer, masked: bool
) -> None:
    found = models[kind].embed(TEXTS, layer, masked)
    assert found.shape == (len(TEXTS), 24)
    for text, vector in zip(TEXTS, found, strict=True):
        assert np.allclose(vector, naive(folders[kind], kind, text, layer, masked), atol=1e-5), text


@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_small_budgets_and_other_company_change_nothing(
    models: dict[str, PretrainedLM], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models[kind]
    expected = {layer: model.embed(TEXTS, layer) for layer in LAYERS}
    monkeypatch.setattr(device, "TOKEN_BUDGET", 50)
    for layer, vectors in expected.items():
        assert np.allclose(model.embed(TEXTS[::-1], layer)[::-1], vectors, atol=1e-5)
    assert model.embed([]).shape == (0, 24)


def test_progress_ends_where_it_should(models: dict[str, PretrainedLM]) -> None:
    moves: list[tuple[int, int]] = []
    models["bert"].embed(TEXTS, progress=lambda done, total: moves.append((done, total)))
    tokens = len(models["bert"].token_logprobs([TEXTS[0]])[0])
    assert moves[-1][0] == moves[-1][1] > tokens


def test_readings_that_tell_texts_apart(models: dict[str, PretrainedLM]) -> None:
    assert models["bert"].layers == LAYERS
    assert models["gpt2"].layers == tuple(layer for layer in LAYERS if layer != "first")


def test_special_tokens_that_are_not_there_are_no_reading(models: dict[str, PretrainedLM]) -> None:
    import copy
    import dataclasses

    bare = copy.copy(models["bert"])
    bare.inputs = dataclasses.replace(bare.inputs, before=[], after=[])
    assert bare.layers == ("context", "embed", "table")
    with pytest.raises(InputError, match="it has no first one"):
        bare.embed(["the cat"], "first")


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("albert", {"embedding_size": 16}), ("opt", {"ffn_dim": 32, "word_embed_proj_dim": 24}), ("llama", {})],
)
def test_other_architectures_give_vectors_too(kind: str, settings: dict[str, Any]) -> None:
    """A narrower table, a decoder within the base model, positions that are nowhere in the embedding layer."""
    from quartet.scoring.hf_body_and_head import BodyAndHead

    library = transformers()
    own = {"vocab_size": 50, "max_position_embeddings": 20, "hidden_size": 24, "num_hidden_layers": 1}
    config = library.AutoConfig.for_model(
        kind, **own, num_attention_heads=2, intermediate_size=32, pad_token_id=0, bos_token_id=1, **settings
    )
    make = library.AutoModelForMaskedLM if kind == "albert" else library.AutoModelForCausalLM
    split = BodyAndHead(make.from_config(config).eval())
    ids_BT = torch.tensor([[3, 4, 5]])
    rows_N, columns_N = torch.tensor([0, 0]), torch.tensor([0, 2])
    found = {layer: split.vectors(ids_BT, None, rows_N, columns_N, layer) for layer in LAYERS}
    assert all(len(vectors_ND) == 2 for vectors_ND in found.values())
    widths = {layer: vectors_ND.shape[-1] for layer, vectors_ND in found.items()}
    assert widths["context"] == widths["first"] == 24
    assert widths["table"] == (16 if kind == "albert" else 24)
    assert widths["table"] == split.width("table")
