"""ngram@<name>: estimate an n-gram model from the training split of its corpus, and measure it on the test split."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pipeline.held_out import HeldOutTexts, held_out_texts
from pipeline.layout import TOKENIZER, Layout
from pipeline.params import Params, entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say, track
from pipeline.tracking.stage import stage_run
from quartet.config.ngram import NgramEntry
from quartet.files import atomic_dir, sha256
from quartet.ngram.card import ARPA, NgramCard
from quartet.ngram.estimate import estimate
from quartet.ngram.score import NgramLM
from quartet.ngram.score import load as load_ngram
from quartet.ngram.tokens import splitter
from quartet.results import Measure, rows_of, write_results
from quartet.scoring.unknown import unknown_words
from quartet.statistics.perplexity import perplexity_measures
from quartet.text.documents import SentencesOf, read_segmented
from quartet.text.tokenizer import TextTokenizer


def ngram(name: str) -> None:
    """Put the model `name` into artifacts/<experiment>/ngrams/<name>, and write its rows."""
    params = load()
    layout = Layout(params.experiment)
    settings = entry(params.ngrams, name, "ngrams")
    tokenizer = TextTokenizer.load(layout.tokenizer(settings.tokenizer) / TOKENIZER)
    with stage_run(params, "ngram", name) as run:
        started = time.perf_counter()
        card = train(layout, name, settings, tokenizer)
        run.stopwatch.add("estimate", time.perf_counter() - started, tokens=card.counted["tokens"])
        say(f"{name}: {card.scale}, estimated by {card.made_by} -> {layout.ngram(name)}")
        test = layout.segments(settings.corpus) / "test.jsonl"
        texts = held_out_texts(read_segmented(test), tokenizer, params.perplexity.tokens_per_document)
        model = load_ngram(layout.ngram(name), params.seeds[0])
        measured = measures(params, model, texts)
        rows = rows_of(
            measured,
            experiment=params.experiment,
            table="perplexity",
            model=name,
            dataset=settings.corpus,
            split="test",
            device=model.device,
            scale=model.scale,
        )
        write_results(layout.rows("ngram", name), rows)
        say(
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
            words += len(sentence.split())
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


def measures(params: Params, model: NgramLM, texts: HeldOutTexts) -> dict[str, Measure]:
    """The perplexities over the texts' own tokens, without the ends of sentences, and the share of unknown ones."""
    readings = [model.read(text) for text in track(texts.texts, f"{model.name}: sentences scored")]
    return perplexity_measures(
        [reading.logprobs[:-1] for reading in readings],
        texts.words,
        False,
        params.bootstrap,
        params.seeds[0],
        texts.documents,
        unknown=unknown_words(model, texts.texts),
    )


if __name__ == "__main__":
    main(ngram)
