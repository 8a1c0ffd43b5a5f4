"""How small this run is beside the papers', and what it therefore cannot show."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from quartet.report.facts import ModelFacts, RunFacts
from quartet.report.numbers import count, fixed, listing, millions
from quartet.report.published import published_figures
from quartet.report.run_report import Report, named
from quartet.results import Result


def lines(report: Report) -> list[str]:
    """Ours and theirs, then what not to conclude."""
    facts = report.facts
    text = [f"- Here: {one}." for one in trainings(report, [model.name for model in facts.models])]
    text += [
        f"- `{corpus.name}` has {count(corpus.documents)} documents and {count(corpus.sentences)} sentences."
        for corpus in facts.corpora
    ]
    for name, paper in published_figures().papers.items():
        text.append(f"- {paper.name}: {'; '.join(paper.scale)}.{_share(report, name)}")
    text += ["", "So:", ""]
    text.append(
        "- No figure of ours is a reproduction of a published one: texts, test sets, vocabulary and sizes "
        "differ. What can be compared is the direction of a difference, and only where its interval bears it."
    )
    if len(facts.seeds) == 1:
        text.append(
            "- Every model was trained once. The intervals are over test items: they do not include seed variance, so "
            "another seed may change a difference even where its interval leaves out 0."
        )
    elif facts.seeds:
        text.append(
            f"- {len(facts.seeds)} seeds give a rough idea of seed variance (±), not an interval over it."
        )
    if any(corpus.punkt.startswith("trained") for corpus in facts.corpora):
        text.append(
            "- Sentences were found by a Punkt that was trained on the text itself, not by NLTK's English "
            "model: what is a sentence differs a little from the papers'."
        )
    return [*text, ""]


def trainings(report: Report, names: Iterable[str]) -> list[str]:
    """Size, steps, what was read of the corpus and how much of it was a target: models that are alike together."""
    alike: dict[str, list[str]] = {}
    for name in names:
        if model := report.facts.model(name):
            alike.setdefault(_training(report, model), []).append(name)
    return [f"{named(models)}: {words}" for words, models in alike.items()]


def _training(report: Report, model: ModelFacts) -> str:
    read = _read(report, model, f"`{model.corpus}`")
    return f"{millions(model.parameters)} parameters, {count(model.steps)} steps, {read}"


def _read(report: Report, model: ModelFacts, corpus: str) -> str:
    """The tokens that it read, the epochs that they are, and the share of them that were targets."""
    corpus = f"{corpus}, {millions(model.corpus_words)} words"
    targets = "" if model.targets is None else f", {fixed(0, 100)(model.targets)} % of them targets"
    read = report.find("training", model.corpus, "valid", model.name, "tokens")
    if read is None:
        return f"trained on {corpus}; the tokens read were not kept"
    epoch = _epoch(report, model)
    of = f" (about {read.value / epoch:.2g} epochs of {corpus})" if epoch else f" of {corpus}"
    return f"{millions(read.value)} tokens read{of}{targets}"


def with_read(results: Iterable[Result], facts: RunFacts) -> list[Result]:
    """The same results: the scale of a trained model of the run says what it read, and not its corpus alone."""
    results = list(results)
    report = Report(results, facts)
    corpora = {
        model.name: (
            f"{model.corpus} ({model.corpus_words / 1e6:.2f} M words)",
            _read(report, model, model.corpus),
        )
        for model in facts.models
    }
    return [
        dataclasses.replace(row, scale=row.scale.replace(*corpora[row.model]))
        if row.model in corpora and ", 0 steps," not in row.scale  # random weights have read nothing
        else row
        for row in results
    ]


def beside(report: Report, table: str) -> list[str]:
    """What the trained models of a table read: a line that stands in its section where there are two or more."""
    compared = {model for place in report.cells.places(table) for model in report.compared(place.system)}
    names = [model.name for model in report.facts.models if model.name in compared]
    return [f"Trained: {'; '.join(trainings(report, names))}.", ""] if len(names) > 1 else []


def span(report: Report) -> str:
    """From the least to the most that a model read, and the share of targets: a sentence for the top of the page."""
    models = report.facts.models
    found = [report.find("training", one.corpus, "valid", one.name, "tokens") for one in models]
    read = [cell.value for cell in found if cell]
    if not read or len(read) < len(models):
        return ""
    epochs = [
        cell.value / epoch
        for one, cell in zip(models, found, strict=True)
        if cell and (epoch := _epoch(report, one))
    ]
    targets = [100 * one.targets for one in models if one.targets is not None]
    text = f"A model read {_range(read, millions)} tokens"
    text += (
        f", about {_range(epochs, lambda value: f'{value:.2g}')} epochs" if len(epochs) == len(models) else ""
    )
    return f"{text}; {_range(targets, fixed(0))} % of them were targets." if targets else f"{text}."


def _range(values: list[float], number: Callable[[float], str]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def _epoch(report: Report, model: ModelFacts) -> float | None:
    """About how many tokens the corpus has as a model reads it: by its tokens per word on the test split.

    A model of sentences reads two special tokens with each.
    """
    for metric in ("ppl", "pppl"):
        place = "perplexity", model.corpus, "test", model.name
        tokens, words = report.find(*place, metric), report.find(*place, f"{metric}-word")
        if tokens and words:
            sentences = sum(one.sentences for one in report.facts.corpora if one.name == model.corpus)
            special = 2 * sentences if model.reads == "sentences" else 0
            return model.corpus_words * tokens.n / words.n + special
    return None


def _share(report: Report, name: str) -> str:
    """How many times as many sentences the paper's models read as the largest corpus here has."""
    sentences = published_figures().papers[name].sentences
    most = max((corpus.sentences for corpus in report.facts.corpora), default=0)
    if sentences is None or not most:
        return ""
    factor = sentences / most
    times = count(float(f"{factor:.1g}")) if factor >= 10 else f"{factor:.1f}"
    return f" That is about {times} times the sentences of the largest corpus here."


def sizes(report: Report) -> str:
    """One sentence for the first screen."""
    names = listing([paper.name for paper in published_figures().papers.values()])
    models = "; ".join(trainings(report, [model.name for model in report.facts.models]))
    return f"{models or 'not known'}. The published figures ({names}) are of other data and other sizes."
