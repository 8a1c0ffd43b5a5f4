"""A corpus of a few made-up documents, encoded for real: what the tests of batches, scores and training read."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quartet.config.text import Pieces
from quartet.files import write_jsonl
from quartet.text.documents import SegmentedDocument, SegmentedParagraph
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.encoding import encode_corpus
from quartet.text.tokenizer import TextTokenizer, train_tokenizer

SUBJECTS = ["the miller", "a grey heron", "the old bridge", "my neighbour", "the night train"]
VERBS = ["watched", "crossed", "forgot", "carried", "repaired"]
OBJECTS = ["the river", "a letter", "two baskets of pears", "the broken clock", "nothing at all"]


def documents(count: int, seed: int) -> list[SegmentedDocument]:
    """Documents of a heading and a few paragraphs of one to four sentences."""
    draw = random.Random(seed)

    def sentence() -> str:
        return f"{draw.choice(SUBJECTS)} {draw.choice(VERBS)} {draw.choice(OBJECTS)}."

    found = []
    for number in range(count):
        paragraphs = [SegmentedParagraph((f"chapter {number}",), heading=True)]
        for _ in range(draw.randint(1, 4)):
            paragraphs.append(SegmentedParagraph(tuple(sentence() for _ in range(draw.randint(1, 4)))))
        found.append(SegmentedDocument(f"{seed}-{number}", f"chapter {number}", tuple(paragraphs)))
    return found


def encode_small(
    folder: Path, kind: Pieces = "wordpiece", vocab_size: int = 150
) -> tuple[TextTokenizer, dict[str, EncodedCorpus]]:
    """Write, tokenize and encode 12 + 4 + 4 documents below `folder`."""
    segmented = folder / "segments"
    segmented.mkdir(parents=True)
    splits = {"train": documents(12, 1), "valid": documents(4, 2), "test": documents(4, 3)}
    for split, texts in splits.items():
        write_jsonl(segmented / f"{split}.jsonl", (document.to_json() for document in texts))
    sentences = [sentence for document in splits["train"] for sentence in document.sentences]
    tokenizer = train_tokenizer(kind, sentences, vocab_size, True)
    encode_corpus(segmented, tokenizer, folder / "encoded")
    return tokenizer, {split: EncodedCorpus.open(folder / "encoded", split) for split in splits}


def corpus_of(documents: Sequence[Sequence[Sequence[Sequence[int]]]]) -> EncodedCorpus:
    """The encoded corpus of documents that are paragraphs, which are sentences, which are token ids."""
    found = [
        (number, place, sentence)
        for number, document in enumerate(documents)
        for place, paragraph in enumerate(document)
        for sentence in paragraph
    ]
    sentences = [sentence for _, _, sentence in found]
    owners = np.array([number for number, _, _ in found], dtype=np.int64)
    counts = np.bincount(owners, minlength=len(documents))
    return EncodedCorpus(
        ids=np.array([token for sentence in sentences for token in sentence], dtype=np.int32),
        sentence_offsets=np.array([0, *itertools.accumulate(len(sentence) for sentence in sentences)]),
        sentence_paragraphs=np.array([place for _, place, _ in found], dtype=np.int32),
        sentence_words=np.array([len(sentence) for sentence in sentences], dtype=np.int32),
        sentence_headings=np.zeros(len(sentences), dtype=bool),
        document_offsets=np.array([0, *np.cumsum(counts)]),
        doc_ids=tuple(str(number) for number in range(len(documents))),
    )
