"""N-best lists as Kaldi's nbest-to-linear writes them, with words for their ids.

``utterance-1 word word ...`` in one file, ``utterance-1 cost`` in each file of costs.

The key is the utterance's name, a minus and the rank from 1 without a gap, in any order; blanks or a tab end it.
A file of costs has a weight (acoustic costs are usually weighed by the acoustic scale, graph costs by 1), and the
score is minus the weighted sum of the costs: a cost is a negative log-probability. A file of scores, where larger is
better, has a negative weight. Without such files the rank stands for the score.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from quartet.errors import InputError
from quartet.nbest.formats import text_file
from quartet.nbest.formats.ingest import ListEntry, NBestFiles
from quartet.nbest.types import Hypothesis, NBest

Value = TypeVar("Value")
#: By utterance and rank, what the lines say.
KaldiTable = dict[str, dict[int, "Value | InputError"]]

BLANKS = re.compile("[ \t]+")
KEY = re.compile(r"(.+)-([1-9][0-9]{0,8})")


def entries(files: NBestFiles) -> Iterator[ListEntry]:
    """An entry for each utterance of any of the files, and for each line whose key cannot be read."""
    texts, lost = _table(files.hypotheses, lambda rest, place: rest)
    _check_words(texts, files.hypotheses)
    costs = []
    for path, weight in files.scores:
        table, more = _table(path, lambda rest, place: text_file.number_in(rest, place, "cost"))
        costs.append((path, weight, table))
        lost += more
    yield from lost
    utterances = dict.fromkeys([*texts, *(utterance for _, _, table in costs for utterance in table)])
    for utterance in utterances:
        yield _entry(utterance, texts, costs, files.hypotheses)


def _check_words(texts: KaldiTable[str], path: Path) -> None:
    """Raise InputError where every word is a number, as nbest-to-linear itself writes them, or in a file of costs.

    Digits alone may be words.
    """
    of_all = (text for ranks in texts.values() for text in ranks.values() if isinstance(text, str))
    words = {word for text in of_all for word in text.split()}
    if (
        words
        and all(text_file.NUMBER.fullmatch(word) for word in words)
        and any(len(word.lstrip("+-")) > 1 for word in words)
    ):
        raise InputError(
            path,
            "holds numbers, and no words",
            f"write words for ids: utils/int2sym.pl -f 2- words.txt {path} > NEW; costs are for --scores",
        )


def _entry(
    utterance: str, texts: KaldiTable[str], costs: list[tuple[Path, float, KaldiTable[float]]], path: Path
) -> ListEntry:
    place = f'{path}: utterance "{utterance}"'

    def make() -> NBest:
        own = texts.get(utterance, {})
        for rank in range(1, max(own, default=0) + 1):
            if rank not in own:
                raise InputError(place, f"{utterance}-{rank} is missing but {utterance}-{max(own)} is there")
        sums = dict.fromkeys(own, 0.0)
        for cost_path, weight, table in costs:
            found = table.get(utterance, {})
            for rank in own.keys() ^ found.keys():
                lacking = cost_path if rank in own else path
                raise InputError(lacking, f'has no line "{utterance}-{rank}", which another file has')
            for rank in own:
                sums[rank] -= weight * _value(found[rank])
                if not math.isfinite(sums[rank]):
                    raise InputError(place, f"the costs of {utterance}-{rank} add up to no finite score")
        hypotheses = [Hypothesis(_value(own[rank]), sums[rank] if costs else None) for rank in sorted(own)]
        return NBest(utterance, tuple(hypotheses))

    return ListEntry.of(place, make, utterance=utterance)


def _value(found: Value | InputError) -> Value:
    if isinstance(found, InputError):
        raise found
    return found


def _table(path: Path, value: Callable[[str, str], Value]) -> tuple[KaldiTable[Value], list[ListEntry]]:
    """What a file says by utterance and rank, and the lines whose key cannot be read."""
    table: KaldiTable[Value] = defaultdict(dict)
    lost = []
    for number, line in text_file.lines(path):
        place = f"{path}:{number}"
        key, *words = [""] if isinstance(line, InputError) else BLANKS.split(line, maxsplit=1)
        rest = "".join(words)
        match = KEY.fullmatch(key)
        if match is None:
            reason = f'"{key}" is not an utterance, a minus and a rank from 1'
            lost.append(ListEntry(place, line if isinstance(line, InputError) else InputError(place, reason)))
            continue
        of_utterance = table[match[1]]
        rank = int(match[2])
        if rank in of_utterance:
            of_utterance[rank] = InputError(place, f'the key "{key}" occurs twice')
            continue
        try:
            of_utterance[rank] = value(rest.strip(text_file.BLANK), place)
        except InputError as error:
            of_utterance[rank] = error
    return table, lost
