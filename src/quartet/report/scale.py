"""The last section: how small this run is beside the papers', and what it therefore cannot show."""

from __future__ import annotations

from quartet.report.numbers import count, listing, millions
from quartet.report.published import published_figures
from quartet.report.run_report import Report


def lines(report: Report) -> list[str]:
    """Ours and theirs, then what not to conclude."""
    facts = report.facts
    text = [f"- Here: {_models(report)}" + "".join(f" {one}" for one in _corpora(report))]
    for name, paper in published_figures().papers.items():
        text.append(f"- {paper.name}: {'; '.join(paper.scale)}.{_share(report, name)}")
    text += ["", "So:", ""]
    text.append(
        "- No figure of ours is a reproduction of a published one: texts, test sets, vocabulary and sizes "
        "differ. What can be compared is the direction of a difference, and only where the intervals bear it."
    )
    if len(facts.seeds) == 1:
        text.append(
            "- Every model was trained once. The intervals are over test items: they do not hold what "
            "another seed would change, so a difference between two models may be luck of training even "
            "where its interval leaves out 0."
        )
    elif facts.seeds:
        text.append(
            f"- {len(facts.seeds)} seeds give a rough idea of the luck of training (±), not an interval "
            "over it."
        )
    text.append(
        "- The intervals are not corrected for the number of comparisons: of twenty true equalities up to "
        "one or so would look like a difference."
    )
    if any(corpus.punkt.startswith("trained") for corpus in facts.corpora):
        text.append(
            "- Sentences were found by a Punkt that was trained on the text itself, not by NLTK's English "
            "model: what is a sentence differs a little from the papers'."
        )
    return [*text, ""]


def _models(report: Report) -> str:
    models = report.facts.models
    if not models:
        return "the models' sizes are not known."
    sizes = _span([model.parameters for model in models])
    steps = sorted({model.steps for model in models})
    return (
        f"{sizes} parameters, {count(steps[0])}"
        + (f" to {count(steps[-1])}" if steps[1:] else "")
        + f" step{'s' if steps[-1] > 1 else ''}, "
        + f"trained on {_span([model.corpus_words for model in models])} words."
    )


def _span(numbers: list[int]) -> str:
    low, high = millions(min(numbers)), millions(max(numbers))
    return low if low == high else f"{low} to {high}"


def _corpora(report: Report) -> list[str]:
    return [
        f"`{corpus.name}` has {count(corpus.documents)} documents and {count(corpus.sentences)} sentences."
        for corpus in report.facts.corpora
    ]


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
    return f"{_models(report)} The published figures beside ours ({names}) are of other data and other sizes."
