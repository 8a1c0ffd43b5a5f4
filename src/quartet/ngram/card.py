"""What an n-gram model's folder says of it, beside the ARPA file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from quartet.config.ngram import NgramConfig, TokenConfig
from quartet.errors import InputError
from quartet.files import MANIFEST_VERSION, read_card, write_json
from quartet.ngram.estimate import EstimationSummary

ARPA, MANIFEST, TOKENIZER = "model.arpa.gz", "manifest.json", "tokenizer.json"


@dataclass(frozen=True, kw_only=True)
class NgramCard:
    """What an n-gram model is.

    Attributes:
        name: its entry in params.yaml.
        corpus, corpus_words: what it was estimated from, and how many words white space separates there.
        tokens, ngram: how texts become tokens, and what was asked for.
        made_by: which estimator made the file.
        sizes: n-grams of each order, by the order's number.
        discounts: of counts 1, 2, and 3 or more, by the order's number.
        counted: sentences and tokens that were counted; empty sentences and reserved tokens that were not.
        sha256: of the ARPA file.
        inputs: SHA-256 of each file that was counted, by its name.
        tokenizer: SHA-256 of tokenizer.json where its pieces are counted; empty for words.
        version: of the form of the manifest.
    """

    name: str
    corpus: str
    corpus_words: int
    tokens: TokenConfig
    ngram: NgramConfig
    made_by: Literal["lmplz", "own"]
    sizes: dict[str, int]
    discounts: dict[str, tuple[float, ...]]
    counted: dict[str, int]
    sha256: str
    inputs: dict[str, str] = dataclasses.field(default_factory=dict)
    tokenizer: str = ""
    version: Literal[1] = MANIFEST_VERSION

    @classmethod
    def of(
        cls,
        estimated: EstimationSummary,
        *,
        name: str,
        corpus: str,
        corpus_words: int,
        tokens: TokenConfig,
        ngram: NgramConfig,
        sha256: str,
        inputs: dict[str, str] | None = None,
        tokenizer: str = "",
    ) -> NgramCard:
        """The card of what was just estimated."""
        return cls(
            name=name,
            corpus=corpus,
            corpus_words=corpus_words,
            tokens=tokens,
            ngram=ngram,
            made_by=estimated.made_by,
            sizes={str(n): size for n, size in enumerate(estimated.sizes, start=1)},
            discounts={str(n): each for n, each in enumerate(estimated.discounts, start=1)},
            counted=dataclasses.asdict(estimated.tally),
            sha256=sha256,
            inputs=inputs or {},
            tokenizer=tokenizer,
        )

    @property
    def scale(self) -> str:
        """One line that goes beside every figure of this model."""
        words = {"split": "words and marks", "strip": "words without punctuation", "keep": "words"}
        units = words[self.tokens.punctuation] if self.tokens.punctuation else "pieces"
        pruning = (
            f", pruning {' '.join(map(str, self.ngram.thresholds))}" if any(self.ngram.thresholds) else ""
        )
        return (
            f"{self.ngram.order}-gram of {units}, {sum(self.sizes.values()) / 1e6:.2f} M n-grams{pruning}, "
            f"{self.corpus} ({self.corpus_words / 1e6:.2f} M words)"
        )

    def save(self, folder: Path) -> None:
        """Write the manifest into an existing folder."""
        write_json(folder / MANIFEST, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """What the manifest holds."""
        return dataclasses.asdict(self)


def load_card(folder: Path) -> NgramCard:
    """Read an n-gram model's manifest.

    Raises:
        InputError: the folder holds no n-gram model, or the file is broken.
    """
    path = folder / MANIFEST
    if not (folder / ARPA).is_file() or not path.is_file():
        raise InputError(
            folder,
            f"not an n-gram model: it has no {ARPA} with a {MANIFEST}",
            "name a folder that ngram wrote",
        )
    return read_card(NgramCard, path, "estimate or copy the model again")
