"""Folders of Hugging Face's models: config.json, weights and vocabularies that are broken or do not belong together."""

from __future__ import annotations

import functools
import io
import json
import pickle
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import load, save

from quartet.scoring.pretrained_lm import load_pretrained
from tests.bert import save_bert
from tests.reliability.malformed.case import Case, as_json, without

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"


@functools.cache
def folder() -> dict[str, bytes]:
    """A tiny BERT."""
    with tempfile.TemporaryDirectory() as name:
        save_bert(Path(name))
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


class Harm:
    """Writes a file where it is unpickled as an object."""

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, ("harm-was-done", "w")


def read(at: Path) -> object:
    return load_pretrained(str(at))


def cases() -> Iterator[Case]:
    valid, config = folder(), json.loads(folder()[CONFIG])
    tensors = load(valid[WEIGHTS])
    name = "bert.embeddings.word_embeddings.weight"
    bare = without(valid, WEIGHTS)
    remote = {"AutoModelForMaskedLM": "modeling.Model", "AutoConfig": "modeling.Config"}

    def of(**changes: object) -> dict[str, bytes]:
        return {**valid, CONFIG: as_json({**config, **changes})}

    found: dict[str, tuple[dict[str, bytes], str]] = {
        "an empty folder": ({"a.txt": b""}, "not a model of Hugging Face"),
        "no weights": (bare, "not a model of Hugging Face"),
        "no config.json": (without(valid, CONFIG), "not a model of Hugging Face"),
        "a config.json that is cut short": ({**valid, CONFIG: valid[CONFIG][:-9]}, "config.json"),
        "a config.json that is a list": ({**valid, CONFIG: b"[]"}, "config.json"),
        "an unknown kind of model": (of(model_type="klingon"), "config.json: cannot be used"),
        "no kind of model": (
            {**valid, CONFIG: as_json(without(config, "model_type"))},
            "config.json: cannot be used",
        ),
        "code that comes with it": (
            {**of(model_type="own", auto_map=remote), "modeling.py": b"open('harm-was-done', 'w')\n"},
            "config.json: cannot be used",
        ),
        "a model that is no language model": (
            of(model_type="vit", architectures=["ViTModel"]),
            "neither a causal nor",
        ),
        "another width": (of(hidden_size=48), "config.json asks for another shape"),
        "a layer more": (of(num_hidden_layers=3), "lacks .* of the weights"),
        "heads that do not divide": (of(num_attention_heads=5), "cannot be opened"),
        "another vocabulary": (of(vocab_size=50), "config.json asks for another shape"),
        "weights that are empty": ({**valid, WEIGHTS: b""}, "cannot be opened as AutoModelForMaskedLM"),
        "weights that are cut short": ({**valid, WEIGHTS: valid[WEIGHTS][:-99]}, "cannot be opened"),
        "weights of text": ({**valid, WEIGHTS: b"weights " * 40}, "cannot be opened"),
        "a tensor too few": ({**valid, WEIGHTS: save(without(tensors, name), {"format": "pt"})}, "lacks"),
        "a pickle that runs code": (
            {**bare, "pytorch_model.bin": pickle.dumps(Harm(), 2)},
            "cannot be opened",
        ),
        "a pickle in a zip that runs code": ({**bare, "pytorch_model.bin": _torch_zip()}, "cannot be opened"),
        "a pickle that is cut short": (
            {**bare, "pytorch_model.bin": _saved(tensors)[:-50]},
            "cannot be opened",
        ),
        "a weight that is NaN": (
            {**valid, WEIGHTS: save({**tensors, name: tensors[name] * torch.nan}, {"format": "pt"})},
            "holds NaN or infinity",
        ),
        "no vocabulary": (
            {path: data for path, data in valid.items() if "tokenizer" not in path},
            "has no vocabulary of a tokenizer",
        ),
        "a vocabulary that is cut short": ({**valid, TOKENIZER: valid[TOKENIZER][:-99]}, "tokenizer"),
        "a vocabulary that is too large": (
            {**valid, TOKENIZER: _larger(valid[TOKENIZER])},
            "tokens and its embedding",
        ),
    }
    for what, (files, says) in found.items():
        yield Case("hugging-face/bert", what, files, read, says)


def _saved(tensors: dict[str, torch.Tensor]) -> bytes:
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return buffer.getvalue()


def _torch_zip() -> bytes:
    """What torch.save writes, with another pickle inside."""
    source, target = io.BytesIO(_saved({"a": torch.ones(1)})), io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for one in old.infolist():
            data = pickle.dumps(Harm(), 2) if one.filename.endswith("data.pkl") else old.read(one)
            new.writestr(zipfile.ZipInfo(one.filename), data)
    return target.getvalue()


def _larger(data: bytes) -> bytes:
    content = json.loads(data)
    vocabulary = content["model"]["vocab"]
    content["model"]["vocab"] = {**vocabulary, **{f"new{n}": len(vocabulary) + n for n in range(9)}}
    return as_json(content)
