"""Fine-tuning on GLUE: what stands for an input, and predictions that do not depend on their order."""

from __future__ import annotations

import random

import pytest
import torch

from quartet.data.pairs import pair_inputs
from quartet.scoring.language_model import LanguageModel
from quartet.tasks.glue.data import GlueExample, GlueSet, glue_set
from quartet.tasks.glue.tuning import GlueModel, fine_tune
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.tuning import TuningSettings
from tests.scoring.test_language_model import random_model
from tests.small_corpus import SUBJECTS, VERBS

Small = tuple[TextTokenizer, dict[str, EncodedCorpus]]


def ordered(count: int, seed: int, shuffled: bool = False) -> list[GlueExample]:
    """Pairs of a sentence with a river and one with a letter; the label says which comes first, or nothing at all."""
    draw = random.Random(seed)
    examples = []
    for index in range(count):
        pair = [
            f"{draw.choice(SUBJECTS)} {draw.choice(VERBS)} {thing}" for thing in ("the river", "a letter")
        ]
        swapped = draw.random() < 0.5
        if swapped:
            pair.reverse()
        told = draw.random() < 0.5 if shuffled else swapped
        label = "entailment" if told else "not_entailment"
        examples.append(GlueExample(index, pair[0], pair[1], label))
    return examples


def toy(shuffled: bool = False) -> GlueSet:
    return glue_set("rte", {"train": ordered(300, 1, shuffled), "dev": ordered(200, 2)}, 0)


def model_of(small: Small, kind: str, **changes: object) -> LanguageModel:
    return random_model(kind, small[0], max_length=40, **changes)


@pytest.mark.parametrize(("kind", "place"), [("segabert", 0), ("tta", 0), ("unilm", -1)])
def test_what_stands_for_an_input(small_corpus: Small, kind: str, place: int) -> None:
    """The first special token's output; a causal model's last; or the mean over own tokens; padding changes nothing."""
    model = model_of(small_corpus, kind)
    reads = model.card.model.reads
    rows = [
        one.row
        for one in pair_inputs(model.tokenizer, reads, ["the miller", "a"], ["a letter. the river", "b"], 40)
    ]
    for pooling in ("cls", "mean"):
        task = GlueModel(model, 2, pooling).eval()  # type: ignore[arg-type]
        with torch.inference_mode():
            both = task.pooled(task.batch([(row, 0.0) for row in rows]).batch)
            for index, row in enumerate(rows):
                batch = task.batch([(row, 0.0)]).batch
                context_TD = task.contextual(batch)[0]
                own = [
                    at for at, token in enumerate(row.ids) if token >= 7 or token == model.tokenizer.unk_id
                ]
                expected = context_TD[place] if pooling == "cls" else context_TD[own].mean(0)
                assert torch.allclose(both[index], expected, atol=1e-5)


def test_predictions_do_not_depend_on_their_order_and_reading_early_changes_nothing(
    small_corpus: Small,
) -> None:
    model = model_of(small_corpus, "segabert")
    examples = ordered(40, 3)
    rows = [
        one.row
        for one in pair_inputs(
            model.tokenizer,
            "spans",
            [one.first for one in examples],
            [one.second or "" for one in examples],
            40,
        )
    ]
    train = [(row, float(index % 2)) for index, row in enumerate(rows)]
    settings = TuningSettings(2, 8, 3e-3, 0.1, 1)
    early = fine_tune(model, 2, train, {"dev": rows, "back": rows[::-1]}, settings, "cls", (1, 2))
    late = fine_tune(model, 2, train, {"dev": rows}, settings, "cls", (2,))
    assert early[2]["dev"] == late[2]["dev"] == early[2]["back"][::-1]
    assert list(early) == [1, 2] and list(late) == [2]
