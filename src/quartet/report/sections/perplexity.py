"""Perplexity and pseudo-perplexity of held-out text, told apart, beside the unigram entropy of its tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass

from quartet.report.cells import Bounds, Cell, apart, interval
from quartet.report.numbers import NONE, hundredfold, listing, nats, perplexity
from quartet.report.numbers import loss as loss_number
from quartet.report.page import Column, Report, code, grid, named, paper_table
from quartet.report.sections import perplexity_pairs

TABLE = "perplexity"
UNIGRAM = "unigram"


@dataclass(frozen=True)
class Kind:
    """One of the two measures: the name of its metrics, its title, and how sentences explain and limit it."""

    metric: str
    title: str
    words: str
    warning: str = ""


KINDS = (
    Kind("ppl", "Perplexity", "each token is predicted from those before it"),
    Kind(
        "pppl",
        "Pseudo-perplexity",
        "each token is predicted from all others of its input",
        "It is another measure than perplexity, and not comparable with it.",
    ),
)
#: What two models must share for their difference to be one of positions, and by what share their parameters may
#: differ (the tables of positions).
SAME = ("objective", "architecture", "reads", "tokenizer", "corpus", "steps")
POSITION_TABLES = 0.1
#: What is said of a causal model whose positions tell of later tokens.
LEAK = (
    "the offsets of the released Segatron-XL tell earlier tokens where later sentences and paragraphs begin, so this "
    "is no perplexity; it is here for comparison with the released code alone."
)
#: What is said of n-gram models beside models that read a tokenizer's pieces.
OTHER_TOKENS = (
    "n-gram models count tokens of their own (here words, with or without punctuation), so their figures a token "
    "compare with those of such models alone, not with the other rows."
)
#: What is said of systems without a figure a word.
UNTOLD = (
    "no figure a word, since unknown words share one probability and nothing tells them apart, or since no number "
    "holds it."
)
#: The rows of the papers that our systems may be set beside.
SEGATRON = {"transformer-xl": "transformer-xl-base", "segatron-xl": "segatron-xl-base"}


def body(report: Report) -> list[str]:
    """Two tables a set, one a kind, and what the papers print of the same models."""
    lines = [
        "Perplexity (left to right) and pseudo-perplexity (both sides in view) are two measures: a "
        "pseudo-probability does not sum to one over texts, so a figure of one table says nothing about a "
        "figure of the other. Within a table, figures a token compare over the same tokens only, and the more of these "
        "are `unknown`, the lower they are: all unknown words share one probability. Figures a word compare over the "
        "same text, whatever the tokens: an unknown word costs that probability and its spelling, log A a character, "
        "A being the characters of the vocabulary (150,000 for one that it lacks). The row "
        "`unigram` is what the token frequencies alone give: its loss is "
        "the entropy. Loss and entropy are in nats; the interval of a loss is that of the perplexity a "
        "token.",
        "",
    ]
    for dataset, split in report.groups(TABLE):
        for kind in KINDS:
            systems = _systems(report, dataset, split, kind)
            if systems:
                lines += _table(report, dataset, split, kind, systems)
    return lines + report.figure(TABLE, "Perplexity by model")


def _table(report: Report, dataset: str, split: str, kind: Kind, systems: list[str]) -> list[str]:
    def column(head: str, metric: str) -> Column:
        def text(system: str) -> str:
            mean = metric.endswith("-mean")  # a few texts decide it, and the table is wide
            # frequencies look at no side: theirs is a perplexity and a pseudo-perplexity alike
            own = metric.removeprefix("p") if _is_unigram(system) and metric.startswith("pppl") else metric
            return report.text(perplexity, TABLE, dataset, split, system, own, bounds=not mean)

        return Column(head, text)

    columns = [
        Column("loss, nats a token", lambda system: _loss_text(report, dataset, split, system, kind)),
        Column("below unigram", lambda system: _margin_text(report, dataset, split, system, kind)),
        column("a token", kind.metric),
        column("a text, mean", f"{kind.metric}-mean"),
        column("a text, median", f"{kind.metric}-median"),
        column("a word", f"{kind.metric}-word"),
        report.measured("unknown, %", hundredfold, TABLE, dataset, split, "oov", counted=False),
    ]
    base = [one for one in report.systems(TABLE, dataset, split, ["entropy", "loss"]) if _is_unigram(one)]
    lines = [f"**{kind.title}** on `{dataset}` {split} ({kind.words}):", ""]
    lines += report.table([*base, *systems], columns)
    lines += report.caption(TABLE, "tokens (of figures a text: sentences; a word: words)")
    others = [system for system in systems if not _comparable(report, system)]
    if others:
        lines += [f"{named(others)}: {OTHER_TOKENS}", ""]
    untold = [s for s in systems if report.find(TABLE, dataset, split, s, f"{kind.metric}-word") is None]
    if untold:
        lines += [f"{named(untold)}: {UNTOLD}", ""]
    leaking = [system for system in systems if _leaks(report, system)]
    if leaking:
        lines += [f"{named(leaking)}: {LEAK}", ""]
    return lines + _published(systems, kind)


def _published(systems: list[str], kind: Kind) -> list[str]:
    """What the papers print of the same models, on texts and at sizes of their own."""
    rows = []
    table, where = paper_table("segatron-wikitext103")
    for system in systems:
        value = table.get(SEGATRON.get(system, ""), "ppl")
        if value is not None:
            rows.append([code(system), f"{where}: WikiText-103 test", "a word", perplexity(value)])
    if not rows:
        return []
    lines = [
        f"Published {kind.title.lower()} of the same kinds of model, on other text with other tokens:",
        "",
    ]
    return lines + grid(["system", "paper", "unit", "value"], rows)


def findings(report: Report) -> list[str]:
    """Each kind's figures; who is shown to be below the unigram entropy; what segment positions changed."""
    found = []
    for dataset, split in report.groups(TABLE):
        for kind in KINDS:
            cells = report.figures(TABLE, dataset, split, kind.metric)
            cells = {system: cell for system, cell in cells.items() if _comparable(report, system)}
            if cells:
                values = listing(
                    [f"{code(system)} {cell.text(perplexity)}" for system, cell in cells.items()]
                )
                text = f"{kind.title} a token on `{dataset}` {split} ({kind.words}): {values}."
                text += f" {kind.warning}" if kind.warning else ""
                leaking = [system for system in cells if _leaks(report, system)]
                text += f" Of {named(leaking)}: {LEAK}" if leaking else ""
                found.append(text + _below_unigram(report, dataset, split, kind))
                found[-1] += _segments(report, dataset, split, cells)
    return found


def _systems(report: Report, dataset: str, split: str, kind: Kind) -> list[str]:
    metrics = [kind.metric, *(f"{kind.metric}-{each}" for each in ("mean", "median", "word"))]
    return [system for system in report.systems(TABLE, dataset, split, metrics) if not _is_unigram(system)]


def _comparable(report: Report, system: str) -> bool:
    """Whether a system reads the tokens of its tokenizer as all models do."""
    return report.facts.model(system) is not None


def _leaks(report: Report, system: str) -> bool:
    model = report.facts.model(system)
    return model is not None and model.leaks


def _is_unigram(system: str) -> bool:
    """Also of one tokenizer among several: "unigram/wordpiece-3k"."""
    return system.partition("/")[0] == UNIGRAM


def _entropy(report: Report, dataset: str, split: str, system: str) -> Cell | None:
    """The unigram entropy of the tokens that a system reads: of its tokenizer's, where there are several."""
    model = report.facts.model(system)
    names = [f"{UNIGRAM}/{model.tokenizer}"] if model else []
    cells = (
        report.find(TABLE, dataset, split, name, metric)
        for name in (*names, UNIGRAM)
        for metric in ("entropy", "loss")
    )
    return next((cell for cell in cells if cell), None)


def _loss_text(report: Report, dataset: str, split: str, system: str, kind: Kind) -> str:
    for metric in ("loss", "entropy"):
        text = report.text(loss_number, TABLE, dataset, split, system, metric, bounds=_is_unigram(system))
        if text != NONE:
            return text
    cell = report.find(TABLE, dataset, split, system, kind.metric)
    return NONE if cell is None else loss_number(math.log(cell.value))


@dataclass(frozen=True)
class Margin:
    """Nats a token by which a loss is below the unigram entropy of its tokens; bounds None: no interval."""

    value: float
    bounds: Bounds | None

    @property
    def text(self) -> str:
        """Two decimals, with the interval where there is one."""
        return nats(self.value) + (f" {interval(self.bounds, nats)}" if self.bounds else "")


def _margin(report: Report, dataset: str, split: str, system: str, kind: Kind) -> Margin | None:
    """The measured gain where there is one; else from the loss's own interval, the entropy taken as exact."""
    gain = report.find(TABLE, dataset, split, system, "gain")
    if gain is not None:
        return Margin(gain.value, gain.bounds)
    entropy = _entropy(report, dataset, split, system)
    cell = report.find(TABLE, dataset, split, system, kind.metric)
    if entropy is None or cell is None or entropy.n != cell.n:
        return None

    def below(ppl: float) -> float:
        return entropy.value - math.log(ppl)

    return Margin(below(cell.value), cell.bounds and (below(cell.bounds[1]), below(cell.bounds[0])))


def _margin_text(report: Report, dataset: str, split: str, system: str, kind: Kind) -> str:
    if not _comparable(report, system):
        return NONE
    measured = report.text(nats, TABLE, dataset, split, system, "gain")
    margin = _margin(report, dataset, split, system, kind)
    return measured if measured != NONE or margin is None or _is_unigram(system) else margin.text


def _below_unigram(report: Report, dataset: str, split: str, kind: Kind) -> str:
    """Which models of a kind are shown to be below the unigram entropy of their tokens, and by how much."""
    margins = {
        system: margin
        for system in _systems(report, dataset, split, kind)
        if _comparable(report, system) and (margin := _margin(report, dataset, split, system, kind))
    }
    cells = [_entropy(report, dataset, split, system) for system in margins]
    entropies = list(dict.fromkeys(nats(cell.value) for cell in cells if cell))
    if not entropies:
        return ""
    shown = sorted(
        (system for system in margins if apart(margins[system].bounds, (0.0, 0.0)) > 0),
        key=lambda system: margins[system].value,
    )
    others = [system for system in margins if system not in shown]
    text = f" Unigram entropy of the same tokens: {listing(entropies)} nats"
    if shown:
        ends = [f"{margins[system].text} ({code(system)})" for system in dict.fromkeys((shown[0], shown[-1]))]
        who = "all" if not others and shown[1:] else named(report.sorted(shown)) if others else "the model"
        text += f"; shown to be below it: {who}, by {' to '.join(ends)} nats a token"
    if others:
        text += f"; not shown to be below it: {named(others)}"
    return text + "."


def _segments(report: Report, dataset: str, split: str, cells: dict[str, Cell]) -> str:
    """Models that differ in nothing but their positions, one with segments and one without."""
    parts = []
    for system, cell in cells.items():
        model = report.facts.model(system)
        for other, baseline in cells.items():
            without = report.facts.model(other)
            if model is None or without is None or without.segment_aware or not model.segment_aware:
                continue
            if model.leaks:
                continue
            if any(getattr(model, key) != getattr(without, key) for key in SAME) or cell.n != baseline.n:
                continue
            if abs(model.parameters / without.parameters - 1) > POSITION_TABLES:
                continue
            paired = perplexity_pairs.change(report, dataset, split, system, other)
            if paired is not None:
                side = apart(paired[1], (0.0, 0.0))
                verdict = f"{perplexity_pairs.change_text(*paired)} over the same documents, "
                verdict += {-1: "lower", 0: "so no difference is shown", 1: "higher"}[side]
            else:
                side = apart(cell.bounds, baseline.bounds)
                verdict = {-1: "lower, the intervals apart", 0: "the intervals touch, so no difference is shown",
                           1: "higher, the intervals apart"}[side]  # fmt: skip
            parts.append(f" With segment positions ({code(system)} against {code(other)}): {verdict}.")
    return "".join(parts)
