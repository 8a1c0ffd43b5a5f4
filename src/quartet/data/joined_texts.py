"""Several texts as one input: [CLS] first [SEP] second [SEP], as fine-tuned models read pairs and questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quartet.data.batch import Row


def join_texts(parts: Sequence[Row], first: int, separator: int) -> tuple[Row, np.ndarray]:
    """One row of the parts in their order, a special token before them and a separator after each.

    A special token has the segment indices of its neighbour: the first one those of the first token, a separator those
    of the token before it (Bai et al. 2021, "Input"). So which part a token belongs to is told by what the parts' own
    indices say, e.g. paragraphs 0 and 1 for the two texts of a pair.

    Args:
        parts: token ids with (token, sentence, paragraph) indices; an empty one leaves only its separator.
        first: the id of [CLS] (or [BOS]).
        separator: the id of [SEP] (or [EOS]).

    Returns:
        The row, and for each of its tokens the number of its part, -1 at special tokens (n,).
    """
    ids, segments, numbers = [first], [np.zeros(3, dtype=np.int64)], [-1]
    for number, part in enumerate(parts):
        ids += [*part.ids.tolist(), separator]
        segments += list(part.segments)
        segments.append(segments[-1])
        numbers += [number] * len(part.ids) + [-1]
    known = next((row for row, number in zip(segments, numbers, strict=True) if number >= 0), segments[0])
    segments[0] = known
    return (
        Row(np.array(ids, dtype=np.int64), np.stack(segments).astype(np.int64)),
        np.array(numbers, dtype=np.int64),
    )
