"""A choice taken apart by the length of what was said: where a language model helps, and where it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from quartet.nbest.rerank import Selection
from quartet.nbest.types import NBest
from quartet.nbest.word_errors import words


def by_length(
    selection: Selection, lists: Sequence[NBest], edges: Sequence[int]
) -> Iterator[tuple[str, Selection]]:
    """Yield (name, the part of a choice) for each range of reference lengths that has any list.

    Args:
        lists: what the choice is from. Those without a reference are in no range.
        edges: the most words of each range but the last, ascending: 5 and 10 make "0-5", "6-10" and "11-".
    """
    lengths = np.array([-1 if one.reference is None else len(words(one.reference)) for one in lists])
    chosen, lengths = selection.chosen[lengths >= 0], lengths[lengths >= 0]
    low = 0
    for edge in [*edges, None]:
        inside = lengths >= low if edge is None else (lengths >= low) & (lengths <= edge)
        if inside.any():
            name = f"{low}-{'' if edge is None else edge}"
            yield name, Selection(chosen[inside], selection.counts[inside], selection.metric)
        low = 0 if edge is None else edge + 1
