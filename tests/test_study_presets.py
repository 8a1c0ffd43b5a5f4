"""The studies whose reports are committed are one another's as their presets say, and ran on these presets."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import pytest

from pipeline.settings import read_params
from pipeline.stages import EVALUATIONS
from quartet.results import read_results
from tests.committed import committed, report_rows
from tests.imports import ROOT


@pytest.mark.parametrize(
    "name", ["small", "small-seeds", "small-bert", "small-positions", "small-tta-segments", "small-gpu"]
)
def test_the_presets_of_the_studies_are_what_ran(name: str) -> None:
    """To the byte, but for `segmentation`, for `strip_accents`, which `lowercase` implied then, and for how figures are
    judged since: draws, units, combinations of lists.

    A record may say `auto` of the segmentation, and its report then which model that was.

    An evaluation that was added since has an empty list in the preset, and no line in the record.
    """
    report = committed(f"reports/{name}")
    preset, record = (
        path.read_text(encoding="utf-8").replace(", strip_accents: true", "").splitlines()
        for path in (ROOT / "presets" / f"{name}.yaml", report / "params.yaml")
    )
    without = {f"  {name}: []" for name in EVALUATIONS}
    later = ("segmentation:", "bootstrap:", "    unit:", "  combine:")
    assert [line for line in preset if line not in without and not line.startswith(later)] == [
        line for line in record if line not in without and not line.startswith(later)
    ]
    ours = read_params(ROOT / "presets" / f"{name}.yaml").segmentation
    assert (ours.punkt, ours.curated) == ("published", False)
    corpora = re.findall(
        r"Sentences by NLTK's Punkt: (.*)", (report / "README.md").read_text(encoding="utf-8")
    )
    assert corpora
    assert all(re.match(r"(punkt_tab, english|published model, english) \(", each) for each in corpora)


def test_further_seeds_are_of_the_same_study() -> None:
    small, seeds = (read_params(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-seeds"))
    for section in ("corpora", "tokenizers", "models", "nbest", "tasks"):
        ours, theirs = getattr(seeds, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    for section in ("segmentation", "bootstrap", "word2vec"):
        assert getattr(seeds, section) == getattr(small, section), section
    assert replace(seeds.rerank, combine=small.rerank.combine) == small.rerank
    lengths = small.perplexity.input_lengths
    assert replace(seeds.perplexity, input_lengths=lengths) == small.perplexity


def test_the_first_of_the_seeds_is_the_seed_of_the_study() -> None:
    """Trained twice, by two versions of the code and on two processors."""
    small, seeds = (
        {row.key: row.value for row in read_results(report_rows(name))} for name in ("small", "small-seeds")
    )
    shared = {key for key in seeds if key in small and key[-1] == 1}
    losses = {key for key in shared if (key[0], key[4]) == ("training", "loss")}
    assert {key[3] for key in losses} == set(read_params(ROOT / "presets" / "small-seeds.yaml").models)
    rates = {key for key in shared if (key[0], key[2], key[4]) == ("rerank", "test", "wer")}
    assert {key[3] for key in rates} == {"unilm", "tta"}
    for key in losses | rates:
        assert seeds[key] == pytest.approx(small[key], rel=0.01), key


def test_three_trainings_of_bert_are_of_the_same_study() -> None:
    small, seeds = (read_params(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-bert"))
    for section in ("corpora", "tokenizers", "tasks"):
        ours, theirs = getattr(seeds, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    for name, model in seeds.models.items():
        theirs = small.models[name]
        assert replace(model, training=replace(model.training, precision="fp32")) == theirs, name
    assert replace(seeds.nli, random_control=True) == small.nli
    for section in ("segmentation", "bootstrap", "glue"):
        assert getattr(seeds, section) == getattr(small, section), section


def test_other_positions_of_segabert_are_of_the_same_study() -> None:
    small, others = (read_params(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-positions"))
    for section in ("corpora", "tokenizers", "tasks"):
        ours, theirs = getattr(others, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    segabert = small.models["segabert"]
    restart = replace(segabert, maxima=replace(segabert.maxima, overflow="restart"))
    assert others.models == {
        "bert-": small.models["bert-"],
        "segabert-restart": restart,
        "segabert-restart-split": replace(restart, position_init="split-sinusoid"),
    }
    for section in ("segmentation", "bootstrap", "glue"):
        assert getattr(others, section) == getattr(small, section), section


def test_segments_in_tta_are_of_the_same_study() -> None:
    small, others = (
        read_params(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-tta-segments")
    )
    for section in ("corpora", "tokenizers", "nbest", "tasks"):
        ours, theirs = getattr(others, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    segments = small.models["tta-segments"]
    split = replace(segments, position_init="split-sinusoid")
    assert others.models == {
        "tta-spans": replace(segments, positions=("sequence",)),
        "tta-segments": segments,
        "tta-segments-split": split,
        "tta-segments-restart-split": replace(split, maxima=replace(split.maxima, overflow="restart")),
    }
    for section in ("segmentation", "bootstrap", "blimp"):
        assert getattr(others, section) == getattr(small, section), section
    assert replace(others.rerank, combine=small.rerank.combine) == small.rerank


def test_the_papers_size_is_of_the_same_study() -> None:
    small, gpu, paper = (
        read_params(ROOT / "presets" / f"{name}.yaml") for name in ("small", "small-gpu", "paper-tta-wiki")
    )
    for section in ("corpora", "tokenizers", "tasks", "ngrams"):
        ours, theirs = getattr(gpu, section), getattr(small, section)
        assert ours == {name: theirs[name] for name in ours}, section
    size = ("layers", "dim", "heads", "inner", "dropout", "attention_dropout")
    free = {"init_std", "training"}
    for name, model in gpu.models.items():
        of_the_paper = {field: getattr(paper.models[name], field) for field in size}
        chosen = {field: getattr(model, field) for field in free}
        assert replace(small.models[name], **of_the_paper, **chosen) == model, name
        assert model.training.steps == small.models[name].training.steps
        assert model.training.batch_size == 4 * small.models[name].training.batch_size
    for name, lists in gpu.nbest.items():
        folder = lists.folder.replace("artifacts/small-gpu/", "artifacts/small/")
        assert {**asdict(lists), "folder": folder} == asdict(small.nbest[name]), name
    for section in ("translators", "segmentation", "bootstrap", "rerank", "word2vec", "blimp"):
        assert getattr(gpu, section) == getattr(small, section), section
