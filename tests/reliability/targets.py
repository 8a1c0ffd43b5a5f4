"""The readers that are fuzzed, each with files to start from: those of the malformed corpus, and whole ones."""

from __future__ import annotations

import bz2
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quartet.config.evaluation import VectorFormat
from quartet.files import write_jsonl
from quartet.nbest.formats import NBestFiles, jsonl, read
from quartet.nbest.formats import references as reference_files
from quartet.nbest.rescored_file import read_rescored
from quartet.ngram.arpa import check_start
from quartet.recognise.audio import read_samples
from quartet.recognise.utterances import read_utterances
from quartet.tasks.classification.data import read_labelled
from quartet.tasks.glue.data import TASKS
from quartet.tasks.kinds import KINDS
from quartet.tasks.word_vectors import load_vectors
from quartet.tasks.wordsim.data import read_word_pairs
from quartet.text.plain import read_text
from quartet.text.pretrained_vocabulary import read_vocabulary
from quartet.text.tokenizer import TextTokenizer
from quartet.text.wikipedia import read_wikipedia
from quartet.text.wikitext import MEDIA_PREFIXES, paragraphs_of
from tests.reliability.fuzzing import Target
from tests.reliability.malformed import corpora, every_case, packed, params, sources, tokenizers
from tests.reliability.malformed.case import as_json, as_jsonl, parquet, zipped
from tests.reliability.malformed.glue import as_table, valid_row
from tests.reliability.malformed.rows import table, valid

Read = Callable[[Path], object]


def of_kind(generator: str, kind: str, name: str) -> tuple[bytes, ...]:
    """The malformed files of a kind."""
    cases = (case for case in every_case(generator) if case.kind == kind)
    return tuple(case.files[name] for case in cases if name in case.files)


def _nbest(form: str, beam: int | None = None) -> Read:
    """Reads lists strictly and leniently, and writes what was read in our own form, which must read back equal."""
    name = table("lists")[f"nbest/{form}"]["file"]

    def found(at: Path) -> object:
        files = NBestFiles(at / name, beam=beam)
        lenient = read(form, files, skip=True)
        jsonl.write(at / "written.jsonl", lenient.lists)
        assert jsonl.read(at / "written.jsonl") == lenient.lists
        return read(form, files)

    return found


def _set(kind: str, form: str, name: str) -> Read:
    """Reads a published set, whose texts must be such that a file can hold them."""

    def found(at: Path) -> object:
        examples = list(KINDS[kind].formats[form].read(at / name))
        write_jsonl(at / "written.jsonl", (vars(one) for one in examples if kind not in ("squad", "race")))
        return examples

    return found


def _dump(at: Path) -> object:
    return list(read_wikipedia(at / corpora.DUMP))


def _wikitext(at: Path) -> object:
    text = (at / "page.txt").read_bytes().decode("utf-8", "replace")
    return paragraphs_of(text, MEDIA_PREFIXES)


def _vectors(name: str, form: VectorFormat) -> Read:
    return lambda at: load_vectors(at / name, form, lowercase=True).embed(["the cat"]).means


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
            "prose.txt",
            (b"A heron.\n\n\nIt waits.\n", *of_kind("texts", "corpus/text", "prose.txt")),
            lambda at: list(read_text(at / "prose.txt")),
        ),
        "rescored": Target(
            "out.jsonl",
            (valid("nbest/rescored"), *of_kind("lists", "nbest/rescored", "out.jsonl")),
            lambda at: read_rescored(at / "out.jsonl"),
        ),
        "words": Target(
            "words.tsv",
            (b"tiger\tcat\t7.35\n", *of_kind("sets", "similarity/words", "words.tsv")),
            lambda at: read_word_pairs(at / "words.tsv"),
        ),
        "labelled": Target(
            "texts.cor",
            (b"__label__pos good\n__label__neg bad\n",),
            lambda at: read_labelled(at / "texts.cor"),
        ),
        "arpa": Target(
            "model.arpa",
            (valid("ngram/arpa"), *of_kind("texts", "ngram/arpa", "model.arpa")),
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
    wholes: dict[VectorFormat, tuple[str, bytes]] = {
        "glove": ("glove.txt", valid("vectors/glove")),
        "word2vec": ("vectors.txt", valid("vectors/word2vec")),
        "word2vec-binary": ("vectors.bin", packed.BINARY),
    }
    for form, (name, whole) in wholes.items():
        found[f"vectors-{form}"] = Target(name, (whole,), _vectors(name, form), "binary" not in form)
    return found


def _lists() -> dict[str, Target]:
    found: dict[str, Target] = {}
    for kind, settings in table("lists").items():
        form, name = kind.removeprefix("nbest/"), settings["file"]
        if form not in ("references", "rescored"):
            seeds = (valid(kind), *of_kind("lists", kind, name))
            found[f"nbest-{form}"] = Target(name, seeds, _nbest(form, 2 if form == "nemo" else None))
    for name, whole in {
        "refs.txt": b"u1 the cat\n",
        "refs.json": b'{"u1": "the cat"}',
        "refs.trn": b"cat (u1)\n",
    }.items():
        found[f"references-{name}"] = Target(name, (whole,), _references(name))
    return found


def _references(name: str) -> Read:
    return lambda at: reference_files.read(at / name)


def _sets() -> dict[str, Target]:
    hub: dict[str, Any] = {"sentence1": "a", "sentence2": "b", "label": 0, "idx": 0}
    columns = parquet(sentence1=["a", "b"], sentence2=["c", "d"], score=[0.5, 1.0], label=[0, 1], idx=[0, 1])
    glue = b"index\tsentence1\tsentence2\tscore\n0\tA man sings.\tA man is singing.\t4.5\n"
    nli = b"sentence1\tsentence2\tgold_label\nA man sings.\tA man is quiet.\tcontradiction\n"
    files: dict[str, tuple[str, str, str, bytes]] = {
        "stsb-csv": ("sts", "stsb", "dev.csv", valid("sts/stsb")),
        "stsb-tsv": ("sts", "stsb", "dev.tsv", glue),
        "stsb-parquet": ("sts", "stsb", "dev.parquet", columns),
        "sick": ("sts", "sick", "test.txt", valid("sts/sick")),
        "semeval": ("sts", "semeval", "MSRpar.tsv", valid("sts/semeval")),
        "glue-tsv": ("glue", "rte", "dev.tsv", valid("glue/forms")),
        "glue-jsonl": ("glue", "rte", "dev.jsonl", as_jsonl(hub, hub)),
        "glue-qqp": ("glue", "qqp", "dev.tsv", as_table(valid_row(TASKS["qqp"]))),
        "nli-jsonl": ("nli", "snli", "dev.jsonl", valid("nli/snli")),
        "nli-tsv": ("nli", "mnli", "dev.tsv", nli),
        "squad1": ("squad", "squad1", "dev.json", valid("squad/squad1")),
        "squad2": ("squad", "squad2", "dev.json", valid("squad/squad2")),
        "race": ("race", "race", "dev.jsonl", valid("race/race")),
        "blimp": ("blimp", "blimp", "pairs.jsonl", valid("blimp/blimp")),
        "blimp-zip": ("blimp", "blimp", "pairs.zip", zipped(a__jsonl=valid("blimp/blimp"))),
    }
    binary = ("stsb-parquet", "blimp-zip")
    return {
        name: Target(file, (whole,), _set(kind, form, file), text=name not in binary)
        for name, (kind, form, file, whole) in files.items()
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
