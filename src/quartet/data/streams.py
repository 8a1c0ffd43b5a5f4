"""Windows of running text for models with memory (Bai et al. 2021, section "Autoregressive Language Modeling")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch

from quartet.data.batch import Batch
from quartet.data.segments import sentence_in_paragraph
from quartet.errors import InputError
from quartet.text.encoded import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer


def lay_out(
    sentences: Sequence[np.ndarray],
    in_paragraph: np.ndarray,
    paragraphs: np.ndarray,
    eos_id: int,
    index: Literal["running", "reset"],
) -> tuple[np.ndarray, np.ndarray]:
    """Sentences end to end, [EOS] after each paragraph, with the indices of every token.

    [EOS] counts as the last token of its paragraph's last sentence. With ``running`` the three counters never go back
    (released Segatron-XL); with ``reset`` they restart with each sentence, paragraph and document (the paper's text).
    Two paragraphs of sentences a b | c and d give, token by token with [EOS] as $: a b c $ d $ with
    running (0 0 0) (1 0 0) (2 1 0) (3 1 0) (4 2 1) (5 2 1), and
    reset (0 0 0) (1 0 0) (0 1 0) (1 1 0) (0 0 1) (1 0 1).

    Args:
        sentences: token ids of each.
        in_paragraph: (S,) index of each sentence in its paragraph; 0 opens a paragraph.
        paragraphs: (S,) index of each sentence's paragraph in its document.

    Returns:
        ids (n,) and positions (n, 4): sequence, token, sentence, paragraph.
    """
    if len(sentences) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.int64)
    opens = in_paragraph == 0
    closes = np.append(opens[1:], True)
    lengths = np.array([len(text) for text in sentences]) + closes
    ends = np.cumsum(lengths)
    starts = ends - lengths
    ids = np.full(int(ends[-1]), eos_id, dtype=np.int64)
    for text, at in zip(sentences, starts, strict=True):
        ids[at : at + len(text)] = text
    place = np.arange(len(ids))
    if index == "running":
        token = place
        sentence_index = np.repeat(np.arange(len(sentences)), lengths)
        paragraph_index = np.repeat(np.cumsum(opens) - 1, lengths)
    else:
        token = place - np.repeat(starts, lengths)
        sentence_index = np.repeat(in_paragraph, lengths)
        paragraph_index = np.repeat(paragraphs, lengths)
    return ids, np.stack([place, token, sentence_index, paragraph_index], axis=1).astype(np.int64)


class StreamSource:
    """`batch_size` contiguous streams, read a window at a time; row b of a batch goes on where row b stopped.

    With a seed the documents change their order each epoch; without one (evaluation) they stand as in the corpus.

    Raises:
        InputError: there are fewer tokens than streams.
    """

    def __init__(
        self,
        corpus: EncodedCorpus,
        tokenizer: TextTokenizer,
        *,
        window: int,
        batch_size: int,
        seed: int | None,
        index: Literal["running", "reset"],
    ) -> None:
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.window = window
        self.batch_size = batch_size
        self.seed = seed
        self.index = index
        self.in_paragraph = sentence_in_paragraph(corpus)
        paragraphs = int((self.in_paragraph == 0).sum())
        self.stream = (len(corpus.ids) + paragraphs - 1) // batch_size
        if self.stream < 1:
            raise InputError(
                "training.batch_size",
                f"{batch_size} streams are more than the {len(corpus.ids)} tokens of a split",
                "lower it or bring more text",
            )
        self._epoch = -1
        self._ids = np.zeros(0, dtype=np.int64)
        self._positions = np.zeros((0, 4), dtype=np.int64)

    @property
    def steps_per_epoch(self) -> int:
        return max(1, -(-self.stream // self.window))

    def batch(self, step: int) -> Batch:
        """Ids (B, window), or fewer columns at the end of the streams, and the token that follows each row."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._load(epoch)
        start = place * self.window
        stop = min(start + self.window, self.stream)
        columns = np.arange(self.batch_size)[:, None] * self.stream + np.arange(start, stop)
        return Batch(
            ids_BT=torch.from_numpy(self._ids[columns]),
            positions_BTP=torch.from_numpy(self._positions[columns]),
            real_BT=torch.ones(columns.shape, dtype=torch.bool),
            following_B=torch.from_numpy(self._ids[columns[:, -1] + 1]),
            fresh=place == 0,
        )

    def _load(self, epoch: int) -> None:
        documents = np.arange(len(self.corpus.document_offsets) - 1)
        if self.seed is not None:
            documents = np.random.default_rng([self.seed, epoch]).permutation(documents)
        offsets = self.corpus.document_offsets
        order = np.concatenate([np.arange(offsets[doc], offsets[doc + 1]) for doc in documents])
        self._ids, self._positions = lay_out(
            [self.corpus.sentence(int(sentence)) for sentence in order],
            self.in_paragraph[order],
            self.corpus.sentence_paragraphs[order],
            self.tokenizer.eos_id,
            self.index,
        )
        self._epoch = epoch
