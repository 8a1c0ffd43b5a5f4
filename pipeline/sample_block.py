"""The sample's results in docs/results.md, from reports/sample and from the papers' figures."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.layout import Layout
from quartet.report.page import grid
from quartet.report.published import published
from quartet.results import ONE_BY_ONE, Result, system_name

EXPERIMENT = "sample"
#: The length at which the T-TA paper states its ratios.
WORDS = "20-words"


class Figures:
    """The rows of an experiment, by what they are of."""

    def __init__(self, rows: Iterable[Result]) -> None:
        self._rows: dict[tuple[str, ...], Result] = {}
        for row in rows:
            self._rows.setdefault((row.table, row.system, row.split, row.metric, row.dataset), row)

    def row(
        self, table: str, system: str, split: str, metric: str, dataset: str | None = None
    ) -> Result | None:
        """The row of the first seed, on the data set or on the only one."""
        for key, row in self._rows.items():
            if key[:4] == (table, system, split, metric) and dataset in (None, key[4]):
                return row
        return None

    def trained_elsewhere(self) -> list[str]:
        """The systems that rerank and have vectors, and were not trained in this experiment."""
        models = {
            table: {row.model for row in self._rows.values() if row.table == table}
            for table in ("training", "rerank")
        }
        others = models["rerank"] - models["training"]
        return [
            one
            for one in sorted(others)
            if self.row("sts", system_name(one, "context"), "test", "pearson") is not None
        ]

    def count(self, table: str, metric: str) -> str:
        """How many test items stand behind a table."""
        return next(
            (
                f"{row.n:,}"
                for key, row in self._rows.items()
                if key[0] == table and key[2:4] == ("test", metric)
            ),
            "0",
        )

    def text(
        self, table: str, system: str, split: str, metric: str, decimals: int, factor: float = 1.0
    ) -> str:
        """The value with its interval, or a dash."""
        row = self.row(table, system, split, metric)
        if row is None:
            return "–"
        if row.ci_low is None or row.ci_high is None:
            return f"{factor * row.value:.{decimals}f}"
        low, high = factor * row.ci_low, factor * row.ci_high
        return f"{factor * row.value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def block(results: list[Result], timings: list[Result]) -> list[str]:
    """What stands between the two marks of the page, line by line."""
    found, timed = Figures(results), Figures(timings)
    training = [row for row in results if row.table == "training" and row.metric == "parameters"]
    scales = sorted({row.scale.partition(", ")[2] for row in training})
    sizes = sorted(row.value for row in training)
    count = len({row.seed for row in training})
    seeds = "one seed" if count == 1 else f"{count} seeds"
    return [
        f"One run of `params.yaml` as it is: {sizes[0] / 1e6:.2f} to {sizes[-1] / 1e6:.2f} M parameters, "
        f"{'; '.join(scales)}. In brackets: 95 % intervals. "
        f"[The whole report](../{Layout(EXPERIMENT).report}/README.md) has every table.",
        "",
        "T-TA's comparison, single sentences. `loss` is nats a token on the test articles (pseudo-log-likelihood for",
        f"`bilm` and `tta`: not comparable with `unilm`'s); WER on our {found.count('rerank', 'wer')} test lists; "
        f"Pearson on Lee's {found.count('sts', 'pearson')} pairs.",
        "",
        *family(found),
        *elsewhere(found),
        *unused(results),
        "",
        "The paper's models have 3 layers of 512, 1 to 2 M steps and 13 to 17 GB of text.",
        "",
        "Segatron's comparison, running text:",
        "",
        *segments(found),
        "",
        *runtime(timed),
        "",
        "What this sample cannot show: which objective is better. So little text and so short a training leave all",
        f"models far from the papers' quality, the test sets are small, and there is {seeds}. Differences whose",
        "intervals overlap are no findings, unless the report has an interval of the difference itself. The sample",
        "proves that the pipeline runs and measures what it says.",
    ]


def family(found: Figures) -> list[str]:
    """The T-TA table."""
    tables = published().tables
    heads = [
        "system",
        "test loss",
        "test WER, %",
        "Pearson × 100, context",
        "paper: WER, test-clean",
        "paper: STSb test",
    ]
    rows = []
    for system in ("first-pass", "unilm", "bilm", "tta", *found.trained_elsewhere(), "oracle"):
        wer = tables["tta-wer-own"].get(system, "test-clean")
        stsb = tables["tta-stsb"].get(system, "test-context")
        rows.append(
            [
                f"`{system}`",
                found.text("perplexity", system, "test", "loss", 2),
                found.text("rerank", system, "test", "wer", 2),
                found.text("sts", system_name(system, "context"), "test", "pearson", 1, 100),
                "–" if wer is None else f"{wer:.2f}",
                "–" if stsb is None else f"{stsb:.1f}",
            ]
        )
    unigram = found.text("perplexity", "unigram", "test", "entropy", 2)
    rows.append(["unigram entropy of the same tokens", unigram, "–", "–", "–", "–"])
    return grid(heads, rows)


def elsewhere(found: Figures) -> list[str]:
    """A sentence on the systems that came trained: at what scale, and what the first of them changes."""
    lines = []
    for system in found.trained_elsewhere():
        row = found.row("rerank", system, "test", "wer")
        assert row is not None
        change = found.text("rerank", system, "test", "wer-difference", 2)
        lines.append(
            f"`{system}` comes with the project, trained on other text and at another size ({row.scale}). "
            f"Its change of the first pass's WER: {change}."
        )
    return [*lines, ""] if lines else []


def unused(results: list[Result]) -> list[str]:
    """A sentence on the systems to which dev gave no weight, if there are any."""
    weights = {row.system: row.value for row in results if (row.table, row.metric) == ("rerank", "weight")}
    names = [f"`{system}`" for system, weight in sorted(weights.items()) if weight == 0]
    if not names:
        return []
    return [
        f"The lists of dev chose weight 0 for {', '.join(names)}: these keep the recogniser's own ranking.",
        "",
    ]


def segments(found: Figures) -> list[str]:
    """The Segatron table."""
    table = published().tables["segatron-wikitext103"]
    rows = []
    for system, metric in (
        ("transformer-xl", "ppl"),
        ("segatron-xl", "ppl"),
        ("bert-", "pppl"),
        ("segabert", "pppl"),
        ("tta-segments", "pppl"),
    ):
        paper = table.get(f"{system}-base", "ppl")
        rows.append(
            [
                f"`{system}`",
                "perplexity" if metric == "ppl" else "pseudo-perplexity",
                found.text("perplexity", system, "test", metric, 1),
                "–" if paper is None else f"{paper:.1f}",
            ]
        )
    return grid(["system", "measure", "a token, ours", "paper: a word, WikiText-103"], rows)


def runtime(timed: Figures) -> list[str]:
    """How many times as long as T-TA the masked model takes for a sentence of 20 words."""
    table = published().tables["tta-runtime-cpu"]
    found = []
    for use, label in (("sts", "sentence vectors"), ("rerank", "likelihoods")):
        times = {
            system: timed.row("runtime", system_name(*system), "test", "ms", WORDS)
            for system in (("tta", use), ("bilm", use), ("bilm", f"{ONE_BY_ONE}/{use}"))
        }
        tta, batched, single = times.values()
        if tta is None or batched is None or single is None:
            return []
        found.append(
            f"{label} {single.value / tta.value:.1f} times as long with masked copies one by one and "
            f"{batched.value / tta.value:.1f} times in one optimised batch (the paper: {table.get(use, 'ratio')})"
        )
    device = next(row.device for row in times.values() if row is not None)
    return [f"A sentence of 20 words takes `bilm` against `tta`, on {device}: {'; '.join(found)}."]
