"""Embeds texts with sentence-transformers: a BERT and the mean over its tokens. It imports nothing of Quartet.

It answers each line of JSON on its input with one on its output, see :mod:`benchmarks.peers.worker`.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import torch
from sentence_transformers import SentenceTransformer, models  # type: ignore[import-not-found]


def main() -> None:
    """Answer until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what the libraries print is no answer
    model: Any = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "load" in asked:
            torch.set_num_threads(asked["threads"])
            body = models.Transformer(asked["load"])
            pooling = models.Pooling(body.get_word_embedding_dimension(), pooling_mode="mean")
            model = SentenceTransformer(modules=[body, pooling], device=asked["device"])
            answer: dict[str, Any] = {
                name: version(name) for name in ("sentence-transformers", "torch", "transformers")
            }
        else:
            assert model is not None, "no model is loaded"
            begun = time.perf_counter()
            vectors = model.encode(asked["texts"], batch_size=asked["batch"], show_progress_bar=False)
            answer = {"seconds": time.perf_counter() - begun}
            if asked.get("vectors"):
                answer["vectors"] = vectors.tolist()
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
