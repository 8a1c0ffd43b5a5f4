"""attention@<model>: where a model's attention goes on test documents, as shares and as maps of one of them."""

from __future__ import annotations

from pipeline.evaluation import evaluation
from pipeline.run import main
from pipeline.trained_models import check_encoding, trained_models
from quartet.tasks.attention.evaluation import evaluate
from quartet.tasks.attention.maps import write_article
from quartet.text.encoded_corpus import EncodedCorpus


def attention(name: str) -> None:
    """Write the rows of the model `name`, and the maps of one document for the picture."""
    with evaluation("attention", name) as run:
        params, layout = run.params, run.layout
        for model in trained_models(params, name):
            entry = params.models[name]
            corpus = EncodedCorpus.open(layout.encoded(entry.corpus, entry.tokenizer), "test")
            check_encoding(model, corpus)
            article = evaluate(run, model, entry.corpus, corpus, params.attention)
            if model.seed == params.seeds[0]:
                write_article(layout.attention(name), article)


if __name__ == "__main__":
    main(attention)
