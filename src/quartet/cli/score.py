"""`quartet score`: log-probabilities of sentences."""

from __future__ import annotations

from pathlib import Path

from quartet.cli.options import (
    CacheOption,
    DeviceOption,
    IntactOption,
    PrecisionOption,
    ScorerOption,
    TextsArgument,
    UnknownOption,
    check_scoring,
    lines_of_input,
    open_cache,
    progress,
    say_unknown,
)
from quartet.shipped_model import shipped_model


def score(
    texts: TextsArgument = Path("-"),
    model: ScorerOption = None,
    device: DeviceOption = "cpu",
    precision: PrecisionOption = "fp32",
    intact: IntactOption = False,
    unknown: UnknownOption = "spread",
    cache: CacheOption = None,
) -> None:
    """Print the log-probability of each line of a text, one a line, in nats (pseudo- for MLM and LAE)."""
    from quartet.scorers import open_scorer
    from quartet.scoring.engine import score_all
    from quartet.scoring.unknown import unknown_in

    reference = shipped_model() if model is None else model
    check_scoring(texts, reference, cache)
    scorer = open_scorer(reference, device, precision=precision)
    lines = lines_of_input(texts)
    found = unknown_in(scorer, lines, unknown)
    say_unknown(scorer.name, found.share, unknown)
    with open_cache(cache) as scores_kept, progress(f"{scorer.name}: sentences") as shown:
        scored = score_all(scorer, lines, not intact, scores_kept, shown)
    for value in found.applied(scored):
        print(f"{value.sum():.6f}")
