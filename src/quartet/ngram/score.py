"""N-gram models for people who want scores: texts in, log-probabilities out, as of a LanguageModel."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quartet.arguments import checked_texts
from quartet.errors import InputError
from quartet.files import sha256
from quartet.ngram.arpa import begins_as_arpa, check_start, read_words
from quartet.ngram.card import ARPA, MANIFEST, TOKENIZER, NgramCard, load_card
from quartet.ngram.tokens import RESERVED, UNKNOWN, Splitter, splitter
from quartet.scoring.unknown import ScoresTexts, UnknownTokens, of_tokenizer, spelled, spread
from quartet.statistics.intervals import Floats
from quartet.text.scripts import words_of
from quartet.text.tokenizer import TextTokenizer, characters_of

if TYPE_CHECKING:
    from quartet.ngram.file import NgramFileCard


#: Above 0 by the rounding of KenLM's single precision, and no further, a log-probability may be.
LARGEST = 1e-5
#: How files begin that KenLM made of ARPA files.
BINARY = b"mmap lm "
#: What KenLM says behind the place in its own source code.
_SAID = re.compile(r"threw \w+(?: because `.*?')?\.? +(.+?)(?: Byte: \d+)?\)?$")


@dataclass(frozen=True)
class NgramScores:
    """One text of N tokens as an n-gram model reads it.

    Attributes:
        logprobs: (N + 1,) natural log-probabilities of the tokens and of the end of the sentence.
        unknown: (N,) whether the model has never seen a token.
    """

    logprobs: Floats
    unknown: NDArray[np.bool_]


class NgramLM(ScoresTexts):
    """An ARPA file with the rules that make a text its tokens. A text is one sentence.

    An unknown token costs what the model gives <unk>, the share of one word that was never seen, and the context starts
    anew after it: so every score is finite. In a perplexity per word, each unknown word costs its spelling too.

    Attributes:
        name: its entry in params.yaml, or the name of its file.
        scale: one line that goes beside every figure of this model.
        masks, pseudo, device: as a LanguageModel has them: one reading, probabilities of the next token, on the CPU.
        seed: of what is resampled from its scores; its estimation has no randomness.
    """

    masks = False
    pseudo = False
    device = "cpu"

    def __init__(
        self,
        model: Any,
        split: Splitter,
        card: NgramCard | NgramFileCard,
        place: Path,
        seed: int = 0,
        tokenizer: TextTokenizer | None = None,
    ) -> None:
        """Args:
        model: of KenLM.
        place: what it was opened from.
        tokenizer: that makes the pieces which are counted; None: words are.
        """
        self._tokenizer = tokenizer
        self.card = card
        self.place = place.resolve()  # the process may go to another folder
        self.seed = seed
        self._model = model
        self._split = split
        self._unknown = min(0.0, float(model.score(UNKNOWN, bos=False, eos=False)) * float(np.log(10)))

    def __reduce__(self) -> tuple[Any, ...]:
        from quartet.ngram.file import reopen_ngram

        return reopen_ngram, (self.place, self.fingerprint, self.seed)

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def scale(self) -> str:
        return self.card.scale

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that decides the scores: the ARPA file and the rules that make a text its tokens."""
        return hashlib.sha256(json.dumps(self.card.to_json(), sort_keys=True).encode("utf-8")).hexdigest()

    def read(self, text: str) -> NgramScores:
        """A text's tokens, each after those before it in the sentence."""
        tokens = [UNKNOWN if token in RESERVED else token for token in self._split(text)]
        scores = list(self._model.full_scores(" ".join(tokens), bos=True, eos=True))
        assert len(scores) == len(tokens) + 1, "KenLM reads the same tokens"
        logprobs = np.array([log10 for log10, _, _ in scores], dtype=np.float64) * np.log(10)
        if not (np.isfinite(logprobs) & (logprobs <= LARGEST)).all():
            raise InputError(
                f"n-gram model {self.name}",
                "its file gives what is no probability",
                "estimate or copy the model again",
            )
        return NgramScores(
            logprobs,
            np.array([unknown for _, _, unknown in scores[:-1]], dtype=bool),
        )

    def token_logprobs(self, texts: Sequence[str], masked: bool = True) -> list[Floats]:
        """Natural log-probabilities of each text's tokens, in order, and of its end.

        Args:
            masked: nothing is masked; a LanguageModel has this argument.

        Raises:
            InputError: `texts` is one string, or holds what is no text.
        """
        return [self.read(text).logprobs for text in checked_texts(texts)]

    def unknown_tokens(self, texts: Sequence[str]) -> list[UnknownTokens]:
        """Which tokens of each text the model has never seen, and what each costs beside <unk>."""
        texts = checked_texts(texts)
        if self._tokenizer is not None:
            return of_tokenizer(self._tokenizer, texts)
        found = []
        for text in texts:
            tokens = self._split(text)
            places = [
                place for place, token in enumerate(tokens) if token in RESERVED or token not in self._model
            ]
            spread = [(words_of(tokens[place]) - 1) * self._unknown for place in places]
            found.append(UnknownTokens(len(tokens), places, spread, [tokens[place] for place in places]))
        return found

    def omits(self, texts: Sequence[str]) -> bool:
        """Whether the model's tokens lack punctuation that the texts have, so that it predicts another text."""
        if self._tokenizer is not None:
            return False
        return any(_marks(text) != _marks("".join(self._split(text))) for text in texts)

    def spelled(self, found: UnknownTokens) -> float | None:
        """What the unknown words of a text cost beside <unk> if each is spelled; None: a binary names no characters."""
        if self._tokenizer is not None:
            return spelled(found)
        if self.alphabet is None:
            return None
        return math.fsum(spread(word, self.alphabet) for word in found.words if word != UNKNOWN)

    @cached_property
    def alphabet(self) -> frozenset[str] | None:
        """The characters of the words that are counted; None of a binary file."""
        path = self.place / ARPA if self.place.is_dir() else self.place
        return characters_of(set(read_words(path)) - RESERVED) if begins_as_arpa(path) else None


def _marks(text: str) -> int:
    return sum(unicodedata.category(each).startswith("P") for each in text)


def load(folder: str | Path, seed: int = 0) -> NgramLM:
    """Open an n-gram model: model.arpa.gz and manifest.json (and tokenizer.json where it counts pieces).

    Raises:
        InputError: the folder holds no n-gram model, one of its files is broken or not the one that the manifest
            describes, or KenLM is not installed.
    """
    folder = Path(folder)
    card = load_card(folder)
    if (found := sha256(folder / ARPA)) != card.sha256:
        raise InputError(
            folder / ARPA,
            f"not the file that {MANIFEST} describes: its sha256 is {found}, not {card.sha256}",
            "estimate or copy the model again",
        )
    pieces = card.tokens.units == "pieces"
    tokenizer = TextTokenizer.load(folder / TOKENIZER) if pieces else None
    if tokenizer is not None and tokenizer.sha256 != card.tokenizer:
        raise InputError(
            folder / TOKENIZER,
            f"is the tokenizer {tokenizer.sha256[:12]}, {MANIFEST} names {card.tokenizer[:12] or 'none'}",
            "estimate or copy the model again",
        )
    return NgramLM(open_arpa(folder / ARPA), splitter(card.tokens, tokenizer), card, folder, seed, tokenizer)


def open_arpa(path: str | Path) -> Any:
    """An ARPA file, or a binary that KenLM made of one, as ``kenlm.Model``.

    Raises:
        InputError: KenLM is not installed, or cannot read the file.
    """
    try:
        import kenlm
    except ImportError as error:
        raise InputError(
            "kenlm", f"n-gram models need it ({error})", "in Quartet's folder: pip install -e '.[ngram]'"
        ) from error
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        with open(path, "rb") as file:
            binary = file.read(len(BINARY)) == BINARY
        if not binary:
            check_start(Path(path))
        return kenlm.Model(str(path), config)
    except (OSError, RuntimeError, MemoryError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        found = _SAID.search(said)
        reason = found[1] if found else said
        raise InputError(
            path, f"KenLM cannot read it ({reason:.160})", "estimate or copy the model again"
        ) from error
