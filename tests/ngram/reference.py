"""What the n-gram tests hold the package against: an ARPA file read and evaluated word by word."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "ngram"

Words = tuple[str, ...]


def lines_of(path: Path) -> list[str]:
    """The lines of a file, compressed or not."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return content.decode("utf-8").split("\n")


def entries(path: Path) -> list[tuple[Words, float, float | None]]:
    """Every n-gram of an ARPA file, in its order: words, log10 probability, log10 backoff weight (None at the top)."""
    found = []
    for line in lines_of(path):
        if "\t" in line:
            logprob, words, *backoff = line.split("\t")
            found.append((tuple(words.split(" ")), float(logprob), float(backoff[0]) if backoff else None))
    return found


class Arpa:
    """An ARPA file that backs off by hand."""

    def __init__(self, path: Path) -> None:
        self.table = {words: (logprob, backoff or 0.0) for words, logprob, backoff in entries(path)}
        self.order = max(map(len, self.table))
        self.words = [words[0] for words in self.table if len(words) == 1]

    def word(self, context: Words, word: str) -> float:
        """log10 p(word | context): the longest known n-gram, times the weights of the contexts that were cut off."""
        context = context[len(context) - min(len(context), self.order - 1) :]
        if (word,) not in self.table:
            word = "<unk>"
        cost = 0.0
        while (*context, word) not in self.table:
            cost += self.table.get(context, (0.0, 0.0))[1]
            context = context[1:]
        return cost + self.table[*context, word][0]

    def sentence(self, tokens: Sequence[str]) -> list[float]:
        """log10 of each token's probability and of the end's."""
        seen = [word if (word,) in self.table else "<unk>" for word in tokens]
        running = ("<s>", *seen, "</s>")
        return [self.word(running[:at], running[at]) for at in range(1, len(running))]
