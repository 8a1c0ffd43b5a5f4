"""A run that never was: invented results of every table, for the tests of the report."""

from __future__ import annotations

import math
from collections.abc import Iterator

from quartet.report.facts import CorpusFacts, ListFacts, ModelFacts, RunFacts, TokenizerFacts
from quartet.results import Result
from tests.named import named

MODELS = {
    "unilm": ("clm", "encoder", "sentences", ("sequence",)),
    "bilm": ("mlm", "encoder", "sentences", ("sequence",)),
    "tta": ("lae", "tta", "sentences", ("sequence",)),
    "bert-": ("mlm", "encoder", "spans", ("sequence",)),
    "segabert": ("mlm", "encoder", "spans", ("token", "sentence", "paragraph")),
    "tta-segments": ("lae", "tta", "spans", ("token", "sentence", "paragraph")),
    "transformer-xl": ("clm", "transformer-xl", "streams", ("sequence",)),
    "segatron-xl": ("clm", "transformer-xl", "streams", ("token", "sentence", "paragraph")),
}
PERPLEXITY = {
    "unilm": 262.1,
    "bilm": 118.4,
    "tta": 121.7,
    "bert-": 104.9,
    "segabert": 96.3,
    "tta-segments": 110.2,
    "transformer-xl": 221.5,
    "segatron-xl": 190.4,
}


#: What is measured of attention.
SHARES = ("own-sentence", "own-paragraph", "itself", "before", "specials")
#: Utterances by the words of their reference.
LENGTHS = {"0-5": 30, "6-10": 60, "21-": 16}


def facts(seeds: tuple[int, ...] = (1,)) -> RunFacts:
    """What the sample might say of itself."""
    models = tuple(
        ModelFacts(
            name=name,
            objective=objective,
            architecture=architecture,
            reads=reads,
            positions=positions,
            tokenizer="wordpiece-3k",
            corpus="wikipedia-sample",
            corpus_words=377_000,
            parameters=1_003_000 + 1000 * len(positions),
            steps=600,
        )
        for name, (objective, architecture, reads, positions) in MODELS.items()
    )
    corpus = CorpusFacts(
        name="wikipedia-sample",
        documents=107,
        paragraphs=5312,
        sentences=19_846,
        words=468_211,
        punkt="trained on the corpus (2,400,113 characters)",
        license="CC BY-SA 3.0",
    )
    return RunFacts(
        experiment="sample",
        device="cpu (2 threads, a processor)",
        seeds=seeds,
        corpora=(corpus,),
        tokenizers=(TokenizerFacts(name="wordpiece-3k", kind="wordpiece", vocabulary=3000),),
        lists=(
            ListFacts(
                name="sample-speech",
                dev=104,
                test=106,
                hypotheses=50,
                origin="a recogniser of synthetic speech",
            ),
        ),
        models=models,
    )


def row(
    table: str,
    system: str,
    dataset: str,
    split: str,
    metric: str,
    value: float,
    n: int,
    half: float | None = None,
    seed: int | None = 1,
    p: float | None = None,
) -> Result:
    """A result with an interval of `half` on either side (None: without one), and of a difference a p that agrees."""
    if p is None and half is not None and metric.endswith("-difference"):
        p = 0.012 if abs(value) > half else 0.3
    return Result(
        experiment="sample",
        table=table,
        **named(system),
        dataset=dataset,
        split=split,
        metric=metric,
        value=value,
        n=n,
        ci_low=None if half is None else value - half,
        ci_high=None if half is None else value + half,
        seed=seed,
        device="cpu",
        scale="1.00 M parameters, 600 steps",
        p=p,
    )


def rows_of(
    place: tuple[str, str, str, str], n: int, seed: int | None, **figures: float | tuple[float, ...]
) -> Iterator[Result]:
    """Rows of one table, system, set and split: by metric (_ for -) a value, or (value, half its interval, its p)."""
    table, system, dataset, split = place
    for metric, figure in figures.items():
        value, *rest = figure if isinstance(figure, tuple) else (figure, None)
        half, p = (*rest, None)[:2]
        yield row(table, system, dataset, split, metric.replace("_", "-"), value, n, half, seed, p)


def results(seeds: tuple[int, ...] = (1,)) -> list[Result]:
    """All tables but the run-time, each model once a seed; a later seed is a little worse."""
    rows = [*_baselines()]
    for index, seed in enumerate(seeds):
        for name in MODELS:
            rows += _model(name, seed, 1 + 0.01 * index)
    return rows


def _baselines() -> Iterator[Result]:
    unigram = "perplexity", "unigram", "wikipedia-sample", "test"
    yield from rows_of(unigram, 13_200, None, entropy=(5.934, 0.05), ppl=(math.exp(5.934), 18))
    for split, first, oracle in (("dev", 14.21, 7.05), ("test", 15.38, 7.61)):
        yield row("rerank", "first-pass", "sample-speech", split, "wer", first, 106, 2.1, None)
        yield row("rerank", "oracle", "sample-speech", split, "wer", oracle, 106, 1.5, None)
    for words, n in LENGTHS.items():
        yield row("rerank-length", "first-pass", "sample-speech", words, "wer", 14.0 + n / 10, n, 3.1, None)
    yield from rows_of(
        ("sts", "word2vec", "lee", "test"), 1225, None, pearson=(0.512, 0.1), spearman=(0.431, 0.1)
    )
    for dataset in ("wordsim353", "simlex999"):
        words2vec = "wordsim", "word2vec", dataset, "test"
        yield from rows_of(words2vec, 340, None, spearman=(0.081, 0.1), pearson=(0.0812, 0.1))
        yield from rows_of(words2vec, 353, None, coverage=0.96)
    for name, accuracy in (("majority", 0.5), ("bag-of-words", 0.625)):
        polarity = "classification", name, "polarity", "cross-validation"
        yield from rows_of(polarity, 200, None, accuracy=(accuracy, 0.068), f1=(accuracy + 0.01, 0.07))
        yield row("glue", name, "rte", "dev", "accuracy", accuracy, 277, 0.06, None)


def _model(name: str, seed: int, worse: float) -> Iterator[Result]:
    objective, _, reads, _ = MODELS[name]
    corpus = "wikipedia-sample"
    kind = "ppl" if objective == "clm" else "pppl"
    value = PERPLEXITY[name] * worse
    training, test = ("training", name, corpus, "valid"), ("perplexity", name, corpus, "test")
    yield from rows_of(training, 20_011, seed, loss=math.log(value))
    yield from rows_of(training, 1, seed, parameters=1_003_000, tokens=1_300_000)
    yield from rows_of(test, 13_200, seed, loss=(math.log(value), 0.06), **{kind: (value, 0.06 * value)})
    yield row(*test, f"{kind}-mean", value * 7, 540, value, seed)
    yield row(*test, f"{kind}-median", value * 0.8, 540, 0.05 * value, seed)
    yield row(*test, f"{kind}-word", value**1.4, 9_600, 0.05 * value, seed)
    if name == "unilm":
        pair = "unilm - transformer-xl"
        yield row("perplexity-pairs", pair, corpus, "test", "loss-difference", 0.2, 13_200, 0.03, seed)
    if reads == "streams":
        yield row("input-length", name, corpus, "16-tokens", kind, value * 1.1, 13_200, 0.06 * value, seed)
        if name == "transformer-xl":
            pairs = "input-length-pairs", f"{name} - segatron-xl", corpus, "16-tokens", "loss-difference"
            yield row(*pairs, 0.1, 13_200, 0.03, seed)
        return
    systems = [name, f"{name}-intact"] if objective == "mlm" else [name]
    for place, system in enumerate(systems):
        if name in ("unilm", "bilm", "tta", "tta-segments"):
            yield from _reranked(system, place, 13.6 * worse + place + PERPLEXITY[name] / 500, worse, seed)
            if not place:
                yield from _references(name, kind, value, seed)
        for reading, shift in (("context", 0.0), ("embed", 0.08)):
            pearson = (0.22 + 40 / PERPLEXITY[name] - 0.05 * place + shift) / worse
            lee = "sts", f"{system}/{reading}", "lee", "test"
            yield from rows_of(lee, 1225, seed, pearson=(pearson, 0.11), spearman=(pearson - 0.07, 0.1))
    for dataset, spearman in (("wordsim353", 0.14), ("simlex999", 0.03)):
        words = "wordsim", name, dataset, "test"
        yield from rows_of(
            words, 353, seed, spearman=(spearman, 0.1), pearson=(spearman + 0.01, 0.1), coverage=1.0
        )
    if name == "tta":
        for other, difference in (("unilm", -1.2), ("bilm", 0.1)):
            yield from rows_of(
                ("rerank-pairs", f"tta - {other}", "sample-speech", "test"), 106, seed,
                wer_difference=(difference, 1.0, 0.02 if difference < 0 else 0.8), better=20, worse=12,
                wer_detectable=1.5,
            )  # fmt: skip
    if name in ("bert-", "segabert"):
        yield row("nli", name, "snli", "dev", "accuracy", 0.59 / worse, 9842, 0.01, seed)
        for reading, spearman in (("untuned", 0.31), ("nli", 0.45)):
            tuned = "sts", f"{name}/{reading}", "stsb", "test"
            yield row(*tuned, "spearman", spearman / worse, 1379, 0.03, seed)
        yield row("glue", name, "rte", "dev", "accuracy", 0.59 / worse, 277, 0.058, seed)
        yield row("glue", name, "rte", "dev", "epochs", 4, 24, None, seed)
    squad = "squad", name, "squad1", "dev"
    yield from rows_of(squad, 700, seed, em=(0.31 / worse, 0.03), f1=(0.42 / worse, 0.03))
    yield row("race", name, "race", "dev", "accuracy", 0.36 / worse, 1400, 0.02, seed)
    for reading, share in (("layer-1", 0.4), ("uniform", 0.3)):
        shares = dict.fromkeys(SHARES, (share / worse, 0.01))
        yield from rows_of(("attention", f"{name}/{reading}", corpus, "test"), 900, seed, **shares)
    yield row("blimp", name, "blimp", "test", "accuracy", 0.56 / worse, 67_000, 0.004, seed)
    for part in ("blimp/wh_island", "blimp/phenomenon/island_effects"):
        yield row("blimp", name, part, "test", "accuracy", 0.61 / worse, 1000, 0.03, seed)
    if name in ("bilm", "tta", "bert-", "segabert"):
        polarity = "classification", name, "polarity", "cross-validation"
        yield from rows_of(polarity, 200, seed, accuracy=(0.56 / worse, 0.069), f1=(0.57 / worse, 0.07))


def _reranked(system: str, place: int, wer: float, worse: float, seed: int) -> Iterator[Result]:
    """What is measured of lists that a system reranks; the intact input comes second."""
    for split, rate, first in (("dev", wer - 1.1, 14.21), ("test", wer, 15.38)):
        p = (0.3 if place else 0.012) * (1 if split == "test" else 0.5) * worse
        yield from rows_of(
            ("rerank", system, "sample-speech", split), 106, seed, weight=0.3 - 0.2 * place, wer=(rate, 2.0),
            wer_difference=(rate - first, 1.4, p),
        )  # fmt: skip
    yield from rows_of(
        ("rerank", system, "sample-speech", "test"), 106, seed, wer_detectable=1.9, wer_best_on_test=wer - 0.4,
        weight_best_on_test=0.35,
    )  # fmt: skip
    for words, n in LENGTHS.items():
        yield row("rerank-length", system, "sample-speech", words, "wer", wer + n / 10, n, 3.3, seed)


def _references(name: str, kind: str, value: float, seed: int) -> Iterator[Result]:
    """(Pseudo-)perplexities of the references of both splits."""
    measures = (("", 1.2, 2100), ("-mean", 9.0, 105), ("-median", 0.9, 105), ("-word", 5.0, 1400),
                ("-word-mean", 90.0, 105), ("-word-median", 4.0, 105))  # fmt: skip
    for split, harder in (("dev", 1.0), ("test", 1.1)):
        place = "reference-perplexity", name, "sample-speech", split
        for suffix, factor, n in measures:
            figure = value * harder * factor
            yield row(*place, f"{kind}{suffix}", figure, n, figure / 10, seed)


def timings() -> list[Result]:
    """Times that grow as the paper says they do, of sentences and of a list, with all that is made of them."""
    rows = []

    def timed(system: str, dataset: str, metric: str, value: float, half: float | None = None) -> None:
        rows.append(row("runtime", system, dataset, "test", metric, value, 5, half, None))

    for words in (1, 5, 10, 20, 50, 100):
        base = 0.9 + 0.012 * words
        each = {
            "unilm": base,
            "tta": base,
            "bilm": 0.8 + 0.16 * words + 0.004 * words**2,
            "bilm-one-by-one": base * (words + 2),
            "hf-bert": 1.0 + 0.2 * words + 0.004 * words**2,
        }
        for system, time in each.items():
            for task, factor in (("sts", 1.0), ("rerank", 1.3)):
                ms, name, dataset = time * factor, f"{system}/{task}", f"{words}-words"
                timed(name, dataset, "ms", ms, 0.05 * ms)
                timed(name, dataset, "ms-iqr", 0.03 * ms)
                timed(name, dataset, "tokens", 1.3 * words)
                if system in ("bilm", "bilm-one-by-one", "hf-bert"):
                    timed(name, dataset, "over-tta", time / base, 0.04 * time / base)
    for task in ("sts", "rerank"):
        timed(f"tta/{task}", "5-to-100-words", "exponent", 0.41, 0.2)
        timed(f"bilm/{task}", "5-to-100-words", "exponent", 1.32, 0.3)
        for system, ms in (("tta", 130.0), ("bilm", 2100.0)):
            timed(f"{system}/{task}", "50-best-of-20-words", "ms", ms, 0.05 * ms)
            timed(f"{system}/{task}", "50-best-of-20-words", "tokens", 1300)
        timed(f"bilm/{task}", "50-best-of-20-words", "over-tta", 16.2, 0.9)
    return rows


def loss_curves() -> dict[str, list[tuple[int, float]]]:
    """Validation losses that fall to the models' own."""
    steps = range(100, 601, 100)
    return {
        name: [(step, math.log(value) + 1.6 * math.exp(-step / 170)) for step in steps]
        for name, value in PERPLEXITY.items()
    }


def wer_curves() -> dict[tuple[str, str, str], list[tuple[float, float]]]:
    """Word error rates that fall, then rise with the weight."""
    curves = {}
    for split, first in (("dev", 14.21), ("test", 15.38)):
        for index, system in enumerate(("unilm", "bilm", "bilm-intact", "tta", "tta-segments")):
            best = 0.3 + 0.05 * index
            weights = [step / 20 for step in range(21)]
            curves["sample-speech", split, system] = [
                (weight, first + (9 + index) * ((weight - best) ** 2 - best**2)) for weight in weights
            ]
    return curves
