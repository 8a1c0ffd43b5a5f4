"""What the stage `report` tells beside the results: facts of the run, and the few figures that DVC shows.

results.jsonl has hundreds of figures, with n and interval; what ``dvc metrics`` and ``dvc plots`` show is read at a
glance. So each system has a file of its own, which is a line of ``dvc metrics show``, and of each evaluation the one
figure it is judged by.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from pipeline.stages import HEADLINES
from quartet.config.model import ModelEntry
from quartet.files import read_json, write_json
from quartet.report.facts import (
    AbsentSet,
    CorpusFacts,
    ListFacts,
    ModelFacts,
    PretrainedFacts,
    RunFacts,
    TokenizerFacts,
)
from quartet.report.figures import training_panels
from quartet.results import Result


def gather(params: Params, layout: Layout, device: str, processors: Sequence[str] = ()) -> RunFacts:
    """Facts of everything that params.yaml names.

    Args:
        device: what trained the models, in words.
        processors: the kinds of what computed, where that is known.

    Raises:
        InputError: a manifest is absent or broken.
    """
    return RunFacts(
        experiment=params.experiment,
        device=device,
        seeds=tuple(params.seeds),
        corpora=tuple(_corpus(params, layout, name) for name in params.corpora),
        tokenizers=tuple(_tokenizer(layout, name) for name in params.tokenizers),
        lists=tuple(_lists(layout, name, settings.origin) for name, settings in params.nbest.items()),
        models=tuple(_model(params, layout, name) for name in params.models),
        pretrained=tuple(_pretrained(layout, name) for name in params.pretrained),
        absent=tuple(_absent(params, layout)),
        ngrams=tuple(params.ngrams),
        processors=tuple(processors),
        draws=params.bootstrap,
    )


def _corpus(params: Params, layout: Layout, name: str) -> CorpusFacts:
    manifest = read_json(layout.segments(name) / MANIFEST)

    def total(what: str) -> int:
        return sum(int(counts[what]) for counts in manifest["splits"].values())

    return CorpusFacts(
        name=name,
        documents=total("documents"),
        paragraphs=total("paragraphs"),
        sentences=total("sentences"),
        words=total("words"),
        punkt=str(manifest["segmenter"]),
        license=params.corpora[name].license,
    )


def _tokenizer(layout: Layout, name: str) -> TokenizerFacts:
    manifest = read_json(layout.tokenizer(name) / MANIFEST)
    return TokenizerFacts(name=name, kind=str(manifest["kind"]), vocabulary=int(manifest["vocab_size"]))


def _lists(layout: Layout, name: str, origin: str) -> ListFacts:
    manifest = read_json(layout.nbest(name) / MANIFEST)
    return ListFacts(
        name=name,
        dev=int(manifest["dev"]["lists"]),
        test=int(manifest["test"]["lists"]),
        hypotheses=max(int(manifest[split]["longest_list"]) for split in ("dev", "test")),
        origin=origin,
        ranked=int(manifest["test"]["lists_without_scores"]) > 0,
        refused=sum(int(manifest[split]["refused"]) for split in ("dev", "test")),
        missing=sum(int(manifest[split].get("missing", 0)) for split in ("dev", "test")),
        bleu=str(manifest.get("bleu", "")),
    )


def _absent(params: Params, layout: Layout) -> Iterator[AbsentSet]:
    for name, task in params.tasks.items():
        manifest = read_json(layout.task(task.kind, name) / MANIFEST)
        if not manifest.get("available", True):
            yield AbsentSet(
                name=name, kind=task.kind, reason=str(manifest["reason"]), obtain=str(manifest["obtain"])
            )


def _model(params: Params, layout: Layout, name: str) -> ModelFacts:
    card = read_json(layout.model(name, params, params.seeds[0]) / "config.json")
    settings = params.models[name]
    return ModelFacts(
        name=name,
        objective=settings.objective,
        architecture=settings.architecture,
        reads=settings.reads,
        positions=tuple(settings.positions),
        tokenizer=settings.tokenizer,
        corpus=settings.corpus,
        corpus_words=int(card["corpus_words"]),
        parameters=int(card["parameters"]),
        steps=int(card["steps"]),
        variant=_variant(settings),
        leaks=settings.leaks,
        targets=settings.training.mask_probability if settings.facts.masks else 1.0,
    )


def _pretrained(layout: Layout, name: str) -> PretrainedFacts:
    model = read_json(layout.pretrained(name) / "config.json").get(
        "model", {}
    )  # a card of ours has such a key
    return PretrainedFacts(name=name, objective=model.get("objective", ""), reads=model.get("reads", ""))


def _variant(model: ModelEntry) -> tuple[str, ...]:
    """The switches that make another model of the same objective, architecture, sizes and positions."""
    recurrence, tta = model.recurrence, model.tta
    words = {
        f"index {recurrence.index}": model.architecture == "transformer-xl",
        f"memory {recurrence.memory}": model.architecture == "transformer-xl",
        "offsets as released": recurrence.offset == "released",
        "own word masked": tta.mask == "word",
        "first query [MASK]": tta.first_query == "mask_token",
        "inputs not normalised": not tta.normalise_inputs,
        "spans as released": model.spans.form == "released",
        "overflow as released": model.maxima.overflow == "released",
        "paragraphs from the input's first": model.maxima.overflow == "restart",
        "kinds start apart": model.position_init == "split-sinusoid",
        f"from {model.init_from}": model.init_from is not None,
        "best weights": model.training.weights == "best",
    }
    return tuple(text for text, holds in words.items() if holds)


#: The readings of a model that stand for it; the others, and the parts of sets, are in the report.
MAIN = ("", "context")
SPLITS = ("test", "dev", "valid")

#: Metric files by system: column -> set or split -> value.
Metrics = dict[str, dict[str, dict[str, float]]]
#: The rows of a plot, its header first.
TableRows = list[tuple[object, ...]]


def dvc_metrics(rows: Iterable[Result]) -> Metrics:
    """The figure that each system is judged by, the mean over seeds: of the test set where there is one."""
    values: defaultdict[tuple[str, str, str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        whole = row.reading in MAIN and not row.versus and "/" not in row.dataset
        if whole and row.table in HEADLINES and row.metric in HEADLINES[row.table][1].metrics:
            values[row.model, row.table, row.dataset, row.metric, row.split].append(row.value)

    def preference(key: tuple[str, str, str, str, str]) -> tuple[int, int]:
        _, table, _, metric, split = key
        return HEADLINES[table][1].metrics.index(metric), SPLITS.index(split) if split in SPLITS else len(
            SPLITS
        )

    found: Metrics = {}
    for system, table, dataset, metric, split in sorted(values, key=preference):
        stage, headline = HEADLINES[table]
        column = metric if headline.by_metric else stage
        where = split if column == "loss" else dataset
        figures = found.setdefault(system, {}).setdefault(column, {})
        figures.setdefault(where, fmean(values[system, table, dataset, metric, split]))
    return found


def validation_plot(curves: Mapping[str, Sequence[tuple[float, float]]], facts: RunFacts) -> TableRows:
    """Nats a predicted token against training steps, a panel for each kind of prediction and input."""
    rows: TableRows = [("panel", "system", "step", "loss")]
    for column in training_panels([name for name in curves if curves[name]], facts):
        for title, names in column.items():
            panel = title.replace("\n", " ")
            rows += [(panel, name, f"{step:g}", loss) for name in names for step, loss in curves[name]]
    return rows


def weights_plot(curves: Mapping[tuple[str, str, str], Sequence[tuple[float, float]]]) -> TableRows:
    """WER or BLEU against the weight of the language model, a panel a set of lists and split."""
    rows: TableRows = [("panel", "system", "weight", "value")]
    return rows + [
        (f"{lists}, {split}", system, weight, value)
        for (lists, split, system), points in curves.items()
        for weight, value in points
    ]


def input_lengths_plot(rows: Iterable[Result]) -> TableRows:
    """Perplexity against the tokens of an input, a panel a corpus."""
    found: TableRows = [("panel", "system", "tokens", "perplexity")]
    for row in rows:
        if row.table == "input-length" and row.metric == "ppl":
            found.append((row.dataset, row.system, int(row.split.removesuffix("-tokens")), row.value))
    return found


def write_metrics(folder: Path, found: Metrics) -> None:
    """<system>.json of each system."""
    for system, figures in found.items():
        write_json(folder / f"{system}.json", figures)


def write_table(path: Path, rows: TableRows) -> None:
    """A plot's points as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
