"""What pretrain trains anew: nothing for a setting, or a name, that changes no weight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.numpy

from pipeline.layout import Layout
from pipeline.settings import read_params
from pipeline.tracking.mlflow import open_store
from quartet.errors import InputError
from quartet.files import read_json, read_jsonl, sha256
from quartet.models.checkpoint import load_card
from quartet.results import read_results
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.training.pretraining import Pretraining
from stages.download import download
from stages.encode import encode
from stages.pretrain import pretrain
from stages.segment import segment
from stages.tokenizer import tokenizer
from tests.settings import change_settings

TEXT = "The ferry left at noon. Nobody on board had seen the fog bank coming, not even the pilot.\n\n"
STEPS = "steps: 30, batch_size: 8, learning_rate: 1e-3, validate_every: 15, validation_batches: 2, checkpoint_every: 15"
FEW = "steps: 4, batch_size: 4, learning_rate: 1.0, validate_every: 1, validation_batches: 1, checkpoint_every: 2"


@pytest.fixture
def edit(workspace: Path) -> Callable[[str, str], None]:
    """A trained model `tta` of a few steps, whose best step is not its last; edits params.yaml."""
    books = workspace / "books"
    books.mkdir()
    for number in range(6):
        (books / f"{number}.txt").write_text(f"Chapter {number}. " + TEXT * (number + 2))
    path = workspace / "params.yaml"

    def edit(old: str, new: str) -> None:
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))

    text = path.read_text()
    edit(
        text[text.index("    kind: wikipedia") : text.index("    language:")],
        "    kind: text\n    source: books\n    sha256: null\n",
    )
    edit("1000", "120")
    edit(STEPS, FEW)
    download("wikipedia-sample")
    segment("wikipedia-sample")
    tokenizer("wordpiece-1k")
    encode("wikipedia-sample", "wordpiece-1k")
    pretrain("tta")
    return edit


def test_a_training_on_several_devices_is_launched_before_anything_is_read(workspace: Path) -> None:
    change_settings(
        workspace / "params.yaml",
        {"trainer.devices": 2, "trainer.strategy": "ddp", "trainer.launch": "no-such-launcher"},
    )
    with pytest.raises(InputError, match="no-such-launcher"):
        pretrain("tta")


def weights(name: str) -> list[str]:
    """The hashes of a model's weights, last and best."""
    folder = Layout("tiny").models / name
    return [sha256(folder / f"{which}.safetensors") for which in ("model", "best")]


def trains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: object) -> None:
        raise AssertionError("trains")

    monkeypatch.setattr(Pretraining, "fit", fit)


def test_a_finished_training_leaves_its_card_and_rows_and_nothing_to_resume(
    edit: Callable[[str, str], None],
) -> None:
    layout = Layout("tiny")
    (kept,) = layout.resume("tta", 1).iterdir()
    assert sorted(path.name for path in kept.iterdir()) == ["curve.json", "model"]
    card = load_card(layout.models / "tta")
    segmented = [row for _, row in read_jsonl(layout.segments("wikipedia-sample") / "train.jsonl")]
    sentences = [
        sentence
        for row in segmented
        for paragraph in row["paragraphs"]
        for sentence in paragraph["sentences"]
    ]
    assert card.corpus_words == sum(len(sentence.split()) for sentence in sentences)
    origin = EncodedCorpus.open(layout.encoded("wikipedia-sample", "wordpiece-1k"), "train").origin
    assert origin is not None and card.encoding == origin.sha256
    points = [line.split(",") for line in layout.curve("tta").read_text().splitlines()[1:]]
    losses = {int(step): float(loss) for _, step, loss in points}
    assert card.best_step == min(losses, key=lambda step: losses[step]) < max(losses) == card.steps == 4
    rows = {row.metric: row for row in read_results(layout.rows("pretrain", "tta"))}
    numbers = safetensors.numpy.load_file(layout.models / "tta" / "model.safetensors").values()
    assert rows["parameters"].value == sum(each.size for each in numbers)
    assert rows["loss"].value == pytest.approx(losses[4], abs=1e-6)
    record = read_json(kept / "curve.json")
    assert (rows["loss"].n, rows["tokens"].value) == (record["targets"], record["tokens"])
    assert 0 < record["targets"] < record["tokens"], "of 4 sentences, and of 4 times as many"
    store = open_store("tiny")
    run, *_ = store.client.search_runs([store.experiment])
    assert (run.info.run_name, run.data.metrics["tokens_cut"]) == ("pretrain/tta", record["cut"])
    assert {(row.dataset, row.split, row.seed) for row in rows.values()} == {("wikipedia-sample", "valid", 1)}
    edit("learning_rate: 1.0", "learning_rate: 1e-2")
    pretrain("tta")
    assert kept not in layout.resume("tta", 1).iterdir(), "nothing asks for it any more"


def test_other_weights_and_other_resume_points_train_nothing(
    edit: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, card = weights("tta"), load_card(Layout("tiny").models / "tta")
    trains_nothing(monkeypatch)
    edit("checkpoint_every: 2", "checkpoint_every: 3, weights: best")
    pretrain("tta")
    assert weights("tta") == old
    now = load_card(Layout("tiny").models / "tta")
    assert (now.training.weights, now.training.checkpoint_every) == ("best", 3)
    assert now.scale == card.scale.replace("4 steps", f"step {card.best_step} of 4 steps")
    assert {row.scale for row in read_results(Layout("tiny").rows("pretrain", "tta"))} == {now.scale}
    edit("checkpoint_every: 3, weights: best", "checkpoint_every: 2")
    pretrain("tta")
    assert load_card(Layout("tiny").models / "tta") == card
    edit("threads: 1", "threads: 2")
    with pytest.raises(AssertionError, match="trains"):
        pretrain("tta")
    edit("threads: 2", "threads: 1")
    edit("learning_rate: 1.0", "learning_rate: 1e-2")
    with pytest.raises(AssertionError, match="trains"):
        pretrain("tta")


def test_a_model_with_another_name_is_not_trained_again(
    edit: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, card = weights("tta"), load_card(Layout("tiny").models / "tta")
    trains_nothing(monkeypatch)
    text = Path("params.yaml").read_text().replace("  tta:\n", "  first:\n", 1).replace("[tta]", "[first]")
    Path("params.yaml").write_text(text.replace("ngram-3, tta]", "ngram-3, first]"))
    assert "first" in read_params().models
    capsys.readouterr()
    pretrain("first")
    assert [
        line for line in capsys.readouterr().err.splitlines() if line.startswith("first:") and "tta" in line
    ]
    assert weights("first") == old
    now = load_card(Layout("tiny").models / "first")
    assert now.name == "first" and now.training == card.training
