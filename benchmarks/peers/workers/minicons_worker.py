"""Scores texts with minicons. A script of its own, run by the Python that has minicons: it imports nothing of Quartet.

It answers each line of JSON on its input with one on its output, see :mod:`benchmarks.peers.worker`.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import torch
from minicons import scorer  # type: ignore[import-not-found]


def main() -> None:
    """Answer until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what the libraries print is no answer
    model: Any = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "load" in asked:
            torch.set_num_threads(asked["threads"])
            kind = scorer.MaskedLMScorer if asked["kind"] == "masked" else scorer.IncrementalLMScorer
            model = kind(asked["load"], asked["device"])
            answer: dict[str, Any] = {name: version(name) for name in ("minicons", "torch", "transformers")}
        else:
            assert model is not None, "no model is loaded"
            texts, batch = asked["texts"], asked["batch"]
            begun = time.perf_counter()
            scores = []
            for at in range(0, len(texts), batch):
                scores += model.sequence_score(
                    texts[at : at + batch], reduction=lambda values: values.sum(0).item()
                )
            answer = {"seconds": time.perf_counter() - begun, "scores": scores}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
