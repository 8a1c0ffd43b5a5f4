"""encode@<corpus>-<tokenizer>: sentences -> token ids with sentence, paragraph and document boundaries."""

from __future__ import annotations

from pipeline.layout import TOKENIZER, Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from quartet.text.encoding import encode_corpus
from quartet.text.tokenizer import TextTokenizer


def encode(corpus: str, tokenizer: str) -> None:
    """Put {train,valid,test}.arrow and their manifests into artifacts/<experiment>/encoded/<corpus>/<tokenizer>."""
    params = load()
    layout = Layout(params.experiment)
    entry(params.corpora, corpus, "corpora")
    entry(params.tokenizers, tokenizer, "tokenizers")
    folder = layout.encoded(corpus, tokenizer)
    with stage_run(params, "encode", f"{corpus}-{tokenizer}"):
        vocabulary = TextTokenizer.load(layout.tokenizer(tokenizer) / TOKENIZER)
        with bar(f"{corpus}: documents") as shown:
            manifest = encode_corpus(
                layout.segments(corpus),
                vocabulary,
                folder,
                workers=params.workers,
                scheduler=params.executor.scheduler,
                resume=layout.resume(f"encode@{corpus}-{tokenizer}", 0).parent,  # no model can have this name
                advance=shown.advance,
            )
        for split, counts in manifest["splits"].items():
            say(
                f"{corpus} {split}: {counts['documents']:,} documents, {counts['tokens']:,} tokens of {tokenizer}, "
                f"{100 * counts['unknown_share']:.2f} % unknown"
            )


if __name__ == "__main__":
    main(encode)
