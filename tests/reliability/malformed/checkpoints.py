"""Folders of trained models: config.json, tokenizer.json and the weights."""

from __future__ import annotations

import functools
import json
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from quartet.config.model import CONFIG, TOKENIZER, WEIGHTS
from quartet.config.training import TrainingConfig
from quartet.models.architectures import build_for
from quartet.models.checkpoint import ModelCard, save_model
from quartet.scorers import open_scorer
from quartet.scoring.language_model import load as load_model
from quartet.text.tokenizer import train_tokenizer
from tests.models.shapes import VARIANTS, small
from tests.reliability.malformed.case import Case, as_json, without
from tests.reliability.malformed.tokenizers import TEXTS, own

LAST = WEIGHTS["last"]
KINDS = ("tta", "segatron-xl-adaptive")


@functools.cache
def folder(kind: str = "tta") -> dict[str, bytes]:
    """The files of a small trained model."""
    torch.manual_seed(1)
    tokenizer = train_tokenizer("wordpiece", TEXTS, 200, True)
    config = small(**VARIANTS[kind])
    network = build_for(config, tokenizer)
    card = ModelCard(
        name=kind,
        seed=1,
        corpus="made-up",
        corpus_words=1,
        steps=1,
        best_step=1,
        parameters=network.parameter_count,
        model=config,
        training=TrainingConfig(steps=1, batch_size=1, learning_rate=1e-3),
    )
    state = network.state_dict()
    with tempfile.TemporaryDirectory() as name:
        save_model(Path(name), {"last": state, "best": state}, card, tokenizer)
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


def cases() -> Iterator[Case]:
    for what, (files, says) in _cards().items():
        yield Case("checkpoint/card", what, files, load_model, says)
    for kind in KINDS:
        for what, (files, says) in _weights(kind).items():
            yield Case(f"checkpoint/{kind}", what, files, load_model, says)
    for what, (files, says) in _openings().items():
        yield Case("checkpoint/opening", what, files, lambda at: open_scorer(str(at)), says)


def _card(**changes: Any) -> bytes:
    """config.json with other values; a dot in a name (two underscores here) leads into its parts."""
    content = json.loads(folder()[CONFIG])
    for name, value in changes.items():
        inner = content
        *way, last = name.split("__")
        for part in way:
            inner = inner[part]
        inner[last] = value
    return as_json(content)


def _cards() -> dict[str, tuple[dict[str, bytes], str]]:
    valid = folder()
    content = json.loads(valid[CONFIG])

    def card(data: bytes) -> dict[str, bytes]:
        return {**valid, CONFIG: data}

    found: dict[str, tuple[dict[str, bytes], str]] = {
        "an empty folder": ({}, "not a trained model: it has no config.json"),
        "empty": (card(b""), "config.json: not valid JSON"),
        "cut short": (card(valid[CONFIG][:-9]), "config.json: not valid JSON"),
        "a list": (card(b"[]"), "config.json"),
        "Latin-1": (card(valid[CONFIG].replace(b"made-up", b"m\xe4de-up")), "config.json: not valid JSON"),
        "of Hugging Face": (card(as_json({"model_type": "bert"})), "config.json: name: Field required"),
        "an unknown setting": (card(_card(model__layerz=1)), r"config.json: model.layerz"),
        "an unknown objective": (card(_card(model__objective="rtd")), "config.json: model.objective"),
        "no layers": (card(_card(model__layers=0)), "config.json: model.layers"),
        "layers that are a text": (card(_card(model__layers="many")), "config.json: model.layers"),
        "a thousand million layers": (
            card(_card(model__layers=10**9)),
            r"numbers, config.json asks for more",
        ),
        "one layer more": (
            card(_card(model__layers=content["model"]["layers"] + 1)),
            "has shape None where|asks for more",
        ),
        "one layer less": (card(_card(model__layers=1)), "need None"),
        "another width": (card(_card(model__dim=48)), "config.json and tokenizer.json need|asks for more"),
        "a width of a million million": (card(_card(model__dim=10**12)), "config.json asks for more"),
        "a width of 30 digits": (card(_card(model__dim=2 * 10**30)), "config.json asks for more"),
        "inputs of a thousand million tokens": (
            card(_card(model__max_length=10**9)),
            "config.json asks for more",
        ),
        "heads that do not divide": (card(_card(model__heads=5)), "heads must divide dim"),
        "another architecture": (card(_card(model__architecture="encoder")), "config.json: model"),
        "weights that are none": (card(_card(training__weights="first")), "config.json: training.weights"),
        "a learning rate below zero": (card(_card(training__learning_rate=-1)), "training.learning_rate"),
        "parameters that are NaN": (card(_card(parameters=float("nan"))), "config.json: parameters"),
        "a corpus that is a number": (card(_card(corpus=7)), "config.json: corpus"),
        "no tokenizer": (without(valid, TOKENIZER), "tokenizer.json: cannot be read"),
        "another tokenizer": (
            {**valid, TOKENIZER: train_tokenizer("word", TEXTS, 12, True).to_json().encode()},
            "config.json and tokenizer.json need",
        ),
        "a tokenizer that is cut short": (
            {**valid, TOKENIZER: valid[TOKENIZER][:-9]},
            "not a tokenizer of Quartet",
        ),
        "a tokenizer with a gap": ({**valid, TOKENIZER: _gap()}, "no piece has the id"),
    }
    for key in content:
        found[f"no {key}"] = (card(as_json(without(content, key))), rf"config.json: {key}: Field required")
    return found


def _gap() -> bytes:
    content = json.loads(json.dumps(own()))
    vocabulary = content["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.__getitem__)
    vocabulary[last] += 1
    return as_json(content)


def _weights(kind: str) -> dict[str, tuple[dict[str, bytes], str]]:
    valid = folder(kind)
    whole = valid[LAST]
    tensors = load(whole)
    name = min(
        one for one, tensor in tensors.items() if tensor.dim() == 2 and tensor.shape[0] != tensor.shape[1]
    )
    table = tensors[name]
    (length,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + length])

    def of(data: bytes) -> dict[str, bytes]:
        return {**valid, LAST: data}

    def with_tensor(tensor: Tensor) -> dict[str, bytes]:
        return of(save({**tensors, name: tensor.contiguous()}))

    def with_header(**changes: Any) -> dict[str, bytes]:
        text = as_json({**header, name: {**header[name], **changes}})
        return of(struct.pack("<Q", len(text)) + text + whole[8 + length :])

    spoilt, infinite = table.clone(), table.clone()
    spoilt[..., 0], infinite[..., -1] = torch.nan, torch.inf
    start, stop = header[name]["data_offsets"]
    return {
        "no weights": (without(valid, LAST), "model.safetensors: no such file"),
        "empty": (of(b""), "not a whole safetensors file"),
        "cut in the header": (of(whole[:20]), "not a whole safetensors file"),
        "cut in the data": (of(whole[:-100]), "not a whole safetensors file"),
        "cut by one byte": (of(whole[:-1]), "not a whole safetensors file"),
        "a byte too many": (of(whole + b"\0"), "not a whole safetensors file"),
        "text": (of(b"weights " * 40), "not a whole safetensors file"),
        "a pickle": (of(b"\x80\x02}q\x00." + bytes(40)), "not a whole safetensors file"),
        "a header that is no JSON": (of(whole[:8] + b"[" * length + whole[8 + length :]), "not a whole"),
        "a header of a million million bytes": (of(struct.pack("<Q", 10**12) + whole[8:]), "not a whole"),
        "a tensor beyond the end": (
            with_header(data_offsets=[start, stop + 10**9]),
            "not a whole safetensors file",
        ),
        "a tensor that ends before it begins": (with_header(data_offsets=[stop, start]), "not a whole"),
        "a shape that is not its data's": (with_header(shape=[7, 7]), "not a whole safetensors file"),
        "a shape below zero": (with_header(shape=[-1, 5]), "not a whole safetensors file"),
        "an unknown type of numbers": (with_header(dtype="F31"), "not a whole safetensors file"),
        "a tensor too few": (of(save(without(tensors, name))), f"tensor {name} has shape None"),
        "a tensor too many": (of(save({**tensors, "extra": torch.ones(2)})), "tensor extra has shape"),
        "another name": (of(save({**without(tensors, name), "table": table})), "has shape"),
        "another shape": (with_tensor(table[:, :-1]), f"tensor {name} has shape"),
        "a row too many": (with_tensor(torch.cat([table, table[:1]])), f"tensor {name} has shape"),
        "transposed": (with_tensor(table.T), f"tensor {name} has shape"),
        "half precision": (with_tensor(table.half()), f"tensor {name} is torch.float16, not torch.float32"),
        "whole numbers": (with_tensor(table.to(torch.int32)), f"tensor {name} is torch.int32"),
        "NaN": (with_tensor(spoilt), f"tensor {name} holds NaN or infinity"),
        "infinity": (with_tensor(infinite), f"tensor {name} holds NaN or infinity"),
        "those of another model": (
            {**valid, LAST: folder(KINDS[kind == KINDS[0]])[LAST]},
            "config.json and tokenizer.json need",
        ),
    }


def _openings() -> dict[str, tuple[dict[str, bytes], str]]:
    valid = folder()
    return {
        "an empty folder": ({"a.txt": b""}, "holds neither config.json"),
        "a config.json that is no JSON": ({CONFIG: b"{"}, "config.json: not valid JSON"),
        "a config.json of nothing": ({CONFIG: b"{}"}, "config.json: name: Field required"),
        "a folder of both kinds": ({**valid, "model.arpa.gz": b""}, "not an n-gram model"),
        "a config.json that is a list": ({CONFIG: b"[]"}, "config.json"),
    }
