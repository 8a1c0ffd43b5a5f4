"""The readers that are fuzzed, each with files to start from: those of the malformed corpus, and whole ones."""

from __future__ import annotations

import bz2
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quartet.evaluation.datasets import read_labelled, read_word_pairs
from quartet.evaluation.sets import KINDS
from quartet.evaluation.sets.glue import TASKS
from quartet.evaluation.word_vectors import VectorFormat, load_vectors
from quartet.files import write_jsonl
from quartet.nbest.formats import Files, jsonl, read
from quartet.nbest.formats import references as reference_files
from quartet.nbest.generate.audio import read_samples
from quartet.nbest.generate.utterances import read_utterances
from quartet.nbest.rescored import read_rescored
from quartet.ngram.arpa import check_start
from quartet.text.plain import read_text
from quartet.text.pretrained_vocabulary import read_vocabulary
from quartet.text.tokenizer import TextTokenizer
from quartet.text.wikipedia import read_wikipedia
from quartet.text.wikitext import MEDIA_PREFIXES, paragraphs_of
from tests.reliability.fuzzing import Target
from tests.reliability.malformed import (
    corpora,
    every_case,
    label_sets,
    list_files,
    lists,
    ngrams,
    params,
    question_sets,
    similarity_sets,
    sources,
    tokenizers,
    vectors,
)
from tests.reliability.malformed.case import as_json, as_jsonl

Read = Callable[[Path], object]


def of_kind(generator: str, kind: str, name: str) -> tuple[bytes, ...]:
    """The malformed files of a kind."""
    cases = (case for case in every_case(generator) if case.kind == kind)
    return tuple(case.files[name] for case in cases if name in case.files)


def _nbest(form: str, beam: int | None = None) -> Read:
    """Reads lists strictly and leniently, and writes what was read in our own form, which must read back equal."""
    name = lists.FORMATS[form][0]

    def found(at: Path) -> object:
        files = Files(at / name, beam=beam)
        lenient = read(form, files, skip=True)
        jsonl.write(at / "written.jsonl", lenient.lists)
        assert jsonl.read(at / "written.jsonl") == lenient.lists
        return read(form, files)

    return found


def _set(kind: str, form: str, name: str) -> Read:
    """Reads a published set, whose texts must be such that a file can hold them."""

    def found(at: Path) -> object:
        examples = list(KINDS[kind][form].read(at / name))
        write_jsonl(at / "written.jsonl", (vars(one) for one in examples if kind not in ("squad", "race")))
        return examples

    return found


def _dump(at: Path) -> object:
    return list(read_wikipedia(at / corpora.DUMP))


def _wikitext(at: Path) -> object:
    text = (at / "page.txt").read_bytes().decode("utf-8", "replace")
    return paragraphs_of(text, MEDIA_PREFIXES)


def _vectors(form: VectorFormat) -> Read:
    name = vectors.NAMES[form]

    def found(at: Path) -> object:
        return load_vectors(at / name, form, lowercase=True).embed(["the cat"]).means

    return found


def _tokenizer(at: Path) -> object:
    tokenizer = TextTokenizer.load(at / "tokenizer.json")
    for ids in tokenizer.encode_batch(["the heron sat", "\u2603 [MASK]", ""]):
        assert all(0 <= number < tokenizer.vocab_size for number in ids)
        tokenizer.word_starts(ids)
        tokenizer.decode(ids)
    return tokenizer


def _berts(at: Path) -> object:
    return read_vocabulary(at).encode("the cat sat")


@functools.cache
def targets() -> dict[str, Target]:
    """Every reader by its name."""
    found: dict[str, Target] = {
        "params": Target(
            params.NAME,
            (as_json(params.valid()), *of_kind("params", "params/yaml", params.NAME)),
            params.read,
        ),
        "wikipedia": Target(
            corpora.DUMP,
            (corpora.dump(corpora.page(1)).encode(), *of_kind("corpora", "corpus/wikipedia", corpora.DUMP)),
            _dump,
        ),
        "wikipedia-bz2": Target(
            corpora.DUMP,
            (bz2.compress(corpora.dump(corpora.page(1)).encode()), corpora.PACKED),
            _dump,
            text=False,
        ),
        "wikitext-markup": Target("page.txt", (MARKUP.encode(),), _wikitext),
        "text": Target(
            corpora.PROSE,
            (b"A heron.\n\n\nIt waits.\n", *of_kind("corpora", "corpus/text", corpora.PROSE)),
            lambda at: list(read_text(at / corpora.PROSE)),
        ),
        "rescored": Target(
            "out.jsonl",
            (as_jsonl(list_files.WRITTEN), *of_kind("list_files", "nbest/rescored", "out.jsonl")),
            lambda at: read_rescored(at / "out.jsonl"),
        ),
        "words": Target(
            "words.tsv",
            (b"tiger\tcat\t7.35\n", *of_kind("similarity_sets", "similarity/words", "words.tsv")),
            lambda at: read_word_pairs(at / "words.tsv"),
        ),
        "labelled": Target(
            "texts.cor",
            (b"__label__pos good\n__label__neg bad\n",),
            lambda at: read_labelled(at / "texts.cor"),
        ),
        "arpa": Target(
            "model.arpa",
            (ngrams.SMALL, *(data for data, _ in ngrams.ARPAS.values())),
            lambda at: check_start(at / "model.arpa"),
        ),
        "tokenizer": Target("tokenizer.json", (as_json(tokenizers.own()),), _tokenizer),
        "bert-vocabulary": Target("tokenizer.json", (as_json(tokenizers.berts()),), _berts),
        "utterances": Target(
            "list",
            (b"utt\taudio\tref\nu1\ta.wav\thello\n",),
            lambda at: read_utterances("tsv", at / "list"),
        ),
        "audio": Target(
            "a.wav", (sources.wav(),), lambda at: read_samples(at / "a.wav", "utterance u1"), text=False
        ),
        **_lists(),
        **_sets(),
    }
    wholes: dict[VectorFormat, bytes] = {
        "glove": vectors.GLOVE,
        "word2vec": vectors.WORD2VEC,
        "word2vec-binary": vectors.BINARY,
    }
    for form, valid in wholes.items():
        found[f"vectors-{form}"] = Target(vectors.NAMES[form], (valid,), _vectors(form), "binary" not in form)
    return found


def _lists() -> dict[str, Target]:
    found: dict[str, Target] = {}
    for form, (name, valid, texts) in lists.FORMATS.items():
        seeds = (valid, *(data for data, _ in texts.values()))
        found[f"nbest-{form}"] = Target(name, seeds, _nbest(form, 2 if form == "nemo" else None))
    for name, valid in {
        "refs.txt": b"u1 the cat\n",
        "refs.json": b'{"u1": "the cat"}',
        "refs.trn": b"cat (u1)\n",
    }.items():
        found[f"references-{name}"] = Target(name, (valid,), _references(name))
    return found


def _references(name: str) -> Read:
    return lambda at: reference_files.read(at / name)


def _sets() -> dict[str, Target]:
    hub: dict[str, Any] = {"sentence1": "a", "sentence2": "b", "label": 0, "idx": 0}
    parquet = similarity_sets.parquet(
        sentence1=["a", "b"], sentence2=["c", "d"], score=[0.5, 1.0], label=[0, 1], idx=[0, 1]
    )
    files: dict[str, tuple[str, str, str, bytes]] = {
        "stsb-csv": ("sts", "stsb", "dev.csv", similarity_sets.PAIR.encode()),
        "stsb-tsv": ("sts", "stsb", "dev.tsv", similarity_sets.GLUE.encode()),
        "stsb-parquet": ("sts", "stsb", "dev.parquet", parquet),
        "sick": ("sts", "sick", "test.txt", similarity_sets.SICK.encode()),
        "semeval": ("sts", "semeval", "MSRpar.tsv", similarity_sets.SEMEVAL.encode()),
        "glue-tsv": ("glue", "rte", "dev.tsv", label_sets.as_table(label_sets.valid_row(TASKS["rte"]))),
        "glue-jsonl": ("glue", "rte", "dev.jsonl", as_jsonl(hub, hub)),
        "glue-qqp": (
            "glue",
            "qqp",
            "dev.tsv",
            label_sets.as_table(label_sets.valid_row(TASKS["qqp"])),
        ),
        "nli-jsonl": ("nli", "snli", "dev.jsonl", as_jsonl(label_sets.NLI)),
        "nli-tsv": ("nli", "mnli", "dev.tsv", label_sets.as_table(label_sets.NLI)),
        "squad1": ("squad", "squad1", "dev.json", question_sets.squad()),
        "squad2": (
            "squad",
            "squad2",
            "dev.json",
            question_sets.squad({**question_sets.QA, "is_impossible": False}),
        ),
        "race": ("race", "race", "dev.jsonl", as_jsonl(question_sets.PASSAGE)),
        "blimp": ("blimp", "blimp", "pairs.jsonl", as_jsonl(question_sets.MINIMAL)),
        "blimp-zip": (
            "blimp",
            "blimp",
            "pairs.zip",
            question_sets.zipped(a__jsonl=as_jsonl(question_sets.MINIMAL)),
        ),
    }
    binary = ("stsb-parquet", "blimp-zip")
    return {
        name: Target(file, (valid,), _set(kind, form, file), text=name not in binary)
        for name, (kind, form, file, valid) in files.items()
    }


MARKUP = """'''Heron''' is a [[bird|wading bird]].<ref name="a">A book, {{ISBN|1}}.</ref> {{cite|x={{y}}}} It waits.

== Food ==
* [[fish]], ''frogs'' &amp; [http://example.invalid insects]
{| class="wikitable"
! a !! b
|-
| c || d
|}
<math>x^2</math> <!-- note --> [[File:Heron.jpg|thumb|A [[heron]] in a river]] <gallery>a.jpg|b</gallery>
# It stands ; for hours : and waits.
[[Category:Birds]] __NOTOC__ <nowiki>[[x]]</nowiki> <table><tr><td>z</td></tr></table>
"""


def every_name() -> list[object]:
    """The readers' names, as parameters of a test."""
    return [pytest.param(name, id=name) for name in targets()]
