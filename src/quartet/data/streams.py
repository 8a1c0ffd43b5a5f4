"""Windows of running text for models with memory (Bai et al. 2021, section "Autoregressive Language Modeling")."""

from __future__ import annotations

import numpy as np
import torch

from quartet.config.model import POSITIONS, Index
from quartet.data.batch import Batch, RowLengths, lay_columns
from quartet.data.segments import sentence_in_paragraph
from quartet.errors import InputError
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer


def lay_out(
    tokens: np.ndarray,
    lengths: np.ndarray,
    in_paragraph: np.ndarray,
    paragraphs: np.ndarray,
    eos_id: int,
    index: Index,
) -> tuple[np.ndarray, np.ndarray]:
    """Sentences end to end, [EOS] after each paragraph, with the indices of every token.

    [EOS] counts as the last token of its paragraph's last sentence. With ``running`` the three counters never go back
    (released Segatron-XL); with ``reset`` they restart with each sentence, paragraph and document (the paper's text).
    Two paragraphs of sentences a b | c and d give, token by token with [EOS] as $: a b c $ d $ with
    running (0 0 0) (1 0 0) (2 1 0) (3 1 0) (4 2 1) (5 2 1), and
    reset (0 0 0) (1 0 0) (0 1 0) (1 1 0) (0 0 1) (1 0 1).

    Args:
        tokens: (N,) token ids of all S sentences, one after the other.
        lengths: (S,) tokens of each sentence.
        in_paragraph: (S,) index of each sentence in its paragraph; 0 opens a paragraph.
        paragraphs: (S,) index of each sentence's paragraph in its document.

    Returns:
        ids (n,) and positions (n, P); n is N and the number of paragraphs.
    """
    opens = in_paragraph == 0
    closes = np.append(opens[1:], True)[: len(opens)]
    lengths = lengths + closes
    ends = np.cumsum(lengths)
    size = int(ends[-1]) if len(ends) else 0
    whole = np.int32 if size < 1 << 31 else np.int64  # a stream of WikiText-103 in int64 would be 4 GB
    ids = np.full(size, eos_id, dtype=whole)
    text = np.ones(size, dtype=bool)
    text[ends[closes] - 1] = False
    ids[text] = tokens
    places = np.arange(size, dtype=whole)
    running = index == "running"
    sentences = np.arange(len(lengths)) if running else in_paragraph
    owners = np.cumsum(opens) - 1 if running else paragraphs

    def repeated(values_S: np.ndarray) -> np.ndarray:
        return np.repeat(values_S.astype(whole), lengths)

    positions = lay_columns(
        size,
        whole,
        {
            "sequence": lambda: places,
            "token": lambda: places if running else places - repeated(ends - lengths),
            "sentence": lambda: repeated(sentences),
            "paragraph": lambda: repeated(owners),
        },
    )
    return ids, positions


def _nothing() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(0, dtype=np.int32), np.zeros((0, len(POSITIONS)), dtype=np.int32)


class StreamSource:
    """`batch_size` contiguous streams, read a window at a time; row b of a batch goes on where row b stopped.

    With a seed the documents change their order each epoch, and the streams are equally long: a few tokens at the end
    are not read. Without one (evaluation) the documents stand as in the corpus and every token but the first is a
    target, whatever the number of streams: the last ones end earlier, and padding takes their place.

    Raises:
        InputError: there are fewer tokens than streams in training, or none to predict in evaluation.
    """

    def __init__(
        self,
        corpus: EncodedCorpus,
        tokenizer: TextTokenizer,
        *,
        window: int,
        batch_size: int,
        seed: int | None,
        index: Index,
    ) -> None:
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.window = window
        self.batch_size = batch_size
        self.seed = seed
        self.index = index
        self.in_paragraph = sentence_in_paragraph(corpus)
        paragraphs = int((self.in_paragraph == 0).sum())
        #: tokens that are read: each but the last, which is a target alone
        self.inputs = len(corpus.ids) + paragraphs - 1
        self.stream = self.inputs // batch_size if seed is not None else -(-self.inputs // batch_size)
        if self.stream < 1:
            raise InputError(
                "training.batch_size",
                f"{batch_size} streams are more than the {len(corpus.ids)} tokens of the "
                f"{'validation' if seed is None else 'training'} split",
                "lower it or bring more text",
            )
        self._epoch = -1
        self._ids, self._positions = _nothing()

    @property
    def steps_per_epoch(self) -> int:
        return max(1, -(-self.stream // self.window))

    @property
    def row_lengths(self) -> RowLengths:
        """Of a full window: the last one of an epoch may be shorter, and then counts for less."""
        return RowLengths(np.array([min(self.window, self.stream)]), np.ones(1), self.batch_size, specials=0)

    def batch(self, step: int) -> Batch:
        """Ids (B, window), or fewer columns at the end of the streams, and the token after the last of each row."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._load(epoch)
        start = place * self.window
        stop = min(start + self.window, self.stream)
        columns = np.arange(self.batch_size)[:, None] * self.stream + np.arange(start, stop)
        real = columns < self.inputs
        columns = np.minimum(columns, self.inputs - 1)
        return Batch(
            ids_BT=torch.from_numpy(np.where(real, self._ids[columns], self.tokenizer.pad_id)).long(),
            positions_BTP=torch.from_numpy(self._positions[columns]).long(),
            real_BT=torch.from_numpy(real),
            following_B=torch.from_numpy(self._ids[columns[:, -1] + 1]).long(),
            fresh=place == 0,
        )

    def _load(self, epoch: int) -> None:
        documents = np.arange(len(self.corpus.document_offsets) - 1)
        if self.seed is not None:
            documents = np.random.default_rng([self.seed, epoch]).permutation(documents)
        offsets = self.corpus.document_offsets
        bounds = self.corpus.sentence_offsets[offsets]
        order = np.concatenate([np.arange(offsets[doc], offsets[doc + 1]) for doc in documents])
        self._ids, self._positions = _nothing()  # gives room to the next epoch
        self._ids, self._positions = lay_out(
            np.concatenate([self.corpus.ids[bounds[doc] : bounds[doc + 1]] for doc in documents]),
            np.diff(self.corpus.sentence_offsets)[order],
            self.in_paragraph[order],
            self.corpus.sentence_paragraphs[order],
            self.tokenizer.eos_id,
            self.index,
        )
        self._epoch = epoch
