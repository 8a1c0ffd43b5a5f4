"""Loss curves of short seeded trainings, kept in the folder golden: a refactoring must not move them.

Where a change is meant to move them (of the initialisation, the order of data or of random numbers, the small corpus),
write them anew and say why in the commit::

    PYTHONPATH=src python -m tests.training.curves
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from quartet.config.training import TrainingConfig
from quartet.files import read_json, write_json
from quartet.text.encoded_corpus import EncodedCorpus
from quartet.text.tokenizer import TextTokenizer
from quartet.training.fit import fit
from tests.models.shapes import VARIANTS, small
from tests.small_corpus import encode_small

FOLDER = Path(__file__).with_name("golden")
#: The curves of steps of a fixed number of sentences, whose loss was the mean over their own targets: as it was until
#: every token was given one weight. Spans, all equally long, were not touched.
STEP_MEAN = FOLDER / "step_mean"
#: The curves of MLM when each row of a batch had a generator of its own, by which its masks were drawn in a loop, and
#: each step drew its spans for itself.
ROW_GENERATORS = FOLDER / "row_generators"
STEPS, SEED = 50, 7


def curve(
    name: str,
    corpus: tuple[TextTokenizer, dict[str, EncodedCorpus]],
    folder: Path,
    seed: int = SEED,
    **settings: Any,
) -> list[float]:
    """The validation loss after each step.

    The initial weights are wide enough for positions to count. There is no dropout: PyTorch draws its masks by MKL's
    generator where it is built with MKL, and by its own elsewhere.
    """
    tokenizer, splits = corpus
    training = TrainingConfig(
        steps=STEPS, batch_size=8, learning_rate=3e-3, validate_every=1, validation_batches=2, **settings
    )
    trained = fit(
        small(**{**VARIANTS[name], "init_std": 0.2}),
        training,
        tokenizer,
        splits["train"],
        splits["valid"],
        seed=seed,
        resume=folder / f"{name}.ckpt",
    )
    assert [step for step, _ in trained.curve] == list(range(1, STEPS + 1))
    return [loss for _, loss in trained.curve]


def golden(name: str, folder: Path = FOLDER) -> list[float]:
    """What is kept."""
    kept: list[float] = read_json(folder / f"{name}.json")["losses"]
    return kept


def main() -> None:
    """Write all curves anew."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = encode_small(folder)
        FOLDER.mkdir(exist_ok=True)
        for variant in VARIANTS:
            losses = [round(loss, 6) for loss in curve(variant, corpus, folder)]
            write_json(FOLDER / f"{variant}.json", {"seed": SEED, "losses": losses})


if __name__ == "__main__":
    main()
