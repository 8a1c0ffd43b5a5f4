"""What every key that the other evaluations and the baselines hand on moves."""

from __future__ import annotations

import itertools
import json
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
import torch

from quartet.results import Result, system_name
from quartet.statistics import intervals
from quartet.tasks.attention.maps import read_article
from quartet.text.encoding import encode_corpus
from quartet.text.tokenizer import train_tokenizer
from tests.small_corpus import OBJECTS, SUBJECTS, VERBS
from tests.stages.test_question_keys import race, squad
from tests.stages.test_similarity_figures import ENTAILED, csv, scored
from tests.stages.world import CORPUS, LAYOUT, TOKENIZER_NAME, World, all_different

WORDS = ("miller", "heron", "bridge", "neighbour", "train", "river", "letter", "pears", "clock")
SENTENCES = [f"{one} {did} {what}." for one in SUBJECTS for did in VERBS for what in OBJECTS]


def figures(rows: list[Result]) -> list[Any]:
    return [
        (row.system, row.dataset, row.split, row.metric, row.value, row.n, row.seed, row.scale)
        for row in rows
    ]


def pairs_of(paradigm: str, count: int) -> str:
    row = {"field": "syntax", "linguistics_term": "island_effects", "UID": paradigm}
    return "".join(
        json.dumps({**row, "sentence_good": good, "sentence_bad": bad, "pairID": str(number)}) + "\n"
        for number, (good, bad) in enumerate(itertools.islice(itertools.pairwise(SENTENCES), count))
    )


def rte() -> str:
    labels = ("not_entailment", "entailment")
    return "index\tsentence1\tsentence2\tlabel\n" + "".join(
        f"{number}\t{SENTENCES[number]}\t{SENTENCES[-number]}\t{labels[number * number % 3 % 2]}\n"
        for number in range(1, 25)
    )


def stsb() -> str:
    return "index\tsentence1\tsentence2\tscore\n" + "".join(
        f"{number}\t{first}\t{second}\t{score}\n"
        for number, (first, second, score) in enumerate(scored(15, 8))
    )


@pytest.fixture
def filled(world: World) -> World:
    """A corpus, and a set of every kind."""
    world.corpus()
    first = "".join(ENTAILED.splitlines(keepends=True)[:17])
    words = "".join(f"{one}\t{other}\t{len(one)}\n" for one, other in itertools.combinations(WORDS, 2))
    labelled = "".join(f"__label__{number * number % 3 % 2} {SENTENCES[number]}\n" for number in range(30))
    paradigms = pairs_of("wh_island", 4) + pairs_of("adjunct_island", 6)
    world.task("sts", "one", "stsb", {"test.csv": csv(scored(20, 1))})
    world.task("glue", "rte", "rte", {"train.tsv": rte(), "dev.tsv": rte()})
    world.task("glue", "stsb", "stsb", {"train.tsv": stsb(), "dev.tsv": stsb()})
    world.task("nli", "snli", "snli", {"train.jsonl": first, "dev.jsonl": ENTAILED})
    world.task("nli", "more", "snli", {"train.jsonl": ENTAILED})
    world.task("squad", "squad2", "squad2", {"all.json": squad(16)})
    world.task("race", "race", None, {"train.jsonl": race(6), "dev.jsonl": race(5)})
    world.task("classification", "polarity", None, {"texts": labelled})
    world.task("word-similarity", "words", None, {"pairs": words})
    world.task("blimp", "blimp", None, {"pairs.jsonl": paradigms})
    world.set(nbest={}, nli__sets=["snli"])
    return world


@pytest.mark.parametrize("limit", [0, 2, 5])
def test_blimps_limit_is_of_each_paradigm(filled: World, limit: int) -> None:
    filled.model("tta", "tta")
    filled.set(blimp__limit=limit)
    rows = filled.run("blimp", "tta")
    counts = {row.n for row in rows if (row.system, row.dataset, row.metric) == ("tta", "blimp", "accuracy")}
    assert counts == {{0: 4 + 6, 2: 2 + 2, 5: 4 + 5}[limit]}


ATTENTION: dict[str, Any] = {
    "attention__layers": ["first"],
    "attention__head": "mean",
    "attention__tokens": 20,
    "attention__documents": 2,
    "attention__document": 0,
}
OTHER_ATTENTION: dict[str, Any] = {
    "attention__layers": [2],
    "attention__head": 1,
    "attention__tokens": 12,
    "attention__documents": 0,
    "attention__document": 1,
}


def test_every_key_of_attention_moves_the_shares_or_the_maps(filled: World) -> None:
    filled.model("tta", "segabert")

    def run() -> Any:
        return figures(filled.run("attention", "tta")), LAYOUT.attention("tta").read_bytes()

    all_different(filled.moved(run, ATTENTION, OTHER_ATTENTION))


def test_a_document_that_is_drawn_is_measured_only_where_it_is_among_the_first(filled: World) -> None:
    filled.model("tta", "segabert")
    found = filled.moved(
        lambda: figures(filled.run("attention", "tta")), ATTENTION, {"attention__document": 3}
    )
    assert found["attention__document"] == found[""]


def test_the_shares_and_the_maps_are_of_test_documents(filled: World) -> None:
    filled.model("tta", "segabert")
    filled.set(**{**ATTENTION, "attention__documents": 0, "attention__document": 2})
    rows = filled.run("attention", "tta")
    test = filled.splits["test"]
    lengths = np.diff(test.sentence_offsets[test.document_offsets])
    assert {row.n for row in rows} == {np.minimum(lengths, 20 - 2).sum()}
    assert read_article(LAYOUT.attention("tta")).name == test.doc_ids[2]


def test_the_maps_are_those_of_the_first_seed(filled: World) -> None:
    found = []
    for seeds in ([4], [4, 2]):
        filled.set(seeds=seeds)
        for seed in seeds:
            filled.model("tta", "segabert", seed=seed)
        filled.run("attention", "tta")
        found.append(LAYOUT.attention("tta").read_bytes())
    assert found[0] == found[1]


BASELINES: dict[str, Any] = {
    "seeds": [1],
    "bootstrap": 20,
    "perplexity__tokens_per_document": 0,
    "word2vec": {
        "dimension": 8,
        "window": 2,
        "epochs": 1,
        "negative": 2,
        "skip_gram": True,
        "minimum_count": 1,
    },
    "finetune__folds": 2,
    "glue__limit": 0,
    "nli__limit": 0,
    "nli__sets": ["snli"],
    "squad__judged_limit": 0,
    "squad__held_out": 0.25,
    "squad__max_answer": 30,
    "race__judged_limit": 0,
    "race__train_limit": 0,
}
OTHER_BASELINES: dict[str, Any] = {
    "seeds": [2],
    "perplexity__tokens_per_document": 12,
    **{
        f"word2vec__{key}": value
        for key, value in {
            "dimension": 9,
            "window": 1,
            "epochs": 2,
            "negative": 5,
            "skip_gram": False,
            "minimum_count": 9,
        }.items()
    },
    "finetune__folds": 3,
    "glue__limit": 9,
    "nli__limit": 9,
    "nli__sets": ["snli", "more"],
    "squad__judged_limit": 2,
    "squad__held_out": 0.5,
    "squad__max_answer": 1,
    "race__judged_limit": 2,
    "race__train_limit": 3,
}  # fmt: skip


def test_every_key_of_the_baselines_moves_their_rows(filled: World) -> None:
    all_different(filled.moved(lambda: figures(filled.run("baselines")), BASELINES, OTHER_BASELINES))


def test_baselines_of_two_encodings_say_which(filled: World) -> None:
    """Of one alone they say none. The second cuts the same texts into letters."""
    filled.set(**BASELINES)
    named = {"unigram": {""}, "word2vec": {""}}
    tables = {"unigram": {"perplexity", "training"}, "word2vec": {"wordsim", "sts"}}
    for encodings in (1, 2):
        if encodings == 2:
            filled.set(tokenizers__letters=filled.settings()["tokenizers"][TOKENIZER_NAME])
            letters = train_tokenizer("wordpiece", [ascii_lowercase], 200, True)
            LAYOUT.tokenizer("letters").mkdir()
            letters.save(LAYOUT.tokenizer("letters") / "tokenizer.json")
            encode_corpus(LAYOUT.segments(CORPUS), letters, LAYOUT.encoded(CORPUS, "letters"))
            named = {
                "unigram": {TOKENIZER_NAME, "letters"},
                "word2vec": {f"{CORPUS}-{TOKENIZER_NAME}", f"{CORPUS}-letters"},
            }
        rows = [row for row in filled.run("baselines") if row.model in named]
        for model, readings in named.items():
            own = [row for row in rows if row.model == model]
            assert {row.table for row in own} == tables[model]
            assert {(row.system, row.reading) for row in own} == {
                (system_name(model, reading), reading) for reading in readings
            }
            keys = [(row.system, row.table, row.dataset, row.split, row.metric) for row in own]
            assert len(set(keys)) == len(keys)
            figures = {tuple(row.value for row in own if row.reading == reading) for reading in readings}
            assert len(figures) == len(readings), "each is of its own tokens"


@pytest.mark.parametrize("stage", ["sts", "wordsim", "blimp", "perplexity", "attention"])
def test_every_seed_has_rows_of_its_own_model(filled: World, stage: str) -> None:
    filled.set(seeds=[4, 2])
    for seed in (4, 2):
        filled.model("tta", "segabert", seed=seed)
    rows = filled.run(stage, "tta")
    assert {row.seed for row in rows} == {4, 2}
    found = {seed: [row.value for row in rows if row.seed == seed] for seed in (4, 2)}
    assert stage == "blimp" or found[4] != found[2], "ten choices may be the same"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stage_computes_with_as_many_threads_as_are_asked_for(filled: World, threads: int) -> None:
    filled.model("tta", "tta")
    before = torch.get_num_threads()
    try:
        filled.set(threads=threads)
        filled.run("sts", "tta")
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


#: Stages with intervals -> the arguments of their scripts.
RESAMPLING: dict[str, list[str]] = {
    **{
        stage: ["tta"] for stage in ("sts", "wordsim", "blimp", "perplexity", "attention", "finetune", "glue")
    },
    **{stage: ["tta"] for stage in ("nli", "squad", "race")},
    "baselines": [],
    "ngram": ["ngram-3"],
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of the few units that small sets have, with ends that are not the outermost values."""
    monkeypatch.setattr(intervals, "LEAST_UNITS", 2)
    monkeypatch.setattr(intervals, "tail", lambda units, level: (1 - level) / 2)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("stage", RESAMPLING)
def test_intervals_are_of_as_many_resamplings_as_are_asked_for(filled: World, stage: str) -> None:
    filled.model("tta", "segabert", max_length=60)
    filled.tunings(stage)

    def ends() -> list[Any]:
        rows = filled.run(stage, *RESAMPLING[stage])
        return [(row.ci_low, row.ci_high) for row in rows if row.ci_low is not None]

    all_different(filled.moved(ends, {"bootstrap": 50}, {"bootstrap": 3}))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "stage", ["sts", "wordsim", "blimp", "perplexity", "attention", "glue", "nli", "squad", "race"]
)
def test_the_rows_of_a_model_are_the_same_whichever_seed_is_the_first(filled: World, stage: str) -> None:
    """What is resampled has the seed of the model. The folds of `finetune` are the experiment's."""
    filled.tunings(stage)
    found = []
    for seeds in ([4], [2, 4]):
        filled.set(seeds=seeds, nli__limit=0, bootstrap=5, attention__documents=0)
        for seed in seeds:
            filled.model("tta", "segabert", seed=seed, max_length=60)
        found.append([row for row in filled.run(stage, "tta") if row.seed == 4])
    assert found[0] == found[1]
    assert any(row.ci_low is not None for row in found[0])


@pytest.mark.usefixtures("few")
def test_differences_of_losses_have_as_many_resamplings_and_are_the_mean_over_the_seeds(
    filled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "LEAST_DRAWS", 3)
    filled.set(seeds=[4, 2], perplexity__input_lengths=[])
    for seed in (4, 2):
        filled.model("tta", "segabert", seed=seed)
        filled.model("segatron-xl", "bilm", seed=seed)  # whose losses are pseudo-losses too
    losses = {
        (row.system, row.seed): row.value
        for name in ("tta", "segatron-xl")
        for row in filled.run("perplexity", name)
        if row.metric == "loss"
    }

    def differences() -> list[Any]:
        rows = filled.run("compare_losses")
        assert rows and {row.seed for row in rows} == {None}
        for row in rows:
            ours, theirs = row.system.split(" - ")
            apart = [losses[ours, seed] - losses[theirs, seed] for seed in (4, 2)]
            assert row.value == pytest.approx(sum(apart) / 2)
        return [(row.ci_low, row.ci_high) for row in rows]

    all_different(filled.moved(differences, {"bootstrap": 50}, {"bootstrap": 3}))


VECTORS: dict[str, Any] = {
    "vectors": {"own": {"source": "a.txt", "sha256": None, "format": "glove", "lowercase": True}},
    "data__root": ".",
    "bootstrap": 50,
}
OTHER_VECTORS: dict[str, Any] = {
    "vectors__own__source": "b.txt",
    "vectors__own__lowercase": False,
    "data__root": "elsewhere",
    "bootstrap": 3,
}


def test_every_key_of_word_vectors_moves_their_rows(world: World) -> None:
    """In a set whose capitals the vectors know and whose small letters they know too."""
    world.task("sts", "one", "stsb", {"test.csv": csv(scored(20, 1)).replace("the ", "The ")})
    (world.folder / "elsewhere").mkdir()
    for number, file in enumerate(("a.txt", "b.txt", "elsewhere/a.txt")):
        lines = [
            f"{word} {len(word)} {place % (3 + number)} {place * place % 7}\n"
            for place, word in enumerate(("The", "the", *WORDS, *VERBS))
        ]
        (world.folder / file).write_text("".join(lines))
    all_different(world.moved(lambda: list(map(str, world.run("vectors", "own"))), VECTORS, OTHER_VECTORS))
