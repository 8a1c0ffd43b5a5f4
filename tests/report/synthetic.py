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
) -> Result:
    """A result with an interval of `half` on either side (None: without one)."""
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
    )


def results(seeds: tuple[int, ...] = (1,)) -> list[Result]:
    """All tables but the run-time, each model once a seed; a later seed is a little worse."""
    rows = [*_baselines()]
    for index, seed in enumerate(seeds):
        for name in MODELS:
            rows += _model(name, seed, 1 + 0.01 * index)
    return rows


def _baselines() -> Iterator[Result]:
    yield row("perplexity", "unigram", "wikipedia-sample", "test", "entropy", 5.934, 13_200, 0.05, None)
    yield row("perplexity", "unigram", "wikipedia-sample", "test", "ppl", math.exp(5.934), 13_200, 18, None)
    for split, first, oracle in (("dev", 14.21, 7.05), ("test", 15.38, 7.61)):
        yield row("rerank", "first-pass", "sample-speech", split, "wer", first, 106, 2.1, None)
        yield row("rerank", "oracle", "sample-speech", split, "wer", oracle, 106, 1.5, None)
    for words, n in LENGTHS.items():
        yield row("rerank-length", "first-pass", "sample-speech", words, "wer", 14.0 + n / 10, n, 3.1, None)
    yield row("sts", "word2vec", "lee", "test", "pearson", 0.512, 1225, 0.1, None)
    yield row("sts", "word2vec", "lee", "test", "spearman", 0.431, 1225, 0.1, None)
    for name in ("wordsim353", "simlex999"):
        yield row("wordsim", "word2vec", name, "test", "spearman", 0.081, 340, 0.1, None)
        yield row("wordsim", "word2vec", name, "test", "pearson", 0.0812, 340, 0.1, None)
        yield row("wordsim", "word2vec", name, "test", "coverage", 0.96, 353, None, None)
    for name, accuracy in (("majority", 0.5), ("bag-of-words", 0.625)):
        yield row(
            "classification", name, "polarity", "cross-validation", "accuracy", accuracy, 200, 0.068, None
        )
        yield row(
            "classification", name, "polarity", "cross-validation", "f1", accuracy + 0.01, 200, 0.07, None
        )
        yield row("glue", name, "rte", "dev", "accuracy", accuracy, 277, 0.06, None)


def _model(name: str, seed: int, worse: float) -> Iterator[Result]:
    objective, _, reads, _ = MODELS[name]
    corpus = "wikipedia-sample"
    kind = "ppl" if objective == "clm" else "pppl"
    value = PERPLEXITY[name] * worse
    yield row("training", name, corpus, "valid", "loss", math.log(value), 20_011, None, seed)
    yield row("training", name, corpus, "valid", "parameters", 1_003_000, 1, None, seed)
    yield row("training", name, corpus, "valid", "tokens", 1_300_000, 1, None, seed)
    yield row("perplexity", name, corpus, "test", "loss", math.log(value), 13_200, 0.06, seed)
    yield row("perplexity", name, corpus, "test", kind, value, 13_200, 0.06 * value, seed)
    yield row("perplexity", name, corpus, "test", f"{kind}-mean", value * 7, 540, value, seed)
    yield row("perplexity", name, corpus, "test", f"{kind}-median", value * 0.8, 540, 0.05 * value, seed)
    yield row("perplexity", name, corpus, "test", f"{kind}-word", value**1.4, 9_600, 0.05 * value, seed)
    if name == "unilm":
        pair = "unilm - transformer-xl"
        yield row("perplexity-pairs", pair, corpus, "test", "loss-difference", 0.2, 13_200, 0.03, seed)
    if reads == "streams":
        yield row("input-length", name, corpus, "16-tokens", kind, value * 1.1, 13_200, 0.06 * value, seed)
        return
    systems = [name, f"{name}-intact"] if objective == "mlm" else [name]
    for place, system in enumerate(systems):
        wer = 13.6 * worse + place + PERPLEXITY[name] / 500
        if name in ("unilm", "bilm", "tta", "tta-segments"):
            for split, rate, first in (("dev", wer - 1.1, 14.21), ("test", wer, 15.38)):
                yield row(
                    "rerank", system, "sample-speech", split, "weight", 0.3 - 0.2 * place, 106, None, seed
                )
                yield row("rerank", system, "sample-speech", split, "wer", rate, 106, 2.0, seed)
                yield row(
                    "rerank", system, "sample-speech", split, "wer-difference", rate - first, 106, 1.4, seed
                )
                p = (0.3 if place else 0.012) * (1 if split == "test" else 0.5) * worse
                yield row("rerank", system, "sample-speech", split, "p-value", p, 106, None, seed)
            yield row("rerank", system, "sample-speech", "test", "wer-detectable", 1.9, 106, None, seed)
            yield row(
                "rerank", system, "sample-speech", "test", "wer-best-on-test", wer - 0.4, 106, None, seed
            )
            yield row("rerank", system, "sample-speech", "test", "weight-best-on-test", 0.35, 106, None, seed)
            for words, n in LENGTHS.items():
                yield row("rerank-length", system, "sample-speech", words, "wer", wer + n / 10, n, 3.3, seed)
            if not place:
                yield from _references(name, kind, value, seed)
        for reading, shift in (("context", 0.0), ("embed", 0.08)):
            pearson = (0.22 + 40 / PERPLEXITY[name] - 0.05 * place + shift) / worse
            yield row("sts", f"{system}/{reading}", "lee", "test", "pearson", pearson, 1225, 0.11, seed)
            yield row(
                "sts", f"{system}/{reading}", "lee", "test", "spearman", pearson - 0.07, 1225, 0.1, seed
            )
    for dataset, spearman in (("wordsim353", 0.14), ("simlex999", 0.03)):
        yield row("wordsim", name, dataset, "test", "spearman", spearman, 353, 0.1, seed)
        yield row("wordsim", name, dataset, "test", "pearson", spearman + 0.01, 353, 0.1, seed)
        yield row("wordsim", name, dataset, "test", "coverage", 1.0, 353, None, seed)
    if name == "tta":
        for other, difference in (("unilm", -1.2), ("bilm", 0.1)):
            pair = f"tta - {other}"
            for metric, value, half in (
                ("wer-difference", difference, 1.0),
                ("p-value", 0.02 if difference < 0 else 0.8, None),
                ("better", 20, None),
                ("worse", 12, None),
                ("wer-detectable", 1.5, None),
            ):
                yield row("rerank-pairs", pair, "sample-speech", "test", metric, value, 106, half, seed)
    if name in ("bert-", "segabert"):
        yield row("nli", name, "snli", "dev", "accuracy", 0.59 / worse, 9842, 0.01, seed)
        for reading, spearman in (("untuned", 0.31), ("nli", 0.45)):
            yield row(
                "sts", f"{name}/{reading}", "stsb", "test", "spearman", spearman / worse, 1379, 0.03, seed
            )
    yield row("squad", name, "squad1", "dev", "em", 0.31 / worse, 700, 0.03, seed)
    yield row("squad", name, "squad1", "dev", "f1", 0.42 / worse, 700, 0.03, seed)
    yield row("race", name, "race", "dev", "accuracy", 0.36 / worse, 1400, 0.02, seed)
    for reading, share in (("layer-1", 0.4), ("uniform", 0.3)):
        for metric in SHARES:
            yield row(
                "attention",
                f"{name}/{reading}",
                "wikipedia-sample",
                "test",
                metric,
                share / worse,
                900,
                0.01,
                seed,
            )
    yield row("blimp", name, "blimp", "test", "accuracy", 0.56 / worse, 67_000, 0.004, seed)
    yield row("blimp", name, "blimp/wh_island", "test", "accuracy", 0.61 / worse, 1000, 0.03, seed)
    yield row(
        "blimp", name, "blimp/phenomenon/island_effects", "test", "accuracy", 0.61 / worse, 1000, 0.03, seed
    )
    if name in ("bilm", "tta", "bert-", "segabert"):
        yield row(
            "classification", name, "polarity", "cross-validation", "accuracy", 0.56 / worse, 200, 0.069, seed
        )
        yield row("classification", name, "polarity", "cross-validation", "f1", 0.57 / worse, 200, 0.07, seed)
    if name in ("bert-", "segabert"):
        yield row("glue", name, "rte", "dev", "accuracy", 0.59 / worse, 277, 0.058, seed)
        yield row("glue", name, "rte", "dev", "epochs", 4, 24, None, seed)


def _references(name: str, kind: str, value: float, seed: int) -> Iterator[Result]:
    """(Pseudo-)perplexities of the references of both splits."""
    for split, harder in (("dev", 1.0), ("test", 1.1)):
        for suffix, factor, n in (
            ("", 1.2, 2100),
            ("-mean", 9.0, 105),
            ("-median", 0.9, 105),
            ("-word", 5.0, 1400),
            ("-word-mean", 90.0, 105),
            ("-word-median", 4.0, 105),
        ):
            figure = value * harder * factor
            metric = f"{kind}{suffix}"
            yield row(
                "reference-perplexity", name, "sample-speech", split, metric, figure, n, figure / 10, seed
            )


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
