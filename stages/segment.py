"""segment@<corpus>: raw text -> documents of paragraphs of sentences, split into train, valid and test."""

from __future__ import annotations

from pipeline.fetch import fetched_path, punkt_choice
from pipeline.layout import Layout
from pipeline.params import entry
from pipeline.run import main
from pipeline.settings import load
from pipeline.tracking.progress import bar, say
from pipeline.tracking.stage import stage_run
from quartet.config.text import HubConfig
from quartet.text.hub import HubReader
from quartet.text.segmentation import segment_corpus
from quartet.text.sources import SOURCES
from quartet.text.split import HeldOutShares


def segment(name: str) -> None:
    """Put {train,valid,test}.jsonl and manifest.json of a corpus into artifacts/<experiment>/segments/<name>."""
    params = load()
    layout = Layout(params.experiment)
    corpus = entry(params.corpora, name, "corpora")
    source = fetched_path(layout.raw(name))
    with stage_run(params, "segment", name):
        wanted = corpus.limit if corpus.split else 0  # a limit of each split does not say how many in all
        with bar(f"{name}: documents", wanted or None) as shown:
            manifest = segment_corpus(
                HubReader(corpus.kind) if isinstance(corpus.kind, HubConfig) else SOURCES[corpus.kind],
                source,
                layout.segments(name),
                shares=HeldOutShares(corpus.split.valid, corpus.split.test) if corpus.split else None,
                punkt=punkt_choice(params, layout),
                curated=params.segmentation.curated,
                language=corpus.language,
                limit=corpus.limit,
                workers=params.workers,
                scheduler=params.executor.scheduler,
                resume=layout.resume(f"segment@{name}", 0).parent,  # no model can have this name
                advance=shown.advance,
            )
        for split, counts in manifest["splits"].items():
            say(
                f"{name} {split}: {counts['documents']:,} documents, {counts['paragraphs']:,} paragraphs, "
                f"{counts['sentences']:,} sentences, {counts['words']:,} words"
            )
        say(f"{name}: sentences by Punkt, {manifest['segmenter']}")


if __name__ == "__main__":
    main(segment)
