"""One sentence: T-TA's one pass against the biLM's pass a token, one by one and batched, and how the times grow."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.peers.benchmark_result import (
    BenchmarkFigure,
    BenchmarkResult,
    DemandedValue,
    EqualityCheck,
    at_least,
    at_most,
    equal,
)
from benchmarks.peers.models import plain_score
from benchmarks.peers.paired_times import in_turns, steady_call
from benchmarks.peers.products import ProductShape, flops, record_products, replay, weight_reading
from benchmarks.peers.setup import BenchmarkSetup
from quartet.runtime.clock import Timer, exponent
from quartet.runtime.systems import OneByOneModel
from quartet.scoring.language_model import LanguageModel

#: Nats of a text's score, and the largest element of a vector, that two ways to the same may be apart.
SCORE_TOLERANCE, VECTOR_TOLERANCE = 1e-3, 1e-4

#: Ratio over the biLM one by one, by use.
DEMANDS = {"vectors": at_least(25), "scores": at_least(12)}
#: The exponent of T-TA's time.
GROWTH = at_most(1.3)


def one_sentence(setup: BenchmarkSetup) -> BenchmarkResult:
    """Time `words` words, one sentence at a time: vectors (hidden states, as for STS) and scores (reranking).

    Beside the ratios stand their bounds: the same ratio of the matrix products alone and of their operations alone, and
    for the batched biLM its time over that of reading T-TA's weights from memory once.
    """
    text = " ".join(setup.running(setup.words))
    models = {"T-TA": setup.model("tta"), "biLM batched": setup.model("bilm")}
    models["biLM one by one"] = OneByOneModel.of(models["biLM batched"])
    checks = [
        _equal_scores("T-TA: its score and that of its plain forward", models["T-TA"], text),
        *same_readings("biLM: batched and one by one", models["biLM batched"], text),
    ]
    tokens = len(setup.tokenizer.encode(text))
    ways: dict[str, Timer] = {}
    products = {}
    for use in DEMANDS:
        for name, model in models.items():
            ways[f"{name}, {use}"] = steady_call(
                lambda model=model, use=use: read(model, use, [text])  # type: ignore[misc]
            )
        for name in models:
            counts = record_products(lambda name=name, use=use: read(models[name], use, [text]))  # type: ignore[misc]
            products[name, use] = counts
            passes = tokens if name == "biLM one by one" else 1
            ways[f"products of {name}, {use}"] = steady_call(_passes(counts, passes, setup.device))
        ways[f"T-TA's weights, {use}"] = steady_call(weight_reading(products["T-TA", use], setup.device))
    found = in_turns(ways, setup.rounds)
    figures = []

    def figure(name: str, slow: str, base: str, use: str, demand: DemandedValue | None = None) -> None:
        ratios = found.ratios(f"{slow}, {use}", f"{base}, {use}")
        figures.append(BenchmarkFigure.of(f"{use}: {name}", ratios, demand))

    for use, demand in DEMANDS.items():
        figure("biLM one by one / T-TA", "biLM one by one", "T-TA", use, demand)
        figure("biLM batched / T-TA", "biLM batched", "T-TA", use)
        for name in ("biLM one by one", "biLM batched"):
            what = f"{name} / T-TA"
            figure(f"{what}, matrix products alone", f"products of {name}", "products of T-TA", use)
            allowed = flops(products[name, use]) / flops(products["T-TA", use])
            figures.append(BenchmarkFigure.of(f"{use}: {what}, operations alone", [allowed]))
        figure("biLM batched / reading T-TA's weights once", "biLM batched", "T-TA's weights", use)
    sizes = setup.described() | {
        "words": setup.words,
        "tokens": tokens + 2,
        "weights_read_mb": {use: 4e-6 * _weights(products["T-TA", use]) for use in DEMANDS},
    }
    return BenchmarkResult(figures, checks, found.medians, sizes)


def growth(setup: BenchmarkSetup) -> BenchmarkResult:
    """Time sentences of several lengths, one at a time, and fit seconds = a * tokens ** exponent to each round."""
    running = setup.running(max(setup.lengths))
    sentences = {words: " ".join(running[:words]) for words in setup.lengths}
    models = {name: setup.model(key) for name, key in (("T-TA", "tta"), ("uniLM", "unilm"))}
    models["biLM batched"] = setup.model("bilm")
    models["biLM one by one"] = OneByOneModel.of(models["biLM batched"])
    checks = same_readings(
        "biLM: batched and one by one", models["biLM batched"], sentences[max(setup.lengths)]
    )
    ways: dict[str, Timer] = {
        f"{name}, {use}, {words} words": steady_call(
            lambda model=model, use=use, text=text: read(model, use, [text])  # type: ignore[misc]
        )
        for words, text in sentences.items()
        for name, model in models.items()
        for use in DEMANDS
    }
    found = in_turns(ways, setup.rounds)
    tokens = [len(setup.tokenizer.encode(text)) for text in sentences.values()]
    figures = []
    for name in models:
        for use in DEMANDS:
            rounds = zip(
                *(found.seconds[f"{name}, {use}, {words} words"] for words in setup.lengths), strict=True
            )
            exponents = [exponent(tokens, seconds).value for seconds in rounds]
            demand = GROWTH if name == "T-TA" else None
            figures.append(
                BenchmarkFigure.of(f"{use}: growth of {name}'s time with n", exponents, demand, "exponent")
            )
    sizes = setup.described() | {"words": list(setup.lengths), "tokens": tokens}
    return BenchmarkResult(figures, checks, found.medians, sizes)


def read(model: LanguageModel, use: str, texts: list[str]) -> object:
    """Contextual vectors of texts, or their scores."""
    return model.embed(texts) if use == "vectors" else model.score(texts)


def same_readings(what: str, bilm: LanguageModel, text: str) -> list[EqualityCheck]:
    """The scores and vectors of a text by both ways to read masked copies.

    Raises:
        InputError: they differ.
    """
    plain = OneByOneModel.of(bilm)
    return [
        equal(f"{what}: scores, nats", bilm.score([text]), plain.score([text]), SCORE_TOLERANCE),
        equal(f"{what}: vectors", bilm.embed([text]), plain.embed([text]), VECTOR_TOLERANCE),
    ]


def _equal_scores(what: str, model: LanguageModel, text: str) -> EqualityCheck:
    return equal(f"{what}, nats", model.score([text]), [plain_score(model, text)], SCORE_TOLERANCE)


def _passes(counts: Mapping[ProductShape, int], passes: int, device: str) -> Timer:
    """The products of a reading in so many equal passes, each of which has the same weights."""
    assert all(times % passes == 0 for times in counts.values()), "the passes are not equal"
    each = replay({shape: times // passes for shape, times in counts.items()}, device, own_weights=True)
    return lambda: sum(each() for _ in range(passes))


def _weights(counts: dict[ProductShape, int]) -> int:
    return sum(inner * columns * times for (batch, _, inner, columns), times in counts.items() if batch == 1)
