"""perplexity@<model>: (pseudo-)perplexity on the test documents, every model over the same tokens."""

from __future__ import annotations

from pipeline.evaluation import evaluation
from pipeline.params import entry
from pipeline.run import main
from pipeline.trained_models import check_encoding, trained_models
from quartet.scoring.unknown import unknown_words
from quartet.tasks.perplexity.evaluation import evaluate
from quartet.tasks.perplexity.held_out import held_out_texts
from quartet.tasks.perplexity.losses import DocumentLosses, write_losses
from quartet.text.documents import read_segmented
from quartet.text.encoded_corpus import EncodedCorpus


def perplexity(name: str) -> None:
    """Write the rows of the model `name`, and its losses by document."""
    with evaluation("perplexity", name) as run:
        params, layout = run.params, run.layout
        settings = params.perplexity
        own = entry(params.models, name, "models")
        corpus = EncodedCorpus.open(layout.encoded(own.corpus, own.tokenizer), "test")
        losses: list[DocumentLosses] = []
        if not own.facts.normalised:
            run.say(f"{name}: scores of {own.objective} are no log-probabilities: there is no perplexity")
        for model in trained_models(params, name) if own.facts.normalised else ():
            check_encoding(model, corpus)
            segmented = read_segmented(layout.segments(own.corpus) / "test.jsonl")
            texts = held_out_texts(segmented, model.tokenizer, settings.tokens_per_document).texts
            unknown = unknown_words(model, texts)
            losses += evaluate(run, model, own, corpus, unknown, settings)
        write_losses(layout.losses(name), losses)


if __name__ == "__main__":
    main(perplexity)
