"""What the report says beside the results: read from the manifests that the stages left."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.layout import MANIFEST, Layout
from pipeline.params import Params
from quartet.config.model import Model
from quartet.files import read_json
from quartet.report.facts import (
    AbsentSet,
    CorpusFacts,
    Facts,
    ListFacts,
    ModelFacts,
    PretrainedFacts,
    TokenizerFacts,
)


def gather(params: Params, layout: Layout, device: str, figures: dict[str, str]) -> Facts:
    """Facts of everything that params.yaml names.

    Args:
        device: what trained the models, in words.
        figures: pictures to show, by section.

    Raises:
        InputError: a manifest is absent or broken.
    """
    return Facts(
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
        figures=figures,
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
    )


def _pretrained(layout: Layout, name: str) -> PretrainedFacts:
    model = read_json(layout.pretrained(name) / "config.json").get(
        "model", {}
    )  # a card of ours has such a key
    return PretrainedFacts(name=name, objective=model.get("objective", ""), reads=model.get("reads", ""))


def _variant(model: Model) -> tuple[str, ...]:
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
