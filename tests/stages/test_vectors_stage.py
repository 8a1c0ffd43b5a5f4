"""Word vectors from a file as the stage judges them: rows, coverage, a file that knows no word, and the settings."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.layout import Layout
from pipeline.settings import read_params
from quartet.config.evaluation import VectorsEntry
from quartet.config.loading import checked
from quartet.errors import InputError
from quartet.results import read_results
from quartet.tasks.sts.evaluation import judged_splits
from stages import vectors
from tests.stages.world import evaluate_by
from tests.tasks.sts.test_evaluation import pairs

LINES = "river 1 0 2\nstone 0 1 0\na 1 1 0\ngreen 0 0 1\nhill 2 0 1\nrain 1 3 0\nold 0 2 2\nhay 1 0 0\n"


@pytest.fixture
def settings(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The preset tiny with a file of vectors, and one split of invented pairs."""
    (workspace / "glove.txt").write_text(LINES)
    found = read_params()
    params = SimpleNamespace(
        **{field.name: getattr(found, field.name) for field in dataclasses.fields(found)},
    )
    params.vectors = {"glove": VectorsEntry(source="glove.txt", sha256=None, format="glove", lowercase=True)}
    evaluate_by(params, monkeypatch)
    monkeypatch.setattr(vectors, "judged_sets", lambda *_: judged_splits("stsb", "stsb", {"dev": pairs(1)}))
    monkeypatch.setattr(
        Layout, "vectors", lambda self, name: self.artifacts / "vectors" / name, raising=False
    )
    return params


@pytest.mark.usefixtures("settings")
def test_rows_and_the_share_of_known_words() -> None:
    vectors.vectors("glove")
    rows = read_results(Layout("tiny").rows("vectors", "glove"))
    values = {row.metric: row for row in rows}
    assert set(values) == {"pearson", "spearman", "coverage"}
    assert {(row.system, row.dataset, row.split, row.table) for row in rows} == {
        ("glove", "stsb", "dev", "sts")
    }
    known = [line.split()[0] for line in LINES.splitlines()]
    texts = dict.fromkeys(text for pair in pairs(1) for text in (pair.first, pair.second))
    words = [word for text in texts for word in text.split()]
    assert values["coverage"].n == len(words)
    assert values["coverage"].value == pytest.approx(sum(word in known for word in words) / len(words))
    assert values["pearson"].scale == "8 words, 3 dimensions, Treebank words, lower-cased"


@pytest.mark.usefixtures("settings")
def test_each_split_has_the_share_of_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    splits = {"dev": pairs(1), "test": pairs(2, 4)}
    monkeypatch.setattr(vectors, "judged_sets", lambda *_: judged_splits("stsb", "stsb", splits))
    vectors.vectors("glove")
    rows = [row for row in read_results(Layout("tiny").rows("vectors", "glove")) if row.metric == "coverage"]
    for row in rows:
        texts = {text for pair in splits[row.split] for text in (pair.first, pair.second)}
        assert row.n == sum(len(text.split()) for text in texts)
    assert len(rows) == 2


def test_a_file_that_knows_no_word_of_the_sets_is_refused(settings: SimpleNamespace, workspace: Path) -> None:
    (workspace / "glove.txt").write_text("fleuve 1 0\npierre 0 1\n")
    with pytest.raises(InputError, match=r"glove\.txt: has no vector for any word of the sets"):
        vectors.vectors("glove")
    assert not Layout(settings.experiment).rows("vectors", "glove").exists()


def test_word_vectors_settings_are_checked() -> None:
    good = {"source": "glove.txt", "sha256": None, "format": "glove", "lowercase": True}
    found = checked(VectorsEntry, good, "params.yaml: vectors.glove")
    assert (found.source, found.sha256) == ("glove.txt", None)
    for change, reason in (
        ({"format": "gensim"}, "format"),
        ({"source": "https://example.org/glove.txt"}, "sha256 is needed for https"),
        ({"format": "fasttext"}, "format"),
        ({"lower": True}, "unknown key"),
    ):
        with pytest.raises(InputError, match=reason):
            checked(VectorsEntry, {**good, **change}, "params.yaml: vectors.glove")
