"""How a network reads texts: as framed inputs, or as streams with memory; one vector a token comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from quartet.config.model import POSITIONS
from quartet.data.batch import Batch, Row, closes, collate, framed, padded
from quartet.data.streams import lay_out
from quartet.errors import InputError
from quartet.models.network import Memory, Network
from quartet.models.transformer_xl import TransformerXL
from quartet.objectives.base import Objective
from quartet.scoring.device import token_budget
from quartet.scoring.windows import batches_within, cut_windows
from quartet.text.tokenizer import TextTokenizer, is_own

#: What represents a text. Of each of its own tokens: ``context``: the last layer's output, ``embed``: the embedding
#: layer's (after positions and normalisation, where the model has them), ``table``: its row of the bare table. Of one
#: special token the last layer's output: ``first``: of the one that opens the text, ``last``: that closes it.
Layer = Literal["context", "embed", "table", "first", "last"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
#: ``predict``: the states that predict each token.
WantedVectors = Literal["predict"] | Layer


@dataclass(frozen=True)
class TokenVectors:
    """Some tokens of some texts.

    Attributes:
        texts_N, places_N: which text, and which of its tokens; the opening token's place is -1, the closing one's the
            text's length.
        targets_N: the tokens' ids.
        vectors_ND: what was wanted of each.
    """

    texts_N: np.ndarray
    places_N: np.ndarray
    targets_N: Tensor
    vectors_ND: Tensor


@dataclass(frozen=True)
class NetworkReader:
    """A network with what is needed to feed it texts. What is wanted of them is found before they go to the device.

    Attributes:
        window: tokens of a stream that are read at once (streams only).
    """

    network: Network
    objective: Objective
    tokenizer: TextTokenizer
    device: str
    window: int

    def read(
        self, texts: Sequence[Row], wanted: WantedVectors, masked: bool = True
    ) -> Iterator[TokenVectors]:
        """Read texts in batches of like length; each wanted token comes once, in no particular order.

        A text longer than an input is read in parts. A stream is opened by [EOS] and closed by the [EOS] of its last
        paragraph, and its memory carries what was read from one window to the next.

        Args:
            texts: token ids with segment indices, without special tokens.
            masked: for MLM, hide each token in turn. Special tokens are never hidden: they stand for the intact input.

        Raises:
            InputError: the network is in training mode, where dropout would make what it reads a matter of chance.
        """
        if self.network.training:
            raise InputError(
                "the model's network",
                "is in training mode, with dropout",
                "call network.eval() before it reads",
            )
        with torch.inference_mode():
            if self.network.config.reads == "streams":
                yield from self._read_streams(texts, wanted)
            else:
                yield from self._read_framed(texts, wanted, masked)

    def single(self, texts: Sequence[Row], max_length: int | None = None) -> Batch:
        """One input a text, on the CPU: framed, or a stream of one window; the end is cut off where it does not fit.

        Args:
            max_length: tokens that an input may have, specials included, where that is less than the network's.
        """
        streams = self.network.config.reads == "streams"
        longest = self.window if streams else self.network.config.max_length
        room = max(0, min(longest, max_length or longest) - 2)
        texts = [Row(text.ids[:room], text.segments[:room]) for text in texts]
        if streams:
            return padded([self._stream(text) for text in texts], self.tokenizer.pad_id)
        return collate([framed(text, *self._frame()) for text in texts], self.tokenizer.pad_id)

    def _frame(self) -> tuple[int, int]:
        """The special tokens before and after a text."""
        if self.network.config.reads == "sentences":
            return self.tokenizer.bos_id, self.tokenizer.eos_id
        return self.tokenizer.cls_id, self.tokenizer.sep_id

    def _read_framed(
        self, texts: Sequence[Row], wanted: WantedVectors, masked: bool
    ) -> Iterator[TokenVectors]:
        config = self.network.config
        windows = cut_windows(texts, config.reads, config.max_length - 2, config.causal)
        lengths = np.array([len(text.ids) for text in texts])
        for group in batches_within(windows, token_budget(self.device), specials=2):
            rows = [framed(window.row, *self._frame()) for window in group]
            batch = collate(rows, self.tokenizer.pad_id)
            rows_N, columns_N = self._chosen(batch, wanted).numpy().nonzero()
            batch = batch.to(self.device)
            vectors_BTD = self._represent(batch, wanted, masked)
            # Of each window: which text, and the places at which it starts and ends.
            spans_B3 = np.array([(window.text, window.start, window.stop) for window in group])
            texts_N, starts_N, ends_N = spans_B3[rows_N].T
            places_N = starts_N + columns_N - 1
            # Of a text cut in parts, the opening token is that of its first part, the closing one that of its last.
            own_N = (columns_N > 0) & (places_N < ends_N)
            kept_N = own_N | (places_N == -1) | (places_N == lengths[texts_N])
            if not kept_N.all():
                rows_N, columns_N, texts_N, places_N = (
                    index[kept_N] for index in (rows_N, columns_N, texts_N, places_N)
                )
            at_N = torch.from_numpy(rows_N * batch.ids_BT.shape[1] + columns_N).to(self.device)
            yield TokenVectors(
                texts_N,
                places_N,
                batch.ids_BT.flatten().index_select(0, at_N),
                vectors_BTD.flatten(0, 1).index_select(0, at_N),
            )

    def _chosen(self, batch: Batch, wanted: WantedVectors) -> Tensor:
        """(B, T) True at the tokens that are wanted."""
        if wanted == "predict":
            return self.objective.predicted(batch)
        if wanted == "last":
            return closes(batch.real_BT)
        own_BT = batch.real_BT & is_own(batch.ids_BT)
        if wanted == "first":
            own_BT = torch.zeros_like(own_BT)
            own_BT[:, 0] = True
        return own_BT

    def _represent(self, batch: Batch, wanted: WantedVectors, masked: bool) -> Tensor:
        """(B, T, D): what is wanted of each token."""
        if wanted == "table":
            rows_BTD: Tensor = self.network.tokens(batch.ids_BT)
            return rows_BTD
        if wanted == "embed":
            return self.network.embed(batch.ids_BT, batch.positions_BTP)
        if wanted in ("first", "last"):
            return self.objective.states(self.network, batch, masked=False).contextual_BTD
        states = self.objective.own_states(self.network, batch, masked=masked)
        return states.predictive_BTD if wanted == "predict" else states.contextual_BTD

    def _read_streams(self, texts: Sequence[Row], wanted: WantedVectors) -> Iterator[TokenVectors]:
        """Each text is a stream of its own, opened by the [EOS] of an empty memory."""
        streams = [self._stream(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda index: (-len(streams[index][0]), index))
        assert isinstance(self.network, TransformerXL)
        rows_at_once = max(1, token_budget(self.device) // (self.window + self.network.memory_length))
        for at in range(0, len(order), rows_at_once):
            group = order[at : at + rows_at_once]
            batch = padded([streams[index] for index in group], self.tokenizer.pad_id)
            yield from self._read_group(
                batch, np.array(group), [len(texts[index].ids) for index in group], wanted
            )

    def _stream(self, text: Row) -> tuple[np.ndarray, np.ndarray]:
        """[EOS], then the text with [EOS] after each paragraph (an empty text is [EOS] [EOS]); positions (n, 4)."""
        index = self.network.config.recurrence.index
        eos = self.tokenizer.eos_id
        starts = np.flatnonzero(text.segments[:, 0] == 0)
        lengths = np.diff(starts, append=len(text.ids)) if len(starts) else np.zeros(1, dtype=np.int64)
        firsts = text.segments[starts] if len(starts) else np.zeros((1, 3), dtype=np.int64)
        ids, positions = lay_out(text.ids, lengths, firsts[:, 1], firsts[:, 2], eos, index)
        # Before them [EOS] is at zero. What never goes back counts it; what restarts with the text does not.
        positions[:, slice(None) if index == "running" else POSITIONS.index("sequence")] += 1
        return np.concatenate([[eos], ids]), np.concatenate([np.zeros_like(positions[:1]), positions])

    def _read_group(
        self, batch: Batch, texts_B: np.ndarray, lengths: list[int], wanted: WantedVectors
    ) -> Iterator[TokenVectors]:
        own_BT = is_own(batch.ids_BT) & batch.real_BT
        lengths_B1 = torch.tensor(lengths)[:, None]
        places_BT = torch.where(closes(batch.real_BT), lengths_B1, own_BT.long().cumsum(1) - 1).numpy()
        wanted_BT = self._chosen(batch, wanted).numpy()
        batch = batch.to(self.device)
        memory: Memory | None = None
        width = batch.ids_BT.shape[1]
        for start in range(0, width, self.window):
            part = slice(start, min(start + self.window, width))
            window = Batch(batch.ids_BT[:, part], batch.positions_BTP[:, part], batch.real_BT[:, part])
            shown = part
            if wanted in ("embed", "table"):
                vectors_BTD = self._represent(window, wanted, False)
            else:
                vectors_BTD, memory = self.network(
                    window.ids_BT, window.positions_BTP, window.real_BT, memory
                )
            if wanted == "predict":  # the output at t is about token t + 1
                shown = slice(part.start + 1, min(part.stop + 1, width))
                vectors_BTD = vectors_BTD[:, : shown.stop - shown.start]
            rows_N, columns_N = wanted_BT[:, shown].nonzero()
            at_N = torch.from_numpy(rows_N * vectors_BTD.shape[1] + columns_N).to(self.device)
            yield TokenVectors(
                texts_B[rows_N],
                places_BT[:, shown][rows_N, columns_N],
                batch.ids_BT[:, shown].flatten().index_select(0, at_N),
                vectors_BTD.flatten(0, 1).index_select(0, at_N),
            )
