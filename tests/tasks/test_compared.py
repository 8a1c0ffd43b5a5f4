"""Two systems on the same items: what each task keeps shows a difference where both intervals overlap."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML
from scipy.stats import norm, pearsonr, spearmanr, t
from sklearn.metrics import f1_score, matthews_corrcoef

from quartet.config.finetuning import GridPoint
from quartet.errors import InputError
from quartet.results import EvaluatedSystem, Result
from quartet.statistics.outcomes import Outcomes, differences, read_outcomes, write_outcomes
from quartet.tasks.blimp import evaluation as blimp
from quartet.tasks.blimp.data import MinimalPair
from quartet.tasks.classification.data import LabelledText
from quartet.tasks.classification.metrics import judge as judge_labels
from quartet.tasks.compared import add_differences, compared
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.glue.data import TASKS, GlueExample, GlueSet, glue_set
from quartet.tasks.glue.evaluation import add_rows as add_glue
from quartet.tasks.glue.metrics import gold_of
from quartet.tasks.glue.search import GridSearchResult
from quartet.tasks.nli.data import NliPair
from quartet.tasks.nli.evaluation import judge_vectors
from quartet.tasks.nli.metrics import SEVEN
from quartet.tasks.nli.metrics import judge as judge_entailment
from quartet.tasks.race.data import ChoiceQuestion
from quartet.tasks.race.metrics import ChosenOptions
from quartet.tasks.race.metrics import add_rows as add_race
from quartet.tasks.squad.data import Answer, SpanQuestion
from quartet.tasks.squad.metrics import SpanPrediction
from quartet.tasks.squad.metrics import add_rows as add_squad
from quartet.tasks.sts.data import ScoredPair, SimilaritySet
from quartet.tasks.sts.evaluation import YEARS, JudgedSet, judge
from quartet.tasks.sts.metrics import similarity_set
from quartet.tasks.wordsim.data import WordPairs
from quartet.tasks.wordsim.evaluation import evaluate as judge_words
from tests.imports import ROOT
from tests.named import named

SAMPLES = 10_000
FIRST, SECOND = (EvaluatedSystem(name, "cpu", "made up", 1) for name in ("first", "second"))
BOTH = (FIRST, SECOND)
#: The units of most sets, and those at which the second is wrong and the first right; both are wrong at every fourth.
UNITS = 60
LOST = (1, 5, 10, 21, 30, 37, 46, 53)
RIGHT = np.array(
    [[unit % 4 > 0 and (system == 0 or unit not in LOST) for unit in range(UNITS)] for system in (0, 1)]
)


@dataclass
class Case:
    """Two systems judged, and how their figure is computed by another library.

    Attributes:
        units: what is resampled: the items of each.
        figure: of the system 0 or 1, on the items with these numbers, repeated ones counted again.
    """

    table: str
    dataset: str
    split: str
    metric: str
    unit: str
    units: list[list[int]]
    figure: Callable[[int, list[int]], float]


def singles(count: int) -> list[list[int]]:
    return [[item] for item in range(count)]


def accuracy(right: np.ndarray) -> Callable[[int, list[int]], float]:
    return lambda system, items: float(np.mean(right[system][items]))


def likeness(seed: int, count: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Human scores (count,), and cosines (2, count) whose noise is nearly common to both: the second has more of it."""
    draw = np.random.default_rng(seed)
    gold, noise, more = np.linalg.qr(draw.normal(size=(count, 3)))[0].T * np.sqrt(count)  # of no correlation
    return np.round(gold, 3), np.tanh(np.stack([gold + noise, gold + noise + 0.9 * more]) / 3)


def vectors(cosines: np.ndarray) -> np.ndarray:
    """(2 P, 2) of each pair's texts one after the other."""
    second = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
    return np.stack([np.tile([1.0, 0.0], (len(cosines), 1)), second], axis=1).reshape(-1, 2)


def correlation(by: Any, gold: np.ndarray, cosines: np.ndarray) -> Callable[[int, list[int]], float]:
    return lambda system, items: float(by(cosines[system][items], gold[items]).statistic)


def scored_set(name: str, gold: np.ndarray, year: bool = False) -> JudgedSet:
    pairs = [
        ScoredPair(f"{name} {number} a", f"{name} {number} b", score) for number, score in enumerate(gold)
    ]
    return JudgedSet(name, "test", similarity_set([pairs]), year)


# ---------------------------------------------------------------------- a set of each task


def sts(run: Evaluation) -> Case:
    gold, cosines = likeness(1)
    one = scored_set("stsb", gold)
    for system, each in zip(BOTH, cosines, strict=True):
        judge(run, system, [one], one.pairs.texts, vectors(each))
    return Case(
        "sts", "stsb", "test", "pearson", "pairs", singles(len(gold)), correlation(pearsonr, gold, cosines)
    )


def sts_years(run: Evaluation) -> Case:
    """The mean over two years."""
    drawn = [likeness(seed, count) for seed, count in ((2, 50), (3, 70))]
    sets = [
        scored_set(name, gold, year=True) for name, (gold, _) in zip(("sts12", "sts13"), drawn, strict=True)
    ]
    texts = [text for one in sets for text in one.pairs.texts]
    for place, system in enumerate(BOTH):
        judge(run, system, sets, texts, np.concatenate([vectors(cosines[place]) for _, cosines in drawn]))

    def figure(system: int, items: list[int]) -> float:
        parts = [[item for item in items if item < 50], [item - 50 for item in items if item >= 50]]
        each = [
            pearsonr(cosines[system][part], gold[part]).statistic
            for part, (gold, cosines) in zip(parts, drawn, strict=True)
        ]
        return float(np.mean(each))

    return Case("sts", YEARS, "test", "pearson-mean", "pairs", singles(120), figure)


def documents(run: Evaluation) -> Case:
    """Every two of 12 texts; what is resampled is texts, and a pair counts as often as the product of their draws."""
    draw = np.random.default_rng(4)
    texts = tuple(f"text {number}" for number in range(12))
    first, second = np.triu_indices(12, 1)
    places = draw.normal(size=(12, 6))
    systems = [places + 0.3 * draw.normal(size=(12, 6)) + [[0.0], [1.2]][number] for number in (0, 1)]
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (places, *systems)]
    gold, *cosines = ((each @ each.T)[first, second] for each in unit)
    pairs = SimilaritySet(texts, first, second, gold, shared=True)
    for system, each in zip(BOTH, systems, strict=True):
        judge(run, system, [JudgedSet("lee", "test", pairs)], texts, each)
    numbers = {pair: number for number, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True))}

    def figure(system: int, drawn: list[int]) -> float:
        items = [numbers[a, b] for a in drawn for b in drawn if a < b]
        return float(pearsonr(cosines[system][items], gold[items]).statistic)

    return Case("sts", "lee", "test", "pearson", "texts", singles(12), figure)


def wordsim(run: Evaluation) -> Case:
    gold, cosines = likeness(5)
    words = [f"word{number}" for number in range(2 * len(gold))]
    pairs = WordPairs(tuple(words[::2]), tuple(words[1::2]), gold)
    for system, each in zip(BOTH, cosines, strict=True):
        judge_words(
            run, system, [("simlex", pairs)], lambda word: [words.index(word)], vectors(each), unknown=-1
        )
    return Case(
        "wordsim", "simlex", "test", "spearman", "pairs", singles(len(gold)), correlation(spearmanr, gold, cosines)
    )  # fmt: skip


def classification(run: Evaluation) -> Case:
    examples = [LabelledText(str(unit), "pos" if unit % 2 else "neg") for unit in range(UNITS)]
    for system, right in zip(BOTH, RIGHT, strict=True):
        said = {
            one.text: one.label if right[int(one.text)] else "neg" if one.label == "pos" else "pos"
            for one in examples
        }

        def predict(_: object, texts: Sequence[str], said: dict[str, str] = said) -> list[str]:
            return [said[one] for one in texts]

        judge_labels(run, system, "polarity", examples, predict, 3)
    return Case(
        "classification", "polarity", "cross-validation", "accuracy", "texts", singles(UNITS), accuracy(RIGHT)
    )  # fmt: skip


def tuned(run: Evaluation, form: str, gold: list[str], predicted: np.ndarray) -> GlueSet:
    """A set of GLUE, of which both systems predict the labels (2, n)."""
    texts = [GlueExample(number, f"text {number}", "text", label) for number, label in enumerate(gold)]
    examples = glue_set(form, {"train": texts[:8], "dev": texts}, 0)
    point = GridPoint(16, 1e-3, 1)
    for system, each in zip(BOTH, predicted, strict=True):
        found = GridSearchResult(
            point, {point: {1: 0.5}}, {1: {"dev": each.astype(float)}}, {"dev": 0}, 1.0, ("cpu",)
        )
        model: Any = SimpleNamespace(name=system.model, device="cpu", scale="made up", seed=1)
        add_glue(run, model, form, examples, found)
    return examples


def glue_labels(run: Evaluation, form: str, metric: str, by: Any) -> Case:
    gold = np.arange(UNITS) % 2
    predicted = np.where(RIGHT, gold, 1 - gold)
    examples = tuned(run, form, [str(label) for label in gold], predicted)
    assert gold_of(TASKS[form], examples.others["dev"]).tolist() == gold.tolist()
    return Case(
        "glue", form, "dev", metric, "examples", singles(UNITS),
        lambda system, items: float(by(gold[items], predicted[system][items])),
    )  # fmt: skip


def entailment(run: Evaluation) -> Case:
    """Three hypotheses of each premise."""
    pairs = [
        NliPair(f"premise {unit}", f"hypothesis {turn}", "neutral")
        for unit in range(UNITS)
        for turn in range(3)
    ]
    right = np.repeat(RIGHT, 3, axis=1)
    for system, each in zip(BOTH, right, strict=True):
        labels = ["neutral" if one else "entailment" for one in each]
        judge_entailment(run, system, "snli", "dev", pairs, labels)
    units = [[3 * unit, 3 * unit + 1, 3 * unit + 2] for unit in range(UNITS)]
    return Case("nli", "snli", "dev", "accuracy", "premises", units, accuracy(right))


def tuned_vectors(run: Evaluation) -> Case:
    """The mean over the seven sets of an encoder that was tuned on entailment."""
    drawn = [likeness(10 + seed, 20) for seed in range(7)]
    sets = [scored_set(name, gold) for name, (gold, _) in zip(SEVEN, drawn, strict=True)]
    texts = [text for one in sets for text in one.pairs.texts]
    for place, system in enumerate(BOTH):
        judge_vectors(
            run, system, sets, texts, np.concatenate([vectors(cosines[place]) for _, cosines in drawn])
        )

    def figure(system: int, items: list[int]) -> float:
        parts = [[item % 20 for item in items if item // 20 == part] for part in range(7)]
        each = [
            spearmanr(cosines[system][part], gold[part]).statistic
            for part, (gold, cosines) in zip(parts, drawn, strict=True)
        ]
        return float(np.mean(each))

    return Case("sts", "sts-average", "test", "spearman-mean", "pairs", singles(140), figure)


def squad_f1(run: Evaluation) -> Case:
    """Two questions on each context, of which the second system answers one with a word too many."""
    questions = [
        SpanQuestion(f"{unit}-{turn}", "title", f"context {unit}", "who", (Answer("red fox", 0),))
        for unit in range(UNITS)
        for turn in range(2)
    ]
    f1 = np.stack([np.repeat(RIGHT[0], 2), np.repeat(RIGHT[0], 2)]).astype(float)
    for unit in LOST:
        f1[1, 2 * unit] = 0.5  # of two words one is right, of the answer's two words one
    for system, each in zip(BOTH, f1, strict=True):
        texts = {1.0: "red fox", 0.5: "red dog", 0.0: "blue dog"}
        said = [
            SpanPrediction(one.id, ((texts[value], 0.0),)) for one, value in zip(questions, each, strict=True)
        ]
        add_squad(run, system, "squad1", "dev", questions, said)
    units = [[2 * unit, 2 * unit + 1] for unit in range(UNITS)]
    return Case("squad", "squad1", "dev", "f1", "contexts", units, accuracy(f1))


def race_accuracy(run: Evaluation) -> Case:
    """Two questions on each passage."""
    questions = [
        ChoiceQuestion(f"high{unit}.txt", turn, "passage", "which", ("a", "b", "c", "d"), 2, "high")
        for unit in range(UNITS)
        for turn in range(2)
    ]
    right = np.repeat(RIGHT, 2, axis=1)
    for system, each in zip(BOTH, right, strict=True):
        add_race(run, system, "race", ChosenOptions("dev", questions, np.where(each, 2, 0).tolist()))
    units = [[2 * unit, 2 * unit + 1] for unit in range(UNITS)]
    return Case("race", "race-high", "dev", "accuracy", "passages", units, accuracy(right))


class Grammar:
    """Gives the bad sentence of the pairs that it gets wrong the higher score."""

    masks = False

    def __init__(self, right: np.ndarray) -> None:
        self.right = right

    def token_logprobs(self, texts: list[str], masked: bool = True) -> list[np.ndarray]:
        return [
            np.array([-2.0 if text.startswith("good") == self.right[int(text.split()[1])] else -3.0])
            for text in texts
        ]


def minimal_pairs(run: Evaluation) -> Case:
    """A paradigm of 20 pairs and one of 40, each with half the weight."""
    paradigms = np.repeat([0, 1], [20, 40])
    pairs = [
        MinimalPair(f"good {unit}", f"bad {unit}", f"paradigm {paradigms[unit]}", "island", "syntax")
        for unit in range(UNITS)
    ]
    for system, right in zip(BOTH, RIGHT, strict=True):
        model: Any = Grammar(right)
        blimp.evaluate(run, model, system, {"blimp": pairs}, "warn")

    def figure(system: int, items: list[int]) -> float:
        return float(
            np.mean([np.mean([RIGHT[system][one] for one in items if paradigms[one] == of]) for of in (0, 1)])
        )

    return Case("blimp", "blimp", "test", "accuracy", "pairs", singles(UNITS), figure)


CASES: dict[str, Callable[[Evaluation], Case]] = {
    "sts": sts,
    "sts-years": sts_years,
    "documents": documents,
    "wordsim": wordsim,
    "classification": classification,
    "glue-accuracy": lambda run: glue_labels(
        run, "mrpc", "accuracy", lambda gold, said: np.mean(gold == said)
    ),
    "glue-f1": lambda run: glue_labels(run, "mrpc", "f1", f1_score),
    "glue-matthews": lambda run: glue_labels(run, "cola", "matthews", matthews_corrcoef),
    "nli": entailment,
    "nli-vectors": tuned_vectors,
    "squad": squad_f1,
    "race": race_accuracy,
    "blimp": minimal_pairs,
}


def row_of(run: Evaluation, case: Case, table: str, metric: str, system: str) -> Result:
    (found,) = [
        row
        for row in run.rows
        if (row.table, row.dataset, row.split, row.metric, row.system)
        == (table, case.dataset, case.split, metric, system)
    ]  # fmt: skip
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_difference_that_both_intervals_hide_is_shown_by_the_paired_one(name: str) -> None:
    run = Evaluation("study", name.split("-")[0], samples=SAMPLES, seed=1)
    case = CASES[name](run)
    add_differences(run, run.outcomes)
    first, second = (row_of(run, case, case.table, case.metric, system.name) for system in BOTH)
    found = row_of(run, case, f"{case.table}-pairs", f"{case.metric}-difference", "first - second")
    assert first.value > second.value and first.ci_low is not None and second.ci_high is not None
    assert first.ci_low < second.ci_high, "unpaired, the two do not differ"
    assert found.ci_low is not None and found.ci_high is not None and found.p is not None
    assert 0 < found.ci_low < found.value < found.ci_high and found.p < 0.05

    every = [item for unit in case.units for item in unit]
    assert found.value == pytest.approx(case.figure(0, every) - case.figure(1, every), abs=1e-9)
    assert found.value == pytest.approx(first.value - second.value, abs=1e-9)
    assert (found.unit, found.units, found.seed) == (case.unit, len(case.units), 1)
    assert found.n == first.n
    low, high = interval(case)
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=0.15 * (high - low))


def outcomes(model: str, values: np.ndarray, seed: int | None = 1, **changes: Any) -> Outcomes:
    """Right answers of a system on the items of a set."""
    fields: dict[str, Any] = {"metrics": ("accuracy",), "unit": "texts", "reading": "", **changes}
    place = {"table": "glue", "dataset": "sst2", "split": "dev"}
    return Outcomes(**place, model=model, seed=seed, values=tuple(values.astype(float).tolist()), **fields)


def test_several_trainings_have_one_row_of_their_mean() -> None:
    """And one that has no seed stands against each of them."""
    run = Evaluation("study", "none", samples=SAMPLES, seed=1)
    draw = np.random.default_rng(3)
    rights = draw.random((3, 200)) < [[0.8], [0.7], [0.75]]
    add_differences(run, [outcomes("majority", RIGHT[0].repeat(4)[:200], None)])
    assert not run.rows
    baseline = draw.random(200) < 0.5
    kept = [outcomes("tta", right, seed) for seed, right in enumerate(rights, 1)]
    add_differences(run, [*kept, outcomes("majority", baseline, None)])
    (found,) = run.rows
    assert (found.system, found.seed, found.table) == ("tta - majority", None, "glue-pairs")
    assert found.value == pytest.approx(rights.mean() - baseline.mean())
    single = Evaluation("study", "none", samples=SAMPLES, seed=1)
    add_differences(single, [kept[0], outcomes("majority", baseline, None)])
    assert single.rows[0].seed == 1
    wide, narrow = (one.ci_high - one.ci_low for one in (found, single.rows[0]) if one.ci_high and one.ci_low)
    assert wide > narrow, "the trainings differ by more than 200 texts do"


def test_two_systems_are_compared_on_the_items_that_both_judged() -> None:
    """The second lacks the first ten, of which the first has all wrong."""
    gold, cosines = likeness(6)
    numbers = np.arange(len(gold))
    first = np.where(numbers < 10, -gold, cosines[0])
    columns = [
        {"gold": tuple(gold[own].tolist()), "items": tuple(own.tolist())} for own in (numbers, numbers[10:])
    ]
    kept = [
        outcomes(name, values, metrics=("spearman",), **own)
        for name, values, own in zip(("first", "second"), (first, cosines[1][10:]), columns, strict=True)
    ]
    (found,) = differences([(kept[:1], kept[1:])], "spearman", SAMPLES, 1)
    expected = [spearmanr(each[10:], gold[10:]).statistic for each in cosines]
    assert found is not None and found.n == len(gold) - 10
    assert found.value == pytest.approx(expected[0] - expected[1])
    nothing = outcomes("third", cosines[1][:2], metrics=("spearman",), gold=(1.0, 2.0), items=(200, 201))
    assert differences([(kept[:1], [nothing])], "spearman", SAMPLES, 1) == [None]


def test_systems_that_were_judged_on_other_items_are_not_subtracted() -> None:
    first, second = outcomes("a", RIGHT[0]), outcomes("b", RIGHT[1], units=(tuple(range(UNITS)),))
    with pytest.raises(ValueError, match=r"a and b were not judged on the same items of sst2"):
        differences([([first], [second])], "accuracy", SAMPLES, 1)


def test_what_is_undefined_of_one_system_has_no_difference() -> None:
    gold, cosines = likeness(7)
    common: dict[str, Any] = {"metrics": ("pearson",), "gold": tuple(gold.tolist())}
    pair = [outcomes("a", cosines[0], **common)], [outcomes("b", np.ones(len(gold)), **common)]
    assert differences([pair], "pearson", SAMPLES, 1) == [None]


def test_all_that_the_papers_compare_is_compared() -> None:
    """Each contrast of exhibits.yaml between two models or readings, whatever else was judged."""
    contrasts = [
        tuple((one["model"], one["reading"]) for one in (named(each["first"]), named(each["second"])))
        for exhibit in YAML(typ="safe").load(ROOT / "src/quartet/report/papers/exhibits.yaml")
        for each in exhibit["contrasts"]
    ]
    assert len(contrasts) > 20
    for first, second in contrasts:
        assert list(compared([first, second])) == [(first, second)]


def test_readings_that_differ_are_compared_where_one_is_the_main_one() -> None:
    systems = [
        ("tta", "context"),
        ("tta", "table"),
        ("bilm", "context"),
        ("bilm", "intact/context"),
        ("bilm", "table"),
    ]
    left_out = [pair for pair in itertools.combinations(systems, 2) if pair not in list(compared(systems))]
    assert left_out == [
        (("tta", "table"), ("bilm", "intact/context")),
        (("bilm", "intact/context"), ("bilm", "table")),
    ]


def test_outcomes_are_kept_in_a_file(tmp_path: Path) -> None:
    gold, cosines = likeness(8)
    kept = [
        outcomes("tta", RIGHT[0], 2, units=(tuple(range(UNITS)),), sizes=(2.0,) * UNITS),
        outcomes("word2vec", cosines[0], None, gold=tuple(gold.tolist()), items=tuple(range(len(gold)))),
    ]
    path = tmp_path / "outcomes.jsonl"
    write_outcomes(path, kept)
    assert read_outcomes(path) == kept


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"seed": 1', '"seed": "1"', r"outcomes\.jsonl:1: not the outcomes of items \(seed: "),
        ('"values": [0.0, ', '"values": [', r"outcomes\.jsonl:1: .*59 values beside \[60\]"),
        ('"values": [0.0, ', '"values": [NaN, ', r"outcomes\.jsonl:1"),
        ('"unit"', '"unity"', r"not the outcomes of items \(unit"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "outcomes.jsonl"
    write_outcomes(path, [outcomes("tta", RIGHT[0], units=(tuple(range(UNITS)),))])
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_outcomes(path)


def interval(case: Case) -> tuple[float, float]:
    """The expanded percentile interval of the difference, from draws of its own."""
    draw, n = np.random.default_rng(99), len(case.units)
    replicates = []
    for _ in range(600):
        items = [item for unit in draw.integers(0, n, n) for item in case.units[unit]]
        replicates.append(case.figure(0, items) - case.figure(1, items))
    beyond = norm.cdf(t.ppf(0.025, n - 1) * np.sqrt(n / (n - 1)))
    low, high = np.nanquantile(replicates, [beyond, 1 - beyond])
    return float(low), float(high)
