"""perplexity@<model>: (pseudo-)perplexity on the test documents, every model over the same tokens."""

from __future__ import annotations

from pipeline.held_out import held_out_sentences, held_out_texts
from pipeline.layout import Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import check_encoding, trained_models
from quartet.results import Result, rows_of, write_results
from quartet.scoring.language_model import LanguageModel
from quartet.scoring.unknown import unknown_words
from quartet.statistics.perplexity import gain, perplexity_measures, unigram_logprobs
from quartet.tasks.perplexity import DocumentLosses, nats_of, write_losses
from quartet.text.documents import read_segmented
from quartet.text.encoded_corpus import EncodedCorpus

#: What is kept of a reading at another input length.
SHORTER = ("loss", "ppl", "ppl-word", "oov")


def perplexity(name: str) -> None:
    """Write the rows of the model `name`, and its losses by document."""
    params = load()
    layout = Layout(params.experiment)
    model = entry(params.models, name, "models")
    corpus = EncodedCorpus.open(layout.encoded(model.corpus, model.tokenizer), "test")
    limit = params.perplexity.tokens_per_document
    carry_memory = params.perplexity.carry_memory and model.reads == "streams"
    texts = held_out_sentences(corpus, limit)
    unigram = unigram_logprobs(texts.ids)
    rows: list[Result] = []
    losses: list[DocumentLosses] = []
    with stage_run(params, "perplexity", name):
        for trained_model in trained_models(params, name):
            check_encoding(trained_model, corpus)
            segmented = read_segmented(layout.segments(model.corpus) / "test.jsonl")
            unknown = unknown_words(
                trained_model, held_out_texts(segmented, trained_model.tokenizer, limit).texts
            )
            readings = {("perplexity", "test"): trained_model}
            readings |= at_lengths(trained_model, params.perplexity.input_lengths)
            for (table, split), language_model in readings.items():
                with bar(f"{name}, {split}: tokens scored", sum(len(ids) for ids in texts.ids)) as shown:
                    documents = language_model.corpus_logprobs(corpus, limit, shown.set, carry_memory)
                logprobs = texts.split(documents)
                measures = perplexity_measures(
                    logprobs,
                    texts.words,
                    language_model.objective.pseudo,
                    params.bootstrap,
                    language_model.seed,
                    texts.documents,
                    unknown=unknown,
                )
                if table == "perplexity":
                    measures["gain"] = gain(
                        logprobs, unigram, params.bootstrap, language_model.seed, texts.documents
                    )
                    losses.append(
                        DocumentLosses(
                            seed=language_model.seed,
                            dataset=model.corpus,
                            tokenizer=model.tokenizer,
                            pseudo=language_model.pseudo,
                            nats=nats_of(documents),
                            tokens=tuple(map(len, documents)),
                        )
                    )
                else:
                    measures = {metric: measures[metric] for metric in SHORTER if metric in measures}
                rows += rows_of(
                    measures,
                    experiment=params.experiment,
                    table=table,
                    model=name,
                    dataset=model.corpus,
                    split=split,
                    device=language_model.device,
                    scale=language_model.scale,
                    seed=language_model.seed,
                )
                say(
                    f"{name}, {split}: loss {measures['loss'].value:.3f} nats per token on {measures['loss'].n:,} "
                    f"tokens of {len(texts.ids):,} sentences of {len(corpus.doc_ids)} test documents"
                )
        write_losses(layout.losses(name), losses)
        write_results(layout.rows("perplexity", name), rows)


def at_lengths(model: LanguageModel, lengths: tuple[int, ...]) -> dict[tuple[str, str], LanguageModel]:
    """A model with memory, reading and remembering as many tokens as each of the lengths (Segatron paper, Figure 3).

    One that was trained without any memory has none at any length.
    """
    config = model.card.model
    if config.architecture != "transformer-xl":
        return {}
    return {
        ("input-length", f"{tokens}-tokens"): model.at(tokens, tokens if config.recurrence.memory else 0)
        for tokens in lengths
    }


if __name__ == "__main__":
    main(perplexity)
