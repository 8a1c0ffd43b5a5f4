"""Texts as inputs of an exported graph: framed, cut, copied with a token hidden, and which places are asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from quartet.arguments import checked_texts
from quartet.config.model import ModelConfig
from quartet.data.batch import Row, collate, framed
from quartet.data.passages import sentence_row
from quartet.objectives import OBJECTIVES
from quartet.scoring.windows import cut_windows
from quartet.text.tokenizer import TextTokenizer

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: ``own``: the text's tokens; ``scored``: those that its score adds up, for CLM the closing one too; ``first``,
#: ``last``: the special token before or behind the text.
AskedTokens = Literal["own", "scored", "first", "last"]

#: Tokens, padding included, that a graph is given at once.
TOKEN_BUDGET = 512


@dataclass(frozen=True)
class GraphInput:
    """One row for the graph.

    Attributes:
        text: number of the text that it is of.
        row: its tokens between special tokens.
        columns: which of them are asked about.
        places: where these stand in the text; the closing token's place is the text's length.
        hidden: the column that is replaced by [MASK]; None: all are as they are.
    """

    text: int
    row: Row
    columns: Ints
    places: Ints
    hidden: int | None = None


@dataclass(frozen=True)
class GraphBatch:
    """A batch of inputs.

    Attributes:
        feed: what the graph is given, without the targets.
        targets_BT: the ids that were there before any was hidden.
        asked_BT: True where something is asked.
        texts_N, places_N: of each asked place, row by row.
    """

    feed: dict[str, NDArray[np.generic]]
    targets_BT: Ints
    asked_BT: Bools
    texts_N: Ints
    places_N: Ints


def rows_of(texts: Sequence[str], tokenizer: TextTokenizer) -> list[Row]:
    """Each string as one sentence of one paragraph."""
    return [sentence_row(ids) for ids in tokenizer.encode_batch(checked_texts(texts))]


def inputs_of(
    rows: Sequence[Row], config: ModelConfig, asked: AskedTokens, hide: bool
) -> Iterator[GraphInput]:
    """The rows that ask once about each wanted token, as :class:`~quartet.scoring.network_reader.NetworkReader` reads.

    Args:
        hide: each wanted token in a copy of its own.
    """
    predicts_end = OBJECTIVES[config.objective].predicts_end
    specials = (
        (TextTokenizer.bos_id, TextTokenizer.eos_id)
        if config.reads == "sentences"
        else (TextTokenizer.cls_id, TextTokenizer.sep_id)
    )
    for window in cut_windows(rows, config.reads, config.max_length - 2, config.causal):
        row, length = framed(window.row, *specials), len(window)
        opens, closes = window.start == 0, window.stop == len(rows[window.text].ids)
        starts_and_stops = {
            "own": (1, length + 1),
            "scored": (1, length + 1 + (predicts_end and closes)),
            "first": (0, int(opens)),
            "last": (length + 1, length + 1 + closes),
        }
        columns: Ints = np.arange(*starts_and_stops[asked], dtype=np.int64)
        places: Ints = window.start + columns - 1
        if hide:
            for number, column in enumerate(columns):
                one = slice(number, number + 1)
                yield GraphInput(window.text, row, columns[one], places[one], int(column))
        elif len(columns):
            yield GraphInput(window.text, row, columns, places)


def batches(inputs: Iterator[GraphInput]) -> Iterator[GraphBatch]:
    """Inputs of like length together, longest first, at most TOKEN_BUDGET tokens at once (or one input)."""
    ordered = sorted(inputs, key=lambda one: -len(one.row.ids))
    at = 0
    while at < len(ordered):
        size = max(1, TOKEN_BUDGET // len(ordered[at].row.ids))
        yield _lay(ordered[at : at + size])
        at += size


def _lay(group: list[GraphInput]) -> GraphBatch:
    batch = collate([one.row for one in group], TextTokenizer.pad_id)
    targets_BT = batch.ids_BT.numpy()
    ids_BT = targets_BT.copy()
    asked_BT = np.zeros(ids_BT.shape, dtype=bool)
    for number, one in enumerate(group):
        asked_BT[number, one.columns] = True
        if one.hidden is not None:
            ids_BT[number, one.hidden] = TextTokenizer.mask_id
    return GraphBatch(
        {"ids": ids_BT, "real": batch.real_BT.numpy(), "positions": batch.positions_BTP.numpy()},
        targets_BT,
        asked_BT,
        np.repeat([one.text for one in group], [len(one.columns) for one in group]),
        np.concatenate([one.places for one in group]),
    )
