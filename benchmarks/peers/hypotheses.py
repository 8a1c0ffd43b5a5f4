"""An N-best list: T-TA against the masked copies of all hypotheses in batches, and against its own matrix products."""

from __future__ import annotations

from benchmarks.peers.benchmark_result import (
    BenchmarkFigure,
    BenchmarkResult,
    EqualityCheck,
    at_least,
    at_most,
    equal,
)
from benchmarks.peers.models import plain_score
from benchmarks.peers.paired_times import in_turns
from benchmarks.peers.products import flops, record_products, replay
from benchmarks.peers.sentence import SCORE_TOLERANCE, read, same_readings
from benchmarks.peers.setup import BenchmarkSetup
from quartet.runtime.clock import Timer, device_timer
from quartet.scoring.language_model import LanguageModel

#: Ratio over the batched biLM, by use.
DEMANDS = {"vectors": at_least(15), "scores": at_least(7)}
#: Seconds of rescoring over those of its matrix products alone, by the kind of device.
OVER_PRODUCTS = {"cpu": at_most(1.3), "cuda": at_most(1.5)}


def study(setup: BenchmarkSetup) -> BenchmarkResult:
    """Time one list: vectors and scores by T-TA, the batched biLM and uniLM.

    What the operations alone allow is the ratio of the floating-point operations of the matrix products that ran.
    """
    texts = setup.texts(setup.hypotheses)
    models = {"T-TA": setup.model("tta"), "biLM batched": setup.model("bilm"), "uniLM": setup.model("unilm")}
    checks = same_readings("biLM: batched and one by one", models["biLM batched"], texts[0])
    checks += [_alone(name, models[name], texts) for name in ("T-TA", "uniLM")]
    ways: dict[str, Timer] = {
        f"{name}, {use}": device_timer(lambda model=model, use=use: read(model, use, texts))  # type: ignore[misc]
        for use in DEMANDS
        for name, model in models.items()
    }
    found = in_turns(ways, setup.rounds)
    figures = []
    for use, demand in DEMANDS.items():
        ratios = found.ratios(f"biLM batched, {use}", f"T-TA, {use}")
        figures.append(BenchmarkFigure.of(f"{use}: biLM batched / T-TA", ratios, demand))
        operations = [
            flops(record_products(lambda name=name, use=use: read(models[name], use, texts)))  # type: ignore[misc]
            for name in ("biLM batched", "T-TA")
        ]
        figures.append(
            BenchmarkFigure.of(
                f"{use}: biLM batched / T-TA, operations alone", [operations[0] / operations[1]]
            )
        )
        figures.append(
            BenchmarkFigure.of(f"{use}: T-TA / uniLM", found.ratios(f"T-TA, {use}", f"uniLM, {use}"))
        )
    return BenchmarkResult(figures, checks, found.medians, _sizes(setup, texts))


def products(setup: BenchmarkSetup) -> BenchmarkResult:
    """Time T-TA's rescoring of texts, and the same matrix products with nothing between them."""
    texts = setup.texts(setup.rescored)
    model = setup.model("tta")
    checks = [_alone("T-TA", model, texts)]
    counts = record_products(lambda: model.score(texts))
    ways: dict[str, Timer] = {
        "T-TA": device_timer(lambda: model.score(texts)),
        "its products": replay(counts, setup.device),
    }
    found = in_turns(ways, setup.rounds)
    demand = OVER_PRODUCTS["cuda" if setup.on_gpu else "cpu"]
    figure = BenchmarkFigure.of(
        "scores: T-TA / its matrix products", found.ratios("T-TA", "its products"), demand
    )
    sizes = _sizes(setup, texts) | {"gflop_of_products": flops(counts) / 1e9}
    return BenchmarkResult([figure], checks, found.medians, sizes)


def _alone(name: str, model: LanguageModel, texts: list[str]) -> EqualityCheck:
    """The list's scores beside those of each text's plain forward.

    Raises:
        InputError: they differ.
    """
    plain = [plain_score(model, text) for text in texts]
    return equal(
        f"{name}: a list and each text alone, nats",
        model.score(texts),
        plain,
        SCORE_TOLERANCE,
    )


def _sizes(setup: BenchmarkSetup, texts: list[str]) -> dict[str, object]:
    tokens = sum(len(ids) for ids in setup.tokenizer.encode_batch(texts))
    return setup.described() | {"texts": len(texts), "words": setup.words * len(texts), "tokens": tokens}
