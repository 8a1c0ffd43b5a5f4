"""Texts as inputs of a model of transformers: between its special tokens, in batches, one token hidden or none."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from quartet.data.batch import Row
from quartet.scoring.device import token_budget
from quartet.scoring.network_reader import Layer
from quartet.scoring.windows import TextWindow, batches_within, cut_windows


@dataclass(frozen=True)
class WantedOutputs:
    """A batch, and which of its outputs are wanted.

    Attributes:
        ids_BT: token ids, padded on the right.
        real_BT: False at padding; None: nothing has to be masked.
        rows_N, columns_N: the outputs, by rising row.
        texts_N: the text that each belongs to.
    """

    ids_BT: np.ndarray
    real_BT: np.ndarray | None
    rows_N: np.ndarray
    columns_N: np.ndarray
    texts_N: np.ndarray


@dataclass(frozen=True)
class TargetOutputs(WantedOutputs):
    """Outputs that are asked about tokens.

    Attributes:
        targets_N: the token ids.
        slots_N: where the answers go, counted over the tokens of all texts.
    """

    targets_N: np.ndarray
    slots_N: np.ndarray


@dataclass(frozen=True)
class PretrainedInputs:
    """How one model reads texts.

    Attributes:
        before, after: the special tokens around a text in an input.
        closing: what a causal model predicts last, and a masked one not at all.
        mask_id: of the token that hides another; None: the model is causal.
        pad_id: of what fills a batch; 0 will do where the tokenizer has none, for no output sees it.
        room: tokens of a text that fit into an input.
        device: that reads the inputs.
        pads: whether padding changes no output of the model; else the inputs of a batch have one length.
    """

    before: list[int]
    after: list[int]
    closing: list[int]
    mask_id: int | None
    pad_id: int
    room: int
    device: str
    pads: bool = True

    @property
    def causal(self) -> bool:
        return self.mask_id is None

    def windows(self, encoded: list[list[int]], closed: bool = False) -> list[TextWindow]:
        """Token ids of texts, cut into parts that fit; with `closed` the closing token has to fit too."""
        texts = [
            Row(np.array(ids, dtype=np.int64), np.zeros((len(ids), 3), dtype=np.int64)) for ids in encoded
        ]
        return list(cut_windows(texts, "spans", self.room - closed * len(self.closing), causal=self.causal))

    def intact(self, windows: Iterable[TextWindow], bases: np.ndarray) -> Iterator[TargetOutputs]:
        """Inputs of like length, each read once; the outputs of a causal model are about the next token."""
        first = len(self.before) - self.causal
        for group, ids_BT, real_BT in self._padded(windows, self.after):
            parts = []
            for number, window in enumerate(group):
                ends_text = bases[window.text] + window.stop + len(self.closing) == bases[window.text + 1]
                targets = [*window.row.ids, *(self.closing if ends_text else [])]
                places = np.arange(len(targets))
                texts = np.full_like(places, window.text)
                slots = bases[window.text] + window.start + places
                parts.append(np.stack([np.full_like(places, number), first + places, texts, targets, slots]))
            yield TargetOutputs(ids_BT, real_BT, *np.concatenate(parts, axis=1).astype(np.int64))

    def of_tokens(
        self, windows: Iterable[TextWindow], lengths: np.ndarray, layer: Layer
    ) -> Iterator[WantedOutputs]:
        """Inputs of like length, each read once; the outputs at the texts' own tokens, or at one special token each.

        Args:
            lengths: (texts,) tokens of each text.
            layer: ``first`` and ``last`` are special tokens; the last of a causal model is the closing one.
        """
        after = [*self.after, *self.closing] if layer == "last" else self.after
        for group, ids_BT, real_BT in self._padded(windows, after):
            parts = []
            for number, window in enumerate(group):
                columns = len(self.before) + np.arange(len(window))
                if layer == "first":
                    columns = np.zeros(int(window.start == 0), dtype=np.int64)
                elif layer == "last":
                    ends_text = int(window.stop == lengths[window.text])
                    columns = np.full(ends_text, len(self.before) + len(window) + len(after) - 1)
                parts.append(
                    np.stack([np.full_like(columns, number), columns, np.full_like(columns, window.text)])
                )
            yield WantedOutputs(ids_BT, real_BT, *np.concatenate(parts, axis=1).astype(np.int64))

    def _padded(
        self, windows: Iterable[TextWindow], after: list[int]
    ) -> Iterator[tuple[list[TextWindow], np.ndarray, np.ndarray | None]]:
        """Windows of like length, their inputs (B, T) between the special tokens, and which tokens are real (B, T)."""
        specials = len(self.before) + len(after)
        for group in self._batches(windows, specials):
            width = len(group[0]) + specials  # the longest comes first
            ids_BT = np.full((len(group), width), self.pad_id, dtype=np.int64)
            real_BT = np.zeros(ids_BT.shape, dtype=bool)
            for number, window in enumerate(group):
                inputs = [*self.before, *window.row.ids, *after]
                ids_BT[number, : len(inputs)] = inputs
                real_BT[number, : len(inputs)] = True
            # Padding stands on the right, where no causal output sees it.
            yield group, ids_BT, None if self.causal or real_BT.all() else real_BT

    def _batches(self, windows: Iterable[TextWindow], specials: int) -> Iterator[list[TextWindow]]:
        budget = token_budget(self.device)
        if self.pads:
            yield from batches_within(windows, budget, specials)
            return
        for _, same in itertools.groupby(sorted(windows, key=len, reverse=True), key=len):
            yield from batches_within(same, budget, specials)

    def each_hidden(self, windows: Iterable[TextWindow], bases: np.ndarray) -> Iterator[TargetOutputs]:
        """Copies of each input with one token hidden. Inputs of one length go together: nothing is padded."""
        assert self.mask_id is not None, "a causal model hides nothing"
        ordered = sorted(windows, key=lambda window: (-len(window), window.text, window.start))
        for length, same in itertools.groupby(ordered, key=len):
            group = list(same)
            inputs_WT = np.array(
                [[*self.before, *window.row.ids, *self.after] for window in group], dtype=np.int64
            )
            starts_W = np.array([bases[window.text] + window.start for window in group])
            texts_W = np.array([window.text for window in group])
            copies = length * len(group)
            step = max(1, token_budget(self.device) // inputs_WT.shape[1])
            for at in range(0, copies, step):
                which_N, places_N = np.divmod(np.arange(at, min(at + step, copies)), length)
                rows_N, columns_N = np.arange(len(which_N)), len(self.before) + places_N
                ids_BT = inputs_WT[which_N]
                targets_N = ids_BT[rows_N, columns_N]
                ids_BT[rows_N, columns_N] = self.mask_id
                slots_N = starts_W[which_N] + places_N
                yield TargetOutputs(ids_BT, None, rows_N, columns_N, texts_W[which_N], targets_N, slots_N)
