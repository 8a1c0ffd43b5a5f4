"""Our own training of one epoch, as whoever trains a model calls it: a corpus of the texts, and its seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quartet.config.model import ModelConfig
from quartet.config.training import TrainingConfig
from quartet.data import open_source
from quartet.errors import InputError
from quartet.files import write_jsonl
from quartet.text.documents import SegmentedDocument, SegmentedParagraph
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.encoding import encode_corpus
from quartet.text.split import SPLITS
from quartet.text.tokenizer import TextTokenizer

if TYPE_CHECKING:
    from quartet.training.fit import TrainedNetwork

#: Sentences of a paragraph, and paragraphs of a document: texts that come as single lines have neither.
PARAGRAPH, DOCUMENT = 5, 8
#: Sentences of the validation split, which no figure depends on.
VALIDATION = 4

#: Of all trainings here.
_SEED = 1


def encode_sentences(
    folder: Path, sentences: Sequence[str], tokenizer: TextTokenizer
) -> dict[str, EncodedCorpus]:
    """The sentences as an encoded corpus: all of them for training, the first few for validation.

    Raises:
        InputError: there is nothing to encode.
    """
    if not sentences:
        raise InputError("--texts", "there is no sentence to train on")
    parts = {"train": sentences}
    for split in SPLITS:
        documents = _documents(parts.get(split, sentences[:VALIDATION]))
        write_jsonl(folder / "segments" / f"{split}.jsonl", (document.to_json() for document in documents))
    encode_corpus(folder / "segments", tokenizer, folder / "encoded", workers=1)
    return {split: EncodedCorpus.open(folder / "encoded", split) for split in ("train", "valid")}


def _documents(sentences: Sequence[str]) -> list[SegmentedDocument]:
    paragraphs = [
        SegmentedParagraph(tuple(sentences[at : at + PARAGRAPH]))
        for at in range(0, len(sentences), PARAGRAPH)
    ]
    return [
        SegmentedDocument(str(at), str(at), tuple(paragraphs[at : at + DOCUMENT]))
        for at in range(0, len(paragraphs), DOCUMENT)
    ]


@dataclass(frozen=True)
class RepeatableTraining:
    """One training by :func:`quartet.training.fit.fit`, which can be repeated.

    Attributes:
        steps: optimiser steps; None: one epoch.
        accumulate: parts in which a step's batch goes through the network.
        compile: as ``training.compile``.
    """

    model: ModelConfig
    tokenizer: TextTokenizer
    corpus: dict[str, EncodedCorpus]
    batch_size: int
    precision: str
    device: str
    folder: Path
    steps: int | None = None
    accumulate: int = 1
    compile: bool = False

    @property
    def _steps(self) -> int:
        source = open_source(
            self.model, self.corpus["train"], self.tokenizer, batch_size=self.batch_size, seed=_SEED
        )
        return self.steps or source.steps_per_epoch

    def train(self, progress: Callable[[int, int], object] | None = None) -> TrainedNetwork:
        """Train from the beginning.

        Args:
            progress: called with (optimiser steps done, all steps).
        """
        from quartet.training.fit import fit  # Lightning takes seconds to import

        steps = self._steps
        return fit(
            self.model,
            TrainingConfig(
                steps=steps,
                batch_size=self.batch_size,
                accumulate=self.accumulate,
                compile=self.compile,
                precision=self.precision,  # type: ignore[arg-type]  # checked by pydantic
                learning_rate=1e-4,
                validate_every=steps,
                validation_batches=1,
                checkpoint_every=steps + 1,
            ),
            self.tokenizer,
            self.corpus["train"],
            self.corpus["valid"],
            seed=_SEED,
            resume=self.folder / "resume.ckpt",
            device=self.device,
            progress=progress,
        )

    def seconds(self) -> float:
        """Those of a training, one small validation at its end included."""
        return self.train().seconds

    def tokens(self) -> int:
        """Real tokens that a training reads, special ones included."""
        source = open_source(
            self.model, self.corpus["train"], self.tokenizer, batch_size=self.batch_size, seed=_SEED
        )
        return sum(int(source.batch(step).real_BT.sum()) for step in range(self._steps))
