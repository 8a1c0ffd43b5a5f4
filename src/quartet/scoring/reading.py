"""How a network reads texts: as framed inputs, or as streams with memory; one vector a token comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from quartet.data.batch import Batch, Row, collate, framed, is_own
from quartet.data.streams import lay_out
from quartet.models.network import Memory, Network
from quartet.models.transformer_xl import TransformerXL
from quartet.objectives.base import Objective
from quartet.scoring.windows import budgeted, cut
from quartet.text.tokenizer import TextTokenizer

#: ``predict``: the states that predict each token; ``context``: the last layer's output; ``embed``: the first's input.
Wanted = Literal["predict", "context", "embed"]

#: Tokens, padding and memory included, that a network holds at once.
TOKEN_BUDGET = 8192


@dataclass(frozen=True)
class Reading:
    """Some tokens of some texts.

    Attributes:
        texts_N, places_N: which text, and which of its tokens; the closing token's place is the text's length.
        targets_N: the tokens' ids.
        vectors_ND: what was wanted of each.
    """

    texts_N: np.ndarray
    places_N: np.ndarray
    targets_N: Tensor
    vectors_ND: Tensor


@dataclass(frozen=True)
class Reader:
    """A network with what is needed to feed it texts.

    Attributes:
        window: tokens of a stream that are read at once (streams only).
    """

    network: Network
    objective: Objective
    tokenizer: TextTokenizer
    device: str
    window: int

    def read(self, texts: Sequence[Row], wanted: Wanted, masked: bool = True) -> Iterator[Reading]:
        """Read texts in batches of like length; each token comes once, in no particular order.

        Args:
            texts: token ids with segment indices, without special tokens.
            masked: for MLM, hide each token in turn.
        """
        with torch.inference_mode():
            if self.network.config.reads == "streams":
                yield from self._read_streams(texts, wanted)
            else:
                yield from self._read_framed(texts, wanted, masked)

    def single(self, texts: Sequence[Row]) -> Batch:
        """One input a text, on the CPU: framed, or a stream of one window; the end is cut off where it does not fit."""
        streams = self.network.config.reads == "streams"
        room = max(0, (self.window if streams else self.network.config.max_length) - 2)
        texts = [Row(text.ids[:room], text.segments[:room]) for text in texts]
        if streams:
            return self._collate_streams([self._stream(text) for text in texts])
        return collate([framed(text, *self._frame()) for text in texts], self.tokenizer.pad_id)

    def _frame(self) -> tuple[int, int]:
        """The special tokens before and after a text."""
        if self.network.config.reads == "sentences":
            return self.tokenizer.bos_id, self.tokenizer.eos_id
        return self.tokenizer.cls_id, self.tokenizer.sep_id

    def _collate_streams(self, streams: Sequence[tuple[np.ndarray, np.ndarray]]) -> Batch:
        batch = collate([Row(ids, positions[:, 1:]) for ids, positions in streams], self.tokenizer.pad_id)
        for row, (_, positions) in enumerate(streams):
            batch.positions_BTP[row, : len(positions), 0] = torch.from_numpy(positions[:, 0])
        return batch

    def _read_framed(self, texts: Sequence[Row], wanted: Wanted, masked: bool) -> Iterator[Reading]:
        config = self.network.config
        windows = cut(texts, config.reads, config.max_length - 2, causal=config.objective == "clm")
        lengths = np.array([len(text.ids) for text in texts])
        for group in budgeted(windows, TOKEN_BUDGET, specials=2):
            rows = [framed(window.row, *self._frame()) for window in group]
            batch = collate(rows, self.tokenizer.pad_id).to(self.device)
            if wanted == "predict":
                vectors_BTD = self.objective.states(self.network, batch, masked=masked).predictive_BTD
                chosen_BT = self.objective.predicted(batch)
            else:
                vectors_BTD = self._represent(batch, wanted, masked)
                chosen_BT = batch.real_BT & is_own(batch.ids_BT)
            rows_N, columns_N = (index.cpu().numpy() for index in chosen_BT.nonzero(as_tuple=True))
            texts_N = np.array([window.text for window in group])[rows_N]
            places_N = np.array([window.start for window in group])[rows_N] + columns_N - 1
            # The closing token of a text cut in parts belongs to its last part alone.
            ends_N = np.array([window.stop for window in group])[rows_N]
            kept = (places_N < ends_N) | (places_N == lengths[texts_N])
            selected = torch.from_numpy(np.stack([rows_N[kept], columns_N[kept]])).to(self.device)
            yield Reading(
                texts_N[kept],
                places_N[kept],
                batch.ids_BT[selected[0], selected[1]],
                vectors_BTD[selected[0], selected[1]],
            )

    def _represent(self, batch: Batch, wanted: Wanted, masked: bool) -> Tensor:
        if wanted == "embed":
            return self.network.embed(batch.ids_BT, batch.positions_BTP)
        return self.objective.states(self.network, batch, masked=masked).contextual_BTD

    def _read_streams(self, texts: Sequence[Row], wanted: Wanted) -> Iterator[Reading]:
        """Each text is a stream of its own, opened by the [EOS] of an empty memory."""
        streams = [self._stream(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda index: (-len(streams[index][0]), index))
        assert isinstance(self.network, TransformerXL)
        rows_at_once = max(1, TOKEN_BUDGET // (self.window + self.network.memory_length))
        for at in range(0, len(order), rows_at_once):
            group = order[at : at + rows_at_once]
            batch = self._collate_streams([streams[index] for index in group]).to(self.device)
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
        opening = np.zeros((1, 4), dtype=np.int64)
        later = positions + 1 if index == "running" else positions + np.array([1, 0, 0, 0])
        return np.concatenate([[eos], ids]), np.concatenate([opening, later])

    def _read_group(
        self, batch: Batch, texts_B: np.ndarray, lengths: list[int], wanted: Wanted
    ) -> Iterator[Reading]:
        own_BT = is_own(batch.ids_BT) & batch.real_BT
        places_BT = own_BT.long().cumsum(1) - 1
        predicted_BT = own_BT
        if wanted == "predict":
            predicted_BT = self.objective.predicted(batch)
            closing_BT = predicted_BT & ~own_BT
            lengths_B1 = torch.tensor(lengths, device=places_BT.device)[:, None]
            places_BT = torch.where(closing_BT, lengths_B1, places_BT)
        memory: Memory | None = None
        width = batch.ids_BT.shape[1]
        for start in range(0, width, self.window):
            part = slice(start, min(start + self.window, width))
            ids_BT, positions_BTP = batch.ids_BT[:, part], batch.positions_BTP[:, part]
            shown = part
            if wanted == "embed":
                vectors_BTD = self.network.embed(ids_BT, positions_BTP)
            else:
                vectors_BTD, memory = self.network(ids_BT, positions_BTP, batch.real_BT[:, part], memory)
            if wanted == "predict":  # the output at t is about token t + 1
                shown = slice(part.start + 1, min(part.stop + 1, width))
                vectors_BTD = vectors_BTD[:, : shown.stop - shown.start]
            chosen_BT = predicted_BT[:, shown]
            rows_N = chosen_BT.nonzero(as_tuple=True)[0].cpu().numpy()
            yield Reading(
                texts_B[rows_N],
                places_BT[:, shown][chosen_BT].cpu().numpy(),
                batch.ids_BT[:, shown][chosen_BT],
                vectors_BTD[chosen_BT],
            )
