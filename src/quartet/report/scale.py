"""How small this run is beside the papers', and what it therefore cannot show."""

from __future__ import annotations

from collections.abc import Iterable

from quartet.report.facts import ModelFacts
from quartet.report.numbers import count, fixed, listing, millions
from quartet.report.published import published_figures
from quartet.report.run_report import Report, named


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
    corpus = f"`{model.corpus}`, {millions(model.corpus_words)} words"
    text = f"{millions(model.parameters)} parameters, {count(model.steps)} steps, "
    read = report.find("training", model.corpus, "valid", model.name, "tokens")
    if read is None:
        return f"{text}trained on {corpus}"
    epoch = _epoch(report, model)
    text += f"{millions(read.value)} tokens read"
    text += f" (about {read.value / epoch:.2g} epochs of {corpus})" if epoch else f" of {corpus}"
    return text if model.targets is None else f"{text}, {fixed(0, 100)(model.targets)} % of them targets"


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
