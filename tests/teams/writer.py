"""One of several people who log into the same server at once: what `dvc repro pretrain@tta rerank@tta` tells MLflow.

    python -m tests.teams.writer NUMBER

in a folder with params.yaml. It logs by the pipeline's own code what :func:`points`, :func:`numbers` and :func:`rows`
say, and which files it logged it leaves in its folder. It waits until everybody has a model: all log at the same time.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from pipeline.layout import Layout
from pipeline.params import Params
from pipeline.settings import read_params, write
from pipeline.tracking.runs import tell
from pipeline.tracking.stage import stage_run
from quartet.results import EvaluatedSystem, Measure, Result, write_results
from tests.pipeline.tracking.test_models import train
from tests.small_corpus import encode_small

#: They work in folders beside one another.
PEOPLE = range(3)
MODEL, LISTS = "tta", "sample-speech"
#: Points of a curve, each logged by itself; numbers logged at once: more than the server takes in one request.
POINTS, NUMBERS = 40, 1100


def points(number: int) -> list[tuple[int, float]]:
    """(step, loss) of a person's training."""
    return [(step, 9.0 - number - step / 64) for step in range(1, POINTS + 1)]


def numbers(number: int) -> dict[str, float]:
    """What a person logs at once, by the metrics' names."""
    return {f"rerank/{LISTS}/test/number-{place}": place + number / 4 for place in range(NUMBERS)}


def rows(params: Params, number: int) -> list[Result]:
    """A person's results."""
    measures = {name.rpartition("/")[2]: Measure(value, 1) for name, value in numbers(number).items()}
    return EvaluatedSystem(MODEL, "cpu", "made-up", 1).rows(
        {"wer": Measure(0.125 * (number + 1), 100), **measures},
        experiment=params.experiment,
        table="rerank",
        dataset=LISTS,
        split="test",
    )


def main(number: int) -> None:
    """A training, registered as a model, and a reranking."""
    params = read_params()
    write(params)
    layout = Layout(params.experiment)
    tokenizer, _ = encode_small(Path("corpus"))
    model = params.models[MODEL]
    shutil.copytree(Path("corpus") / "encoded", layout.encoded(model.corpus, model.tokenizer))
    train(params, tokenizer, init_std=0.2 + 0.1 * number)
    Path("ready").touch()
    started = time.monotonic()
    while len(list(Path("..").glob("*/ready"))) < len(PEOPLE):
        assert time.monotonic() - started < 300, "somebody has no model"
        time.sleep(0.01)
    with stage_run(params, "pretrain", MODEL) as run:
        for step, loss in points(number):
            run.metric("validation_loss/seed-1", loss, step)
    shutil.rmtree(layout.encoded(model.corpus, model.tokenizer))  # no stage has made it
    with stage_run(params, "rerank", MODEL):
        write_results(layout.rows("rerank", MODEL), rows(params, number))
    tell(params)


if __name__ == "__main__":
    main(int(sys.argv[1]))
