"""perplexity@<model>: (pseudo-)perplexity on the test documents, every model over the same tokens."""

from __future__ import annotations

from pipeline.held_out import held_out_sentences
from pipeline.layout import Layout
from pipeline.params import entry, load
from pipeline.progress import bar, say
from pipeline.results import rows_of
from pipeline.run import main
from pipeline.tracking import stage_run
from pipeline.trained import check_encoding, trained
from quartet.evaluation.perplexity import gain, perplexity_measures, unigram_logprobs
from quartet.results import Result, write_results
from quartet.text.encoded import EncodedCorpus


def perplexity(name: str) -> None:
    """Write the rows of the model `name`."""
    params = load()
    layout = Layout(params.experiment)
    model = entry(params.models, name, "models")
    corpus = EncodedCorpus.open(layout.encoded(model.corpus, model.tokenizer), "test")
    limit = params.perplexity.tokens_per_document
    carry_memory = params.perplexity.carry_memory and model.reads == "streams"
    texts = held_out_sentences(corpus, limit)
    unigram = unigram_logprobs(texts.ids)
    rows: list[Result] = []
    with stage_run(params, "perplexity", name) as run:
        for language_model in trained(params, name):
            check_encoding(language_model, corpus)
            with bar(f"{name}: tokens scored", total=sum(len(ids) for ids in texts.ids)) as shown:
                documents = language_model.corpus_logprobs(corpus, limit, shown.set, carry_memory)
            logprobs = texts.split(documents)
            measures = perplexity_measures(
                logprobs,
                texts.words,
                language_model.objective.pseudo,
                params.bootstrap,
                language_model.seed,
                texts.documents,
            )
            measures["gain"] = gain(logprobs, unigram, params.bootstrap, language_model.seed, texts.documents)
            rows += rows_of(
                measures,
                params=params,
                table="perplexity",
                system=name,
                dataset=model.corpus,
                split="test",
                device=language_model.device,
                scale=language_model.scale,
                seed=language_model.seed,
            )
            say(
                f"{name}: loss {measures['loss'].value:.3f} nats a token on {measures['loss'].n:,} tokens "
                f"of {len(texts.ids):,} sentences of {len(corpus.doc_ids)} test documents"
            )
        write_results(layout.rows("perplexity", name), rows)
        run.log_results(rows)


if __name__ == "__main__":
    main(perplexity)
