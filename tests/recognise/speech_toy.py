"""A Whisper of two layers with random weights and a tokenizer of its own, and sounds for it: nothing is downloaded."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import soundfile
import torch
from ctranslate2.converters import TransformersConverter
from numpy.typing import NDArray
from tokenizers import ByteLevelBPETokenizer

from quartet.hugging_face import transformers
from quartet.recognise.audio import RATE

SPECIALS = [
    *("<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>"),
    *("<|startoflm|>", "<|startofprev|>", "<|nocaptions|>", "<|notimestamps|>"),
]
#: In the order of OpenAI's models: behind all words.
TIMESTAMPS = 51
SUPPRESSED = [0, 1]
MAX_TOKENS = 24


def save_whisper(folder: Path, *, multilingual: bool = False, towards_end: float = 4.0) -> Path:
    """A WhisperForConditionalGeneration that takes one second of audio, as transformers saves one.

    Args:
        towards_end: how much more probable than by chance the end of the text is; 0: nothing ends.
    """
    library = transformers()
    folder.mkdir(parents=True)
    trained = ByteLevelBPETokenizer()
    texts = ["the cat sat on the mat", "a dog, 2 cats and 1 mat.", "don't sit on that"]
    trained.train_from_iterator(texts, vocab_size=290, show_progress=False)
    trained.save_model(str(folder))
    end = SPECIALS[0]
    tokenizer = library.WhisperTokenizer(
        str(folder / "vocab.json"),
        str(folder / "merges.txt"),
        **dict.fromkeys(("unk_token", "bos_token", "eos_token", "pad_token"), end),
        additional_special_tokens=SPECIALS[1:],
    )
    tokenizer.save_pretrained(folder)
    library.WhisperFeatureExtractor(chunk_length=1).save_pretrained(folder)
    numbers = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIALS}
    first = [tokenizer.convert_tokens_to_ids("Ġ"), numbers[end]]
    ends = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), numbers[end])
    ends["decoder_start_token_id"] = numbers["<|startoftranscript|>"]
    torch.manual_seed(11)
    config = library.WhisperConfig(
        vocab_size=len(tokenizer) + TIMESTAMPS,
        d_model=32,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=50,
        max_target_positions=64,
        init_std=0.3,
        suppress_tokens=None,
        begin_suppress_tokens=None,
        **ends,
    )
    model = library.WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        row = model.model.decoder.embed_tokens.weight[numbers[end]]  # zeros: it is padding too
        row.copy_(0.3 * torch.randn(32))
        model.model.decoder.layer_norm.bias.add_(towards_end * row / row.norm())
    model.generation_config = library.GenerationConfig(
        suppress_tokens=SUPPRESSED, begin_suppress_tokens=first, is_multilingual=multilingual, **ends
    )
    model.save_pretrained(folder)
    return folder


def converted(folder: Path, target: Path) -> Path:
    """The same model for CTranslate2, by its own converter."""
    converter = TransformersConverter(str(folder), copy_files=["tokenizer.json", "preprocessor_config.json"])
    converter.convert(str(target))
    return target


def sound(number: int, seconds: float = 0.7, rate: int = RATE) -> NDArray[np.float32]:
    """A chord with a little noise, another for each number."""
    draw = np.random.default_rng(number)
    times = np.arange(math.ceil(seconds * rate)) / rate
    chord = sum(np.sin(2 * np.pi * pitch * times) for pitch in draw.uniform(100, 3000, size=3))
    samples: NDArray[np.float32] = (0.1 * chord + 0.01 * draw.standard_normal(len(times))).astype(np.float32)
    return samples


def write_sound(path: Path, samples: NDArray[np.float32], rate: int = RATE) -> Path:
    """A file in the format of its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate)
    return path
