"""What every Whisper needs, whatever runs it: its features, its prompt, and which tokens are a choice.

The prompt is ``<|startoftranscript|>``, then for models of several languages the language and ``<|transcribe|>``, then
``<|notimestamps|>``. Never a choice are special tokens other than the end of the text, timestamps, and what the model's
own settings suppress (signs that are no speech); as the first token neither what they suppress there: with OpenAI's
models a blank and the end, so that no transcript is empty.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quartet.errors import InputError
from quartet.hugging_face import transformers
from quartet.recognise.audio import RATE, Samples

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FEATURES = "preprocessor_config.json"
END, START = "<|endoftext|>", "<|startoftranscript|>"
TRANSCRIBE, NO_TIMESTAMPS = "<|transcribe|>", "<|notimestamps|>"
#: No score is so low: the engines put lower ones in places of a list for which there are no tokens to choose.
NOTHING = -1e8
#: Ids that models of several languages have at least; those of English alone have fewer.
MULTILINGUAL_IDS = 51_865

_SPECIAL = re.compile(r"<\|.*\|>")
#: Beside letters in a word; the last stands for the bytes of a part of a character.
_IN_WORDS = "'’- \N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class TokenConstraints:
    """What a transcript is made of.

    Attributes:
        prompt: ids before the first token.
        end: id of the token that ends it.
        suppressed: ids that are no choice anywhere, sorted.
        suppressed_first: ids that are no choice as the first token.
    """

    prompt: tuple[int, ...]
    end: int
    suppressed: tuple[int, ...]
    suppressed_first: tuple[int, ...]


def choice(
    folder: Path,
    tokenizer: Tokenizer,
    *,
    ids: int,
    multilingual: bool,
    language: str | None,
    suppressed: Iterable[int],
    suppressed_first: Iterable[int],
    words_only: bool,
) -> TokenConstraints:
    """The prompt and the choice of tokens of a model.

    Args:
        folder: the model's, for messages.
        ids: rows of its output; those behind the tokenizer's are timestamps.
        suppressed, suppressed_first: what the model's own settings say.

    Raises:
        InputError: the tokenizer is no Whisper's or not this model's; the language is missing or the model has it not.
    """
    known = tokenizer.get_vocab_size()
    if known > ids:
        raise InputError(
            folder,
            f"its tokenizer has {known} tokens and the model {ids}",
            "give files that belong together",
        )
    if multilingual and language is None:
        raise InputError(folder, "a model of several languages needs one", "set language, e.g. en")
    if not multilingual and language not in (None, "en"):
        raise InputError(
            folder, f"a model of English alone, and language is {language}", "take another model"
        )
    names = (f"<|{language}|>", TRANSCRIBE) if multilingual else ()
    numbers: dict[str, int] = {}
    for name in (END, START, *names, NO_TIMESTAMPS):
        number = tokenizer.token_to_id(name)
        if number is None:
            raise InputError(
                folder, f"its tokenizer has no {name}", "check language, or give a Whisper's folder"
            )
        numbers[name] = number
    end = numbers.pop(END)
    special = {
        number
        for number, token in tokenizer.get_added_tokens_decoder().items()
        if token.special or _SPECIAL.fullmatch(token.content)
    }
    banned = special | set(range(known, ids)) | {number for number in suppressed if 0 <= number < ids}
    if words_only:
        banned |= {number for number in range(known) if not _in_words(tokenizer.decode([number]))}
    banned.discard(end)
    first = {number for number in suppressed_first if 0 <= number < ids} - banned
    return TokenConstraints(tuple(numbers.values()), end, tuple(sorted(banned)), tuple(sorted(first)))


def _in_words(text: str) -> bool:
    return all(
        letter.isalpha() or letter in _IN_WORDS or unicodedata.category(letter).startswith("M")
        for letter in text
    )


def plain_text(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """The words of tokens, single spaces between them."""
    return " ".join(tokenizer.decode(list(ids)).split())


class FeatureExtractor:
    """From samples to the log-mel features that an encoder reads.

    Attributes:
        seconds: of audio that fit into one input; shorter audio is padded with silence.
    """

    def __init__(self, folder: Path, mels: int) -> None:
        """Args:
        folder: of the model; without ``preprocessor_config.json`` the features are those of OpenAI's models.
        mels: features of a frame that the model reads.

        Raises:
            InputError: the file is broken or not this model's.
        """
        library = transformers()
        if (folder / FEATURES).is_file():
            try:
                self._extractor: Any = library.WhisperFeatureExtractor.from_pretrained(
                    folder, local_files_only=True
                )
            except Exception as error:  # whatever a broken file may raise
                raise InputError(
                    folder / FEATURES, f"cannot be used ({type(error).__name__})", "copy it again"
                ) from error
        else:
            self._extractor = library.WhisperFeatureExtractor(feature_size=mels)
        found = self._extractor.feature_size
        if found != mels or self._extractor.sampling_rate != RATE:
            raise InputError(
                folder / FEATURES,
                f"makes {found} features at {self._extractor.sampling_rate} Hz where the model needs {mels} at {RATE}",
                "give files that belong together",
            )
        self.seconds = int(self._extractor.chunk_length)
        self.frames = int(self._extractor.nb_max_frames)

    def __call__(self, samples: Sequence[Samples]) -> NDArray[np.float32]:
        """Features of utterances: (utterances, features of a frame, frames)."""
        assert all(0 < len(each) <= self.seconds * RATE for each in samples)
        found = self._extractor(list(samples), sampling_rate=RATE, padding="max_length", return_tensors="np")[
            "input_features"
        ]
        return np.ascontiguousarray(found, dtype=np.float32)
