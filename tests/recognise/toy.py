"""A language of ten words and its word-by-word translation: what a small translator learns in seconds."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from quartet.config.recognise import TranslatorConfig, VocabularyConfig
from quartet.config.training import TrainingConfig
from quartet.recognise.parallel_text import ParallelText, encode_pairs
from quartet.recognise.training import TrainedTranslator, fit_translator
from quartet.recognise.translation import Translator, TranslatorCard, parameter_count
from quartet.recognise.vocabulary import PieceTokenizer, train_pieces

WORDS = dict(
    zip(
        ["der", "Hund", "sah", "die", "Katze", "im", "Garten", "und", "lief", "schnell"],
        ["the", "dog", "saw", "that", "cat", "inside", "gardens", "and", "ran", "fast"],
        strict=True,
    )
)
MODEL = TranslatorConfig(layers=1, dim=64, heads=4, inner=128, dropout=0.0, max_length=24, init_std=0.1)


def parallel(count: int, seed: int) -> ParallelText:
    """Pairs of one to six words."""
    draw = random.Random(seed)
    rows = [draw.choices(list(WORDS), k=draw.randint(1, 6)) for _ in range(count)]
    return ParallelText(
        tuple(" ".join(row) for row in rows), tuple(" ".join(WORDS[word] for word in row) for row in rows)
    )


TRAIN, DEV = parallel(1500, 1), parallel(60, 2)


def tokenizer() -> PieceTokenizer:
    """The pieces of both languages."""
    return train_pieces([*TRAIN.source, *TRAIN.target], VocabularyConfig(vocab_size=340))


def settings(**changes: Any) -> TrainingConfig:
    """How it is trained, changed as wished."""
    given: dict[str, Any] = {
        "steps": 300,
        "batch_size": 400,
        "learning_rate": 3e-3,
        "schedule": "inverse-sqrt",
        "weight_decay": 0.0,
        "betas": (0.9, 0.98),
        "validate_every": 100,
        "checkpoint_every": 100,
    }
    return TrainingConfig(**{**given, **changes})


def fit(
    resume: Path, model: TranslatorConfig = MODEL, device: str = "cpu", **changes: Any
) -> TrainedTranslator:
    """Train on the toy text."""
    pieces = tokenizer()
    return fit_translator(
        model,
        settings(**changes),
        pieces.vocab_size,
        encode_pairs(TRAIN, pieces, model.max_length),
        encode_pairs(DEV, pieces, model.max_length),
        label_smoothing=0.1,
        seed=3,
        resume=resume,
        device=device,
    )


def translator(trained: TrainedTranslator, model: TranslatorConfig = MODEL) -> Translator:
    """What a training made, with its tokenizer and card."""
    card = TranslatorCard(
        name="toy",
        languages=("de", "en"),
        seed=3,
        steps=300,
        weights_step=300,
        pairs=len(TRAIN),
        parameters=parameter_count(trained.network),
        model=model,
        training=settings(),
        label_smoothing=0.1,
    )
    return Translator(trained.network, tokenizer(), card)


def translator_with(translator: Translator, **changes: Any) -> Translator:
    """The same weights under a card that says otherwise of the model."""
    model = replace(translator.card.model, **changes)
    return replace(translator, card=replace(translator.card, model=model))
