"""Our figures beside the exhibits whose rows or sets must be computed: GLUE, Transformer-XL by its positions, times."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from quartet.report import loss
from quartet.report.blocks import runtime
from quartet.report.facts import ModelFacts
from quartet.report.papers.ours import SeriesSpec, at_unigram, find, paired
from quartet.report.papers.series import Change, Series, change_of
from quartet.report.published import published_figures
from quartet.report.run_report import Report, code
from quartet.report.spec import AverageSpec, sections
from quartet.results import ONE_BY_ONE, system_name

#: Rows that a set of positions stands for in Table 2 of the Segatron paper.
POSITIONS = {
    frozenset({"sequence"}): "token",
    frozenset({"token"}): "token",
    frozenset({"token", "paragraph"}): "token-paragraph",
    frozenset({"token", "sentence"}): "token-sentence",
    frozenset({"token", "sentence", "paragraph"}): "token-sentence-paragraph",
}
#: From so many parameters on our two models stand beside the paper's large ones.
LARGE = 200_000_000
#: The paper's corpus, as our presets call it.
CORPUS = "wikitext-103"
#: The tokenizer whose tokens are the words that the corpus is cut into, as the paper counts them.
WORDS = "whitespace"
RESET = "index reset"


def glue(report: Report, split: str) -> list[Series]:
    """The metric of the paper's average on each set, and on each part of one."""
    average = next(part for part in sections()["glue"].body if isinstance(part, AverageSpec))
    printed = average.papers[split]
    specs = [
        SeriesSpec(
            table="glue",
            sets={known.dataset: column},
            others=False,
            splits=(f"{split}{known.part}",),
            metric=(known.metric,),
            rows={"bert-": "bert-", "segabert": "segabert"},
            on=f"`{{dataset}}` {split}, {known.words} × 100",
            printed_on=f"{known.head} {split}",
            printed=printed,
            same=True,
        )
        for known, column in zip(average.average, published_figures().tables[printed].columns, strict=False)
    ]
    return find(report, tuple(specs))


def wikitext(report: Report) -> list[Series]:
    """Perplexity per token of the models with and without segments, on each corpus."""
    table = published_figures().tables["segatron-wikitext103"]
    found = []
    for dataset, split, models in _recurrent(report):
        rows = {one.name.removesuffix(f"-{dataset}"): one for one in models if len(one.positions) != 2}
        sizes = {row: "large" if one.parameters >= LARGE else "base" for row, one in rows.items()}
        entries = {row: table.get(f"{row}-{size}", "ppl") for row, size in sizes.items()}
        printed = {row: value for row, value in entries.items() if value is not None}
        base, aware = printed.get("transformer-xl"), printed.get("segatron-xl")
        changes = {}
        if base and aware:
            aware_rows = [row for row in rows if row.startswith("segatron-xl")]
            changes = dict.fromkeys(((row, "transformer-xl") for row in aware_rows), 100 * (aware / base - 1))
        if rows:
            own = _perplexities(report, dataset, split, rows)
            found.append(dataclasses.replace(own, printed=printed, changes=changes))
    return sorted(found, key=lambda series: not series.named)


def positions(report: Report) -> list[Series]:
    """By the positions that a model sees, one index and exact offsets throughout."""
    table = published_figures().tables["segatron-position-ablation"]
    found = []
    for dataset, split, models in _recurrent(report):
        rows: dict[str, ModelFacts] = {}
        for model in models:
            row = POSITIONS.get(frozenset(model.positions))
            if row and not model.leaks and RESET not in model.variant:
                rows.setdefault(row, model)
        if len(rows) > 1:
            own = _perplexities(report, dataset, split, rows)
            found.append(dataclasses.replace(own, printed=table.column("ppl")))
    return sorted(found, key=lambda series: not series.named)


def _recurrent(report: Report) -> Iterator[tuple[str, str, list[ModelFacts]]]:
    """Yield the sets and splits with the Transformer-XLs that have a perplexity there."""
    for dataset, split in report.groups(loss.TABLE):
        there = report.figures(loss.TABLE, dataset, split, "ppl")
        models = report.facts.models
        yield (
            dataset,
            split,
            [one for one in models if one.architecture == "transformer-xl" and one.name in there],
        )


def _perplexities(report: Report, dataset: str, split: str, rows: dict[str, ModelFacts]) -> Series:
    kinds = {one.name: one.kind for one in report.facts.tokenizers}
    cells = report.figures(loss.TABLE, dataset, split, "ppl")
    systems = {row: model.name for row, model in rows.items()}
    named = dataset == CORPUS
    return Series(
        ours_on=f"{code(dataset)} {split}, perplexity per token",
        printed_on=("" if named else "another set: ") + "WikiText-103",
        ours={row: cells[system] for row, system in systems.items()},
        format="perplexity",
        named=named,
        same=named and all(kinds.get(model.tokenizer) == WORDS for model in rows.values()),
        paired=paired(report, loss.TABLE, dataset, split, loss.DIFFERENCE, systems),
        at_unigram=at_unigram(report, systems),
        models=tuple(systems.values()),
        better=-1,
    )


def times(report: Report, device: str) -> list[Series]:
    """Milliseconds of the masked models and T-TA at the length that the paper compares at."""
    table = published_figures().tables[runtime.PAPER[device]]
    found = []
    for task in table.rows:
        timed = _of_task(report, task, device, ("tta", "bilm", system_name("bilm", ONE_BY_ONE)))
        if timed is not None:
            ratio = table.get(task, "ratio")
            printed = {row: value for row in ("tta", "bilm") if (value := table.get(task, row)) is not None}
            changes = {} if ratio is None else {(row, "tta"): ratio for row in timed.ours if row != "tta"}
            on = f"{table.title}: {runtime.TASKS[task]}"
            found.append(dataclasses.replace(timed, printed_on=on, printed=printed, changes=changes))
    return found


def times_one_way(report: Report) -> list[Series]:
    """Those of uniLM and T-TA, of which the paper prints no numbers."""
    every = (
        _of_task(report, task, device, ("unilm", "tta"))
        for device in runtime.SPLITS
        for task in runtime.TASKS
    )
    return [timed for timed in every if timed and len(timed.ours) > 1]


def _of_task(report: Report, task: str, device: str, names: tuple[str, ...]) -> Series | None:
    """The times of a task on a device, at the standard length."""
    split = runtime.SPLITS[device]
    lengths = runtime.word_counts(report, split)
    if not lengths:
        return None
    words = runtime.standard(lengths)
    systems: dict[str, str] = {}
    cells = report.figures(runtime.TABLE, lengths[words], split, "ms")
    for system in cells:
        name = runtime.untasked(report, system)
        if name in names and runtime.task_of(report, system) == task:
            systems.setdefault(name, system)

    def paired(first: str, second: str) -> Change | None:
        metric = runtime.OVER + second
        cell = report.find(runtime.TABLE, lengths[words], split, systems.get(first, ""), metric)
        return change_of(cell, float) if cell else None

    if not systems:
        return None
    return Series(
        ours_on=f"{words} words, {runtime.TASKS[task]}{' on a GPU' if device == 'cuda' else ''}, ms",
        ours={name: cells[systems[name]] for name in names if name in systems},
        format="milliseconds",
        models=tuple(map(report.model, systems.values())),
        paired=paired,
        better=-1,
    )
