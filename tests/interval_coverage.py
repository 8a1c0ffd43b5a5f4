"""How often the intervals of the report hold the truth, by simulation: the tables of docs/intervals.md.

    python -m tests.interval_coverage           # prints the tables, a few minutes
    python -m tests.interval_coverage --write   # and puts them into the page

Every interval is made by the function that the stages call, of samples whose truth is known. Their sizes and spreads
are those of real sets: documents vary in length and loss as WikiText-2's test articles do (standard deviations of 1.06
of the logarithm and of 0.27 nats per token), errors and lengths of utterances as those of ESPnet's lists of LibriSpeech
test-clean (44 % without an error).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from unittest.mock import patch

import numpy as np

from quartet.files import atomic_path
from quartet.nbest.metrics import WordErrorRate
from quartet.nbest.rerank import Selection
from quartet.nbest.significance import measure, paired_bootstrap
from quartet.nbest.units import ResampledUnits
from quartet.report.cells import Cell
from quartet.results import Measure, Result
from quartet.runtime.clock import median_interval, times_as_long
from quartet.statistics import intervals
from quartet.statistics.correlation import correlations
from quartet.statistics.intervals import LEVEL, Floats, bootstrap_measure
from quartet.statistics.perplexity import gain, perplexity_measures
from quartet.tasks.blimp.data import MinimalPair
from quartet.tasks.blimp.evaluation import PairChoices, blimp_measures
from quartet.tasks.classification.metrics import classification_measures
from quartet.tasks.nli.data import LABELS, NliPair
from quartet.tasks.nli.metrics import accuracy
from tests.imports import ROOT

PAGE = ROOT / "docs" / "intervals.md"
BEGIN, END = "<!-- coverage:begin -->\n", "<!-- coverage:end -->"
#: Simulated sets a figure, and resamples a set (`bootstrap` of the preset sample).
TRIALS, RESAMPLES = 1000, 1000
#: Units of a set.
UNITS = (3, 5, 8, 10, 20, 50, 100)
#: Seeds of a model, and the documents that each is measured on.
SEEDS, DOCUMENTS = (2, 3, 5), 60

Rng = np.random.Generator
#: What a case measures of a drawn set of so many units: (generator, units, resamples) -> by row of the table.
Draw = Callable[[Rng, int, int], Mapping[str, Measure]]


@dataclass(frozen=True)
class Case:
    """A kind of set.

    Attributes:
        draw: a set and its figures.
        large: units of the sets whose mean figure is the truth.
        sets: how many of them.
        most: units of the largest sets whose interval is made.
        share: of the trials that are made: it takes long.
    """

    draw: Draw
    large: int
    sets: int
    most: int = UNITS[-1]
    share: float = 1.0


def documents(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """Documents of sentences of 24 tokens: losses of a model, and of a better one."""
    sizes = np.maximum(1, np.exp(2.0 + 1.06 * rng.standard_normal(n))).astype(int)
    owners = np.repeat(np.arange(n), sizes)
    loss = (5 + 0.27 * (rng.gamma(16, 0.25, n) - 4))[owners] + 0.5 * rng.standard_normal(len(owners))
    better = (0.05 + 0.08 * rng.standard_normal(n))[owners] + 0.1 * rng.standard_normal(len(owners))
    worse = [np.full(24, -one) for one in loss]
    ours = [np.full(24, min(-1e-9, -one + two)) for one, two in zip(loss, better, strict=True)]
    found = perplexity_measures(
        worse, [20] * len(owners), False, resamples, int(rng.integers(1 << 30)), owners.tolist()
    )
    return {
        "perplexity per token, documents": found["ppl"],
        "mean of the sentences' perplexities, documents": found["ppl-mean"],
        "median of the sentences' perplexities, documents": found["ppl-median"],
        "difference in loss, documents": gain(
            ours, worse, resamples, int(rng.integers(1 << 30)), owners.tolist()
        ),
    }


def utterances(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """Utterances with many and with no errors, and their reranking, which changes few."""
    words = np.maximum(1, np.round(np.exp(2.75 + 0.69 * rng.standard_normal(n)))).astype(np.int64)
    errors = rng.poisson(words * 0.064 * rng.gamma(1.3, 1 / 1.3, n))
    changed = errors - rng.binomial(errors, 0.25) + rng.binomial(words, 0.008)
    alone = ResampledUnits("utterances", np.arange(n))
    first, second = (
        Selection(np.zeros(n, dtype=np.int64), np.stack([each, words], axis=1), WordErrorRate(), alone)
        for each in (errors, changed)
    )
    seed = int(rng.integers(1 << 30))
    return {
        "word error rate, utterances": measure(first, resamples, seed),
        "difference in word error rate, utterances": paired_bootstrap(second, first, resamples, seed),
    }


def pairs(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """Pairs of texts: cosines, and human scores from 0 to 5."""
    x, noise = rng.standard_normal((2, n))
    gold = np.clip(np.round(2.5 + 1.5 * (0.6 * x + 0.8 * noise), 1), 0, 5)
    found = correlations(np.tanh(0.7 * x), gold, resamples, int(rng.integers(1 << 30)))
    return {f"{name.capitalize()} correlation, pairs": one for name, one in found.items()}


def shared(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """All pairs of n texts, as in Lee's set."""
    i, j = np.triu_indices(n, 1)
    gold_n = rng.standard_normal((n, 5))
    said_n = gold_n + 0.8 * rng.standard_normal((n, 5))

    def cosine(of: Floats) -> Floats:
        lengths = np.linalg.norm(of, axis=1)
        found: Floats = (of @ of.T / np.outer(lengths, lengths))[i, j]
        return found

    found = correlations(cosine(said_n), cosine(gold_n), resamples, int(rng.integers(1 << 30)), (i, j))
    return {"Pearson correlation, texts that share pairs": found["pearson"]}


def premises(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """Premises with three pairs each, which are easy or hard together."""
    found = {}
    for share in (0.7, 0.9):
        right = rng.binomial(3, rng.beta(4 * share, 4 * (1 - share), n))
        gold = [NliPair(str(number), "", LABELS[0]) for number in range(n) for _ in range(3)]
        said = [LABELS[0] if place < hits else LABELS[1] for hits in right for place in range(3)]
        name = f"accuracy of {100 * share:.0f} %, premises or passages"
        found[name] = accuracy(gold, said, resamples, int(rng.integers(1 << 30)))
    return found


def texts(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """Labelled texts, 30 % positive."""
    gold = rng.random(n) < 0.3
    gold[0] = True  # F1 needs one
    said = np.where(gold, rng.random(n) < 0.7, rng.random(n) < 0.13)
    words = (
        [["neg", "pos"][each] for each in gold.astype(int)],
        [["neg", "pos"][each] for each in said.astype(int)],
    )
    found = classification_measures(*words, "pos", resamples, int(rng.integers(1 << 30)))
    return {"F1, texts": found["f1"]}


def outcomes(rng: Rng, n: int, _: int) -> dict[str, Measure]:
    """Independent answers, by Wilson's interval."""
    return {
        f"accuracy of {100 * share:.0f} %, texts (Wilson)": intervals.wilson(int(rng.binomial(n, share)), n)
        for share in (0.7, 0.9)
    }


#: The paradigms' true shares of right pairs.
RIGHT = np.linspace(0.45, 0.98, 12)


def minimal_pairs(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """Twelve paradigms of n pairs."""
    given = [MinimalPair("", "", f"{number:02d}", "p", "f") for number in range(len(RIGHT)) for _ in range(n)]
    right = rng.random(len(given)) < np.repeat(RIGHT, n)
    chosen = PairChoices(right, np.zeros(len(given), dtype=bool))
    found = blimp_measures(given, chosen, resamples, int(rng.integers(1 << 30)))
    return {"mean accuracy of 12 paradigms, pairs of each": found[""]["accuracy"]}


def rounds(rng: Rng, n: int, resamples: int) -> dict[str, Measure]:
    """Timings with a long upper tail."""
    ours, base = np.exp(0.05 * rng.standard_normal((2, n)) + 0.1 * rng.exponential(size=(2, n)))
    return {
        "ratio of two median times, rounds": times_as_long(ours, base, resamples, int(rng.integers(1 << 30))),
        "median time, rounds (order statistics)": median_interval(ours),
    }


CASES = (
    Case(documents, 1_000, 40),
    Case(utterances, 100_000, 20),
    Case(pairs, 100_000, 5),
    Case(shared, 300, 80, most=50, share=0.3),
    Case(premises, 10_000, 10),
    Case(texts, 100_000, 10),
    Case(outcomes, 1_000_000, 50),
    Case(minimal_pairs, 2_000, 50),
    Case(rounds, 100_000, 20),
)


@dataclass
class Count:
    """Sets whose interval holds the truth, those that have one, and all."""

    held: int = 0
    given: int = 0
    drawn: int = 0

    def add(self, found: Measure, truth: float) -> None:
        self.drawn += 1
        if found.ci_low is not None and found.ci_high is not None:
            self.given += 1
            self.held += found.ci_low <= truth <= found.ci_high

    @property
    def text(self) -> str:
        """Percent of those given; in brackets the percent of sets that have none, where it is 5 or more."""
        if 2 * self.given < self.drawn:
            return "none"
        missing = 100 * (1 - self.given / self.drawn)
        return f"{100 * self.held / self.given:.0f}" + (f" ({missing:.0f})" if missing >= 5 else "")


@cache
def truths(case: Case) -> dict[str, float]:
    """The figures of large sets."""
    rng = np.random.default_rng(0)
    found = [case.draw(rng, case.large, 1) for _ in range(case.sets)]
    return {name: float(np.mean([one[name].value for one in found])) for name in found[0]}


def plain(_: int, level: float = LEVEL) -> float:
    """The usual share beyond each end of a percentile interval."""
    return (1 - level) / 2


def coverage(case: Case, units: int, trials: int, least: int = 2, usual: bool = False) -> dict[str, Count]:
    """How often the intervals of sets of so many units hold the truth.

    Args:
        least: in the place of `intervals.LEAST_UNITS`.
        usual: with the usual percentile interval in the place of the expanded.
    """
    true = truths(case)
    rng = np.random.default_rng(units)
    counts = {name: Count() for name in true}
    beyond = plain if usual else intervals.tail
    with (
        patch.object(intervals, "LEAST_DRAWS", 1),
        patch.object(intervals, "LEAST_UNITS", least),
        patch.object(intervals, "tail", beyond),
    ):
        for _ in range(trials):
            try:
                found = case.draw(rng, units, RESAMPLES)
            except ValueError:  # a constant side has no correlation
                continue
            for name, one in found.items():
                counts[name].add(one, true[name])
    return counts


def seeds(trainings: int, ratio: float, trials: int) -> Count:
    """How often what the report shows of several seeds holds the mean over trainings.

    Args:
        ratio: the standard deviation over trainings, in standard errors of the mean over documents.
    """
    rng = np.random.default_rng(trainings)
    count = Count()
    for _ in range(trials):
        common = rng.standard_normal(DOCUMENTS)
        rows = []
        for seed in range(trainings):
            own = (
                common + 0.3 * rng.standard_normal(DOCUMENTS) + ratio / DOCUMENTS**0.5 * rng.standard_normal()
            )
            mean = partial(_mean, own)
            one = bootstrap_measure(mean, DOCUMENTS, DOCUMENTS, RESAMPLES, seed)
            rows.append(_row(one, seed))
        low, high = Cell(tuple(rows)).bounds or (0.0, 0.0)
        count.add(Measure(0.0, DOCUMENTS, low, high), 0.0)
    return count


def _mean(values: Floats, counts: Floats) -> Floats:
    found: Floats = counts @ values / len(values)
    return found


def _row(found: Measure, seed: int) -> Result:
    where = {"experiment": "", "table": "", "model": "", "dataset": "", "split": "", "metric": ""}
    return Result(
        **where,
        value=found.value,
        n=found.n,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        seed=seed,
        device="",
        scale="",
    )


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    lines = [f"| {' | '.join(heads)} |", "|:--" + "|--:" * (len(heads) - 1) + "|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def tables(trials: int = TRIALS) -> str:
    """The tables of the page."""
    lines = [""]
    for title, usual in (("expanded percentile interval", False), ("usual percentile interval", True)):
        rows: dict[str, list[str]] = {}
        for case in CASES:
            for units in (one for one in UNITS if one <= case.most):
                for name, count in coverage(case, units, round(trials * case.share), usual=usual).items():
                    rows.setdefault(name, []).append(count.text)
                    print(f"{title}, {name}, {units}: {count.text}", file=sys.stderr, flush=True)
        if usual:  # what is no percentile interval is in the first table
            rows = {
                name: row
                for name, row in rows.items()
                if not name.endswith((" (Wilson)", " (order statistics)"))
            }
        heads = [f"{title}: figure, units", *map(str, UNITS)]
        lines += [
            *grid(heads, [[name, *row, *["–"] * (len(UNITS) - len(row))] for name, row in rows.items()]),
            "",
        ]
    rows = {}
    for ratio in (0.5, 1.0, 3.0):
        name = f"standard deviation over trainings: {ratio:g} standard errors over documents"
        rows[name] = [seeds(each, ratio, trials).text for each in SEEDS]
    heads = ["from the lowest end of a seed's interval to the highest: trainings", *map(str, SEEDS)]
    lines += [*grid(heads, [[name, *row] for name, row in rows.items()]), ""]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the tables; with --write, put them into the page."""
    found = tables()
    print(found)
    if "--write" in sys.argv[1:]:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        tail = rest.partition(END)[2]
        with atomic_path(PAGE) as temporary:
            temporary.write_text(f"{head}{BEGIN}{found}{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
