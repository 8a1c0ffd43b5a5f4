"""ngram@<name>: estimate an n-gram model from the training split of its corpus, and measure it on the test split."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pipeline.evaluation import evaluation
from pipeline.layout import TOKENIZER, Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.tracking.progress import track
from quartet.config.ngram import NgramEntry
from quartet.files import atomic_dir, sha256
from quartet.ngram.card import ARPA, NgramCard
from quartet.ngram.estimate import estimate
from quartet.ngram.score import NgramLM
from quartet.ngram.score import load as load_ngram
from quartet.ngram.tokens import splitter
from quartet.results import EvaluatedSystem, Measure
from quartet.scoring.unknown import unknown_words
from quartet.statistics.perplexity import perplexity_measures
from quartet.tasks.evaluation import Evaluation
from quartet.tasks.perplexity.held_out import HeldOutTexts, held_out_texts
from quartet.text.documents import SentencesOf, read_segmented
from quartet.text.scripts import count_words
from quartet.text.tokenizer import TextTokenizer


def ngram(name: str) -> None:
    """Put the model `name` into artifacts/<experiment>/models/<name>, and write its rows."""
    with evaluation("ngram", name, table="perplexity") as run:
        params, layout = run.params, run.layout
        settings = entry(params.ngrams, name, "ngrams")
        tokenizer = TextTokenizer.load(layout.tokenizer(settings.tokenizer) / TOKENIZER)
        started = time.perf_counter()
        card = train(layout, name, settings, tokenizer)
        run.stage.stopwatch.add("estimate", time.perf_counter() - started, tokens=card.counted["tokens"])
        run.say(f"{name}: {card.scale}, estimated by {card.made_by}")
        test = layout.segments(settings.corpus) / "test.jsonl"
        texts = held_out_texts(read_segmented(test), tokenizer, params.perplexity.tokens_per_document)
        model = load_ngram(layout.ngram(name), params.seeds[0])
        measured = measures(run, model, texts)
        run.add(measured, EvaluatedSystem(name, model.device, model.scale), settings.corpus)
        run.say(
            f"{name}: perplexity {measured['ppl'].value:.1f} per token, "
            f"{100 * measured['oov'].value:.2f} % of {measured['oov'].n:,} tokens unknown"
        )


def train(layout: Layout, name: str, settings: NgramEntry, tokenizer: TextTokenizer) -> NgramCard:
    """Estimate the model and put its folder in place."""
    text = SentencesOf(layout.segments(settings.corpus) / "train.jsonl")
    split = splitter(settings.tokens, tokenizer)
    words = 0

    def sentences() -> Iterator[list[str]]:
        nonlocal words
        for sentence in track(text, f"{name}: sentences read"):
            words += count_words(sentence)
            yield split(sentence)

    with atomic_dir(layout.ngram(name)) as folder:
        estimated = estimate(sentences(), folder / ARPA, settings.config)
        card = NgramCard.of(
            estimated,
            name=name,
            corpus=settings.corpus,
            corpus_words=words,
            tokens=settings.tokens,
            ngram=settings.config,
            sha256=sha256(folder / ARPA),
            inputs={text.path.name: sha256(text.path)},
            tokenizer=tokenizer.sha256 if settings.units == "pieces" else "",
        )
        card.save(folder)
        if settings.units == "pieces":
            tokenizer.save(folder / TOKENIZER)
    return card


def measures(run: Evaluation, model: NgramLM, texts: HeldOutTexts) -> dict[str, Measure]:
    """The perplexities over the texts' own tokens, without the ends of sentences, and the share of unknown ones."""
    readings = [model.read(text) for text in track(texts.texts, f"{model.name}: sentences scored")]
    return perplexity_measures(
        [reading.logprobs[:-1] for reading in readings],
        texts.words,
        False,
        run.samples,
        run.seed,
        texts.documents,
        unknown=unknown_words(model, texts.texts),
    )


if __name__ == "__main__":
    main(ngram)
