"""Tiny models of Hugging Face with random weights and vocabularies of our own: nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PIECES = [
    *("[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(f"{mark}{letter}" for mark in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz"),
    *("the", "cat", "sat", "##ing", "on", "mat", "E", "É", "é", "ß", "##ß", "Ω", "中", "文"),
    *("un", "##like", "##ly", "123", "##4", ".", ",", "!", "'", "[", "]", "-", "ﬁ", "i̇"),
]
"""In an order that is not ours: [UNK] stands behind unused pieces, as in BERT's own vocabulary."""

TEXTS = [
    "the cat sat on the mat.",
    "",
    "unlikely cats!",
    "the",
    "the cat sat on the mat, the cat sat unlikely. " * 6,
    "a dog sat on 1234 mats",
    "the cat sat on the mat.",
]


def transformers() -> Any:
    """The library, imported where it is used: it takes seconds."""
    import transformers as library

    return library


def save_bert_tokenizer(folder: Path, **settings: Any) -> Any:
    """A BertTokenizer over PIECES, saved by transformers."""
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = transformers().BertTokenizer(vocab=vocabulary, **settings)
    tokenizer.save_pretrained(folder)
    return tokenizer


def save_bert(folder: Path, **changes: Any) -> Any:
    """A BertForMaskedLM of two layers over PIECES with its tokenizer; weights far from zero, so that errors show."""
    import torch

    library = transformers()
    torch.manual_seed(5)
    settings = {
        "vocab_size": len(PIECES),
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 40,
        "initializer_range": 0.3,
    }
    model = library.BertForMaskedLM(library.BertConfig(**{**settings, **changes})).eval()
    with torch.no_grad():  # biases and normalisations start as zeros and ones: give them values that matter
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    save_bert_tokenizer(folder)
    return model


def save_byte_level(folder: Path, kind: str, **changes: Any) -> Any:
    """A RoBERTa or a GPT-2 of two layers with a byte-level vocabulary of its own."""
    import tokenizers
    import torch

    library = transformers()
    torch.manual_seed(6)
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if kind == "roberta" else ["<|endoftext|>"]
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(TEXTS, vocab_size=320, special_tokens=specials, show_progress=False)
    trained.save_model(str(folder))
    maker = library.RobertaTokenizer if kind == "roberta" else library.GPT2Tokenizer
    tokenizer = maker.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "initializer_range": 0.3}
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    own = (
        {"max_position_embeddings": 42, "intermediate_size": 32, "pad_token_id": 1}
        if kind == "roberta"
        else {}
    )
    own = own or {"max_position_embeddings": 40}
    config = library.AutoConfig.for_model(
        kind, **{"vocab_size": len(tokenizer), **sizes, **ends, **own, **changes}
    )
    make = library.AutoModelForMaskedLM if kind == "roberta" else library.AutoModelForCausalLM
    model = make.from_config(config).eval()
    model.save_pretrained(folder)
    return model
