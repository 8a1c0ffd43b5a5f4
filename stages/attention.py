"""attention@<model>: where a model's attention goes on test documents, as shares and as maps of one of them."""

from __future__ import annotations

from pipeline.layout import Layout
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import say, track
from pipeline.tracking.stage import stage_run
from pipeline.trained_models import check_encoding, trained_models
from quartet.data.segments import SegmentedTokens
from quartet.errors import InputError
from quartet.results import Result, rows_of, write_results
from quartet.scoring.document_attention import document_attention
from quartet.tasks.attention import share_measures, write_article
from quartet.text.encoded_corpus import EncodedCorpus


def attention(name: str) -> None:
    """Write the rows of the model `name`, and the maps of one document for the picture."""
    params = load()
    layout = Layout(params.experiment)
    settings = params.attention
    rows: list[Result] = []
    with stage_run(params, "attention", name):
        for model in trained_models(params, name):
            entry = params.models[name]
            corpus = EncodedCorpus.open(layout.encoded(entry.corpus, entry.tokenizer), "test")
            check_encoding(model, corpus)
            count = len(corpus.doc_ids)
            if settings.document >= count:
                raise InputError(
                    "params.yaml: attention.document",
                    f"{settings.document}, and the test documents are 0 to {count - 1}",
                )
            wanted = range(min(settings.documents or count, count))
            layers = settings.numbers(model.card.model.layers)
            head = settings.head if isinstance(settings.head, int) else None
            tokens = SegmentedTokens(corpus)
            articles = {
                number: document_attention(
                    model, corpus.doc_ids[number], tokens.document(number), settings.tokens, layers, head
                )
                for number in track(sorted({*wanted, settings.document}), f"{name}: documents")
            }
            measured = [articles[number] for number in wanted]
            for layer in (*layers, None):
                rows += rows_of(
                    share_measures(measured, layer, params.bootstrap, model.seed),
                    experiment=params.experiment,
                    table="attention",
                    model=name,
                    reading="uniform" if layer is None else f"layer-{layer}",
                    dataset=entry.corpus,
                    split="test",
                    device=model.device,
                    scale=model.scale,
                    seed=model.seed,
                )
            if model.seed == params.seeds[0]:
                write_article(layout.attention(name), articles[settings.document])
        write_results(layout.rows("attention", name), rows)
        say(f"{name}: attention of layers {layers} on {len(measured)} documents -> {layout.attention(name)}")


if __name__ == "__main__":
    main(attention)
